"""Certificates: what branch-and-cut proved, in lines that the room `check` reads again."""
