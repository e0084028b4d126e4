"""From a model to a page: the parts are gathered and the templates filled."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

import milpbn
from milpbn.deployment.javascript import as_json, engine
from milpbn.errors import OptionError
from milpbn.estimators import BNClassifier
from milpbn.evaluation.rows import MeasuredRows
from milpbn.files import check_writable, write_whole
from milpbn.learning.model import Model
from milpbn.pictures.roles import Role
from milpbn.reporting import parts
from milpbn.reporting.charts import gap_chart
from milpbn.reporting.graph import graphs
from milpbn.reporting.what_if import what_if
from milpbn.words import count, visible


def report(
    model: BNClassifier | Model,
    path: str | Path,
    X: Any = None,
    y: Any = None,
    *,
    rows: Sequence[int] | None = None,
) -> None:
    """Write a report about a classifier: one HTML file that loads nothing from elsewhere.

    It shows the network, the proof, probability tables, importance, the score card and, if there
    are rows, how well they are predicted and why. Arc margins, alternatives and stability are
    shown if they have been computed.

    Parameters
    ----------
    model : BNClassifier or Model
        A fitted classifier, or a model from a file.
    path : str or Path
        Where to write.
    X : DataFrame or array of shape (n_samples, n_features), default=None
        Rows to measure the classifier on, best those that it was not fitted on.
    y : array-like of shape (n_samples,), default=None
        Their class labels.
    rows : sequence of int, default=None
        Positions of the rows of `X` to explain, from 0; by default a clear, a wrong and a
        doubtful prediction.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from milpbn import BNClassifier, load_dataset, report
    >>> iris = load_dataset("iris")
    >>> model = BNClassifier(max_parents=1).fit(iris.features, iris.target)
    >>> with TemporaryDirectory() as folder:
    ...     report(model, Path(folder, "iris.html"), iris.features, iris.target)
    ...     Path(folder, "iris.html").read_text().splitlines()[0]
    '<!doctype html>'
    """
    check_writable(path)
    classifier = model.to_estimator() if isinstance(model, Model) else model
    if X is None and (y is not None or rows is not None):
        raise OptionError("y and rows need X: give the rows, too")
    given = None
    if X is not None:
        codes = classifier.encode_rows(X, y)
        given = MeasuredRows(codes, count(len(codes), "given row"))
    write_whole(path, html_report(classifier.model_, given, explained=rows))


def html_report(
    model: Model,
    rows: MeasuredRows | None,
    *,
    explained: Sequence[int] | None = None,
) -> str:
    """The report as text.

    Parameters
    ----------
    model
        The model.
    rows
        The rows to measure it on, if there are any.
    explained
        Positions of the rows to explain; see :func:`report`.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("milpbn.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html")
    content = _content(model, rows, explained)
    script = environment.get_template("report.js").render()
    if (known := content["what_if"]) is not None:
        script += environment.get_template("calculator.js").render(
            model=Markup(as_json(known["model"])), engine=Markup(engine())
        )
    page = template.render(
        **content,
        script=Markup(script),
        # With this policy a browser runs no other script and sends no request.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    # Names may change the direction of the text after them, or of a terminal that shows the file.
    return visible(page)


def _content(
    model: Model, rows: MeasuredRows | None, explained: Sequence[int] | None
) -> dict[str, Any]:
    codes = None if rows is None or not len(rows.codes) else rows.codes
    chosen: dict[int, str] = {}
    if codes is not None:
        chosen = (
            parts.typical_rows(model, codes) if explained is None else _given(explained, len(codes))
        )
    status, verdict = parts.verdict(model.result)
    solver = [("solver", model.result.solver)] if model.result.solver else []
    versions = [("Python", platform.python_version()), ("milpbn", milpbn.__version__), *solver]
    return {
        "name": model.data.get("name") or "classifier",
        "target": model.encoder.target.name,
        "status": status,
        "verdict": verdict,
        "result": [*model.result.facts(), ("parameters", str(model.network.n_parameters))],
        "graphs": graphs(model),
        "resolutions": model.seen.legend,
        "roles": list(Role),
        "gap": gap_chart(model.result.trace),
        "score": model.result.score.upper(),
        "described": rows.described if rows else "",
        "training": bool(rows and rows.training),
        "performance": None if codes is None else parts.performance(model, codes),
        "importance": parts.importance(model, codes),
        "explanations": parts.explanations(model, codes, chosen) if codes is not None else [],
        "what_if": what_if(model, codes, chosen),
        "card": parts.card(model, codes),
        "strength": parts.arc_strengths(model),
        "alternatives": parts.alternatives(model),
        "tables": list(parts.tables(model)),
        "notes": list(rows.notes) if rows else [],
        "data": parts.data_facts(model),
        "settings": parts.setting_facts(model, versions),
    }


def _given(rows: Sequence[int], available: int) -> dict[int, str]:
    outside = [row for row in rows if not 0 <= row < available]
    if outside:
        raise OptionError(
            f"rows: there is no row {outside[0]}; there are {count(available, 'row')}, "
            "and the first one is 0"
        )
    return dict.fromkeys(rows, "")
