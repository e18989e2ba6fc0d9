"""Training of the meaning check."""
