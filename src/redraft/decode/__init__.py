"""The search: a plan and a model → candidate texts, with a verdict for each edit."""
