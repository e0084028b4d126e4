"""``milpbn verify`` believes nothing: every entry of a model file is checked, or listed as open."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from milpbn import Model, load_dataset
from milpbn.datasets.table import Table
from milpbn.errors import MilpbnError
from milpbn.mdc.model import GBNCModel
from milpbn.mdc.verification import verify_gbnc
from milpbn.verification.entries import covers
from milpbn.verification.verify import verify_model

Run = Callable[..., Result]
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def learned(milpbn: Run, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Model files of iris by the options they were learned with."""
    folder = tmp_path_factory.mktemp("entries")
    known: dict[tuple[Any, ...], Path] = {}

    def learn(*options: Any) -> Path:
        if options not in known:
            known[options] = folder / f"{len(known)}.json"
            out = ("--dataset", "iris", "--out", known[options], "--quiet")
            done = milpbn(*options, *out)
            assert done.exit_code == 0, done.output
        return known[options]

    return learn


@pytest.fixture(scope="module")
def iris() -> Table:
    return load_dataset("iris")


@pytest.fixture(autouse=True)
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enumeration decides here; the search for a counterexample may be short."""
    monkeypatch.setattr("milpbn.verification.verify._SEARCH_PATIENCE", 2)


def is_believed(content: dict[str, Any], table: Table) -> bool:
    """Whether a file is accepted, by its reader and by verification."""
    try:
        model = Model.from_dict(content, "file")
        return verify_model(model, table, content=content, time_limit=20).agrees
    except MilpbnError:
        return False


EXACT = ("solve", "--class-root")
CLASS_CHILD = ("solve", "--require", "petalwidth->class")
GENERATIVE = ("solve", "--score", "mdl", "--forbid", "class->sepalwidth")
GENERATIVE += ("--require", "petallength->sepalwidth")
NAIVE = ("learn", "--method", "nb")
SEARCHED = ("learn", "--class-root", "--method", "nb", "--parameters", "cl:penalty=1")


def swap(table: list[Any]) -> None:
    table[0], table[1] = table[1], table[0]


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (EXACT, lambda m: m["result"]["score_parameters"].update(p=0.8)),
        (EXACT, lambda m: m["settings"].update(p=0.8)),
        (EXACT, lambda m: m["settings"].update(gamma=2.0)),
        (EXACT, lambda m: m["settings"].update(score="sbm")),
        (EXACT, lambda m: m["data"].pop("sha256")),
        (EXACT, lambda m: m["data"].pop("n_rows")),
        (EXACT, lambda m: m["data"].update(n_rows=149)),
        (EXACT, lambda m: m["result"].update(n_rows=149)),
        (EXACT, lambda m: m["result"].update(weight=149.0)),
        (EXACT, lambda m: m["result"].update(scale=1e6)),
        (EXACT, lambda m: m["result"].update(tolerance=1.0)),
        (EXACT, lambda m: m["result"].update(nodes=m["result"]["nodes"] + 1)),
        (EXACT, lambda m: m["result"].update(trace=[])),
        (EXACT, lambda m: m["result"]["trace"][-1].update(bound=1e9)),
        (EXACT, lambda m: m["result"]["trace"][1].update(objective=-1e9)),
        (EXACT, lambda m: m["result"]["warm_start"].update(objective=1e9)),
        (EXACT, lambda m: m["result"].update(gap_rel=0.5)),
        (EXACT, lambda m: m["result"].update(bound_is_trivial=True)),
        (EXACT, lambda m: m["result"].update(engine="monolithic")),
        (EXACT, lambda m: m["parameters"].update(method="cl")),
        (EXACT, lambda m: (m["settings"].update(parameters="cl"), swap(_table(m)))),
        (
            EXACT,
            lambda m: (
                m["settings"].update(parameters="cl"),
                m["parameters"].update(method="cl", objective=-1.0, start=-2.0),
                swap(_table(m)),
            ),
        ),
        (NAIVE, lambda m: m["result"].update(status="optimal")),
        (NAIVE, lambda m: m["result"].update(bound=m["result"]["objective"], status="optimal")),
        (NAIVE, lambda m: m["importance"].update(petalwidth=0.0)),
        (SEARCHED, lambda m: swap(_table(m))),
        (SEARCHED, lambda m: m["parameters"].update(objective=-1.0)),
        (SEARCHED, lambda m: m["parameters"].update(measure="soft margin")),
    ],
)
def test_a_file_edited_by_hand_is_rejected(
    learned: Callable[..., Path], iris: Table, model: tuple[Any, ...], change: Change
) -> None:
    content = json.loads(learned(*model).read_text())
    change(content)
    assert not is_believed(content, iris)


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (EXACT, lambda m: m["settings"].update(max_parents=1), "has 2 parents, 1 are allowed"),
        (
            EXACT,
            lambda m: rules(m, required=[["class", "sepalwidth"]]),
            "class->sepalwidth is required",
        ),
        (EXACT, lambda m: rules(m, forbidden=[["class", "petalwidth"]]), "petalwidth is forbidden"),
        (
            EXACT,
            lambda m: m["result"]["score_parameters"].update(penalty=0.5),
            "settings of the score: penalty",
        ),
        (EXACT, lambda m: m["result"]["seconds"].update(solving=-1.0), "negative duration"),
        (
            EXACT,
            lambda m: m["result"]["warm_start"].update(source="tan"),
            "the warm start is 'tan'",
        ),
        (EXACT, lambda m: m["result"]["warm_start"].update(improvement=9.0), "improved by 1.04"),
        (EXACT, lambda m: m["result"]["trace"][-1].update(source="tan"), "say where it ends"),
        (NAIVE, lambda m: m["result"].update(bound_is_trivial=True), "cannot be trivial"),
        (NAIVE, lambda m: m["importance"].pop("petalwidth"), "not that of the features"),
        (NAIVE, lambda m: m["result"].update(bound=1e9), "nb proves no bound"),
        (
            CLASS_CHILD,
            lambda m: m["settings"].update(class_parents=False),
            "the class must be a root",
        ),
        (
            GENERATIVE,
            lambda m: m["settings"].update(augmented=True),
            "has parents, but not the class",
        ),
    ],
)
def test_a_contradiction_is_named(
    learned: Callable[..., Path],
    iris: Table,
    model: tuple[Any, ...],
    change: Change,
    message: str,
) -> None:
    content = json.loads(learned(*model).read_text())
    change(content)
    found = verify_model(Model.from_dict(content, "file"), iris, content=content, time_limit=20)
    assert message in " ".join(check.seen for check in found.checks if check.holds is False)


def rules(model: dict[str, Any], **stated: list[str]) -> None:
    model["settings"]["constraints"].update(stated)


def _table(model: dict[str, Any]) -> list[Any]:
    name = next(n for n, parents in model["structure"].items() if parents)
    table: list[Any] = model["log_probabilities"][name][0]
    return table


def test_what_nothing_can_confirm_is_listed(milpbn: Run, learned: Callable[..., Path]) -> None:
    content = json.loads(learned(*EXACT).read_text())
    content["opinion"] = "excellent"
    edited = learned(*EXACT).with_name("opinion.json")
    edited.write_text(json.dumps(content))
    done = milpbn("verify", edited)
    assert done.exit_code == 0, done.output
    listed = " ".join(done.stdout.split("cannot be checked:")[1].split())
    for name in ("milpbn", "settings.threads", "result.seconds", "opinion"):
        assert name in listed


def leaves(content: Any, path: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Every entry that is not a list or an object: its path, and the steps to it."""
    items: Any = ()
    if isinstance(content, dict):
        items = [(f"{path}.{k}" if path else k, k, v) for k, v in content.items()]
    elif isinstance(content, list):
        items = [(f"{path}[{k}]", k, v) for k, v in enumerate(content)]
    for place, step, value in items:
        if isinstance(value, dict | list):
            yield from ((p, [step, *steps]) for p, steps in leaves(value, place))
        else:
            yield place, [step]


