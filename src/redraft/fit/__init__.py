"""Training and tuning."""
