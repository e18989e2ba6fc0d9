"""Checks whether a rewriting keeps the meaning of its source: exact rules that name their reasons, and a classifier."""
