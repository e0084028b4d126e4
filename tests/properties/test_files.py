"""Properties of what is written for other tools and for people."""

import re
import shutil
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from deployed import run as run_code
from hypothesis import given
from hypothesis import strategies as st
from property_cases import any_structures, few, frames, names, networks, of, once, some, tables

from milpbn import BNClassifier, BNClassifierCV, evaluate, learn_path, report
from milpbn.deployment import make_onnx, write_javascript, write_sql
from milpbn.encoding import Variable
from milpbn.evaluation.missing_curve import CurvePoint
from milpbn.families import Laplace
from milpbn.interchange import export_network, export_structure, read_network, read_structure
from milpbn.interchange.names import (
    IDENTIFIER,
    JKL,
    MODELSTRING,
    QUOTED,
    WORD,
    WORD_OR_NUMBER,
    XML,
    escape,
    state_of,
    state_word,
    unescape,
)
from milpbn.network.inference import log_posterior
from milpbn.network.network import fit_network
from milpbn.pictures import (
    draw_multinet,
    draw_network,
    plot_effects,
    plot_evaluation,
    plot_gap,
    plot_missing_curve,
    plot_network,
    plot_path,
    plot_selection,
    plot_waterfall,
)
from milpbn.result import TracePoint
from milpbn.structure import ClassStructures, Structure

mpl.use("Agg")

FORMATS = {"bif": ".bif", "xmlbif": ".xml", "json": ".json", "net": ".net"}


@of("milpbn.interchange.export_network", "milpbn.interchange.read_network")
@some
@given(networks(), st.sampled_from(["bif", "xmlbif", "json"]), st.data())
def test_a_network_comes_back_from_other_formats(pair, kind, more):
    data, network = pair
    fresh = more.draw(
        st.lists(names, unique=True, min_size=len(data.variables), max_size=len(data.variables))
    )
    variables = tuple(
        Variable(name, v.states) for name, v in zip(fresh, data.variables, strict=True)
    )
    structure = Structure(tuple(fresh), network.structure.parents)
    renamed = fit_network(structure, variables, data.codes, Laplace())
    with TemporaryDirectory() as folder:
        path = Path(folder, "net" + FORMATS[kind])
        path.write_text(export_network(renamed, kind), encoding="utf-8")
        again = read_network(path, target=fresh[0])
    assert again.structure == structure
    assert [v.states for v in again.variables] == [v.states for v in variables]
    for mine, theirs in zip(renamed.log_cpts, again.log_cpts, strict=True):
        assert mine == pytest.approx(theirs)


@of("milpbn.interchange.export_structure", "milpbn.interchange.read_structure")
@some
@given(any_structures)
def test_a_structure_comes_back_from_a_model_string(structure):
    with TemporaryDirectory() as folder:
        path = Path(folder, "structure.txt")
        path.write_text(export_structure(structure, "modelstring"), encoding="utf-8")
        assert set(read_structure(path).arcs) == set(structure.arcs)


@of(
    *("milpbn.deployment.write_sql", "milpbn.deployment.write_javascript"),
    "milpbn.deployment.make_onnx",
)
@few
@given(networks(), st.data())
def test_code_gives_the_probabilities_of_the_network(pair, more):
    data, network = pair
    row = st.tuples(*(st.integers(-1, v.card - 1) for v in data.variables[1:]))
    codes = np.array(more.draw(st.lists(row, min_size=1, max_size=5)))
    columns = {
        v.name: [None if k < 0 else v.states[k] for k in column]
        for v, column in zip(data.variables[1:], codes.T, strict=True)
    }
    frame = pd.DataFrame(columns, dtype=object)
    wanted = np.exp(log_posterior(network, codes))
    kinds = ["sqlite", *(["javascript"] if shutil.which("node") else [])]
    if find_spec("onnxruntime") and frame.shape[1] and 't."' in write_sql(network):
        assert make_onnx(network).graph.output[0].name == "label"
        kinds.append("onnx")
    for kind in kinds:
        with TemporaryDirectory() as folder:
            _, found = run_code(kind, network, None, frame, Path(folder))
        assert found == pytest.approx(wanted, abs=1e-9)
    assert write_javascript(network).startswith("// Written by milpbn")


@of("milpbn.interchange.names.unescape")
@given(st.text(), st.sampled_from([WORD, IDENTIFIER, XML, MODELSTRING, JKL]))
def test_escaped_names_come_back(name, unsafe):
    written = escape(name, unsafe, {"table"})
    assert unescape(written) == name
    assert written.lower() != "table"
    assert written


