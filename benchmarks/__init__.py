"""What the search costs, beside plain beam search of `transformers` in the same run."""
