"""From encoded rows to a checked result in one call."""

import time
from dataclasses import replace
from itertools import product

import numpy as np
import oracle
import pytest
from problems import encoded, random_codes

from milpbn import learn_structure, load_dataset
from milpbn.anytime import SolveOptions
from milpbn.clock import Clock
from milpbn.encoding import EncodedData, Variable
from milpbn.errors import (
    BudgetError,
    ConstraintError,
    MilpbnError,
    OptionError,
    ProofWarning,
    SolverError,
)
from milpbn.families import Constraints
from milpbn.learning import classifier
from milpbn.learning.classifier import structure_clock
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace, make_settings
from milpbn.parameters import make_parameters
from milpbn.scores import make_score
from milpbn.scores.rescore import rescore
from milpbn.search import LEARNERS
from milpbn.search.multinet import MULTINETS
from milpbn.structure import Structure


@pytest.fixture
def data():
    codes, cards = random_codes(np.random.default_rng(7), 4, n_classes=2)
    return encoded(codes, cards)


def learn(data, **options):
    """The exact engine alone, whatever the default is."""
    return learn_structure(data, **{"method": "monolithic", "start": None, **options})


@pytest.mark.parametrize("score", ["sm", "sbm", "mdl", "bdeu"])
def test_the_objective_is_the_score_from_the_data_up(data, score):
    result = learn(data, score=score)
    assert result.status == "optimal"
    assert result.score == score
    independent = rescore(make_score(score), result.structure, data.variables, data.train())
    assert result.objective == pytest.approx(independent)


def test_settings_reach_the_score(data):
    result = learn(data, score="sm", gamma=0.5, smoothing="epsilon:1e-3")
    assert result.score_parameters == {"gamma": 0.5, "smoothing": "epsilon:0.001"}
    assert result.objective <= 0.5 * len(data.codes)


def test_a_score_object_is_taken_as_it_is(data):
    score = make_score("bdeu", ess=7.0)
    assert learn(data, score=score).score_parameters == {"ess": 7.0}


def test_only_training_rows_are_looked_at(data):
    half = np.arange(len(data.codes)) < len(data.codes) // 2
    part = replace(data, is_train=half)
    # What the other rows say makes no difference.
    scrambled = part.codes.copy()
    scrambled[~half] = scrambled[~half][:, ::-1].min()
    alone = replace(data, codes=data.codes[half], is_train=half[half])
    values = [learn(d).objective for d in (part, replace(part, codes=scrambled), alone)]
    assert values == pytest.approx([values[0]] * 3)


def test_the_search_space_is_obeyed(data):
    arcs = learn(data, class_parents=False, max_parents=1).structure.arcs
    assert {parent for parent, _ in arcs} == {"class"}
    constraints = Constraints(forbidden=["class->x1"], required=["class->x2"])
    result = learn(data, constraints=constraints)
    assert ("class", "x2") in result.structure.arcs
    assert ("class", "x1") not in result.structure.arcs


def test_budgets_do_not_go_with_one_structure_per_class(data):
    with pytest.raises(OptionError, match="multinet-cmi learns one structure per class"):
        learn(data, method="multinet-cmi", max_arcs=3)


def test_a_start_that_breaks_a_budget_is_refused(data):
    start = learn(data, method="nb").structure
    with pytest.raises(ConstraintError, match="max_arcs is 1"):
        learn(data, start=start, max_arcs=1)


def test_phases_cover_the_run(data, ticking):
    began = time.perf_counter()
    result = learn(data)
    elapsed = time.perf_counter() - began
    assert set(result.seconds) == {"scoring", "building", "solving", "checking"}
    assert min(result.seconds.values()) > 0
    # The clock begins and ends one look after ours.
    assert sum(result.seconds.values()) == pytest.approx(elapsed, abs=0.005)


@pytest.mark.parametrize("start", [None, "local-search"])
@pytest.mark.parametrize("method", ["monolithic", "branch-and-cut"])
def test_the_listener_hears_the_whole_trace(data, method, start):
    heard = []
    result = learn(data, method=method, start=start, listener=heard.append)
    assert tuple(heard) == result.trace
    # The search for a start leads the trace, and its end is not the end.
    assert heard[0].source == (start or "naive-bayes")
    assert [point.source for point in heard].count("end") == 1
    assert heard[-1].source == "end"


