"""Benchmarks of milpbn: each is a file with a ``run()`` that prints a table of ratios."""
