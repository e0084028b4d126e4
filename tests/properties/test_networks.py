"""Properties of networks, inference, explanations and score cards."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_cases import few, frames, networks, of, some, structures
from scipy.special import logsumexp

from milpbn import BNClassifier
from milpbn.encoding import ColumnCode, Encoder
from milpbn.explanation import (
    Drift,
    Effect,
    Explanation,
    Flip,
    Reason,
    ScoreCard,
    drift_of,
    effects_of,
    explain_codes,
    explain_rows,
    flip_of,
    importance_table,
    make_card,
    mean_contributions,
    reason_of,
)
from milpbn.explanation.card import CardLoss, CardTable
from milpbn.families import Laplace
from milpbn.network.costs import Costs, read_costs
from milpbn.network.inference import accuracy, log_joint, log_posterior, predict
from milpbn.network.multinet import Multinet, fit_multinet
from milpbn.network.network import Network, fit_network
from milpbn.network.terms import family_terms
from milpbn.structure import ClassStructures, Structure


def with_gaps(data, draw):
    """The features of the rows, some of them missing."""
    features = data.codes[:, 1:].copy()
    holes = draw(st.lists(st.booleans(), min_size=features.size, max_size=features.size))
    features[np.reshape(holes, features.shape)] = -1
    return features


def by_completions(network, features):
    """log P(c, observed features) as a sum over everything that is missing."""
    cards = [v.card for v in network.variables]
    out = np.zeros((len(features), cards[0]))
    for u, row in enumerate(features.tolist()):
        values = [range(card) if v < 0 else [v] for v, card in zip(row, cards[1:], strict=True)]
        for c, *rest in product(range(cards[0]), *values):
            states = (c, *rest)
            logs = (
                network.log_cpts[i][tuple(states[v] for v in network.scope(i))]
                for i in range(len(cards))
            )
            out[u, c] += np.exp(sum(logs))
    return np.log(out)


def encoder_of(data):
    """An encoder for data that were made as codes."""
    target, *columns = (ColumnCode(v.name, "categorical", states=v.states) for v in data.variables)
    return Encoder(target, tuple(columns), {}, "drop")


@of(
    *("milpbn.network.network.Network", "milpbn.network.inference.log_joint"),
    *("milpbn.network.inference.log_posterior", "milpbn.network.inference.predict"),
    "milpbn.network.inference.accuracy",
)
@some
@given(networks(), st.data())
def test_inference_is_a_sum_over_what_is_missing(pair, more):
    data, network = pair
    assert isinstance(network, Network)
    features = with_gaps(data, more.draw)
    joint = log_joint(network, features)
    assert joint == pytest.approx(by_completions(network, features))
    posterior = log_posterior(network, features)
    assert posterior == pytest.approx(joint - logsumexp(joint, axis=1, keepdims=True))
    assert (predict(network, features) == posterior.argmax(axis=1)).all()
    codes = np.column_stack([data.codes[:, 0], features])
    right = predict(network, features) == codes[:, 0]
    assert accuracy(network, codes) == pytest.approx(right.mean())
    assert network.n_parameters == sum((t.shape[-1] - 1) * t[..., 0].size for t in network.log_cpts)


@of("milpbn.network.multinet.Multinet")
@some
@given(networks(), st.data())
def test_a_multinet_of_equal_structures_is_a_network(pair, more):
    data, _ = pair
    names = tuple(v.name for v in data.variables)
    drawn = more.draw(structures(names[1:], most=1))
    parents = tuple((0, *(p + 1 for p in s)) for s in drawn.parents)
    structure = Structure(names, ((), *parents))
    classes = data.variables[0].states
    both = ClassStructures(classes, (structure,) * len(classes))
    multinet = fit_multinet(both, data.variables, data.codes, Laplace())
    assert isinstance(multinet, Multinet)
    network = fit_network(structure, data.variables, data.codes, Laplace())
    features = with_gaps(data, more.draw)
    assert log_joint(multinet, features) == pytest.approx(log_joint(network, features))
    assert multinet.n_parameters == network.n_parameters


@of("milpbn.network.terms.family_terms")
@some
@given(networks(), st.data())
def test_terms_add_up_to_the_log_joint(pair, more):
    data, network = pair
    features = with_gaps(data, more.draw)
    terms = family_terms(network, features)
    assert terms.shape == (len(features), len(data.variables) + 1, network.n_classes)
    assert terms.sum(axis=1) == pytest.approx(log_joint(network, features))


@of("milpbn.explanation.Explanation", "milpbn.explanation.explain_codes")
@some
@given(networks(), st.data())
def test_contributions_add_up_to_the_log_odds(pair, more):
    data, network = pair
    features = with_gaps(data, more.draw)
    found = explain_codes(network, encoder_of(data), features)
    assert isinstance(found, Explanation)
    posterior = log_posterior(network, features)
    best = posterior.max(axis=1)
    odds = best - np.log1p(-np.exp(best) + 1e-300)
    assert found.contributions.sum(axis=1).to_numpy() == pytest.approx(odds, abs=1e-6)
    assert found.probability.to_numpy() == pytest.approx(np.exp(best))
    assert found.explained.tolist() == [
        data.variables[0].states[c] for c in predict(network, features)
    ]


@of("milpbn.explanation.Effect", "milpbn.explanation.effects_of")
@some
@given(networks(), st.data())
def test_effects_are_zero_on_average_and_for_features_that_do_not_matter(pair, more):
    data, network = pair
    features = with_gaps(data, more.draw)
    if not len(features):
        return
    joint, names = log_joint(network, features), [v.name for v in data.variables[1:]]
    for j, effect in enumerate(effects_of(network, encoder_of(data), features, names)):
        assert isinstance(effect, Effect)
        if (features[:, j] >= 0).any():
            assert effect.shares @ effect.log_odds == pytest.approx(0 * joint[0], abs=1e-7)
        seen = {i for i in range(len(data.variables)) if j + 1 in network.structure.parents[i]}
        if not seen and not network.structure.parents[j + 1]:
            assert effect.log_odds == pytest.approx(0 * effect.log_odds, abs=1e-7)


@of("milpbn.explanation.explain_rows")
@few
@given(frames())
def test_raw_rows_and_codes_are_explained_alike(rows):
    frame, labels = rows
    model = BNClassifier(method="nb").fit(frame, labels)
    found = explain_rows(model.network_, model.encoder_, frame)
    codes = model.encoder_.transform(frame).codes
    wanted = explain_codes(model.network_, model.encoder_, codes)
    assert (found.contributions.to_numpy() == wanted.contributions.to_numpy()).all()
    assert model.explain(frame).log_odds.to_numpy() == pytest.approx(found.log_odds.to_numpy())


@of("milpbn.explanation.mean_contributions", "milpbn.explanation.importance_table")
@some
@given(networks(), st.integers(0, 9))
def test_what_does_not_matter_has_no_importance(pair, seed):
    data, network = pair
    sizes = mean_contributions(network, data.codes[:, 1:])
    weights = np.full(len(data.codes), 2.0)
    assert (sizes >= 0).all()
    assert mean_contributions(network, data.codes[:, 1:], weights) == pytest.approx(sizes)
    table = importance_table(network, data.codes, repeats=1, seed=seed)
    assert table["contribution"].is_monotonic_decreasing
    names = [v.name for v in data.variables[1:]]
    assert table.loc[names, "contribution"].tolist() == sizes.tolist()
    parents, children = network.structure.parents, network.structure.children[0]
    blanket = {*parents[0], *children, *(p for child in children for p in parents[child])}
    for i, name in enumerate(names, 1):
        if i not in blanket:
            assert table.loc[name].to_numpy() == pytest.approx(0, abs=1e-12)


@of(
    *("milpbn.explanation.make_card", "milpbn.explanation.ScoreCard"),
    *("milpbn.explanation.card.CardTable", "milpbn.explanation.card.CardLoss"),
)
@some
@given(networks())
def test_a_card_with_many_points_is_the_model(pair):
    data, network = pair
    card = make_card(network, encoder_of(data), Laplace(), points=10**7)
    assert isinstance(card, ScoreCard)
    assert all(isinstance(table, CardTable) for table in card.tables)
    features = data.codes[:, 1:]
    assert card.log_proba(features) == pytest.approx(log_posterior(network, features), abs=1e-3)
    total = np.zeros_like(card.totals(features))
    for table in card.tables:
        total += table.points[tuple(features[:, v - 1] for v in table.scope)]
    assert (total == card.totals(features)).all()
    loss = card.loss(network, data.codes)
    assert isinstance(loss, CardLoss)
    assert (loss.rows, loss.left_out) == (len(data.codes), 0)
    assert loss.log_loss == pytest.approx(loss.card_log_loss, abs=1e-3)
    assert loss.accuracy == pytest.approx(accuracy(network, data.codes))


@of("milpbn.network.costs.Costs", "milpbn.network.costs.read_costs")
@some
@given(st.data())
def test_decisions_cost_no_more_than_any_class_for_all_rows(more):
    labels = [f"c{k}" for k in range(more.draw(st.integers(2, 4)))]
    pairs = [(true, own) for true in labels for own in labels if true != own]
    given_costs = {pair: more.draw(st.floats(0, 100).map(lambda x: round(x, 3))) for pair in pairs}
    text = ",".join(f"{true}:{own}={cost}" for (true, own), cost in given_costs.items())
    costs = Costs.of(read_costs(text), labels)
    assert all(
        costs.matrix[labels.index(t), labels.index(o)] == given_costs[t, o] for t, o in pairs
    )
    proba = np.random.default_rng(0).dirichlet(np.ones(len(labels)), 20)
    expected = costs.expected(proba)
    chosen = costs.decide(proba)
    assert (expected[np.arange(20), chosen] <= expected.min(axis=1)).all()
    if len(labels) == 2:
        late = proba[:, 1] > costs.threshold + 1e-9
        assert (chosen[late] == 1).all()


@of("milpbn.explanation.drift_of", "milpbn.explanation.Drift")
@some
@given(networks(), st.data())
def test_drift_is_the_divergence_of_shares_both_ways(pair, more):
    data, network = pair
    if data.weights is not None:
        return
    codes = np.column_stack([data.codes[:, 0], with_gaps(data, more.draw)])
    found = drift_of(network, encoder_of(data), codes)
    assert isinstance(found, Drift)
    for i, variable in enumerate(data.variables):
        own, seen = codes[:, i], data.train()[:, i]
        k = variable.card + bool((own < 0).any())
        now = np.bincount(np.where(own < 0, k - 1, own), minlength=k) + 0.5
        before = np.bincount(seen, minlength=k) + 0.5
        now, before = now / now.sum(), before / before.sum()
        both_ways = (now * np.log(now / before)).sum() + (before * np.log(before / now)).sum()
        assert found.columns.loc[variable.name, "psi"] == pytest.approx(both_ways)
    own = drift_of(network, encoder_of(data), data.train())
    assert own.columns["psi"].to_numpy() == pytest.approx(0)
    assert own.changed == ()


@of("milpbn.explanation.reason_of", "milpbn.explanation.Reason")
@some
@given(networks(), st.integers(0, 5))
def test_a_reason_holds_for_every_completion(pair, number):
    data, network = pair
    row = data.codes[number % len(data.codes), 1:]
    found = reason_of(network, encoder_of(data), row)
    assert isinstance(found, Reason)
    chosen = [v.name in found.states for v in data.variables[1:]]
    free = [
        [code] if fixed else range(v.card)
        for code, fixed, v in zip(row, chosen, data.variables[1:], strict=True)
    ]
    joint = log_joint(network, np.array(list(product(*free))))
    best = data.variables[0].states.index(found.prediction)
    assert (joint[:, [best]] >= joint - 1e-8).all()


@of("milpbn.explanation.flip_of", "milpbn.explanation.Flip")
@some
@given(networks(), st.integers(0, 5))
def test_a_flip_changes_the_prediction(pair, number):
    data, network = pair
    row = data.codes[number % len(data.codes), 1:]
    found = flip_of(network, encoder_of(data), row)
    assert isinstance(found, Flip)
    assert found.complete
    changed = row.copy()
    for j, variable in enumerate(data.variables[1:]):
        if variable.name in found.changes:
            changed[j] = variable.states.index(found.changes[variable.name][1])
    before, after = predict(network, np.array([row, changed]))
    states = data.variables[0].states
    assert states[before] == found.prediction
    assert (found.other or found.prediction) == states[after]
    assert (found.other is None) == (not found.changes)
