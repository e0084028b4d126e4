"""Margins of arcs: derived intervals, resuming, model files, rows that are not the model's."""

import math
from dataclasses import replace

import numpy as np
import pytest

from milpbn import Model, learn_classifier, load_dataset, make_settings
from milpbn.certainty.arc_records import ArcAnswer, ArcMargins, ScoreLoss
from milpbn.certainty.arcs import model_arc_margins
from milpbn.errors import DataError, OptionError
from milpbn.verification.verify import verify_model


@pytest.fixture(scope="module")
def iris():
    table = load_dataset("iris")
    return learn_classifier(table, make_settings(class_parents=False)), table


def test_without_an_arc_there_is_the_reverse_arc_or_none():
    answers = (
        ArcAnswer("a", "b", present=False, value=7.0, bound=8.0),
        ArcAnswer("b", "a", present=True, value=9.0, bound=9.0),
    )
    margins = ArcMargins(10.0, answers)
    own, other = margins.arcs
    assert (own.margin.low, own.margin.high) == (1.0, 1.0)
    assert own.edge == ScoreLoss(2.0, 3.0, closed=False)
    assert other.margin == ScoreLoss(1.0, 1.0, closed=True)
    assert (margins.closed, margins.complete, margins.best) == (1, False, 10.0)


def test_an_arc_that_no_structure_can_lack_has_an_infinite_margin():
    margins = ArcMargins(10.0, (ArcAnswer("a", "b", present=False, value=None, bound=None),))
    assert margins.complete
    assert margins.arcs[0].margin == ScoreLoss(math.inf, math.inf, closed=True)


def test_margins_survive_the_model_file(iris, tmp_path):
    model, table = iris
    margins = model_arc_margins(model, table)
    assert margins.complete
    replace(model, arcs=margins).save(tmp_path / "model.json")
    again = Model.load(tmp_path / "model.json")
    assert again.arcs is not None
    assert again.arcs.to_dict() == margins.to_dict()


def test_a_second_run_continues_where_the_first_one_stopped(iris):
    model, table = iris
    complete = model_arc_margins(model, table)
    some = tuple(
        replace(a, bound=model.result.bound) if k % 2 else a for k, a in enumerate(complete.answers)
    )
    asked = []
    again = model_arc_margins(
        replace(model, arcs=ArcMargins(complete.objective, some)),
        table,
        watch=lambda done, total: asked.append(done),
    )
    assert asked[0] == sum(a.closed() for a in some) < len(some)
    assert asked == sorted(asked)
    assert again.to_frame().high.to_numpy() == pytest.approx(complete.to_frame().high.to_numpy())
    assert again.complete


def test_ctrl_c_keeps_the_answers(iris):
    model, table = iris

    def stop(done, total):
        if done >= 3:
            raise KeyboardInterrupt

    margins = model_arc_margins(model, table, watch=stop)
    assert 3 <= margins.closed < len(margins.answers)
    assert all(a.bound is None or a.bound <= model.result.bound + 1e-6 for a in margins.answers)


def test_other_rows_are_refused(iris):
    model, table = iris
    few = replace(table, is_train=np.arange(len(table)) % 2 == 0)
    with pytest.raises(DataError, match="use the rows that it was learned from"):
        model_arc_margins(model, few)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "multinet-cmi"}, "a multinet has a structure per class"),
        ({"method": "nb", "score": "cr"}, "the score cr has no bounds"),
    ],
)
def test_models_without_margins_are_refused(settings, message):
    table = load_dataset("iris")
    model = learn_classifier(table, make_settings(**settings))
    with pytest.raises(OptionError, match=message):
        model_arc_margins(model, table)


def test_verification_finds_a_margin_that_its_structure_does_not_have(iris):
    model, table = iris
    margins = model_arc_margins(model, table)
    assert verify_model(replace(model, arcs=margins), table).agrees
    answers = list(margins.answers)
    answers[0] = replace(answers[0], value=answers[0].value + 0.5)
    answers[1] = replace(answers[1], changes={})
    wrong = ArcMargins(margins.objective, tuple(answers))
    found = [c for c in verify_model(replace(model, arcs=wrong), table).checks if c.holds is False]
    assert len(found) == 1
    assert "has another score" in found[0].seen
    assert "does not satisfy the condition" in found[0].seen


def test_verification_finds_a_bound_that_only_another_search_refutes():
    """The best structure with an arc turned round differs in two families."""
    table = load_dataset("iris")
    model = learn_classifier(table, make_settings(score="bdeu", max_parents=1))
    margins = model_arc_margins(model, table)
    (told,) = (c for c in verify_model(replace(model, arcs=margins), table).checks
               if "arc margins" in c.claim)  # fmt: skip
    n = len(margins.answers)
    assert told.seen == f"{n} answers; {n} of {n} bounds proven again"
    same = (a for a in margins.answers if a.value == pytest.approx(model.result.objective))
    turned = next(a for a in same if a.present and len(a.changes) > 1)
    # As if none but structures with one other family had been looked at.
    lower = replace(turned, value=None, bound=turned.bound - 1.0, changes={})
    wrong = tuple(lower if a is turned else a for a in margins.answers)
    less = margins.answers[1:]
    for answers, what in ((wrong, "exceeds the bound"), (less, "there is no answer")):
        forged = replace(model, arcs=replace(margins, answers=answers))
        found = [c for c in verify_model(forged, table).checks if c.holds is False]
        assert len(found) == 1
        assert what in found[0].seen


def test_the_scale_of_the_score_decides_when_a_margin_is_closed(iris):
    answer = ArcAnswer("a", "b", present=True, value=-0.5, bound=-0.5 + 1e-5)
    assert not ArcMargins(-0.1, (answer,)).complete
    wide = ArcMargins(-0.1, (answer,), scale=100.0)
    assert wide.complete
    assert wide.arcs[0].margin.closed
    assert ArcMargins.from_dict(wide.to_dict()) == wide
    model, table = iris
    wrong = replace(model_arc_margins(model, table), scale=100.0)
    found = [c for c in verify_model(replace(model, arcs=wrong), table).checks if c.holds is False]
    assert "the scale is 100, not 1" in found[0].seen


def test_verification_finds_an_arc_that_is_not_impossible(iris):
    """No structure of the file has the arc, but one with another family has."""
    model, table = iris
    answer = next(a for a in model_arc_margins(model, table).answers if a.present)
    none = replace(answer, value=None, bound=None, changes={}, resolutions={})
    wrong = ArcMargins(model.result.objective, (none,))
    found = [c for c in verify_model(replace(model, arcs=wrong), table).checks if c.holds is False]
    assert len(found) == 1
    assert "a structure exceeds the bound" in found[0].seen
