"""Benchmarks of speed, memory and quality. README.md has the results and the commands."""
