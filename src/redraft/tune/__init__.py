"""Settings of the search found on validation data."""
