"""A grid of p: the same optima as one by one, from shared tables and cuts."""

from dataclasses import replace

import numpy as np
import pytest
from problems import encoded, random_codes

from milpbn import Encoder, learn_structure, load_dataset
from milpbn.errors import OptionError
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score
from milpbn.selection.grid import learn_grid


@pytest.fixture(scope="module")
def heart():
    table = load_dataset("heart")
    return Encoder.fit(table).encode(table)


@pytest.mark.parametrize("score", ["sm", "sbm"])
def test_every_p_is_solved_as_it_would_be_alone(heart, score):
    settings = {"score": score, "max_parents": 1}
    results = learn_grid(heart, [0.9, 0.55, 0.7], **settings)
    assert list(results) == [0.55, 0.7, 0.9]
    for p, result in results.items():
        alone = learn_structure(heart, p=p, start=None, **settings)
        assert result.status == alone.status == "optimal"
        assert result.objective == pytest.approx(alone.objective, rel=1e-6)
        assert result.score_parameters["p"] == p


def test_the_time_is_shared(heart, ticking):
    results = learn_grid(heart, [0.8, 0.9], time_limit=4)
    assert [str(r.status) for r in results.values()] == ["time_limit", "time_limit"]
    first, second = (sum(r.seconds.values()) for r in results.values())
    assert first < 2.1
    assert first + second < 4.1


def test_an_interrupt_ends_the_grid(heart):
    pressed = []

    def interrupt(point):
        if point.objective is not None and not pressed:
            pressed.append(point)
            raise KeyboardInterrupt

    stopped = learn_grid(heart, [0.8, 0.9], listener=interrupt)
    assert [str(r.status) for r in stopped.values()] == ["interrupted"]
    assert stopped[0.8].bound >= stopped[0.8].objective


def test_a_grid_needs_values_and_a_margin_score(heart):
    with pytest.raises(OptionError, match="empty"):
        learn_grid(heart, [])
    with pytest.raises(OptionError, match="margin score"):
        learn_grid(heart, [0.9], score="mdl")
    with pytest.raises(OptionError, match=r"p must be a number above 0.5 and below 1, not 1.5"):
        learn_grid(heart, [0.9, 1.5])


def test_folds_of_weighted_rows_have_the_penalty_of_all_rows():
    score = make_score("sm", penalty="bic", validation=3)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        codes, cards = random_codes(rng, 4, 2)
        data = encoded(codes, cards, rng.random(len(codes)) * (3.0, 1e-6, 1e9)[seed % 3])
        objective = build_objective(data, score, SearchSpace(max_parents=1))
        assert objective.with_score(replace(score, p=0.6)).penalty == objective.penalty
