"""A classifier as an ONNX model.

Columns are summed out in a fixed order (see :func:`~milpbn.deployment.calculation.schedule`), for
all rows at once. What is known about a column is a vector of logarithms over its states: 0 for
states that are possible, and a large negative number for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from milpbn._types import FloatArray
from milpbn.deployment.calculation import Elimination, InputColumn, make_calculation, schedule
from milpbn.encoding import Encoder
from milpbn.errors import OptionError
from milpbn.network.multinet import Classifier

# Numbers per row of the largest intermediate tensor.
MOST_CELLS = 100_000

_IMPOSSIBLE = -1e30
_OPSET = 18
_LABEL, _PROBABILITIES = "label", "probabilities"


def make_onnx(network: Classifier, encoder: Encoder | None = None) -> Any:
    """The classifier as an ``onnx.ModelProto``; needs the package onnx.

    There is one input per column, of shape (rows, 1): numbers in double precision, NaN for
    missing, or strings, empty for missing. Missing values, and strings that were not seen in
    training, are summed out. The outputs are ``label`` and ``probabilities``.

    Parameters
    ----------
    network
        For instance ``BNClassifier.network_`` or ``Model.network``.
    encoder
        How raw columns become states; without one, the values of columns are states.
    """
    try:
        import onnx
    except ImportError:
        raise OptionError(
            "the format onnx needs the package onnx: pip install 'milpbn[onnx]'"
        ) from None
    calculation = make_calculation(network, encoder)
    if not calculation.columns:
        raise OptionError("no column matters for the class, so an ONNX model would have no input")
    graph = _Graph(onnx, len(calculation.classes))
    known = [graph.codes(column) for column in calculation.columns]
    logs = []
    for part in calculation.parts:
        steps = schedule(part, calculation.cards)
        messages: list[str] = []
        total = graph.constant(part.constants[None, :])
        for step in steps:
            messages.append(graph.message(step, messages, steps, known, calculation.cards))
            if not step.scope:
                total = graph.node("Add", total, messages[-1])
        logs.append(total)
    joint = graph.node("Concat", *logs, axis=1)
    graph.node("Softmax", joint, axis=1, out=_PROBABILITIES)
    best = graph.node("ArgMax", joint, axis=1, keepdims=0)
    graph.node("Gather", graph.texts(calculation.classes), best, out=_LABEL)
    return graph.model()


class _Graph:
    """Nodes, inputs and constants of a graph; tensors are known by their names."""

    def __init__(self, onnx: Any, n_classes: int) -> None:
        self._onnx, self.n_classes = onnx, n_classes
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._constants: list[Any] = []

    def node(
        self, kind: str, *inputs: str, out: str | None = None, domain: str = "", **settings: Any
    ) -> str:
        out = out or f"milpbn/node{len(self._nodes)}"
        made = self._onnx.helper.make_node(kind, list(inputs), [out], domain=domain, **settings)
        self._nodes.append(made)
        return out

    def constant(self, values: npt.ArrayLike) -> str:
        name = f"milpbn/constant{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def texts(self, texts: Sequence[str]) -> str:
        return self.constant(np.array(texts, dtype=object))

    def codes(self, column: InputColumn) -> str:
        """1 + the code of each row, so that 0 is unknown."""
        if column.name in ("", _LABEL, _PROBABILITIES):
            raise OptionError(
                f"an ONNX model has no input with the name {column.name!r}; rename it"
            )
        tensor, helper = self._onnx.TensorProto, self._onnx.helper
        kind = tensor.DOUBLE if column.numeric else tensor.STRING
        source = column.name
        self._inputs.append(helper.make_tensor_value_info(source, kind, ["rows", 1]))
        if not column.numeric:
            missing = dict.fromkeys(("", "nan"), column.missing)
            table = {**missing, **column.texts}
            found = self.node(
                "LabelEncoder",
                self._flat(source),
                domain="ai.onnx.ml",
                keys_strings=list(table),
                values_int64s=[1 + code for code in table.values()],
                default_int64=1 + column.other,
            )
            return found
        cuts = self.constant(np.array([[*column.cuts, np.inf]]))
        above = self.node("Cast", self.node("Greater", source, cuts), to=tensor.INT64)
        bins = self.node("ReduceSum", above, self.constant([1]), keepdims=0)
        found = self.node("Gather", self.constant([1 + b for b in column.bins]), bins)
        for number, code in column.numbers.items():
            same = self._flat(self.node("Equal", source, self.constant(np.array([[number]]))))
            found = self.node("Where", same, self.constant(1 + code), found)
        unknown = self._flat(self.node("IsNaN", source))
        return self.node("Where", unknown, self.constant(1 + column.missing), found)

    def _flat(self, source: str) -> str:
        return self.node("Reshape", source, self.constant([-1]))

    def message(
        self,
        step: Elimination,
        messages: Sequence[str],
        steps: Sequence[Elimination],
        known: Sequence[str],
        cards: Sequence[int],
    ) -> str:
        """The message of an elimination: rows, the states of its scope, classes."""
        axes = tuple(sorted((step.variable, *step.scope)))
        if prod(cards[v] for v in axes) * self.n_classes > MOST_CELLS:
            raise OptionError(
                "in ONNX, missing values of this network need tables that are too large; write "
                "JavaScript, which sums out only what is missing in a row"
            )
        constant: FloatArray = np.zeros((1,) * (len(axes) + 1))
        for term in step.terms:
            constant = constant + term.along(axes)
        x, place = step.variable, axes.index(step.variable)
        if not (step.scope or step.messages):
            # A column on its own: one look-up; what is unknown is summed out in advance.
            whole = logsumexp(constant, axis=0, keepdims=True)
            return self.node("Gather", self.constant(np.concatenate([whole, constant])), known[x])
        mask = np.where(np.eye(cards[x], dtype=bool), 0.0, _IMPOSSIBLE)
        possible = self.constant(np.concatenate([np.zeros((1, cards[x])), mask]))
        own = self._shaped(self.node("Gather", possible, known[x]), (x,), axes, cards, 1)
        total = self.node("Add", own, self.constant(constant[None]))
        for k in step.messages:
            aligned = self._shaped(messages[k], steps[k].scope, axes, cards, -1)
            total = self.node("Add", total, aligned)
        out = self.constant([1 + place])
        return self.node("ReduceLogSumExp", total, out, keepdims=0)

    def _shaped(
        self,
        source: str,
        scope: Sequence[int],
        axes: Sequence[int],
        cards: Sequence[int],
        classes: int,
    ) -> str:
        """A tensor of rows, states of `scope` and classes, with an axis for each of `axes`."""
        shape = [cards[v] if v in scope else 1 for v in axes]
        # One length may be left open: 0 copies the number of rows.
        return self.node("Reshape", source, self.constant([0, *shape, classes]))

    def model(self) -> Any:
        tensor, helper = self._onnx.TensorProto, self._onnx.helper
        outputs = [
            helper.make_tensor_value_info(_LABEL, tensor.STRING, ["rows"]),
            helper.make_tensor_value_info(_PROBABILITIES, tensor.DOUBLE, ["rows", self.n_classes]),
        ]
        graph = helper.make_graph(
            self._nodes, "milpbn", self._inputs, outputs, initializer=self._constants
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", 3)]
        made = helper.make_model(graph, opset_imports=opsets, producer_name="milpbn")
        made.ir_version = 8
        self._onnx.checker.check_model(made)
        return made