def altered(value: Any) -> Any:
    """Something else of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return "x" if value is None else f"{value}x"


def with_other(content: dict[str, Any], steps: list[Any]) -> dict[str, Any]:
    out = deepcopy(content)
    place: Any = out
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = altered(place[steps[-1]])
    return out


@pytest.mark.parametrize("model", [EXACT, NAIVE, SEARCHED])
def test_every_entry_is_checked_or_listed(
    learned: Callable[..., Path], iris: Table, model: tuple[Any, ...]
) -> None:
    content = json.loads(learned(*model).read_text())
    honest = verify_model(Model.from_dict(content, "file"), iris, content=content)
    assert honest.agrees
    assert believed_edits(content, honest.unchecked, lambda m: is_believed(m, iris)) <= STILL_TRUE


@pytest.fixture(scope="module")
def jura_model(milpbn: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The model file of a data set with two class variables, the first a parent of the second."""
    out = tmp_path_factory.mktemp("gbnc") / "jura.json"
    options = ("--dataset", "Jura", "--max-parents", 1, "--base", "logistic:C=1", "--quiet")
    options += ("--validation", "none")
    assert milpbn("mdc", "solve", *options, "--out", out).exit_code == 0
    return out.read_text()


def test_every_entry_of_several_class_variables_is_checked_or_listed(jura_model: str) -> None:
    content, jura = json.loads(jura_model), load_dataset("Jura")
    honest = verify_gbnc(GBNCModel.from_dict(content, "file"), jura, content=content)
    assert honest.agrees

    def is_believed(edited: dict[str, Any]) -> bool:
        try:
            model = GBNCModel.from_dict(edited, "file")
            return verify_gbnc(model, jura, content=edited).agrees
        except MilpbnError:
            return False

    assert believed_edits(content, honest.unchecked, is_believed) == set()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"max_parents": {"class_2": 0}}, "class_2 has 1 parents, 0 are allowed"),
        ({"required": [["class_2", "class_1"]]}, "class_2->class_1 is required"),
        ({"forbidden": [["class_1", "class_2"]]}, "class_1->class_2 is forbidden"),
    ],
)
def test_a_broken_rule_of_several_class_variables_is_named(
    jura_model: str, rule: dict[str, Any], message: str
) -> None:
    content = json.loads(jura_model)
    content["settings"]["constraints"] = rule
    model = GBNCModel.from_dict(content, "file")
    found = verify_gbnc(model, load_dataset("Jura"), content=content)
    assert message in " ".join(check.seen for check in found.checks if check.holds is False)


