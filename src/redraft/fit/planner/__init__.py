"""Training of the planner and its tables."""
