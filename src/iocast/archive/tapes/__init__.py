"""Tapes of live watches: run folders whose samples are read reel by reel."""
