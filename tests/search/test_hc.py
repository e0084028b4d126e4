"""Greedy hill climbing: traces by hand, local optimality, stop rules, starts."""

import numpy as np
import pytest
from problems import random_codes

from milpbn.clock import Clock, OutOfTime
from milpbn.scores import make_score
from milpbn.search.hc import CompleteHillClimbing, HillClimbing, KTrees


def single_additions(space, families):
    """All structures with one more feature parent, by trying everything."""
    for child in range(1, space.n_variables):
        parents = space.parent_sets[families[child]]
        for new in set(range(1, space.n_variables)) - {child, *parents}:
            family = space.find(child, (*parents, new))
            if family is None:
                continue
            changed = families.copy()
            changed[child] = family
            if _acyclic([space.parent_sets[f] for f in changed]):
                yield changed


def _acyclic(parents):
    left = dict(enumerate(parents))
    while left:
        free = [v for v, s in left.items() if not any(p in left for p in s)]
        if not free:
            return False
        for v in free:
            del left[v]
    return True


def test_the_values_by_hand_hold(xor):
    def value(*parents):
        found = [xor.space.find(v, s) for v, s in enumerate(parents)]
        return xor.value(found)

    assert value((), (0,), (0,), (0,)) == 8
    assert value((), (0, 2), (0,), (0,)) == 12
    assert value((), (0,), (0, 1), (0,)) == 12
    assert value((), (0, 3), (0,), (0,)) == 8
    assert value((), (0,), (0,), (0, 1)) == 8
    assert value((), (0, 2), (0,), (0, 1)) == 12


def test_trace_of_the_greedy_search(xor, run):
    """Round 1 scores six edges; x2 -> x1 and x1 -> x2 both reach 12, and x1 is the first child.

    Round 2: x1 has its parent, x1 -> x2 would close a cycle, three edges are left
    (x3 -> x2, x1 -> x3, x2 -> x3) and none gains: the search ends after nine scores.
    """
    result = run("hc", xor)
    assert result.structure.parents == ((), (0, 2), (0,), (0,))
    assert result.evaluations == 6 + 3
    assert [p.objective for p in result.trace] == [8, 12, 12]


def test_complete_goes_on_to_a_tree(xor, run):
    """After the trace above, the three edges left all score 12; x3 -> x2 is the first.

    Then x3 has no parent but every edge into it closes a cycle: x1 <- x2 <- x3 is complete.
    """
    result = run(HillClimbing(complete=True), xor)
    assert result.structure.parents == ((), (0, 2), (0, 3), (0,))
    assert result.evaluations == 6 + 3
    assert run("hc-complete", xor).structure == result.structure


def test_complete_tree_is_the_answer_even_if_a_part_scores_more(objective_of, run):
    rng = np.random.default_rng(5)
    differ = 0
    for _ in range(20):
        codes, cards = random_codes(rng, 5, 2)
        objective = objective_of(codes, cards)
        result = run(CompleteHillClimbing(), objective)
        assert sum(len(s) - 1 for s in result.structure.parents[1:]) == 3
        differ += run("hc", objective).objective > result.objective
    assert differ


@pytest.mark.parametrize("score", ["cr", "cll", "sm", "sbm"])
@pytest.mark.parametrize("max_parents", [2, 3])
def test_no_single_edge_improves_the_result(objective_of, run, score, max_parents):
    for seed in range(5):
        codes, cards = random_codes(np.random.default_rng(seed), 5, 3)
        objective = objective_of(codes, cards, score, max_parents)
        result = run("hc", objective)
        families = objective.space.families(result.structure)
        others = [objective.value(f) for f in single_additions(objective.space, families)]
        assert max(others, default=-np.inf) <= result.objective + 1e-6
        assert max(len(s) for s in result.structure.parents) <= max_parents


def test_cross_validated_score(objective_of, run):
    codes, cards = random_codes(np.random.default_rng(1), 5, 2)
    objective = objective_of(codes, cards, make_score("cr", validation=5))
    families = objective.space.families(run("hc", objective).structure)
    assert all(
        objective.value(f) <= objective.value(families)
        for f in single_additions(objective.space, families)
    )


def test_begins_with_a_given_structure(xor, run):
    start = xor.space.structure(
        [xor.space.find(v, s) for v, s in enumerate([(), (), (0, 1), (0,)])]
    )
    result = run("hc", xor, start=start)
    assert result.structure.parents[2] == (0, 1)
    assert result.structure.parents[1] == ()


@pytest.mark.parametrize(
    ("signal", "status"), [(KeyboardInterrupt, "interrupted"), (OutOfTime, "time_limit")]
)
@pytest.mark.parametrize("learner", ["hc", "hc-complete"])
def test_stopped_run_keeps_its_edges(xor, run, signal, status, learner):
    """Three looks at the clock find the first edge; the fourth stops the run."""

    class Stopping(Clock):
        looks = 0

        def checkpoint(self):
            self.looks += 1
            if self.looks == 4:
                raise signal

    result = run(learner, xor, clock=Stopping())
    assert str(result.status) == status
    assert result.structure.parents == ((), (0, 2), (0,), (0,))


def test_nearest_to_naive_bayes_under_constraints(objective_of, search_of, xor_codes):
    objective = objective_of(
        xor_codes,
        [2, 2, 2, 2],
        max_parents=3,
        class_parents=True,
        required=["x1->class", "x2->x3"],
        forbidden=["class->x2"],
    )
    # x2 cannot have the class; x3 must have x2, and keeps the class; x1 is above the class.
    search = search_of(objective)
    found = objective.space.structure(KTrees(search).naive_bayes())
    assert found.parents == ((1,), (), (), (0, 2))
