"""Array types that appear in signatures throughout the package."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

Codes = npt.NDArray[np.integer]
"""States of discrete variables as small integers."""

Families = npt.NDArray[np.int64]
"""A structure as one family index per variable."""

AnyFamilies = npt.NDArray[np.integer] | Sequence[int]
"""Family indices in any form that numpy accepts as an index."""
