"""Run experiments described in a TOML file (corpora × models × plans × methods), with scores, tables and plots."""
