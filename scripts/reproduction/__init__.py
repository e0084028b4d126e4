"""The tables and figures of the publications, with milpbn's values beside the printed ones."""
