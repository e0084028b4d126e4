"""From raw columns to discrete states: cuts, resolutions, state codebooks, missing values."""

from milpbn.encoding.columns import Coarsening, ColumnCode, Variable
from milpbn.encoding.data import EncodedData, EncodedFeatures
from milpbn.encoding.encoder import Encoder
from milpbn.encoding.mdlp import mdlp_cuts

__all__ = [
    "Coarsening",
    "ColumnCode",
    "EncodedData",
    "EncodedFeatures",
    "Encoder",
    "Variable",
    "mdlp_cuts",
]
