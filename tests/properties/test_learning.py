"""Properties of learning: settings, models, margins, alternatives, paths and selections."""

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_cases import data_sets, few, frames, of, once, some, spaces, tables

from milpbn import (
    BNClassifier,
    BNClassifierCV,
    Model,
    SelectionPlan,
    Settings,
    SolveOptions,
    arc_margins,
    learn_alternatives,
    learn_classifier,
    learn_grid,
    learn_path,
    learn_selected,
    learn_structure,
    load_model,
    make_settings,
)
from milpbn.anytime import allowed_gap
from milpbn.certainty.alternative_records import Alternative, Alternatives
from milpbn.certainty.arc_records import ArcAnswer, ArcMargin, ArcMargins, ScoreLoss
from milpbn.certainty.arcs import model_arc_margins
from milpbn.certainty.stability import model_stability
from milpbn.certainty.stability_records import Stability
from milpbn.check import Proven, check_certificate, read_lines
from milpbn.clock import Clock
from milpbn.datasets import table_from_frame
from milpbn.encoding import ColumnCode, Encoder
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.errors import CertificateError
from milpbn.learning.certification import certified_problem
from milpbn.learning.classifier import Encoded, encode, fit_model, learn_encoded
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.learning.structure import run_method
from milpbn.learning.update import StructureUpdate, add_rows, search_again
from milpbn.network.inference import accuracy
from milpbn.scores import SoftMargin
from milpbn.scores.rescore import rescore
from milpbn.selection.candidates import Candidate, Selection
from milpbn.selection.path import PathPoint, PathWatch, PenaltyPath
from milpbn.settings import SettingNames
from milpbn.verification.certificate_claims import check_model
from milpbn.verification.checks import Check, Verification
from milpbn.verification.verify import verify_model

QUICK = {"max_parents": 1}
NAMES = st.fixed_dictionaries(
    {},
    optional={
        "score": st.sampled_from(["sm", "sbm"]),
        "p": st.floats(0.51, 0.99),
        "penalty": st.floats(0, 2) | st.just("bic"),
        "max_parents": st.integers(1, 5),
        "class_parents": st.booleans(),
        "validation": st.none() | st.just("loo") | st.integers(2, 9),
        "smoothing": st.floats(0.01, 9).map("laplace:{}".format),
        "parameters": st.sampled_from(["ml", "cl", "mm:lambda=0.25"]),
        "method": st.sampled_from(["branch-and-cut", "monolithic", "hc", "nb"]),
        "time_limit": st.none() | st.floats(0.1, 1e6),
        "gap": st.floats(0, 1),
        "threads": st.integers(1, 8),
        "seed": st.integers(0, 10**6),
        "max_arcs": st.none() | st.integers(0, 9),
    },
)


@of(
    *("milpbn.make_settings", "milpbn.Settings", "milpbn.learning.settings.SearchSpace"),
    *("milpbn.settings.SettingNames", "milpbn.SolveOptions"),
)
@given(NAMES)
def test_settings_come_back_from_a_model_file(names):
    assert set(names) <= set(SettingNames.__annotations__)
    one = make_settings(**names)
    content = json.loads(json.dumps(one.to_dict()))
    assert Settings.from_dict(content).to_dict() == content
    assert isinstance(one, Settings)
    assert isinstance(one.space, SearchSpace)
    assert isinstance(one.options, SolveOptions)
    assert one.space.max_parents == names.get("max_parents", 2)
    assert one.options.seed == names.get("seed", 0)


@of("milpbn.learn_structure", "milpbn.learning.structure.run_method")
@few
@given(data_sets(features=2), spaces, st.floats(0.55, 0.95))
def test_a_structure_is_optimal_by_enumeration(data, space, p):
    settings = {"max_parents": space.max_parents, "class_parents": space.class_parents, "p": p}
    points = []
    result = learn_structure(data, listener=points.append, **settings)
    _, best = best_by_enumeration(build_objective(data, SoftMargin(p=p), space))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, abs=allowed_gap(best))
    assert best <= result.bound + 1e-9
    own = rescore(SoftMargin(p=p), result.structure, data.variables, data.codes)
    assert result.objective == pytest.approx(own)
    assert tuple(points) == result.trace
    again = run_method(data, make_settings(**settings))
    assert again.structure == result.structure


@of("milpbn.learn_grid")
@few
@given(data_sets(features=2), st.sets(st.sampled_from([0.55, 0.7, 0.9, 0.99]), min_size=1))
def test_a_grid_is_one_run_after_the_other(data, ps):
    found = learn_grid(data, sorted(ps), **QUICK)
    assert list(found) == sorted(ps)
    for p, result in found.items():
        alone = learn_structure(data, p=p, **QUICK).objective
        assert result.objective == pytest.approx(alone, abs=allowed_gap(alone))


