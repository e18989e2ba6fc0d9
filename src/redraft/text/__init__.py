"""Words, sentences, and what must not change in them."""
