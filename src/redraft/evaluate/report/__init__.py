"""Evaluation reports as plain text, Markdown, LaTeX, JSON and HTML."""
