"""The cut oracle: concave cuts, cluster rows, true scores. It knows nothing of a tree."""