ENDS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(lambda x: f"{x:.10g}"), st.text(max_size=3)
)
SHAPES = ("({}, {}]", "(-inf, {}]", "({}, inf)", "from_{}_to_{}", "up_to_{}", "above_{}", "{}")


@of("milpbn.interchange.names.state_of")
@given(st.sampled_from(SHAPES), ENDS, ENDS, st.sampled_from([WORD, WORD_OR_NUMBER, QUOTED]))
def test_states_come_back(shape, low, high, unsafe):
    state = shape.format(low, high)
    written = state_word(state, unsafe)
    assert state_of(written) == state
    assert re.fullmatch(r"[A-Za-z0-9_.<>=+-]+", written)


def svg(draw):
    """Draw to an SVG file, which must be well-formed."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "picture.svg")
        draw(path)
        root = ET.parse(path).getroot()
    assert root.tag.endswith("svg")


@of("milpbn.pictures.draw_network", "milpbn.pictures.plot_network")
@few
@given(any_structures)
def test_any_structure_can_be_drawn(structure):
    svg(lambda path: draw_network(structure, path))
    axes = plot_network(structure)
    assert len(axes.texts) >= len(structure.variables)
    mpl.pyplot.close("all")
    with TemporaryDirectory() as folder:
        path = Path(folder, "net.dot")
        draw_network(structure, path)
        assert path.read_text().count(" -> ") >= len(structure.arcs)


@of("milpbn.pictures.draw_multinet")
@few
@given(st.lists(names, min_size=2, max_size=3, unique=True))
def test_every_class_has_a_picture(classes):
    structure = Structure(("class", "a"), ((), (0,)))
    with TemporaryDirectory() as folder:
        multinet = ClassStructures(tuple(classes), (structure,) * len(classes))
        written = draw_multinet(multinet, Path(folder, "net.dot"))
        assert sorted(written) == sorted(Path(folder).iterdir())
    assert len(set(written)) == len(classes)


@of("milpbn.pictures.plot_gap")
@few
@given(st.lists(st.tuples(st.floats(0, 10), st.floats(-5, 5), st.floats(0, 5)), min_size=1))
def test_any_trace_can_be_plotted(points):
    times = sorted(t for t, _, _ in points)
    values = sorted(v for _, v, _ in points)
    gaps = sorted((g for _, _, g in points), reverse=True)
    trace = [
        TracePoint(t, v, values[-1] + g, 0, "x")
        for t, v, g in zip(times, values, gaps, strict=True)
    ]
    svg(lambda path: plot_gap(trace, path))


@of("milpbn.pictures.plot_missing_curve")
@few
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), names)
def test_any_curve_can_be_plotted(shares, name):
    points = [CurvePoint("nb+ml", k, share, 0.0) for k, share in enumerate(shares)]
    svg(lambda path: plot_missing_curve(points, path, title=name))


@of(
    *("milpbn.pictures.plot_evaluation", "milpbn.pictures.plot_path"),
    *("milpbn.pictures.plot_selection", "milpbn.pictures.plot_waterfall"),
    "milpbn.pictures.plot_effects",
)
@once
@given(frames(), tables())
def test_results_can_be_plotted(rows, table):
    frame, labels = rows
    model = BNClassifierCV(param_grid={"p": [0.6, 0.9]}, cv=2, max_parents=1).fit(frame, labels)
    svg(lambda path: plot_selection(model.selection_, path))
    svg(lambda path: plot_waterfall(model.explain(frame), path))
    svg(lambda path: plot_effects(model.effects(frame), path))
    found = evaluate(table, ["nb"], folds=2)
    svg(lambda path: plot_evaluation([found], path))
    path_of_penalties = learn_path(table, [0.0, 1.0], folds=None, max_parents=1)
    svg(lambda path: plot_path(path_of_penalties, path))


@of("milpbn.report")
@few
@given(frames(), names)
def test_a_report_loads_nothing_and_escapes_names(rows, name):
    frame, labels = rows
    frame = frame.rename(columns={frame.columns[0]: f"<b>{name}"})
    model = BNClassifier(method="nb").fit(frame, labels)
    with TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        report(model, path, frame, labels)
        text = path.read_text("utf-8")
    assert "<b>" not in text
    assert "@import" not in text
    named = re.findall(r"""(?:src=|href=|url\()["']?([^"')>]*)""", text)
    assert all(address.startswith(("data:", "#")) for address in named)
