"""Reasons and flips against brute force over all completions and all changes."""

from itertools import chain, combinations, product

import numpy as np
import pytest

from milpbn import BNClassifier, load_dataset
from milpbn.encoding import ColumnCode, Encoder, Variable
from milpbn.errors import OptionError
from milpbn.explanation import flip_of, reason_of, reasons
from milpbn.families import Epsilon, Laplace
from milpbn.network.inference import log_joint
from milpbn.network.multinet import fit_classifier
from milpbn.structure import ClassStructures, Structure


def random_structure(rng, names, class_parents):
    order = [0, *(rng.permutation(len(names) - 1) + 1).tolist()]
    if class_parents:
        order = [*order[1:3], 0, *order[3:]]
    parents = [()] * len(names)
    for k, i in enumerate(order):
        size = min(k, int(rng.integers(0, 3)))
        parents[i] = tuple(sorted(rng.choice(order[:k], size, replace=False).tolist()))
    return Structure(names, tuple(parents))


def random_model(seed, kind="network", n=5):
    """A classifier with random arcs, its encoder, and rows of codes."""
    rng = np.random.default_rng(seed)
    cards = [int(rng.integers(2, 4)), *rng.integers(2, 4, n - 1).tolist()]
    names = ("class", *(f"x{i}" for i in range(1, n)))
    states = [tuple(f"s{k}" for k in range(card)) for card in cards]
    variables = tuple(Variable(*pair) for pair in zip(names, states, strict=True))
    codes = np.stack([rng.integers(0, card, 40) for card in cards], axis=1)
    if kind == "multinet":
        own = tuple(random_structure(rng, names, False) for _ in range(cards[0]))
        structure = ClassStructures(states[0], own)
    else:
        structure = random_structure(rng, names, kind == "class-parents")
    smoothing = Epsilon(1e-3) if seed % 3 == 0 else Laplace()
    network = fit_classifier(structure, variables, codes, smoothing)
    target, *columns = (
        ColumnCode(v.name, "categorical", states=v.states, missing_state=False) for v in variables
    )
    return network, Encoder(target, tuple(columns), {}, "drop"), codes[:, 1:], cards[1:]


def fixes(network, row, cards, chosen, best):
    """Whether no completion of the chosen features makes another class more probable."""
    free = [[row[j]] if j in chosen else range(card) for j, card in enumerate(cards)]
    joint = log_joint(network, np.array(list(product(*free))))
    return bool((joint[:, [best]] >= joint - 1e-9).all())


def subsets(items):
    items = list(items)
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


KINDS = ["network", "class-parents", "multinet"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_a_reason_fixes_the_prediction_and_no_smaller_set_does(kind, seed):
    network, encoder, rows, cards = random_model(seed, kind)
    for row in rows[:4]:
        best = int(log_joint(network, row[np.newaxis]).argmax())
        found = reason_of(network, encoder, row)
        chosen = {int(name[1:]) - 1 for name in found.states}
        assert found.prediction == f"s{best}"
        assert all(found.states[f"x{j + 1}"] == f"s{row[j]}" for j in chosen)
        assert fixes(network, row, cards, chosen, best)
        smaller = (s for s in subsets(range(len(cards))) if len(s) < len(chosen))
        assert not any(fixes(network, row, cards, set(s), best) for s in smaller)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_reasons_of_incomplete_rows_hold_for_whatever_is_missing(kind, seed):
    network, encoder, rows, cards = random_model(seed, kind)
    row = rows[0].copy()
    row[[1, 3]] = -1
    best = int(log_joint(network, row[np.newaxis]).argmax())
    found = reason_of(network, encoder, row)
    known = {j for j in range(len(cards)) if row[j] >= 0}
    sizes = [len(s) for s in subsets(known) if fixes(network, row, cards, set(s), best)]
    if found.states is None:
        assert not sizes
        assert str(found).endswith("the missing features could change it")
    else:
        assert len(found.states) == min(sizes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_a_flip_is_the_smallest_and_most_probable_change(kind, seed):
    network, encoder, rows, cards = random_model(seed, kind)
    row = rows[1].copy()
    if seed % 2:
        row[2] = -1
    fixed = {0} if seed % 4 == 3 else set()
    best = int(log_joint(network, row[np.newaxis]).argmax())
    free = [[row[j]] if row[j] < 0 or j in fixed else range(card) for j, card in enumerate(cards)]
    ends = []
    for changed in product(*free):
        joint = log_joint(network, np.array([changed]))[0]
        if joint.argmax() != best:
            proba = np.exp(joint - np.logaddexp.reduce(joint)).max()
            ends.append((sum(a != b for a, b in zip(changed, row, strict=True)), -proba))
    found = flip_of(network, encoder, row, [f"x{j + 1}" for j in fixed])
    assert found.complete
    if not ends:
        assert (found.other, found.changes) == (None, {})
        assert "no change of the known features flips it" in str(found)
        return
    assert (len(found.changes), -found.probability) == pytest.approx(min(ends))
    assert found.tried == len(found.changes) - 1
    changed = row.copy()
    for name, (before, after) in found.changes.items():
        assert before == f"s{row[int(name[1:]) - 1]}"
        changed[int(name[1:]) - 1] = int(after[1:])
    assert f"s{log_joint(network, changed[np.newaxis]).argmax()}" == found.other


def test_a_search_for_a_flip_says_where_it_stopped(monkeypatch):
    network, encoder, rows, _ = random_model(1)
    monkeypatch.setattr(reasons, "_MOST_ROWS", 3)
    found = flip_of(network, encoder, rows[0])
    assert (found.other, found.complete, found.tried) == (None, False, 0)
    assert "no change of up to 0 features" in str(found)


def test_estimators_answer_for_rows_and_refuse_unknown_features():
    heart = load_dataset("heart")
    model = BNClassifier(method="nb").fit(heart.features, heart.target)
    told = model.reasons(heart.features.head(3))
    flips = model.flips(heart.features.head(3), fixed=["age", "sex"])
    assert [r.prediction for r in told] == [f.prediction for f in flips]
    assert [r.prediction for r in told] == model.predict(heart.features.head(3)).tolist()
    assert not {"age", "sex"} & {name for f in flips for name in f.changes}
    with pytest.raises(OptionError, match="'weight' is not a feature of the model"):
        model.flips(heart.features.head(1), fixed=["weight"])
