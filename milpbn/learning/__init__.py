"""The chain from a table to a classifier: settings, methods, and the model at its end.

:func:`learn_classifier` is the chain that every interface of milpbn calls. Import from the modules
of this package. The package itself imports nothing, because
:class:`~milpbn.learning.model.Model` is also used where no engine is needed.
"""
