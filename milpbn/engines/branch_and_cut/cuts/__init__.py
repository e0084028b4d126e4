"""The cut oracle: concave cuts, cluster rows and true scores, independent of any tree or host."""
