"""Run folders in a browser: only below the directory that it was given; who has the token may change them."""
