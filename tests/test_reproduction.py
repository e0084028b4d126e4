"""Every table of scripts/reproduce in miniature, and the printed numbers."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t, ttest_rel

from milpbn import learn_parameters, learn_structure

SCRIPTS = Path(__file__).parents[1] / "scripts"
if not SCRIPTS.exists():
    pytest.skip("the scripts are not part of an installed package", allow_module_level=True)
sys.path.insert(0, str(SCRIPTS))

from reproduction import compare, peharz2012, report, results, runs  # noqa: E402
from reproduction.__main__ import main  # noqa: E402
from reproduction.data import UCI25, encoded  # noqa: E402
from reproduction.options import Options  # noqa: E402
from reproduction.printed import printed  # noqa: E402
from reproduction.tables import TABLES  # noqa: E402

OPTIONS = ("--folds", "2", "--splits", "2", "--time-limit", "1", "--repeats", "1", "--rows", "240")

# Tables with a small data set of their own, which is evaluated in folds.
WITH_CORRAL = [name for name, table in TABLES.items() if "corral" in table.sets]


@pytest.fixture
def small(tmp_path):
    """A file with two classes, of which one feature knows most."""
    rng = np.random.default_rng(0)
    label = rng.integers(2, size=120)
    noise = rng.integers(3, size=(120, 3))
    known = np.where(rng.random(120) < 0.8, label, 1 - label)
    path = tmp_path / "small.csv"
    frame = pd.DataFrame(np.column_stack([known, noise, label]), columns=[*"abcd", "class"])
    frame.replace({"class": {0: "no", 1: "yes"}}).to_csv(path, index=False)
    return path


def miniature(name, out, sets, small):
    arguments = [name, *OPTIONS, "--out", str(out)]
    if not TABLES[name].sets:
        return arguments
    return [*arguments, "--sets", sets, "--file", f"small={small}", "--discrete"]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_in_miniature(name, small, tmp_path, monkeypatch, capsys, compiled):
    sets = "Jura" if name == "yang2022-scores" else "small"
    check_miniature(name, sets, small, tmp_path / "out", monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*WITH_CORRAL, "yang2022-scores"])
def test_a_table_with_two_data_sets(name, small, tmp_path, monkeypatch, capsys, compiled):
    sets = "Jura,flare2_mdc3" if name == "yang2022-scores" else "small,corral"
    check_miniature(name, sets, small, tmp_path / "out", monkeypatch, capsys)


def check_miniature(name, sets, small, out, monkeypatch, capsys):
    monkeypatch.delenv("MILPBN_VERIFY_DATA", raising=False)
    monkeypatch.setattr(peharz2012, "PROBABILITIES", (0.6, 0.9))
    arguments = miniature(name, out, sets, small)
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert (out / f"{name}.md").read_text() == shown.removesuffix("\n")
    _, frame = results.read_results(out / f"{name}.csv")
    assert len(frame) > 0
    for picture in (line for line in shown.splitlines() if line.startswith("![")):
        assert (out / picture.rpartition("(")[2].rstrip(")")).stat().st_size > 0


def test_nothing_is_measured_twice(small, tmp_path, monkeypatch, compiled):
    arguments = miniature("pernkopf2010-random", tmp_path, "corral", small)
    assert main(arguments) == 0
    frame = results.read_results(tmp_path / "pernkopf2010-random.csv")[1]
    monkeypatch.setattr("reproduction.runs._measure", None)
    assert main(arguments) == 0
    assert results.read_results(tmp_path / "pernkopf2010-random.csv")[1].equals(frame)


def without_date(capsys):
    """What was printed, except for the last paragraph."""
    return capsys.readouterr().out.strip().rpartition("\n\n")[0]


def test_an_evaluation_goes_on_where_it_stopped(small, tmp_path, monkeypatch, capsys, compiled):
    arguments = ["pernkopf2005", *OPTIONS, "--file", f"small={small}", "--out", str(tmp_path)]
    assert main([*arguments, "--sets", "small", "--minutes", "0"]) == 0
    assert "no results" in capsys.readouterr().err
    assert main([*arguments, "--sets", "small"]) == 0
    first = without_date(capsys)
    # There is no time for iris, and what is finished is not evaluated again.
    assert main([*arguments, "--sets", "small,iris", "--minutes", "0"]) == 0
    assert without_date(capsys) == first
    monkeypatch.setattr("milpbn.evaluation.run._run_fold", None)
    assert main([*arguments, "--sets", "small"]) == 0
    assert without_date(capsys) == first


def test_an_unfinished_data_set_is_not_shown(small, tmp_path, monkeypatch, capsys, compiled):
    def stop(options):
        raise KeyboardInterrupt

    arguments = miniature("pernkopf2005-accuracy", tmp_path, "small", small)
    with monkeypatch.context() as patch:
        patch.setattr("reproduction.runs._stop", stop)
        assert main(arguments) == 0
    assert "0 of 2 parts are finished" in capsys.readouterr().err
    assert len(list(tmp_path.rglob("small-*.jsonl"))) == 2
    assert main(arguments) == 0
    assert "| small |" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["pernkopf2005-accuracy", "pernkopf2010-random"])
def test_results_of_the_manual_are_added_to(name, small, tmp_path, monkeypatch, compiled):
    manual, out, ran = tmp_path / "manual", tmp_path / "out", set()
    monkeypatch.setattr("reproduction.__main__.RESULTS", manual)
    assert main(miniature(name, manual, "small", small)) == 0
    first = results.read_results(manual / f"{name}.csv")[1]
    run, measure = runs.Part.run, runs._measure
    monkeypatch.setattr(
        "reproduction.runs.Part.run", lambda part, o: (ran.add(part.data), run(part, o))[1]
    )
    monkeypatch.setattr(
        "reproduction.runs._measure", lambda m, k, o: (ran.add(k["set"]), measure(m, k, o))[1]
    )
    assert main([*miniature(name, out, "small,corral", small), "--more"]) == 0
    frame = results.read_results(out / f"{name}.csv")[1]
    assert ran == {"corral"}
    assert set(frame["set"]) == {"small", "corral"}
    assert frame[frame["set"] == "small"].reset_index(drop=True).equals(first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pernkopf2006"], "there is no table 'pernkopf2006'; run scripts/reproduce for a list"),
        (["pernkopf2005", "--sets", "adult"], "'adult' is not a data set of pernkopf2005-accuracy"),
        (["pernkopf2005", "--file", "usps"], "--file 'usps': expected NAME=PATH"),
        (["pernkopf2005", "--file", "usps=none.csv"], "there is no file none.csv"),
        (["pernkopf2005", "--folds", "1"], "--folds must be at least 2, not 1"),
        (["pernkopf2005", "--time-limit", "0"], "--time-limit must be positive, not 0"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_file_may_have_several_class_variables(tmp_path, capsys):
    rng = np.random.default_rng(0)
    first = rng.integers(2, size=80)
    columns = {"x": first + rng.normal(size=80), "class_1": first, "class_2": 1 - first}
    pd.DataFrame(columns).to_csv(tmp_path / "own.csv", index=False)
    file = ("--file", f"own={tmp_path / 'own.csv'}", "--sets", "own", "--out", str(tmp_path))
    assert main(["yang2022", "--folds", "2", *file]) == 0
    assert "| own | sgd |" in capsys.readouterr().out


def test_without_a_name_the_tables_are_listed(capsys):
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in TABLES)


# Numbers of test rows in the publications; cross-validated data sets count all rows.
TEST_ROWS = {"chess": 1066, "letter": 5000, "mofn-3-7-10": 1024, "shuttle-small": 1934}
TEST_ROWS |= {"satimage": 2000, "segment": 770, "waveform-21": 4700}
ALL_ROWS = {"australian": 690, "breast": 683, "cleve": 296, "corral": 128, "crx": 653}
ALL_ROWS |= {"diabetes": 768, "flare": 1066, "german": 1000, "glass": 214, "glass2": 163}
ALL_ROWS |= {"heart": 270, "hepatitis": 80, "iris": 150, "lymphography": 148, "pima": 768}
ALL_ROWS |= {"vote": 435, "soybean-large": 562, "vehicle": 846}


def check_spread(given, rows, factor):
    """Printed accuracies are multiples of 1 / n, with a spread of factor * sqrt(a (1 - a) / n)."""
    known = given[given["set"].isin(rows)]
    assert len(known) > 0
    for line in known.itertuples():
        n = rows[line.set]
        correct = round(n * line.value / 100)
        assert 100 * correct / n == pytest.approx(line.value, abs=0.0101), line
        error = np.sqrt(line.value * (100 - line.value) / n)
        assert factor * error == pytest.approx(line.spread, abs=0.0101), line


def test_printed_intervals_belong_to_the_printed_accuracies_of_2012():
    given = printed("peharz2012", 2)
    assert len(given) == 31 * 6 - 3  # two are not available, one cannot be read
    more = {"abalone": 1033, "adult": 15060, "spambase": 2300, "nursery": 6480}
    check_spread(given, {**TEST_ROWS, **more}, 1.96)


@pytest.mark.parametrize(
    ("paper", "table", "more"),
    [
        ("pernkopf2005", 2, {}),
        ("pernkopf2010", 7, {}),
        ("pernkopf2010", 13, {}),
        ("pernkopf2013", 1, {"mnist": 10000, "usps": 3000, "spambase": 2300}),
        ("pernkopf2013", 2, {"mnist": 10000, "usps": 3000, "spambase": 2300}),
    ],
)
def test_printed_errors_belong_to_the_printed_accuracies(paper, table, more):
    check_spread(printed(paper, table), {**TEST_ROWS, **more}, 1.0)


@pytest.mark.parametrize("table", [7, 13])
def test_printed_averages_are_those_of_the_printed_rows(table):
    rows = {**TEST_ROWS, **ALL_ROWS}
    values = printed("pernkopf2010", table).pivot(index="set", columns="classifier", values="value")
    assert sorted(values.index.drop("average")) == sorted(UCI25) == sorted(rows)
    for name, column in values.items():
        mean = np.average(column[list(rows)], weights=list(rows.values()))
        assert mean == pytest.approx(column["average"], abs=0.0101), name


@pytest.mark.parametrize(("table", "wins"), [(4, (11, 2, 5, 0)), (5, (15, 3, 0, 0))])
def test_printed_numbers_of_wins(table, wins):
    values = printed("yang2022", table).pivot(index="set", columns="classifier", values="value")
    best = values.eq(values.max(axis=1), axis=0).sum()
    assert tuple(best[["GBNC", "BR", "CC", "CP"]]) == wins


def folds_of(correct, **columns):
    """The results of a classifier on 100 test rows each, by default in random splits."""
    n = len(correct)
    frame = {"set": "car", "classifier": "NB", "split": range(1, n + 1), "fold": 1}
    frame |= {"rows": 100, "train_rows": 200, "correct": correct, "status": "", "gap": np.nan}
    frame |= {"parameters": 9.0, "evaluations": 0, "seconds": 0.1}
    return pd.DataFrame({**frame, **columns}, index=range(n))


def test_intervals_over_random_splits_are_corrected():
    (line,) = compare.summarise(folds_of([80, 84, 88])).to_dict("records")
    # t(0.975, 2) sqrt((1/3 + 1/2) 4^2)
    assert line["ours"] == pytest.approx(84)
    assert line["half"] == pytest.approx(4.302653 * np.sqrt((1 / 3 + 1 / 2) * 16))
    (line,) = compare.summarise(folds_of([80, 84, 88], split=0, fold=[1, 2, 3])).to_dict("records")
    assert line["half"] == pytest.approx(4.302653 * np.sqrt(16 / 3))


def test_printed_values_are_inside_above_or_below():
    ours = pd.DataFrame({"set": list("abcd"), "classifier": "NB", "ours": 80.0, "half": 1.0})
    given = pd.DataFrame({"set": list("abc"), "classifier": "NB", "value": [81.0, 78.5, 81.5]})
    both = compare.beside(ours, given)
    assert both["mark"].tolist() == ["", compare.ABOVE, compare.BELOW, ""]
    (line,) = compare.by_classifier(both, ["NB", "TAN"]).to_dict("records")
    assert (line["sets"], line["inside"], line["above"], line["below"]) == (3, 1, 1, 1)


def test_wins_are_counted_by_data_set():
    a = [
        folds_of([90, 91, 92, 90, 91], split=0, fold=range(1, 6), set="folds"),
        folds_of([90], split=0, set="one test set"),
        folds_of([80, 81], set="splits"),
    ]
    b = [
        folds_of([80, 82, 81, 81, 80], split=0, fold=range(1, 6), set="folds"),
        folds_of([87], split=0, set="one test set"),
        folds_of([80, 81], set="splits"),
    ]
    folds = pd.concat([*a, *(frame.assign(classifier="TAN") for frame in b)])
    table = compare.wins(folds, ["NB", "TAN"], (0.68, 0.95)).set_index("classifier")
    # 3 points on 100 rows are more than one standard error (4.5) times 0.47, but not times 1.64.
    assert table.loc["NB", "TAN"] == "2 / 1"
    assert table.loc["TAN", "NB"] == "0 / 0"


@pytest.mark.parametrize(("method", "printed_size"), [("nb", 6265), ("tan-cmi", 94015)])
def test_the_states_of_letter_are_the_published_ones(method, printed_size):
    data = encoded("letter", 1, Options())
    structure = learn_structure(data, method=method, class_parents=False).structure
    network, _ = learn_parameters(data, structure)
    assert network.n_parameters == printed_size


def test_a_page_is_filled_and_keeps_its_text(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Before.\n\n<!-- results: a -->\nold\n<!-- end of results -->\n\n"
        "<!-- results: b -->\nkept\n<!-- end of results -->\nAfter.\n"
    )
    assert report.tables_of(page) == ["a", "b"]
    report.fill_page(page, {"a": "new\n"})
    assert page.read_text() == (
        "Before.\n\n<!-- results: a -->\n\nnew\n\n<!-- end of results -->\n\n"
        "<!-- results: b -->\nkept\n<!-- end of results -->\nAfter.\n"
    )


@pytest.mark.parametrize(
    ("paper", "accuracies", "tests"), [("pernkopf2005", 2, 3), ("pernkopf2010", 7, 2)]
)
def test_printed_significances_are_half_the_density_of_t(paper, accuracies, tests):
    given = printed(paper, accuracies)
    values = given.pivot(index="set", columns="classifier", values="value").reindex(UCI25)
    pairs = printed(paper, tests)
    pairs = pairs[pairs["classifier"].isin(values) & pairs["set"].isin(values)]
    deviations = []
    for line in pairs.itertuples():
        pair = values[[line.classifier, line.set]].dropna()
        found = ttest_rel(pair[line.set], pair[line.classifier])
        half = t.pdf(found.statistic, len(pair) - 1) / 2
        deviations.append((abs(line.value - half), abs(line.value - found.pvalue / 2)))
    of_density, of_p = np.mean(deviations, axis=0)
    assert pairs["value"].max() < t.pdf(0, len(UCI25) - 1) / 2
    assert of_density < 0.006 < 0.03 < of_p


def test_claims_are_tested_on_the_sets_with_printed_accuracies():
    both = pd.DataFrame(
        {
            "set": ["a", "b", "c"] * 2,
            "classifier": ["x"] * 3 + ["y"] * 3,
            "ours": [70.0, 80.0, 90.0, 71.0, 82.0, 10.0],
            "value": [70.0, 80.0, 90.0, 69.0, 78.0, np.nan],
        }
    )
    given = pd.DataFrame({"classifier": ["x"], "set": ["y"], "value": [0.01]})
    (line,) = compare.claims(both, given, [("x", "y"), ("x", "unknown")]).itertuples(index=False)
    assert line.sets == 2
    assert (line[-2], line[-1]) == ("-1.50", "+1.50")
    assert line.ours.startswith("↑")
    cell = compare.t_tests(both.pivot(index="set", columns="classifier", values="ours"), given)
    assert cell.loc[0, "y"].endswith("(0.01)")


def test_incomplete_printed_values_have_a_star():
    given = printed("peharz2012", 2)
    assert set(given["set"][given["note"] == "incomplete"]) == {
        "mofn-3-7-10",
        "pima",
        "satimage",
        "segment",
    }
    ours = given.assign(ours=given["value"], half=1.0)[["set", "classifier", "ours", "half"]]
    shown = compare.wide(compare.beside(ours, given), ["NB", "SM"]).set_index("set")
    assert shown.loc["pima", "SM"].endswith("(75.40*)")
    assert shown.loc["pima", "NB"].endswith("(75.78)")
