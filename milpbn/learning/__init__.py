"""From a table to a classifier: settings, the chain, the p grid, and verification.

:func:`learn_classifier` is the chain that every interface of milpbn calls. Import from the modules
of this package. The package itself imports nothing, because
:class:`~milpbn.learning.model.Model` is also used where no engine is needed.
"""
