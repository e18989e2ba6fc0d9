"""The rules of the exact checks: one file for each kind of difference, and what they share."""
