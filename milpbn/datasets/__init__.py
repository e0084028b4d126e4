"""Where tables come from: the bundled catalog, generators, and a user's own files."""
