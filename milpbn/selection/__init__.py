"""Which settings? Plans, candidates, held-out rows, the choice, the grid of p, the penalty path."""
