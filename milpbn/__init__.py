"""milpbn learns Bayesian network classifiers exactly and says how good the answer is."""

__version__ = "0.1.0"
