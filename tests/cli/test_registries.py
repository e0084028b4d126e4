"""The command line knows what the registries know: nothing is listed twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import Result
from scipy.special import xlogy

from milpbn import Encoder, Model, load_dataset
from milpbn.cli import cli
from milpbn.evaluation.missing_curve import DEFAULT_CLASSIFIERS
from milpbn.interchange import FILE_FORMATS
from milpbn.learning.methods import ENGINES
from milpbn.mdc.base_estimators import BASES
from milpbn.mdc.features import MIXED
from milpbn.mdc.inference import LOSSES
from milpbn.mdc.other_methods import ORDERS
from milpbn.parameters import PARAMETERS
from milpbn.scores import SCORES, score_names
from milpbn.scores.base import DecomposableScore
from milpbn.scores.definition import observed_counts
from milpbn.search import LEARNERS, make_learner
from milpbn.search.multinet import MULTINETS
from milpbn.settings.run import EMITTERS, HOSTS

Run = Callable[..., Result]


def option(*path: str) -> click.Option:
    """An option by its command and its name."""
    command: click.Command = cli
    for name in path[:-1]:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    return next(p for p in command.params if path[-1] in p.opts)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (("solve", "--method"), list(ENGINES)),
        (("solve", "--host"), HOSTS),
        (("solve", "--emit"), EMITTERS),
        (("scores", "--score"), score_names(lambda s: s.decomposable, aliases=True)),
        (("export", "--format"), FILE_FORMATS),
        (("mdc", "solve", "--method"), list(ENGINES)),
        (("mdc", "solve", "--mixed"), MIXED),
        (("mdc", "solve", "--loss"), LOSSES),
        (("mdc", "evaluate", "--order"), ORDERS),
        (("predict", "--loss"), LOSSES),
    ],
    ids=str,
)
def test_the_choices_are_those_of_the_registry(path: tuple[str, ...], names: Iterable[str]) -> None:
    found = option(*path)
    assert isinstance(found.type, click.Choice)
    assert tuple(found.type.choices) == tuple(names)
    if found.show_default:
        assert found.default in names


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (("solve", "--score"), score_names(lambda s: s.exact, aliases=True)),
        (("learn", "--score"), score_names(aliases=True)),
        (("evaluate", "--score"), score_names(aliases=True)),
        (("solve", "--p"), ["sm", "sbm"]),
        (("scores", "--ess"), ["bdeu"]),
        (("learn", "--augmented"), ["mdl", "bdeu"]),
        (("solve", "--parameters"), PARAMETERS),
        (("evaluate", "--parameters"), PARAMETERS),
        (("missing-curve", "--classifier"), DEFAULT_CLASSIFIERS),
        (("mdc", "solve", "--base"), BASES),
    ],
    ids=str,
)
def test_the_help_text_names_what_the_registry_has(
    path: tuple[str, ...], names: Iterable[str]
) -> None:
    text = option(*path).help
    assert text is not None
    words = text.replace("(", " ").replace(")", " ").replace(",", " ").replace(";", " ")
    assert set(names) <= {word.strip(".[]") for word in words.split()}


def test_the_help_of_learn_lists_every_method_with_its_title(milpbn: Run) -> None:
    lines = [line.strip() for line in milpbn("learn", "--help").stdout.splitlines()]
    for name in LEARNERS:
        assert f"{name:<14}{make_learner(name).title}" in lines
    for name, title in MULTINETS.items():
        assert f"{name:<14}{title}" in lines
    assert not [line for line in lines if "{" in line]


# A new score: one class, one line in the registry, and nothing else.


@dataclass(frozen=True)
class AIC(DecomposableScore):
    """Akaike information criterion."""

    name = "aic"
    aliases = ("akaike",)
    title = "Akaike information criterion"

    def local(self, counts, total):  # type: ignore[no-untyped-def]
        q, r = counts.shape
        n_h = counts.sum(axis=1)
        return float(xlogy(counts, counts).sum() - xlogy(n_h, n_h).sum() - (r - 1) * q)

    def definition(self, structure, variables, codes):  # type: ignore[no-untyped-def]
        total = 0.0
        for i, parents in enumerate(structure.parents):
            n_h, n_xh, h = observed_counts(codes, i, parents)
            total += float((n_xh * np.log(n_xh / n_h[h])).sum())
            total -= (variables[i].card - 1) * prod(variables[p].card for p in parents)
        return total


@pytest.fixture
def with_aic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCORES, "aic", AIC)


@pytest.mark.usefixtures("with_aic")
def test_a_registered_score_is_solved_saved_and_verified(milpbn: Run, tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    solved = milpbn("solve", "--dataset", "iris", "--score", "akaike", "--json", "--out", out)
    assert solved.exit_code == 0, solved.output
    result = json.loads(solved.stdout)["result"]
    assert (result["status"], result["score"], result["score_parameters"]) == ("optimal", "aic", {})
    table = load_dataset("iris")
    data = Encoder.fit(table).encode(table)
    structure = Model.load(out).result.structure
    assert result["objective"] == pytest.approx(
        AIC().definition(structure, data.variables, data.train())
    )
    verified = milpbn("verify", out)
    assert verified.exit_code == 0, verified.output
    assert "by the score's definition" in verified.stdout


@pytest.mark.usefixtures("with_aic")
def test_a_registered_score_is_there_in_every_command(milpbn: Run) -> None:
    assert "bdeu, cll, aic (= akaike)" in " ".join(milpbn("solve", "--help").stdout.split())
    for command in ("learn", "evaluate"):
        words = " ".join(milpbn(command, "--help").stdout.split())
        assert "bdeu, cll, aic (= akaike); with heuristics also cr" in words
    data = ("--dataset", "iris", "--max-parents", 1)
    learned = milpbn("learn", *data, "--method", "hc", "--score", "aic", "--quiet")
    assert learned.exit_code == 0, learned.output
    assert milpbn("scores", *data, "--score", "aic").exit_code == 0
    refused = milpbn("solve", *data, "--score", "aic", "--p", 0.8)
    assert (refused.exit_code, "--p cannot be combined with --score aic" in refused.stderr) == (
        2,
        True,
    )
    refused = milpbn("learn", *data, "--method", "multinet-cmi", "--score", "aic")
    assert (refused.exit_code, "not defined for multinets" in refused.stderr) == (2, True)