@pytest.mark.parametrize(
    ("method", "score"),
    [*product(("branch-and-cut", "monolithic"), ("sm", "mdl")), ("branch-and-cut", "cll")],
)
@pytest.mark.parametrize("start", [None, "local-search"])
def test_objective_and_bound_are_there_at_every_moment_and_monotone(data, method, start, score):
    trace = learn(data, method=method, start=start, score=score).trace
    objectives, bounds = [t.objective for t in trace], [t.bound for t in trace]
    assert None not in objectives
    assert None not in bounds
    assert objectives == sorted(objectives)
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize("score", ["mdl", "bdeu", "sm"])
def test_a_start_is_taken_for_every_score(data, score):
    # For decomposable scores the naive Bayes families may be pruned.
    names = tuple(v.name for v in data.variables)
    naive = Structure(names, ((), (0,), (0,), (0,)))
    cold = learn(data, score=score)
    warm = learn(data, score=score, start=naive)
    assert warm.status == "optimal"
    assert warm.objective == pytest.approx(cold.objective)
    assert warm.warm_start.source == "warm-start"
    offered = rescore(make_score(score), naive, data.variables, data.train())
    assert warm.warm_start.objective >= offered - 1e-9


@pytest.mark.parametrize("method", ["monolithic", "branch-and-cut", "local-search"])
def test_a_start_may_have_families_that_were_pruned(data, method):
    space = {"max_parents": 3, "class_parents": False, "penalty": 2.0}
    names = tuple(v.name for v in data.variables)
    start = Structure(names, ((), (0,), (0, 1), (0, 1, 2)))
    objective = build_objective(data, make_score("sm", penalty=2.0), SearchSpace(3, False))
    assert objective.space.find(3, (0, 1, 2)) is None
    found = learn(data, method=method, start=start, **space)
    alone = learn(data, **space)
    assert found.objective == pytest.approx(alone.objective)
    scored = rescore(make_score("sm", penalty=2.0), start, data.variables, data.train())
    if found.warm_start is not None:
        assert found.warm_start.objective >= scored


def test_a_start_outside_the_space_is_refused(data):
    names = tuple(v.name for v in data.variables)
    with pytest.raises(ConstraintError, match="class <- x1 is not among the candidate"):
        learn(data, start=Structure(names, ((1,), (), (), ())), class_parents=False)


def test_contradictory_constraints_are_named(data):
    with pytest.raises(ConstraintError, match="the class is a root here"):
        learn(data, class_parents=False, constraints=Constraints(required=["x1->class"]))


def test_an_unknown_method_is_named_with_the_known_ones(data):
    with pytest.raises(OptionError, match=r"'magic'.*monolithic"):
        learn(data, method="magic")


def test_a_score_for_heuristics_has_no_exact_engine(data):
    with pytest.raises(OptionError, match=r"the score cr cannot be maximised exactly.*local-"):
        learn(data, score="cr", start="local-search")


def test_a_smooth_score_has_no_single_linear_program(data):
    with pytest.raises(OptionError, match=r"cll is not piecewise linear.*branch-and-cut"):
        learn(data, score="cll", method="monolithic")


def test_a_time_limit_during_scoring_says_what_to_do(data):
    with pytest.raises(MilpbnError, match=r"time limit of 0 s was reached .*lower max_parents"):
        build_objective(data, make_score("mdl"), SearchSpace(), clock=Clock(0.0))


@pytest.mark.parametrize(
    ("method", "score"),
    [
        *product(("branch-and-cut", "monolithic", *LEARNERS), ("sm", "sbm", "mdl")),
        *product(("branch-and-cut", *LEARNERS), ("cll",)),
    ],
)
def test_there_is_a_structure_whatever_the_limit(data, method, score):
    result = learn(data, method=method, score=score, time_limit=0.0)
    assert str(result.status) == "time_limit" or method in ("nb", "tan-cmi", "tan-ear")
    assert result.objective == pytest.approx(
        rescore(make_score(score), result.structure, data.variables, data.train())
    )
    assert result.bound is None or result.bound_is_trivial
    assert ("trivial" in str(result)) == (result.bound is not None)


