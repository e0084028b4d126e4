"""The printed numbers: one CSV file per publication, with the number of the table.

``spread`` is what the publication gives after the sign ±: half the width of a 95 % confidence
interval in Peharz & Pernkopf (2012), the standard error in Pernkopf & Bilmes (2005, 2010) and in
Pernkopf & Wohlmayr (2013), the standard deviation over folds in Yang (2022). In table 3 of
Peharz & Pernkopf (2012), ``value`` and ``spread`` are the numbers at 68 % and 95 %, ``classifier``
is the row and ``set`` the column; so it is in the tables of t-tests, table 3 of Pernkopf & Bilmes
(2005) and table 2 of Pernkopf & Bilmes (2010). Numbers that cannot be read in the documents are
left out. Four of them lack a digit in the text at hand, and were completed from the spread and the
number of test rows; their ``note`` is ``incomplete``.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

_FOLDER = Path(__file__).parent / "printed"


def printed(paper: str, *tables: int) -> pd.DataFrame:
    """The numbers of some tables of a publication, such as ``printed("pernkopf2010", 7)``."""
    frame = pd.read_csv(_FOLDER / f"{paper}.csv")
    return frame[frame["table"].isin(tables)].drop(columns="table").reset_index(drop=True)
