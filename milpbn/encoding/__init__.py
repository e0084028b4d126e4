"""From raw columns to discrete states: MDLP cuts, state codebooks, missing values."""

from milpbn.encoding.columns import ColumnCode, Variable
from milpbn.encoding.data import EncodedData, EncodedFeatures
from milpbn.encoding.encoder import Encoder
from milpbn.encoding.mdlp import mdlp_cuts

__all__ = ["ColumnCode", "EncodedData", "EncodedFeatures", "Encoder", "Variable", "mdlp_cuts"]