@of(
    *("milpbn.learn_classifier", "milpbn.learning.classifier.encode"),
    *("milpbn.learning.classifier.Encoded", "milpbn.learning.classifier.learn_encoded"),
    "milpbn.learning.classifier.fit_model",
)
@few
@given(tables())
def test_the_steps_of_the_chain_give_the_whole(table):
    settings = make_settings(**QUICK)
    whole = learn_classifier(table, settings)
    encoded = encode(table)
    assert isinstance(encoded, Encoded)
    parts = learn_encoded(encoded, settings, clock=Clock())
    result = run_method(encoded.data, settings)
    last = fit_model(encoded, settings, result, clock=Clock())
    for other in (parts, last):
        assert other.network.structure == whole.network.structure
        for mine, theirs in zip(whole.network.log_cpts, other.network.log_cpts, strict=True):
            assert (mine == theirs).all()


@of("milpbn.Model", "milpbn.load_model")
@few
@given(tables(), st.sampled_from(["nb", "branch-and-cut", "multinet-cmi"]))
def test_a_model_comes_back_from_its_file(table, method):
    model = learn_classifier(table, make_settings(method=method, **QUICK))
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save(path)
        again = load_model(path)
        text = path.read_text()
        again.save(path)
        assert path.read_text() == text
    assert isinstance(again, Model)
    logs = model.log_posterior(table.features)
    assert (again.log_posterior(table.features) == logs).all()
    assert (again.to_estimator().predict_log_proba(table.features) == logs).all()


@of("milpbn.BNClassifier")
@few
@given(frames(), st.randoms())
def test_a_classifier_depends_on_names_and_not_on_the_order_of_rows(rows, random):
    frame, labels = rows
    model = BNClassifier(**QUICK).fit(frame, labels)
    proba = model.predict_proba(frame)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    assert (model.classes_[proba.argmax(axis=1)] == model.predict(frame)).all()
    order = list(range(len(frame)))
    random.shuffle(order)
    other = BNClassifier(**QUICK).fit(frame.iloc[order], labels.iloc[order])
    assert other.objective_ == pytest.approx(model.objective_)
    assert other.predict_proba(frame.iloc[order]) == pytest.approx(proba[order])
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save(path)
        assert (BNClassifier.load(path).predict_proba(frame) == proba).all()


@of(
    *("milpbn.BNClassifierCV", "milpbn.learn_selected", "milpbn.SelectionPlan"),
    *("milpbn.selection.candidates.Selection", "milpbn.selection.candidates.Candidate"),
)
@few
@given(frames(), st.sets(st.sampled_from([0.6, 0.8, 0.95]), min_size=1), st.integers(2, 3))
def test_the_best_candidate_is_chosen(rows, ps, folds):
    frame, labels = rows
    grid = {"p": sorted(ps), "parameters": ["ml"]}
    model = BNClassifierCV(param_grid=grid, cv=folds, **QUICK).fit(frame, labels)
    selection = model.selection_
    assert isinstance(selection, Selection)
    assert all(isinstance(c, Candidate) for c in selection.candidates)
    plan = SelectionPlan(grid, cv=folds)
    wanted = [planned.values for planned in plan.candidates(QUICK)]
    assert [c.values for c in selection.candidates] == wanted
    losses = [c.scores["log-loss"] for c in selection.candidates]
    assert losses[selection.chosen] == min(losses)
    assert Selection.from_dict(json.loads(json.dumps(selection.to_dict()))) == selection
    # With the chosen values, the plain classifier is the same.
    plain = BNClassifier(**model.best_params_, **QUICK).fit(frame, labels)
    assert plain.structure_ == model.structure_
    table = table_from_frame(frame, labels, "X")
    assert learn_selected(table, QUICK, plan).selection.values == selection.values


@of(
    *("milpbn.learn_path", "milpbn.selection.path.PenaltyPath", "milpbn.selection.path.PathPoint"),
    "milpbn.selection.path.PathWatch",
)
@few
@given(tables(), st.sets(st.sampled_from([0.0, 0.1, 0.5, 2.0]), min_size=2))
def test_a_larger_penalty_never_gives_more_parameters(table, penalties):
    seen = []
    watch = PathWatch(point=lambda point, total: seen.append((point, total)))
    path = learn_path(table, sorted(penalties), folds=None, watch=watch, **QUICK)
    assert isinstance(path, PenaltyPath)
    assert all(isinstance(point, PathPoint) for point in path.points)
    assert [point.penalty for point in path.points] == sorted(penalties, reverse=True)
    sizes = [point.model.network.n_parameters for point in path.points]
    assert sizes == sorted(sizes)
    assert [point for point, _ in seen] == list(path.points)
    assert path.to_frame()["penalty"].tolist() == [point.penalty for point in path.points]
    for point in path.points:
        alone = learn_classifier(table, make_settings(penalty=point.penalty, **QUICK)).result
        assert point.model.result.objective == pytest.approx(alone.objective)


