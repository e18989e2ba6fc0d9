"""Tune decoding settings on validation data."""
