"""A plan and a model → text, with a verdict for each edit."""
