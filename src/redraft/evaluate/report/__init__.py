"""Figures for people: text, Markdown, LaTeX, and a page to look at."""
