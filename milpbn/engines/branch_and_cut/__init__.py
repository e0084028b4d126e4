"""Branch-and-cut: cuts, the relaxation and its rows, the tree, a node, the log of its proof."""
