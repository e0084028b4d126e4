"""Numbers in sentences."""


def count(number: int, what: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {what}" + ("s" if number != 1 else "")
