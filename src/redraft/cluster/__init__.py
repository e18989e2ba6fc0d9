"""Corpora on a cluster: many files rewritten by the processes of Ray, with resuming and one result per row."""
