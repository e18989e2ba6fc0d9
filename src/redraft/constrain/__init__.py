"""Words to edits to token tables."""
