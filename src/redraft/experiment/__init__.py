"""Many runs from one settings file: corpora × models × plans × methods, their scores, tables and plots."""
