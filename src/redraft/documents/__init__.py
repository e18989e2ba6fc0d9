"""Documents as files: text in blocks out of a file, and a changed text back into it."""
