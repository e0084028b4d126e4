"""Properties of scores, objectives and local scores."""

import math
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_cases import data_sets, of, some, spaces, structures

from milpbn.families import Laplace, MergedRows
from milpbn.interchange.jkl import read_jkl, write_jkl
from milpbn.learning.objective import build_objective
from milpbn.network.inference import accuracy, log_posterior
from milpbn.network.network import fit_network
from milpbn.scores import (
    MDL,
    BDeu,
    ClassificationRate,
    ConditionalLogLikelihood,
    DecomposableScore,
    LinearObjective,
    MarginObjective,
    MarginScore,
    Objective,
    RowObjective,
    RowScore,
    Score,
    SoftBinaryMargin,
    SoftMargin,
    applicable_settings,
    make_score,
    score_class,
    score_names,
)
from milpbn.scores.local import LocalScores
from milpbn.scores.pruning import prune_dominated
from milpbn.scores.rescore import rescore

KINDS = {
    "sm": SoftMargin,
    "sbm": SoftBinaryMargin,
    "mdl": MDL,
    "bdeu": BDeu,
    "cr": ClassificationRate,
    "cll": ConditionalLogLikelihood,
}
SETTINGS = st.fixed_dictionaries(
    {"p": st.floats(0.51, 0.99), "ess": st.floats(0.1, 10), "penalty": st.floats(0, 1)}
)


@of(
    *("milpbn.scores.make_score", "milpbn.scores.score_class", "milpbn.scores.score_names"),
    *("milpbn.scores.applicable_settings", "milpbn.scores.Score", "milpbn.scores.RowScore"),
    "milpbn.scores.MarginScore",
)
@some
@given(st.sampled_from(sorted(KINDS)), SETTINGS)
def test_a_score_is_its_name_and_settings(name, settings):
    own = applicable_settings(name, settings)
    one = make_score(name, **own)
    assert isinstance(one, Score)
    assert type(one) is KINDS[name] is score_class(name) is score_class(one)
    assert all(getattr(one, key) == value for key, value in own.items())
    assert set(own) == set(settings) & set(one.parameter_names())
    assert isinstance(one, MarginScore) == ("p" in own)
    assert isinstance(one, RowScore) == ("smoothing" in one.parameter_names())
    # Not equality: gamma takes the place of p in what is shown.
    again = make_score(one.name, **{k: v for k, v in one.settings().items() if k != "gamma"})
    assert again == one
    assert name in score_names(lambda kind: kind is KINDS[name])
    assert set(score_names()) >= set(KINDS)


@of(
    *("milpbn.scores.SoftMargin", "milpbn.scores.SoftBinaryMargin", "milpbn.scores.MDL"),
    *("milpbn.scores.BDeu", "milpbn.scores.rescore.rescore"),
)
@some
@given(data_sets(weighted=True, rows=10), st.sampled_from(oracle.SCORES), SETTINGS, st.data())
def test_scores_are_those_of_the_definitions(data, name, settings, more):
    score = make_score(name, **applicable_settings(name, settings))
    structure = more.draw(structures([v.name for v in data.variables]))
    if name in oracle.MARGINS:  # a parent set without the class changes no margin
        parents = tuple(s if 0 in s or i == 0 else () for i, s in enumerate(structure.parents))
        structure = type(structure)(structure.variables, parents)
    cards = [v.card for v in data.variables]
    codes, weights = data.codes.tolist(), data.weights.tolist()
    found = rescore(score, structure, data.variables, data.codes, data.weights)
    if name in oracle.TERMS:
        terms = (
            oracle.TERMS[name](codes, weights, cards, i, s, settings["ess"])
            for i, s in enumerate(structure.parents)
        )
        assert found == pytest.approx(sum(terms))
        return
    margins = sum(
        oracle.MARGINS[name](codes, weights, cards, i, s) for i, s in enumerate(structure.parents)
    )
    if name == "sm":
        margins[np.arange(len(codes)), data.codes[:, 0]] = np.inf
    hinge = math.log(settings["p"] / (1 - settings["p"]))
    assert score.hinge == pytest.approx(hinge)
    wanted = float(np.minimum(margins.min(axis=1), hinge) @ weights)
    wanted -= settings["penalty"] * oracle.n_parameters(structure.parents, cards)
    assert found == pytest.approx(wanted)