@pytest.mark.parametrize("method", MULTINETS)
def test_a_multinet_without_time_is_naive_bayes(data, method):
    result = learn(data, method=method, time_limit=0.0)
    assert str(result.status) == "time_limit"
    assert result.objective == pytest.approx(learn(data, method="nb").objective)


def test_a_bound_that_was_proven_is_not_called_trivial(data):
    result = learn(data)
    assert not result.bound_is_trivial
    assert "trivial" not in str(result)


def test_a_tree_that_does_not_fit_is_replaced_by_local_search(data, monkeypatch):
    monkeypatch.setattr(
        "milpbn.engines.branch_and_cut.engine._too_large", lambda *args: "the tree does"
    )
    with pytest.warns(ProofWarning, match="the tree does not fit"):
        result = learn(data, method="branch-and-cut")
    monkeypatch.undo()
    assert result.objective == pytest.approx(learn(data).objective)
    assert result.bound_is_trivial
    assert str(result.status) == "feasible"


def test_the_memory_limit_reaches_the_families(data):
    with pytest.raises(BudgetError, match="memory limit is 100 bytes"):
        learn(data, options=SolveOptions(memory_limit=100))


def test_the_memory_limit_reaches_the_model():
    # 162 distinct rows, so that the model is larger than the families.
    codes = np.array(list(product(range(2), range(3), range(3), range(3), range(3))))
    data = encoded(codes, [2, 3, 3, 3, 3])
    with pytest.raises(BudgetError, match="margin coefficients"):
        learn(data, options=SolveOptions(memory_limit=50_000))


def test_a_learner_that_reports_a_wrong_score_is_caught(data, monkeypatch):
    monkeypatch.setattr("milpbn.learning.structure.rescore", lambda *_: 12345.0)
    with pytest.raises(SolverError, match=r"scores 12345\.0 when computed from the data"):
        learn(data)


def test_objectives_are_pruned_unless_they_are_margins_without_a_penalty(data):
    full = {"mdl": oracle.families(4, 2, True, True), "sm": oracle.families(4, 2, True, False)}
    sizes = {
        name: len(build_objective(data, make_score(name), SearchSpace()).space) for name in full
    }
    assert sizes["mdl"] < sum(map(len, full["mdl"]))
    assert sizes["sm"] == sum(map(len, full["sm"]))
    penalised = build_objective(data, make_score("sm", penalty=2.0), SearchSpace())
    assert len(penalised.space) < sizes["sm"]


def test_a_class_without_features_has_its_prior():
    alone = EncodedData(
        "alone",
        (Variable("class", ("a", "b")),),
        np.array([[0], [1], [1]], dtype=np.int32),
        np.ones(3, dtype=bool),
    )
    result = learn(alone)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(np.log(3 / 2))


def test_a_time_limit_leaves_some_for_parameters_that_are_searched_for():
    assert structure_clock(Clock(10.0), make_parameters("cl")).limit == 8.0
    for limit, name in ((10.0, "ml"), (None, "mm")):
        clock = Clock(limit)
        assert structure_clock(clock, make_parameters(name)) is clock


def test_a_time_limit_leaves_some_for_the_passes_over_many_rows():
    names = make_parameters("ml"), make_parameters("cl")
    assert [structure_clock(Clock(100.0), p, 10**7).limit for p in names] == [97.0, 80.0]
    assert structure_clock(Clock(1.0), names[0], 10**9).limit == 0.8


@pytest.mark.parametrize("forbidden", ["petalwidht->petallength", "petallength->petalwidht"])
def test_a_mistyped_name_is_reported_before_anything_is_encoded(forbidden, monkeypatch):
    def refuse(*_):
        raise AssertionError("encoded too early")

    monkeypatch.setattr(classifier, "encode", refuse)
    constraints = Constraints(forbidden=[tuple(forbidden.split("->"))])
    settings = make_settings(constraints=constraints)
    with pytest.raises(ConstraintError, match=r"'petalwidht': .* did you mean petalwidth"):
        classifier.learn_classifier(load_dataset("iris"), settings)
