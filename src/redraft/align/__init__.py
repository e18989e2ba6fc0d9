"""Text → words with character spans, and the links between the words of two sentences."""