def test_an_optimum_without_a_bound_is_not_believed(jura_model: str) -> None:
    content = json.loads(jura_model)
    content["result"]["bound"] = None
    model = GBNCModel.from_dict(content, "file")
    found = verify_gbnc(model, load_dataset("Jura"), content=content)
    assert "no bound is stated" in [check.seen for check in found.checks if check.holds is False]


def test_an_unknown_constraint_is_refused(jura_model: str, learned: Callable[..., Path]) -> None:
    several, one = json.loads(jura_model), json.loads(learned(*NAIVE).read_text())
    for content in (several, one):
        content["settings"]["constraints"] = {"favourite": None}
    with pytest.raises(MilpbnError, match="unknown key 'favourite'; known: required"):
        verify_gbnc(GBNCModel.from_dict(several, "file"), load_dataset("Jura"), content=several)
    with pytest.raises(MilpbnError, match="unknown key 'favourite'; known: required"):
        verify_model(Model.from_dict(one, "file"), load_dataset("iris"), content=one)


def believed_edits(
    content: dict[str, Any], unchecked: Sequence[str], believe: Callable[[dict[str, Any]], bool]
) -> set[str]:
    """The entries that can be edited, although they are not listed as unchecked."""
    places = {p: steps for p, steps in leaves(content) if _is_sampled(p)}
    checked = [p for p in places if not any(covers(path, p) for path in unchecked)]
    assert len(checked) > 7
    return {p for p in checked if believe(with_other(content, places[p]))}


def test_every_entry_of_a_set_of_structures_is_checked_or_listed(
    milpbn: Run, learned: Callable[..., Path], iris: Table
) -> None:
    file = learned(*EXACT, "--best", 3)
    assert milpbn("arcs", file, "--quiet").exit_code == 0
    content = json.loads(file.read_text())
    honest = verify_model(Model.from_dict(content, "file"), iris, content=content)
    assert honest.agrees
    parts = {name: content[name] for name in ("arcs", "alternatives")}
    assert (
        believed_edits(parts, honest.unchecked, lambda m: is_believed({**content, **m}, iris))
        == set()
    )


# A claim about other structures or other limits, which is checked and may be true.
STILL_TRUE = {
    "settings.max_parents",
    "settings.class_parents",
    "settings.augmented",
    "data.rows",
}


def _is_sampled(place: str) -> bool:
    """Not more than a few of the many entries of a list."""
    numbers = [int(part.split("]")[0]) for part in place.split("[")[1:]]
    return all(k == 0 for k in numbers)
