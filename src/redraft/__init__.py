"""Rewrite text while keeping, dropping or replacing the words you name."""
