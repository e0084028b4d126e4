"""Small models that every test of the formulation looks at."""

import numpy as np
import pytest
from problems import random_codes

from milpbn.engines.monolithic import build_model
from milpbn.families import MergedRows, candidate_families
from milpbn.scores import make_score


@pytest.fixture
def problem():
    """(objective, model, layout) of a random problem."""

    def make(score="sm", seed=0, n=4, n_classes=3, names=None, **options):
        codes, cards = random_codes(np.random.default_rng(seed), n, n_classes)
        kind = make_score(score)
        names = names or ["class", *(f"x{k}" for k in range(1, n))]
        options = {"max_parents": 2, **options}
        space = candidate_families(names, cards, generative=kind.generative, **options)
        objective = kind.objective(space, MergedRows.from_codes(codes))
        return objective, *build_model(objective)

    return make