@of(
    *("milpbn.arc_margins", "milpbn.certainty.arcs.model_arc_margins"),
    *("milpbn.certainty.arc_records.ArcMargins", "milpbn.certainty.arc_records.ArcMargin"),
    *("milpbn.certainty.arc_records.ScoreLoss", "milpbn.certainty.arc_records.ArcAnswer"),
)
@few
@given(frames())
def test_margins_are_losses_of_score(rows):
    frame, labels = rows
    classifier = BNClassifier(class_parents=False, **QUICK).fit(frame, labels)
    margins = arc_margins(classifier, frame, labels)
    assert isinstance(margins, ArcMargins)
    assert margins.complete
    assert ArcMargins.from_dict(json.loads(json.dumps(margins.to_dict()))) == margins
    other = model_arc_margins(classifier.model_, table_from_frame(frame, labels, "X"))
    assert [replace(a, seconds=0.0) for a in other.answers] == [
        replace(a, seconds=0.0) for a in margins.answers
    ]
    assert all(isinstance(a, ArcAnswer) and a.closed() for a in margins.answers)
    own = set(classifier.structure_.arcs)
    for arc in margins.arcs:
        assert isinstance(arc, ArcMargin)
        assert isinstance(arc.margin, ScoreLoss)
        assert arc.present == ((arc.parent, arc.child) in own)
        # The model is optimal, so nothing that differs scores more.
        assert arc.margin.low >= -margins.tolerance
        assert arc.margin.high >= arc.margin.low - margins.tolerance
        either = ScoreLoss(1.0, 2.0, True) | arc.margin
        assert either.high == min(2.0, arc.margin.high)
    assert margins.of(classifier.structure_).keys() == own


@of(
    *("milpbn.learn_alternatives", "milpbn.certainty.alternative_records.Alternatives"),
    "milpbn.certainty.alternative_records.Alternative",
)
@few
@given(data_sets(features=2), st.integers(1, 5))
def test_alternatives_are_the_best_ones_in_order(data, best):
    found = learn_alternatives(data, best=best, **QUICK)
    assert isinstance(found, Alternatives)
    assert all(isinstance(s, Alternative) for s in found.structures)
    assert Alternatives.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    optimum = learn_structure(data, **QUICK).objective
    assert found.structures[0].score == pytest.approx(optimum)
    scores = [s.score for s in found.structures]
    slack = allowed_gap(optimum)
    assert all(a >= b - slack for a, b in pairwise(scores))
    assert found.complete
    for s in found.structures:
        own = rescore(SoftMargin(), s.structure, data.variables, data.codes)
        assert s.score == pytest.approx(own)
        assert found.rest is None or found.rest <= s.score + slack
    shares = found.arc_frequencies()
    assert all(0 < share <= 1 for share in shares.values())


@of("milpbn.certainty.stability.model_stability", "milpbn.certainty.stability_records.Stability")
@few
@given(tables(), st.integers(1, 3), st.integers(0, 9))
def test_frequencies_are_shares_of_the_samples(table, resamples, seed):
    model = learn_classifier(table, make_settings(class_parents=False, **QUICK))
    found = model_stability(model, table, resamples=resamples, seed=seed)
    assert isinstance(found, Stability)
    assert found == model_stability(model, table, resamples=resamples, seed=seed)
    assert Stability.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    for arc, times in found.counts.items():
        assert found.frequency(arc) == times / resamples
        assert found.frequency(arc) <= found.edge_frequency(arc) <= 1
    assert len(found.to_frame()) == len(found.counts)


