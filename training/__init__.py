"""The training recipe of the bundled rewriter; see README.md."""
