"""A tree in many processes, and trees that outlive theirs: workers, packed trees, checkpoints."""