@of(
    *("milpbn.verification.verify.verify_model", "milpbn.verification.checks.Verification"),
    "milpbn.verification.checks.Check",
)
@once
@given(tables(), st.floats(0.01, 5), st.sampled_from(["objective", "bound"]))
def test_verification_accepts_the_truth_and_finds_a_false_claim(table, wrong, claim):
    model = learn_classifier(table, make_settings(**QUICK))
    found = verify_model(model, table)
    assert isinstance(found, Verification)
    assert all(isinstance(check, Check) for check in found.checks)
    assert found.agrees, found.checks
    told = getattr(model.result, claim) - math.copysign(wrong, 1 if claim == "bound" else -1)
    false = replace(model, result=replace(model.result, **{claim: told}))
    assert not verify_model(false, table).agrees
    # Accuracy is not a claim, but it must be that of the network.
    data = model.encoder.encode(table)
    right = model.log_posterior(table.features).argmax(axis=1) == data.codes[:, 0]
    assert accuracy(model.network, data.codes) == pytest.approx(np.mean(right))


@of(
    *("milpbn.check.check_certificate", "milpbn.check.Proven"),
    "milpbn.verification.certificate_claims.check_model",
)
@few
@given(tables(), st.floats(0.01, 5))
def test_a_certificate_proves_the_bound_and_nothing_below(table, wrong):
    settings, encoded = make_settings(**QUICK), encode(table)
    problem, rows = certified_problem(encoded.data, settings), encoded.data.train()
    with TemporaryDirectory() as folder:
        path = Path(folder, "proof.gz")
        model = learn_encoded(encoded, settings, clock=Clock(), certificate=path)
        proven = check_model(model, table, path)
        lines = list(read_lines(path))
        false = replace(model, result=replace(model.result, bound=model.result.bound - wrong))
        with pytest.raises(CertificateError):
            check_model(false, table, path)
    assert isinstance(proven, Proven)
    alone = check_certificate(lines, problem, rows)
    assert (alone.bound, alone.score, alone.optimal) == (proven.bound, None, False)
    assert proven.optimal
    value = proven.score
    assert value == pytest.approx(model.result.objective)
    objective = build_objective(encoded.data, settings.score, settings.space)
    assert best_by_enumeration(objective)[1] <= proven.bound
    assert proven.bound <= model.result.bound + allowed_gap(value)
    for part in (lines[:-1], lines[1:], [*lines, lines[-1]]):
        with pytest.raises(CertificateError):
            check_certificate(part, problem, rows)


@some
@given(data_sets(weighted=True))
def test_a_weight_is_a_repetition(data):
    whole = replace(data, weights=np.ceil(data.weights))
    times = whole.weights.astype(int)
    repeated = replace(
        data,
        codes=np.repeat(data.codes, times, axis=0),
        is_train=np.ones(times.sum(), dtype=bool),
        weights=None,
    )
    one, other = (learn_structure(d, **QUICK).objective for d in (whole, repeated))
    assert one == pytest.approx(other, abs=allowed_gap(other))


@of("milpbn.learning.update.add_rows")
@some
@given(data_sets(rows=20), st.integers(1, 19), st.sampled_from(["nb", "tan-cmi"]))
def test_the_order_of_updates_does_not_matter(data, cut, method):
    data = data.select(data.is_train)
    names = tuple(v.name for v in data.variables)
    n = max(2, min(cut, len(data.codes) - 1))
    result = run_method(data.first(n), make_settings(method=method))
    target, *columns = (ColumnCode(v.name, "categorical", states=v.states) for v in data.variables)
    encoder = Encoder(target, tuple(columns), {}, "drop")
    encoded = Encoded(encoder, data.first(n), names[1:])
    model = fit_model(encoded, make_settings(method=method), result, clock=Clock())
    rest = data.codes[n:]
    at_once = add_rows(model, rest)
    one_by_one = model
    for row in rest[::-1]:
        one_by_one = add_rows(one_by_one, row[np.newaxis])
    for a, b in zip(at_once.network.log_cpts, one_by_one.network.log_cpts, strict=True):
        assert np.array_equal(a, b)
    assert at_once.data["n_rows"] == one_by_one.data["n_rows"] == len(data.codes)


@of("milpbn.learning.update.search_again", "milpbn.learning.update.StructureUpdate")
@few
@given(tables(), st.integers(0, 10**6))
def test_a_search_after_an_update_is_one_of_all_rows(table, seed):
    rows = table.features.assign(**{table.target.name: table.target})
    later = rows.sample(len(rows), replace=True, random_state=seed)
    model = learn_classifier(table, make_settings(**QUICK))
    both = replace(table, updates=(later,))
    found = search_again(model, both)
    assert isinstance(found, StructureUpdate)
    best = learn_encoded(encode(both), make_settings(**QUICK), clock=Clock()).result
    assert found.model.result.objective == pytest.approx(best.objective, abs=1e-6)
    assert found.objective <= best.objective + allowed_gap(best.objective)
    assert found.is_better is not found.still_optimal
    assert verify_model(found.model, both).agrees
