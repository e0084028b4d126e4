"""Rows with whole weights are the same as repeated rows, in every score, engine and learner."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from problems import encoded, random_codes, random_weights

from milpbn import learn_parameters, learn_structure
from milpbn.datasets.table import Table
from milpbn.errors import OptionError
from milpbn.families.smoothing import Epsilon
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace, make_settings
from milpbn.parameters import PARAMETERS
from milpbn.scores import SCORES, applicable_settings, make_score
from milpbn.scores.mdl import MDL
from milpbn.scores.rescore import rescore
from milpbn.search import LEARNERS
from milpbn.search.local_search import LocalSearch
from milpbn.search.sa import SimulatedAnnealing
from milpbn.structure import ClassStructures, Structure
from milpbn.verification.verify import verify_model

ROW_SCORES = ("sm", "sbm", "cr", "cll")


def both(seed, n=4, n_classes=3):
    """The same rows twice: with weights, and repeated."""
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, n, n_classes)
    weights = rng.integers(1, 4, len(codes))
    repeated = np.repeat(codes, weights, axis=0)
    return encoded(codes, cards, weights.astype(float)), encoded(repeated, cards)


def same_results(ours, theirs):
    assert ours.structure == theirs.structure
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-12)
    assert (ours.status, ours.evaluations) == (theirs.status, theirs.evaluations)
    assert (ours.bound is None) == (theirs.bound is None)
    if ours.bound is not None:
        assert ours.bound == pytest.approx(theirs.bound, rel=1e-12)


@pytest.mark.parametrize("validation", [None, "loo", 3])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    "method",
    ["branch-and-cut", "monolithic", LocalSearch(5)],
    ids=["branch-and-cut", "monolithic", "local-search"],
)
def test_weights_are_repeated_rows_for_every_score(method, score, validation):
    made = make_score(score, **applicable_settings(score, {"validation": validation}))
    one_program = method == "monolithic" and score == "cll"
    if one_program or (isinstance(method, str) and not made.exact):
        pytest.skip("does not apply")
    if validation and made.decomposable:
        pytest.skip("does not apply")
    options = {"method": method, "score": made, "max_parents": 2}
    weighted, repeated = both(seed=7)
    same_results(learn_structure(weighted, **options), learn_structure(repeated, **options))


@pytest.mark.parametrize("penalty", [0.2, "bic"])
@pytest.mark.parametrize("score", ["sm", "sbm"])
def test_weights_are_repeated_rows_with_a_penalty(score, penalty):
    options = {"score": score, "penalty": penalty, "max_parents": 2}
    weighted, repeated = both(seed=8)
    same_results(learn_structure(weighted, **options), learn_structure(repeated, **options))


@pytest.mark.parametrize("method", [*LEARNERS, "multinet-cmi", "multinet-ear"])
def test_weights_are_repeated_rows_for_every_heuristic(method):
    brief = {"sa": SimulatedAnnealing(max_rejections=5), "local-search": LocalSearch(5)}
    options = {"score": "cll", "class_parents": False, "seed": 3}
    options["method"] = brief.get(method, method)
    weighted, repeated = both(seed=9)
    same_results(learn_structure(weighted, **options), learn_structure(repeated, **options))


@pytest.mark.parametrize("parameters", [*PARAMETERS, "cl:selection=cross-tuning"])
def test_weights_are_repeated_rows_for_every_parameter_learner(parameters):
    weighted, repeated = both(seed=10)
    names = tuple(v.name for v in weighted.variables)
    tree = Structure(names, ((), (0,), (0, 1), (0, 2)))
    graphs = [((), (), (1,), ()), ((), (2,), (), ()), ((), (), (), (2,))]
    states = weighted.variables[0].states
    multinet = ClassStructures(states, tuple(Structure(names, parents) for parents in graphs))
    for structure in (tree, multinet):
        (ours, told), (theirs, expected) = (
            learn_parameters(data, structure, parameters=parameters)
            for data in (weighted, repeated)
        )
        assert (told.chosen, told.ended) == (expected.chosen, expected.ended)
        parts = [(ours, theirs)]
        if isinstance(structure, ClassStructures):
            parts = list(zip(ours.networks, theirs.networks, strict=True))
        for own, other in parts:
            for a, b in zip(own.log_cpts, other.log_cpts, strict=True):
                assert a == pytest.approx(b, abs=1e-9)


@pytest.mark.parametrize("smoothing", ["laplace", Epsilon(0.01)])
@pytest.mark.parametrize("validation", [None, "loo", 3])
@pytest.mark.parametrize("score", ROW_SCORES)
@pytest.mark.parametrize("seed", range(6))
def test_the_objective_is_the_definition_for_any_weights(seed, score, validation, smoothing):
    """Light rows, which leave-one-out takes away as a whole, and folds of fractions included."""
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, 4, n_classes=2 + seed % 2)
    data = encoded(codes, cards, random_weights(rng, len(codes)))
    made = make_score(score, validation=validation, smoothing=smoothing)
    objective = build_objective(data, made, SearchSpace())
    names = tuple(v.name for v in data.variables)
    for parents in (((), (0,), (0, 1), ()), ((2,), (0,), (), (0, 1)), ((1, 2), (), (), (0,))):
        structure = Structure(names, parents)
        expected = rescore(made, structure, data.variables, data.codes, data.weights)
        families = objective.space.families(structure)
        assert objective.value(families) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert objective.state(families).value == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_light_rows_do_not_turn_a_cost_into_a_gain():
    """Weights that add up to less than 1 have a logarithm below 0."""
    codes, cards = random_codes(np.random.default_rng(3), 4, 2)
    data = encoded(codes, cards, np.full(len(codes), 1e-4))
    assert make_score("sm", penalty="bic").cost_per_parameter(data.weights.sum()) == 0
    result = learn_structure(data, score="mdl")
    assert result.status == "optimal"
    assert result.objective <= 0


def test_a_score_without_weights_says_so():
    @dataclass(frozen=True)
    class Unweighted(MDL):
        def definition(self, structure, variables, codes):
            return super().definition(structure, variables, codes)

    weighted, repeated = both(seed=1)
    learn_structure(repeated, score=Unweighted())
    with pytest.raises(OptionError, match="the definition of the score mdl takes none"):
        learn_structure(weighted, score=Unweighted())


def small_table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    label = np.where(rng.random(n) < 0.25, "rare", "usual")
    features = pd.DataFrame(
        {
            "size": rng.normal(np.where(label == "rare", 1.5, 0.0)).round(1),
            "kind": np.where(rng.random(n) < 0.7, np.where(label == "rare", "a", "b"), "c"),
        }
    )
    return Table("small", features, pd.DataFrame({"y": label}), ("size",))


def repeat(table, times):
    return replace(
        table,
        features=table.features.loc[np.repeat(table.features.index, times)].reset_index(drop=True),
        targets=table.targets.loc[np.repeat(table.targets.index, times)].reset_index(drop=True),
        is_train=np.repeat(table.is_train, times),
    )


@pytest.mark.parametrize("class_weight", [None, "balanced", {"rare": 2.5}])
def test_the_whole_chain_with_weights_is_the_chain_with_repeated_rows(class_weight):
    table = replace(small_table(), class_weight=class_weight)
    times = np.random.default_rng(1).integers(1, 4, len(table))
    settings = make_settings(parameters="cl:penalty=1", validation="loo")
    ours = learn_classifier(replace(table, weights=times.astype(float)), settings)
    theirs = learn_classifier(repeat(table, times), settings)
    assert ours.encoder == theirs.encoder
    assert ours.result.structure == theirs.result.structure
    assert ours.result.objective == pytest.approx(theirs.result.objective)
    expected = theirs.log_posterior(table.features)
    assert ours.log_posterior(table.features) == pytest.approx(expected, abs=1e-6)


def test_balanced_classes_have_the_same_prior():
    table = replace(small_table(), class_weight="balanced")
    model = learn_classifier(table, make_settings(method="nb"))
    assert np.exp(model.network.log_cpts[0]) == pytest.approx([0.5, 0.5])
    # The factors come from the training rows, not from those that are held out.
    is_train = np.arange(len(table)) % 2 == 0
    table = replace(table, is_train=is_train)
    weights = table.row_weights()
    by_class = [weights[is_train & (table.target == c)].sum() for c in ("rare", "usual")]
    assert by_class == pytest.approx([is_train.sum() / 2] * 2)


def test_verification_knows_the_weights():
    table = replace(small_table(), weights=np.random.default_rng(2).uniform(0.2, 3, 80))
    model = learn_classifier(table, make_settings())
    assert verify_model(model, table).agrees
    assert not verify_model(model, replace(table, weights=None)).agrees
