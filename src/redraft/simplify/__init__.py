"""The pipeline around the search: plan, prepare, search, restore, rerank, check."""
