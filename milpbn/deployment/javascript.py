"""A classifier as one JavaScript function."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from milpbn.deployment.calculation import Calculation, make_calculation
from milpbn.encoding import Encoder
from milpbn.network.multinet import Classifier


def write_javascript(network: Classifier, encoder: Encoder | None = None) -> str:
    """The classifier as a JavaScript function ``predict(row)``, for browsers and Node.js.

    A row is an object with a value for each column. Values that are missing, or were not seen
    in training, are summed out. The function returns the prediction and the probabilities.

    Parameters
    ----------
    network
        For instance ``BNClassifier.network_`` or ``Model.network``.
    encoder
        How raw columns become states; without one, the values of columns are states.

    Examples
    --------
    >>> from milpbn import BNClassifier, load_dataset
    >>> iris = load_dataset("iris")
    >>> model = BNClassifier(method="nb").fit(iris.features, iris.target)
    >>> code = write_javascript(model.network_, model.encoder_)
    >>> "const predict = " in code
    True
    """
    model = as_json(calculation_content(make_calculation(network, encoder)))
    return _source("predict.js").replace("/* MODEL */", model).replace("/* ENGINE */", engine())


def engine() -> str:
    """The functions that encode rows and compute probabilities from the content of a model."""
    return _source("engine.js").rstrip("\n")


def calculation_content(calculation: Calculation) -> dict[str, Any]:
    """Columns and terms as plain data for the engine."""
    return {
        "target": calculation.target,
        "classes": list(calculation.classes),
        "columns": [
            {
                "name": column.name,
                "labels": list(column.labels),
                "missing": column.missing,
                "numbers": list(map(list, column.numbers.items())),
                **(
                    {"cuts": list(column.cuts), "bins": list(column.bins)}
                    if column.numeric
                    else {
                        # Pairs: the order of the keys of an object is not that of the file, and
                        # "__proto__" is not an ordinary key.
                        "texts": list(map(list, column.spellings.items())),
                        "other": column.other,
                    }
                ),
            }
            for column in calculation.columns
        ],
        "parts": [
            {
                "classes": list(part.classes),
                "terms": [
                    {
                        "of": term.variable,
                        "scope": list(term.scope),
                        "width": term.values.shape[-1],
                        "sums": term.normalised,
                        "values": term.values.ravel().tolist(),
                    }
                    for term in part.terms
                ],
            }
            for part in calculation.parts
        ],
    }


def as_json(content: Any) -> str:
    """JSON that is also JavaScript, and that cannot end a script in a page."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    for sign in "<>&'":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _source(name: str) -> str:
    return files("milpbn.deployment").joinpath("templates", name).read_text("utf-8")
