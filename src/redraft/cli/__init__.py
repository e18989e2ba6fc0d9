"""The command line."""

from redraft.cli.main import commands, main

__all__ = ["commands", "main"]
