"""Does a rewriting still say the same? Exact checks that explain themselves, and a trained one."""
