from itertools import combinations

import numpy as np
import pytest
from mdc.brute_force import all_scores, random_problem
from mdc.encoded import training_rows
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from milpbn.errors import DataError
from milpbn.mdc.local_scores import make_local_score


@pytest.mark.parametrize("base", [GaussianNB(), DecisionTreeClassifier(random_state=0)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_a_ceiling_bounds_a_parent_set_and_its_supersets(base, seed):
    # Few rows: states are often absent from a configuration, which is what ceilings count.
    X, codes, cards, _ = random_problem(seed, 3, cards=[3, 4, 2], n=30)
    if isinstance(base, DecisionTreeClassifier):
        X = codes + 0.0  # a tree is certain and right: scores come close to their ceilings
        base = DecisionTreeClassifier(random_state=0)
    score = make_local_score(training_rows(X, codes, cards), 3, seed)
    with np.errstate(divide="ignore"):
        truth = all_scores(X, codes, cards, 3, base, folds=score.folds)
    for child, scores in enumerate(truth):
        for parents in scores:
            ceiling = score.ceiling(child, parents)
            above = [s for s in scores if set(s) >= set(parents)]
            assert max(scores[s] for s in above) <= ceiling + 1e-9
            assert max(score.ceiling(child, s) for s in above) <= ceiling + 1e-9


def test_a_ceiling_is_reached_by_a_base_model_that_is_certain_and_right():
    codes = np.array([[0, 0], [1, 0], [0, 1], [1, 1]] * 6)
    score = make_local_score(training_rows(codes, codes, [3, 2]), 4, seed=0)
    base = DecisionTreeClassifier(random_state=0)
    truth = all_scores(codes + 0.0, codes, [3, 2], 2, base, folds=score.folds)
    # The third state of the first class variable never occurs, so it takes its share.
    assert score.ceiling(0, ()) == pytest.approx(truth[0][()])
    assert score.ceiling(0, ()) < 0
    assert score.ceiling(1, ()) == pytest.approx(truth[1][()], abs=1e-12)


def test_the_penalised_score_is_bounded_by_its_penalty():
    codes = np.zeros((100, 3), dtype=int)
    score = make_local_score(training_rows(codes, codes, [2, 3, 4]), None, seed=0)
    assert score.folds is None
    assert score.penalty(1, (0, 2)) == pytest.approx(-0.5 * np.log(100) * 2 * 8)
    for small, large in combinations([(), (0,), (0, 2)], 2):
        assert score.ceiling(1, small) == score.penalty(1, small) > score.ceiling(1, large)


def test_folds_are_even_and_follow_the_seed():
    codes = np.zeros((23, 1), dtype=int)
    rows = training_rows(codes, codes, [2])
    folds = make_local_score(rows, 5, seed=1).folds
    assert sorted(np.bincount(folds)) == [4, 4, 5, 5, 5]
    assert (folds == make_local_score(rows, 5, seed=1).folds).all()
    assert (folds != make_local_score(rows, 5, seed=2).folds).any()
    with pytest.raises(DataError, match="23 rows are too few for validation in 24 folds"):
        make_local_score(rows, 24, seed=0)
