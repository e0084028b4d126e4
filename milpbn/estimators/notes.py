"""Warnings of fitted estimators: where they point to, and how often they are shown."""

from __future__ import annotations

import os
import re
import sys
import warnings
from pathlib import Path
from types import FrameType

import joblib
import sklearn

_OWN = str(Path(__file__).parents[1]) + os.sep
_LIBRARIES = (_OWN, *(str(Path(m.__file__).parent) + os.sep for m in (joblib, sklearn)))
_seen: set[tuple[str, type[Warning], str, int]] = set()


def warn_caller(text: str, category: type[Warning]) -> None:
    """Issue a warning about the line that called an estimator.

    If scikit-learn is between, as in ``cross_val_score``, this is the line that called
    scikit-learn, and by default the same text is shown once for this line. Python promises this
    for all warnings, but forgets what it has shown when a filter changes, and pandas and
    scikit-learn change filters in every fold. Other actions (``"always"``, ``"error"``, ...) are
    left to Python.
    """
    frame: FrameType | None = sys._getframe(1)
    level, others = 2, False  # Python's stack level of the frame; whether others are between
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        others = others or not frame.f_code.co_filename.startswith(_OWN)
        frame, level = frame.f_back, level + 1
    if frame is not None and others and _action(text, category, frame) == "default":
        key = (text, category, frame.f_code.co_filename, frame.f_lineno)
        if key in _seen:
            return
        _seen.add(key)
    warnings.warn(text, category, stacklevel=level)


def _action(text: str, category: type[Warning], frame: FrameType) -> str:
    """What the filters say about a warning, by the rules of the module ``warnings``."""
    module = frame.f_globals.get("__name__") or "<unknown>"
    for action, message, wanted, where, line in warnings.filters:
        if (
            (message is None or re.match(message, text))
            and issubclass(category, wanted)
            and (where is None or re.match(where, module))
            and line in (0, frame.f_lineno)
        ):
            return str(action)
    return "default"
