from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from html_pages import HtmlPage

from milpbn import BNClassifier, report
from milpbn.errors import OptionError
from milpbn.evaluation.rows import MeasuredRows
from milpbn.reporting import html_report
from milpbn.reporting.charts import gap_chart
from milpbn.reporting.parts import explanations, performance, tables, typical_rows
from milpbn.result import TracePoint


def text_of(model: BNClassifier, X=None, y=None) -> str:
    rows = None if X is None else MeasuredRows(model.encode_rows(X, y), "some rows")
    return html_report(model.model_, rows)


def test_the_page_is_whole_and_refers_to_itself_only(fitted, iris) -> None:
    page = HtmlPage(text_of(fitted, iris.features, iris.target))
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids)
    assert page.addresses == ["data:,"]
    assert page.tags.count("script") == 1


def test_sections_appear_only_if_there_is_something_to_show(fitted, iris) -> None:
    full = HtmlPage(text_of(fitted, iris.features, iris.target))
    optional = {"strength", "alternatives", "performance", "explanations"}
    assert optional <= set(full.ids)
    bare = replace(fitted.model_, arcs=None, alternatives=None, stability=None)
    page = HtmlPage(html_report(bare, None))
    assert not optional & set(page.ids)
    assert {"network", "gap", "importance", "card", "tables", "data", "settings"} <= set(page.ids)


@pytest.mark.parametrize("engine", ["nb", "multinet-cmi", "tan-cmi"])
def test_every_kind_of_classifier_has_a_report(iris, engine) -> None:
    model = BNClassifier(method=engine).fit(iris.features, iris.target)
    text = text_of(model, iris.features, iris.target)
    HtmlPage(text)
    assert "there is no bound on the best score" in text
    assert text.count('class="network"') == (3 if engine == "multinet-cmi" else 1)


def test_what_was_proven_is_said(fitted, iris) -> None:
    assert "Proven: no structure in the search space scores higher" in text_of(fitted)
    open_result = replace(fitted.result_, status="time_limit", bound=1.1 * fitted.objective_)
    told = html_report(replace(fitted.model_, result=open_result), None)
    assert "Proven" not in told
    assert "The gap is 10.0000 %" in told


def test_names_and_labels_are_escaped(evil) -> None:
    model, frame, labels = evil
    text = text_of(model, frame, labels)
    page = HtmlPage(text)
    assert page.tags.count("script") == 1
    assert not {"b", "img"} & set(page.tags)
    assert "document.title='owned'" not in text
    assert "49" not in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", text)
    assert "{{ 7 * 7 }}" in text


def test_tables_hold_the_probabilities_of_the_network(fitted) -> None:
    for table in tables(fitted.model_):
        own = fitted.network_.table(table["name"])
        assert np.allclose([line["shares"] for line in table["lines"]], own, atol=5e-5)
        assert len(table["states"]) == own.shape[1]


def test_performance_is_that_of_the_classifier(fitted, iris) -> None:
    codes = fitted.encode_rows(iris.features, iris.target)
    codes[:3, 0] = -1
    found = performance(fitted.model_, codes)
    assert found is not None
    assert found["left_out"] == 3
    confusion = np.array(found["confusion"])
    right = fitted.predict(iris.features)[3:] == iris.target[3:].to_numpy()
    assert confusion.sum() == 147
    assert np.trace(confusion) == right.sum()
    codes[:, 0] = -1
    assert performance(fitted.model_, codes) is None


def test_a_clear_a_wrong_and_a_doubtful_row_are_explained(fitted, iris) -> None:
    codes = fitted.encode_rows(iris.features, iris.target)
    chosen = typical_rows(fitted.model_, codes)
    proba = fitted.predict_proba(iris.features)
    wrong = next(row for row, why in chosen.items() if "wrong" in why)
    doubtful = next(row for row, why in chosen.items() if "doubtful" in why)
    assert fitted.classes_[proba[wrong].argmax()] != iris.target[wrong]
    assert proba[doubtful].max() == pytest.approx(proba.max(axis=1).min())
    for one in explanations(fitted.model_, codes, chosen):
        total = sum(float(size.replace("−", "-")) for _, size, _ in one["bars"])
        assert total == pytest.approx(float(one["log_odds"].replace("−", "-")), abs=0.06)


def test_training_rows_are_called_training_rows(fitted, iris) -> None:
    codes = fitted.encode_rows(iris.features, iris.target)
    told = [
        html_report(fitted.model_, MeasuredRows(codes, "rows", training=kind))
        for kind in (True, False)
    ]
    assert ["expect less on new ones" in text for text in told] == [True, False]


def test_rows_can_be_chosen(fitted, iris, tmp_path) -> None:
    path = tmp_path / "iris.html"
    report(fitted, path, iris.features, iris.target, rows=[4])
    assert path.read_text("utf-8").count('<div class="explanation">') == 1
    with pytest.raises(OptionError, match="there is no row 150; there are 150 rows"):
        report(fitted, path, iris.features, rows=[150])
    with pytest.raises(OptionError, match="need X"):
        report(fitted, path, y=iris.target)


def test_a_model_from_a_file_has_the_same_report(fitted, iris, tmp_path) -> None:
    report(fitted, tmp_path / "one.html", iris.features, iris.target)
    fitted.save(tmp_path / "iris.json")
    again = BNClassifier.load(tmp_path / "iris.json").model_
    report(again, tmp_path / "two.html", iris.features, iris.target)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_the_chart_of_the_gap_is_inside_its_axes() -> None:
    trace = [TracePoint(0.5, 1.0, 1e6), TracePoint(2.0, 3.0, 5.0), TracePoint(90.0, 4.0, 4.0)]
    chart = gap_chart(trace)
    assert chart is not None
    assert [line.name for line in chart.lines] == ["bound", "objective"]
    for line in chart.lines:
        places = [tuple(map(float, pair.split(","))) for pair in line.points.split()]
        assert all(chart.left <= x <= chart.right for x, _ in places)
        assert all(chart.top <= y <= chart.bottom for _, y in places)
    assert gap_chart([TracePoint(0.5, 1.0, None)]) is None
