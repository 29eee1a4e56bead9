"""What the verbs share: options, words for events, progress, signals, mistakes."""
