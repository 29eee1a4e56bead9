"""What was examined becomes results: the figures of an answer, without a sentence."""
