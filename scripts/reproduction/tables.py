"""All tables and figures, by name."""

from __future__ import annotations

from reproduction import (
    peharz2012,
    pernkopf2005,
    pernkopf2010,
    pernkopf2010_figures,
    pernkopf2013,
    yang2022,
)
from reproduction.experiment import Experiment

PAPERS = {
    "peharz2012": "Peharz & Pernkopf (2012)",
    "pernkopf2005": "Pernkopf & Bilmes (2005)",
    "pernkopf2010": "Pernkopf & Bilmes (2010)",
    "pernkopf2013": "Pernkopf & Wohlmayr (2013)",
    "yang2022": "Yang (2022)",
}

TABLES: dict[str, Experiment] = {
    **peharz2012.TABLES,
    **pernkopf2005.TABLES,
    **pernkopf2010.TABLES,
    **pernkopf2010_figures.TABLES,
    **pernkopf2013.TABLES,
    **yang2022.TABLES,
}