@of("milpbn.scores.ClassificationRate", "milpbn.scores.ConditionalLogLikelihood")
@some
@given(data_sets(), st.data())
def test_heuristic_scores_are_measures_of_the_network(data, more):
    structure = more.draw(structures([v.name for v in data.variables]))
    network = fit_network(structure, data.variables, data.codes, Laplace())
    found = rescore(ConditionalLogLikelihood(), structure, data.variables, data.codes)
    logs = log_posterior(network, data.codes[:, 1:])
    assert found == pytest.approx(logs[np.arange(len(logs)), data.codes[:, 0]].sum())
    rate = rescore(ClassificationRate(), structure, data.variables, data.codes)
    # A tie counts as an error for the score, and as a prediction of the first class elsewhere.
    assert rate <= accuracy(network, data.codes) * len(data.codes) + 1e-9
    clear = np.sort(logs, axis=1)
    ties = (clear[:, -1] - clear[:, -2] < 1e-9).sum()
    assert rate >= accuracy(network, data.codes) * len(data.codes) - ties - 1e-9


def families_of(objective, structure):
    """The families of a structure, without the parents that the space does not allow."""
    space, out = objective.space, []
    for i, parents in enumerate(structure.parents):
        family = space.find(i, parents)
        out.append(family if family is not None else space.of(i)[0])
    return np.array(out)


@of(
    *("milpbn.scores.Objective", "milpbn.scores.RowObjective", "milpbn.scores.MarginObjective"),
    *("milpbn.scores.LinearObjective", "milpbn.learning.objective.build_objective"),
    "milpbn.scores.DecomposableScore",
)
@some
@given(data_sets(), st.sampled_from(sorted(KINDS)), SETTINGS, spaces, st.data())
def test_an_objective_is_the_score_as_a_function_of_families(data, name, settings, space, more):
    score = make_score(name, **applicable_settings(name, settings))
    objective = build_objective(data, score, space, prune=False)
    assert isinstance(objective, Objective)
    assert isinstance(score, DecomposableScore) == score.decomposable
    kind = LinearObjective if score.decomposable else RowObjective
    assert isinstance(objective, kind)
    assert isinstance(objective, MarginObjective) == isinstance(score, MarginScore)
    drawn = more.draw(structures([v.name for v in data.variables]))
    families = families_of(objective, drawn)
    structure = objective.space.structure(families)
    value = objective.value(families)
    assert value == pytest.approx(rescore(score, structure, data.variables, data.codes))
    assert value <= objective.quick_bound() + 1e-9
    state = objective.state(families)
    variable = more.draw(st.integers(0, len(data.variables) - 1))
    candidates = list(objective.space.of(variable))
    for family, told in zip(candidates, state.scores(variable, candidates), strict=True):
        other = families.copy()
        other[variable] = family
        assert told == pytest.approx(objective.value(other), rel=1e-4, abs=1e-4)
    if isinstance(objective, MarginObjective):
        low, high = objective.margin_range()
        margins = objective.margins(families)
        assert (low <= margins + 1e-6).all()
        assert (margins <= high + 1e-6).all()
        alpha = sum(objective.alpha(f) for f in families.tolist() if objective.relevant[f])
        assert np.min(alpha, axis=1) == pytest.approx(margins)


@of("milpbn.scores.pruning.prune_dominated")
@some
@given(data_sets(), spaces)
def test_pruning_keeps_the_best_structure(data, space):
    objective = build_objective(data, MDL(), space, prune=False)
    pruned = prune_dominated(objective)
    assert len(pruned.space) <= len(objective.space)
    assert best(pruned) == pytest.approx(best(objective))


def best(objective):
    """The best score, by trying all choices of families."""
    space, found = objective.space, -math.inf
    for pick in product(*(space.of(i) for i in range(space.n_variables))):
        if oracle.is_acyclic([space.parent_sets[f] for f in pick]):
            found = max(found, objective.value(np.array(pick)))
    return found


@of(
    *("milpbn.interchange.jkl.read_jkl", "milpbn.interchange.jkl.write_jkl"),
    "milpbn.scores.local.LocalScores",
)
@some
@given(data_sets(), spaces, st.sampled_from([MDL(), BDeu(2.0)]))
def test_local_scores_come_back_from_a_file(data, space, score):
    objective = prune_dominated(build_objective(data, score, space, prune=False))
    with TemporaryDirectory() as folder:
        path = Path(folder, "scores.jkl")
        path.write_text(write_jkl(objective))
        local = read_jkl(path)
    assert isinstance(local, LocalScores)
    given = local.objective(objective.space, MergedRows.from_codes(data.codes))
    assert by_name(given) == pytest.approx(by_name(objective))


def by_name(objective):
    """The weights of the families of an objective by the names of the variables."""
    names, sets = objective.space.names, objective.space.parent_sets
    return {
        f"{names[objective.space.child[f]]} <- {sorted(names[p] for p in sets[f])}": weight
        for f, weight in enumerate(objective.weights)
    }
