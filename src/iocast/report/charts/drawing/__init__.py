"""What drawings share: themes, axes, legends, words that can be read, and the engine."""
