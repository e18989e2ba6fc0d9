"""The recipe of the embedded simplifier; README.md says how it is run."""
