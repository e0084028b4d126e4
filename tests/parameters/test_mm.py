"""Maximum margin: what it gains, and what lambda does."""

import numpy as np
import pytest

from milpbn import Encoder, learn_parameters, load_dataset
from milpbn.clock import Clock
from milpbn.network.inference import accuracy, log_joint
from milpbn.parameters.losses import MarginLoss
from milpbn.parameters.mm import LAMBDAS, MaximumMargin
from milpbn.parameters.optimise import MAX_ITERATIONS
from milpbn.structure import Structure


def soft_margin(network, codes, scale):
    joint = log_joint(network, codes[:, 1:])
    return MarginLoss(scale)(joint, codes[:, 0], np.ones(len(codes)))[0]


@pytest.mark.parametrize("scale", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_training_margins_grow(random_problem, seed, scale):
    data, structure, _ = random_problem(seed)
    plain, _ = learn_parameters(data, structure)
    network, report = learn_parameters(data, structure, parameters=f"mm:lambda={scale}")
    assert report.start == pytest.approx(soft_margin(plain, data.train(), scale))
    assert report.objective == pytest.approx(soft_margin(network, data.train(), scale))
    assert report.objective > report.start


def test_probabilities_stay_normalised(random_problem):
    data, structure, _ = random_problem(1)
    network, _ = learn_parameters(data, structure, parameters="mm:lambda=0.01,penalty=0")
    for table in network.log_cpts:
        assert np.exp(table).sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]))


def test_lambda_is_chosen_and_reported(random_problem):
    data, structure, _ = random_problem(2, m=150)
    _, report = learn_parameters(data, structure, parameters="mm")
    assert report.chosen["lambda"] in LAMBDAS
    assert report.measure == "soft margin"


def test_naive_bayes_learns_what_its_frequencies_cannot_say():
    """At least three of seven bits: a linear rule, which maximum likelihood gets wrong."""
    table = load_dataset("mofn-3-7-10")
    data = Encoder.fit(table).encode(table)
    names = [v.name for v in data.variables]
    structure = Structure.from_arcs(names, [(names[0], x) for x in names[1:]])
    right = {
        p: accuracy(learn_parameters(data, structure, parameters=p)[0], data.test())
        for p in ("ml", "mm")
    }
    assert right["ml"] < 0.95
    assert right["mm"] == 1.0


def test_without_time_to_choose_the_usual_scale_is_optimised():
    plan = MaximumMargin().plan(lambda *_: [], Clock(0), {})
    assert (plan.stopped, plan.loss.scale, plan.max_iterations) == ("", 0.5, MAX_ITERATIONS)
    assert MaximumMargin().settled({"lambda": 0.25}).lambda_ == 0.25
