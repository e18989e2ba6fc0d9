"""Edits, plans, their prediction, and verdicts on them."""
