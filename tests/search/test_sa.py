"""Simulated annealing: the published loop step by step, its scale, its end."""

import math

import numpy as np
import pytest

from milpbn.errors import OptionError
from milpbn.scores import make_score
from milpbn.search.sa import SimulatedAnnealing


class Script:
    """Answers for the random generator, in the order in which they are asked for."""

    def __init__(self, *proposals):
        self.answers = [x for feature, pick, draw in proposals for x in (feature, pick, draw)]

    def integers(self, high):
        answer = self.answers.pop(0)
        assert answer < high
        return answer

    def random(self):
        return self.answers.pop(0)


def test_trace_of_algorithm_1(xor, search_of):
    """Three features: at most 6 tries and 3 successes a temperature, 3 rejections to stop.

    A proposal is (feature, number of the candidate family, random number). For x1 the
    candidates are the parents x2, x3 but the present one. Losing 4 of 12 rows is a
    difference of -1/3 in the rate: it is accepted below exp(-1/3) = 0.7165 at T = 1, and
    below exp(-1/3 / 0.8) = 0.6592 at T = 0.8.
    """
    to_x2, back = (0, 0), (0, 0)
    script = Script(
        (*to_x2, 0.9),  # 8 -> 12, better
        (*back, 0.72),  # 12 -> 8, rejected: 0.72 > 0.7165
        (*back, 0.71),  # 12 -> 8, accepted
        (*to_x2, 0.9),  # 8 -> 12, the third success: cool to T = 0.8
        (*back, 0.66),  # rejected: 0.66 > 0.6592
        (*back, 0.65),  # accepted
        (*to_x2, 0.9),  # better: rejections begin at 0 again
        (*back, 0.99),
        (*back, 0.99),
        (*back, 0.99),  # the sixth try; 3 rejections: the end
    )
    search = search_of(xor)
    search.rng = script
    SimulatedAnnealing(max_rejections=1, max_tries=2, max_successes=1).run(search)
    assert script.answers == []
    assert search.evaluations == 10
    assert search.progress.value == 12
    assert xor.space.structure(search.progress.families).parents == ((), (0, 2), (0,), (0,))


def test_equal_scores_are_accepted_without_an_end_to_rejections(xor, search_of):
    """x3 -> x1 leaves 8 rows right: accepted at any draw, but no improvement."""
    script = Script(
        (0, 1, 0.999999),  # x3 -> x1: 8 -> 8
        (1, 0, 0.0),  # x1 -> x2: 8 -> 12
    )
    search = search_of(xor)
    search.rng = script
    with pytest.raises(IndexError):  # the script is over, the search is not
        SimulatedAnnealing().run(search)
    assert search.progress.value == 12


def test_scale_is_the_papers(xor, objective_of, xor_codes):
    learner = SimulatedAnnealing()
    assert learner.scale(xor) == 12  # a rate: r = 1
    margin = objective_of(xor_codes, [2] * 4, make_score("sm", p=0.8))
    # exp((SM' - SM) / gamma / (100 T)): MM = SM / gamma and r = 100
    assert learner.scale(margin) == pytest.approx(100 * math.log(4))
    assert learner.scale(objective_of(xor_codes, [2] * 4, "cll")) == 100
    assert SimulatedAnnealing(r=3).scale(xor) == 36


def test_defaults_are_the_papers():
    learner = SimulatedAnnealing()
    assert (learner.temperature, learner.cooling) == (1, 0.8)
    assert (learner.max_rejections, learner.max_tries, learner.max_successes) == (100, 50, 5)


def test_ends_on_a_plateau(objective_of, run):
    """Features that say nothing: every structure scores the same, nothing is ever rejected."""
    codes = np.array([[c, a, b] for c in (0, 1) for a in (0, 1) for b in (0, 1)])
    result = run("sa", objective_of(codes, [2, 2, 2]))
    assert str(result.status) == "feasible"


def test_never_leaves_k_trees(objective_of, search_of):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (40, 6))
    objective = objective_of(codes, [2] * 6, "sm", max_parents=3)
    search = search_of(objective)
    seen = []
    search.offer = lambda state, source: seen.append(objective.space.structure(state.families))
    SimulatedAnnealing(max_rejections=2).run(search)
    assert max(len(s) for structure in seen for s in structure.parents) == 3
    assert all(0 in s for structure in seen for s in structure.parents[1:])


@pytest.mark.parametrize("wrong", [{"temperature": 0}, {"cooling": 1}, {"r": -1}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(OptionError, match="simulated annealing needs"):
        SimulatedAnnealing(**wrong)
