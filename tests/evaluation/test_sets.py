"""Several data sets: means, ranks, tests, and one file for all of them."""

import json

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from milpbn import evaluate
from milpbn.errors import OptionError
from milpbn.evaluation import evaluate_all
from milpbn.evaluation.comparison import corrected_t

SETS = ["iris", "synthetic-3", "monks-1", "corral", "monks-3", "heart"]
METHODS = ["tan-cmi", "nb", "hc:cr"]


@pytest.fixture(scope="module")
def found():
    return evaluate_all(SETS, METHODS)


def test_the_summary_by_hand(found):
    shares = np.array([[s.accuracy for s in e.summaries()] for e in found.parts])
    losses = np.array([[s.log_loss for s in e.summaries()] for e in found.parts])
    ranks = np.array([rankdata(-row) for row in shares])
    lines = found.summaries()
    assert [s.method for s in lines] == METHODS
    assert {s.sets for s in lines} == {6}
    assert [s.accuracy for s in lines] == pytest.approx(shares.mean(axis=0))
    assert [s.log_loss for s in lines] == pytest.approx(losses.mean(axis=0))
    assert [s.rank for s in lines] == pytest.approx(ranks.mean(axis=0))
    assert sum(s.rank for s in lines) == pytest.approx(6)


def test_tests_over_sets_and_over_folds(found):
    shares = np.array([[s.accuracy for s in e.summaries()] for e in found.parts])
    over_sets = found.tests()
    assert [(c.method, c.other_method) for c in over_sets] == [
        ("tan-cmi", "nb"),
        ("tan-cmi", "hc:cr"),
        ("nb", "hc:cr"),
    ]
    difference = shares[:, 0] - shares[:, 1]
    assert over_sets[0].p == pytest.approx(wilcoxon(difference).pvalue)
    assert over_sets[0].wins == (difference > 0).sum()
    heart = found.parts[-1]
    tan, nb = (
        np.array([r.measures.accuracy for r in heart.records if r.method == m])
        for m in ("tan-cmi", "nb")
    )
    # Five folds of 270 rows: 54 test rows, 216 training rows.
    assert heart.tests()[0].p == pytest.approx(corrected_t(tan, nb, 0.25))
    assert found.parts[1].tests()[0].p is None  # one split only


def test_the_text_has_all_tables(found):
    text = str(found)
    for name in SETS:
        assert f"data        {name}" in text
    assert "means over 6 data sets" in text
    assert "win/tie/loss of tan-cmi ml; p of the Wilcoxon" in text
    assert len(found.to_frame()) == 6 * (1 + len(METHODS))


def test_one_file_for_all_sets(tmp_path):
    file = tmp_path / "results.jsonl"
    seen = []
    options = {"result_file": file, "listener": lambda r, *_: seen.append((r.data, *r.key))}
    first = evaluate_all(["iris", "monks-1"], ["nb"], **options)
    assert len(seen) == 6
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [d["data"]["name"] for d in lines if isinstance(d.get("data"), dict)] == [
        "iris",
        "monks-1",
    ]
    seen.clear()
    more = evaluate_all(["monks-1", "synthetic-3", "iris"], ["nb"], **options)
    assert {name for name, *_ in seen} == {"synthetic-3"}
    assert more.parts[0].records == first.parts[1].records
    assert more.parts[2].records == first.parts[0].records
    # One set alone uses the same file.
    seen.clear()
    assert evaluate("iris", ["nb"], **options).records == first.parts[0].records
    assert seen == []


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    def stop(record, done, total):
        if record.data == "monks-1" and record.method == "nb":
            raise KeyboardInterrupt

    file = tmp_path / "results.jsonl"
    methods = ["nb", "tan-cmi"]
    part = evaluate_all(["iris", "monks-1", "corral"], methods, result_file=file, listener=stop)
    assert not part.complete
    assert [len(e.records) for e in part.parts] == [10, 1]
    assert "means over 1 data set" in str(part)
    assert evaluate_all(["iris", "monks-1"], methods, result_file=file).complete


def test_mistakes_are_named():
    with pytest.raises(OptionError, match="the data set 'iris' is listed twice"):
        evaluate_all(["iris", "iris"], ["nb"])
    with pytest.raises(OptionError, match="at least one data set"):
        evaluate_all([], ["nb"])
