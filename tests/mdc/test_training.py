import numpy as np
import pytest
from mdc.brute_force import all_scores, best_network, random_problem
from mdc.encoded import training_rows
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from milpbn.clock import Clock, OutOfTime
from milpbn.engines.branch_and_cut.engine import solve_branch_and_cut
from milpbn.engines.monolithic.engine import solve_monolithic
from milpbn.errors import ConstraintError, OptionError
from milpbn.families import Constraints
from milpbn.mdc.candidates import Nodes, parent_choices
from milpbn.mdc.dynamic import best_score
from milpbn.mdc.local_models import weight_parameter
from milpbn.mdc.local_scores import make_local_score
from milpbn.mdc.score import PenalisedCLL
from milpbn.mdc.training import Trainer
from milpbn.result import Status
from milpbn.structure import Structure

SCORE = PenalisedCLL("base", "partition")
BASES = {"logistic": LogisticRegression(solver="newton-cholesky"), "gaussian": GaussianNB()}


def train(
    X,
    codes,
    cards,
    base,
    n_discrete=0,
    listener=None,
    clock=None,
    validation=None,
    weights=None,
    **limits,
):
    d = codes.shape[1] - n_discrete
    rows = training_rows(X, codes, cards, d, weights)
    choices = parent_choices(rows.nodes, **limits)
    score = make_local_score(rows, validation, seed=0)
    trainer = Trainer(rows, choices, [base] * d, score, listener=listener, clock=clock)
    return trainer, trainer.run()


