"""The compiled scores of exchanges against the objective's own value, with ties and folds."""

import numpy as np
import pytest
from problems import random_codes

from milpbn.families import MergedRows, candidate_families
from milpbn.scores import make_score

SCORES = ["cr", "cll", "sm", "sbm", "mdl"]


def objective_of(codes, cards, score, validation=None):
    names = ["class", *(f"x{k}" for k in range(1, len(cards)))]
    made = make_score(score, validation=validation)
    space = candidate_families(names, cards, generative=made.generative)
    return made.objective(space, MergedRows.from_codes(codes))


def random_families(rng, space):
    """One family of every variable; states know nothing of cycles."""
    return rng.integers(space.offsets[:-1], space.offsets[1:])


@pytest.mark.parametrize(
    ("score", "validation"),
    [*((s, None) for s in SCORES), *((s, v) for s in SCORES[:-1] for v in (3, "loo"))],
)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_states_score_as_the_objective_does(score, validation, n_classes):
    rng = np.random.default_rng(n_classes)
    codes, cards = random_codes(rng, 4, n_classes)
    objective = objective_of(codes, cards, score, validation)
    space = objective.space
    state = objective.state(random_families(rng, space))
    assert state.value == pytest.approx(objective.value(state.families))
    for _ in range(15):
        variable = int(rng.integers(4))
        candidates = np.array(space.of(variable))
        found = state.scores(variable, candidates)
        expected = []
        for family in candidates:
            families = state.families.copy()
            families[variable] = family
            expected.append(objective.value(families))
        # Candidates are compared in single precision, and settled in double precision.
        assert found == pytest.approx(np.array(expected), rel=1e-4, abs=1e-4)
        state.exchange(variable, int(rng.choice(candidates)))
        assert state.value == pytest.approx(objective.value(state.families))
    assert state.evaluations > 0


@pytest.mark.parametrize("far", [40, 150, 900])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_far_on_the_wrong_side_count(n_classes, far):
    """Hundreds of features that all deny a row's class: its posterior is tiny, but not 0."""
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(n_classes), 50)
    label[0] = 1  # looks like class 0
    shown = np.repeat(np.arange(n_classes), 50)
    codes = np.column_stack([label, np.tile(shown[:, None], far), rng.integers(2, size=len(label))])
    objective = objective_of(codes, [n_classes] * (far + 1) + [2], "cll")
    space = objective.space
    naive = [space.find(v, (0,) if v else ()) for v in range(far + 2)]
    state = objective.state(np.array(naive))
    assert state.value == pytest.approx(objective.value(state.families))
    candidates = np.array(space.of(1))
    expected = []
    for family in candidates:
        families = state.families.copy()
        families[1] = family
        expected.append(objective.value(families))
    assert min(expected) < -2 * far
    assert state.scores(1, candidates) == pytest.approx(np.array(expected), rel=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_that_ties_is_not_classified(n_classes):
    """The class is independent of everything: all margins are zero, no row is right."""
    codes = np.array([[c, a, b] for c in range(n_classes) for a in (0, 1) for b in (0, 1)])
    objective = objective_of(codes, [n_classes, 2, 2], "cr")
    for family in range(len(objective.space)):
        families = objective.space.feasible_families()
        families[objective.space.child[family]] = family
        state = objective.state(families)
        assert state.value == objective.value(families) == 0
        variable = int(objective.space.child[family])
        assert (state.scores(variable, objective.space.of(variable)) == 0).all()


@pytest.mark.parametrize("score", SCORES[:-1])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_only_candidates_below_the_threshold_are_given_up(n_classes, score):
    rng = np.random.default_rng(7)
    label, other = rng.integers(n_classes, size=(2, 2000))
    shown = np.where(rng.random(2000) < 0.5, label, other)  # wrong in several blocks of rows
    features = np.where(rng.random((8, 2000)) < 0.7, shown, rng.integers(n_classes, size=(8, 2000)))
    objective = objective_of(np.vstack([label, features]).T, [n_classes] * 9, score)
    naive = [objective.space.find(v, (0,) if v else ()) for v in range(9)]
    state = objective.state(np.array(naive))
    candidates = np.array(objective.space.of(1))
    scores = state.scores(1, candidates)
    threshold = float(np.median(scores))
    limited = state.scores(1, candidates, threshold)
    reached = scores >= threshold
    # At the threshold itself, rounding decides.
    reached &= limited > -np.inf
    assert reached.sum() >= (scores > threshold).sum()
    assert limited[reached] == pytest.approx(scores[reached])
    assert (limited[~reached] < threshold).all()
