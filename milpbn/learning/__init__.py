"""From a table to a classifier: settings, the chain, the p grid, and verification.

:func:`learn_classifier` is the chain that every face of milpbn calls. Import from the modules
of this package; it loads nothing by itself, because :class:`~milpbn.learning.model.Model` is
needed where no engine is.
"""