@pytest.mark.parametrize(
    ("base", "seed"), [("logistic", 1), ("logistic", 2), *(("gaussian", k) for k in range(6))]
)
def test_scores_pruning_and_class_network_equal_brute_force(base, seed):
    d = 2 + seed % 3
    X, codes, cards, _ = random_problem(seed, d)
    truth = all_scores(X, codes, cards, d, BASES[base])
    trainer, trained = train(X, codes, cards, BASES[base])
    for child, scores in enumerate(trainer.scores):
        for parents, score in scores.items():
            assert score == pytest.approx(truth[child][parents], abs=1e-7)
    best = best_network(truth)
    for engine in (solve_branch_and_cut, solve_monolithic):
        result = engine(trained.objective, SCORE)
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(best, abs=1e-6)
    assert best_score(trained.objective, d) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_held_out_scores_and_class_network_equal_brute_force(seed):
    X, codes, cards, discrete = random_problem(seed, 2 + seed % 2, n=40, n_discrete=seed // 2)
    everything, d = np.column_stack([codes, discrete]), codes.shape[1]
    cards = [*cards, *[2] * (seed // 2)]
    trainer, trained = train(X, everything, cards, GaussianNB(), n_discrete=seed // 2, validation=3)
    truth = all_scores(X, everything, cards, d, GaussianNB(), folds=trainer.local_score.folds)
    for child, scores in enumerate(trainer.scores):
        for parents, score in scores.items():
            assert score == pytest.approx(truth[child][parents], abs=1e-7)
    best = best_network([*truth, *[{(): 0.0}] * (seed // 2)])
    for engine in (solve_branch_and_cut, solve_monolithic):
        result = engine(trained.objective, SCORE)
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(best, abs=1e-6)
    assert best_score(trained.objective, d) == pytest.approx(best, abs=1e-7)


def test_ceilings_of_held_out_scores_prune_without_losing_the_optimum():
    # Two rows per configuration of all parents: their models are not worth training.
    X, codes, cards, _ = random_problem(0, 4, cards=[3, 3, 3, 3], n=36)
    trainer, trained = train(X, codes, cards, GaussianNB(), validation=3)
    training = trained.training
    assert training.pruned_by_lemma_2 > 0
    assert training.scored_sets + training.pruned_by_lemma_2 == training.candidate_sets == 32
    truth = all_scores(X, codes, cards, 4, GaussianNB(), folds=trainer.local_score.folds)
    result = solve_branch_and_cut(trained.objective, SCORE)
    assert result.objective == pytest.approx(best_network(truth), abs=1e-6)


@pytest.mark.parametrize("validation", [None, 3])
def test_a_weight_is_the_number_of_equal_rows(validation):
    """Logistic regression takes weights exactly; rows of one fold stay together."""
    X, codes, cards, _ = random_problem(4, 3, n=40)
    weights = np.random.default_rng(0).integers(1, 4, size=40)
    base = LogisticRegression(solver="newton-cholesky")
    trainer, trained = train(
        X, codes, cards, base, validation=validation, weights=weights.astype(float)
    )
    folds = trainer.local_score.folds
    twice = [np.repeat(a, weights, axis=0) for a in (X, codes)]
    held_out = None if folds is None else np.repeat(folds, weights)
    truth = all_scores(*twice, cards, 3, base, folds=held_out)
    for child, scores in enumerate(trainer.scores):
        for parents, score in scores.items():
            assert score == pytest.approx(truth[child][parents], abs=1e-5)
            assert trainer.local_score.ceiling(child, parents) >= score - 1e-9
    result = solve_branch_and_cut(trained.objective, SCORE)
    assert result.objective == pytest.approx(best_network(truth), abs=1e-5)


def test_a_total_weight_below_one_is_not_rewarded_for_parents():
    X, codes, cards, _ = random_problem(4, 3, n=40)
    trainer, _ = train(X, codes, cards, GaussianNB(), weights=None)
    light, _ = train(X, codes, cards, LogisticRegression(C=1e4), weights=np.full(40, 1e-3))
    assert trainer.local_score.penalty(0, (1,)) < 0
    assert light.local_score.penalty(0, (1, 2)) == light.local_score.ceiling(0, ()) == 0


def test_weights_that_a_base_model_cannot_take_are_refused():
    with pytest.raises(OptionError, match="KNeighborsClassifier cannot learn from weighted rows"):
        weight_parameter(make_pipeline(StandardScaler(), KNeighborsClassifier()))
    sgd = make_pipeline(StandardScaler(), LogisticRegression())
    assert weight_parameter(sgd) == "logisticregression__sample_weight"


@pytest.mark.parametrize("seed", range(4))
def test_pruned_parent_sets_have_a_subset_that_is_as_good(seed):
    # Few rows and many states: the penalty is heavy and both lemmas have work to do.
    X, codes, cards, _ = random_problem(seed, 4, cards=[2, 3, 3, 2], n=40)
    truth = all_scores(X, codes, cards, 4, GaussianNB())
    _, trained = train(X, codes, cards, GaussianNB())
    space, training = trained.objective.space, trained.training
    kept = {(int(c), s) for c, s in zip(space.child, space.parent_sets, strict=True)}
    pruned = 0
    for child, scores in enumerate(truth):
        for parents, score in scores.items():
            if (child, parents) in kept:
                continue
            pruned += 1
            smaller = [t for t in scores if set(t) < set(parents) and (child, t) in kept]
            assert max(scores[t] for t in smaller) >= score - 1e-9
    assert pruned == training.pruned_by_lemma_1 + training.pruned_by_lemma_2
    assert training.pruned_by_lemma_1 > 0
    assert training.pruned_by_lemma_2 > 0
    assert training.candidate_sets == sum(map(len, truth)) == len(kept) + pruned
    assert training.scored_sets + training.pruned_by_lemma_2 == training.candidate_sets
    assert training.sets_left == training.models_left == 0


def test_a_parent_that_explains_every_row_is_not_pruned():
    """Its score is its penalty, the most that lemma 2 can hope for, and just above the rest."""
    x = np.linspace(-2, 2, 100)
    y0 = np.arange(100) % 2
    y1 = np.where(x < -1, 0, np.where(x < 0, 1, 2))
    odd = np.flatnonzero((x > 0) & (y0 == 1))[0]
    y1[odd] = 1  # without y0 one row is wrong
    codes = np.column_stack([y0, y1])
    X, base = x[:, None], DecisionTreeClassifier(max_leaf_nodes=3, random_state=0)
    truth = all_scores(X, codes, [2, 3], 2, base)
    trainer, trained = train(X, codes, [2, 3], base)
    assert truth[1][(0,)] == pytest.approx(trainer.local_score.penalty(1, (0,)), abs=1e-6)
    assert truth[1][(0,)] - 1 < truth[1][()] < truth[1][(0,)]
    result = solve_branch_and_cut(trained.objective, SCORE)
    assert result.objective == pytest.approx(best_network(truth), abs=1e-6)
    assert result.structure.to_dict()["y1"] == ["y0"]


@pytest.mark.parametrize("seed", range(3))
def test_discrete_features_compete_as_parents(seed):
    X, codes, cards, discrete = random_problem(seed, 2, n=80, n_discrete=2)
    everything, all_cards = np.column_stack([codes, discrete]), [*cards, 2, 2]
    truth = all_scores(X, everything, all_cards, 2, GaussianNB())
    _, trained = train(X, everything, all_cards, GaussianNB(), n_discrete=2)
    roots = [*truth, {(): 0.0}, {(): 0.0}]
    result = solve_branch_and_cut(trained.objective, SCORE)
    assert result.objective == pytest.approx(best_network(roots), abs=1e-6)
    assert best_score(trained.objective, 2) == pytest.approx(result.objective, abs=1e-7)
    limited = [{s: v for s, v in t.items() if sum(p > 1 for p in s) <= 1} for t in truth]
    _, trained = train(X, everything, all_cards, GaussianNB(), n_discrete=2, max_discrete_parents=1)
    result = solve_branch_and_cut(trained.objective, SCORE)
    assert result.objective == pytest.approx(best_network([*limited, *roots[2:]]), abs=1e-6)


def test_constraints_and_limits_hold():
    X, codes, cards, _ = random_problem(3, 4)
    truth = all_scores(X, codes, cards, 4, GaussianNB())
    constraints = Constraints(required=["y3->y0"], forbidden=["y0->y1"], max_parents={"y2": 0})
    _, trained = train(X, codes, cards, GaussianNB(), max_parents=2, constraints=constraints)
    allowed = [
        {s: v for s, v in truth[0].items() if 3 in s and len(s) <= 2},
        {s: v for s, v in truth[1].items() if 0 not in s and len(s) <= 2},
        {(): truth[2][()]},
        {s: v for s, v in truth[3].items() if len(s) <= 2},
    ]
    result = solve_branch_and_cut(trained.objective, SCORE)
    assert result.objective == pytest.approx(best_network(allowed), abs=1e-6)
    assert trained.training.candidate_sets == sum(map(len, allowed))


def test_impossible_limits_are_refused():
    nodes = Nodes(("a", "b", "color"), (2, 2, 3), d=2)
    with pytest.raises(ConstraintError, match="'a' has the required parents b"):
        parent_choices(nodes, max_parents=0, constraints=Constraints(required=["b->a"]))
    with pytest.raises(ConstraintError, match="no arc may enter the feature 'color'"):
        parent_choices(nodes, constraints=Constraints(required=["a->color"]))
    with pytest.raises(OptionError, match="max_parents must not be negative"):
        parent_choices(nodes, max_parents=-1)


@pytest.mark.parametrize(("stop_at", "validation"), [(3, None), (5, None), (9, None), (5, 3)])
def test_an_interrupted_run_keeps_what_was_scored_and_bounds_the_rest(stop_at, validation):
    X, codes, cards, _ = random_problem(5, 3)

    def listener(training):
        if training.scored_sets == stop_at:
            raise KeyboardInterrupt

    trainer, trained = train(
        X, codes, cards, GaussianNB(), listener=listener, validation=validation
    )
    truth = all_scores(X, codes, cards, 3, GaussianNB(), folds=trainer.local_score.folds)
    assert trained.status is Status.INTERRUPTED
    assert sum(map(len, trainer.scores)) == stop_at
    assert trained.training.sets_left > 0
    result = solve_branch_and_cut(trained.objective, SCORE)
    best = best_network(truth)
    assert result.objective <= best + 1e-7 <= trained.open_bound + 2e-7


def test_nothing_to_keep_before_every_class_variable_has_a_model():
    X, codes, cards, _ = random_problem(5, 3)

    def listener(training):
        if training.scored_sets == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(X, codes, cards, GaussianNB(), listener=listener)
    with pytest.raises(OutOfTime):
        train(X, codes, cards, GaussianNB(), clock=Clock(1e-9))


def test_a_start_is_moved_to_the_nearest_scored_families():
    X, codes, cards, _ = random_problem(1, 3, n=40)
    _, trained = train(X, codes, cards, GaussianNB())
    full = Structure.from_dict({"y2": [], "y1": ["y2"], "y0": ["y1", "y2"]})
    near = trained.nearest(full)
    assert near.variables == ("y0", "y1", "y2")
    assert set(near.arcs) <= set(full.arcs)
    trained.objective.space.families(near)  # every family is a candidate
    with pytest.raises(ConstraintError, match="a node 'z'"):
        trained.nearest(Structure.from_dict({"z": []}))
