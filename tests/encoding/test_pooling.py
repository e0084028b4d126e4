"""Rare states are pooled into one state of the encoder."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
from toy_tables import make_table, states

from milpbn.encoding import Encoder


def test_rare_states_are_pooled_by_the_training_rows() -> None:
    #         train: a 4x, b 3x, c 2x, d 2x, e once    test: e, f, d, missing
    cities = [*"aaaabbbccdde", *"efd", None]
    table = make_table({"city": cities, "x": [*"uv" * 8]}, "ny" * 8, n_train=12, missing="state")
    assert states(Encoder.fit(table), "city") == ("a", "b", "c", "d", "e")
    for max_states, expected in [
        (5, ("a", "b", "c", "d", "e")),
        (4, ("a", "b", "c", "other")),
        (3, ("a", "b", "other")),
        (2, ("a", "other")),
    ]:
        encoder = Encoder.fit(replace(table, max_states=max_states))
        assert states(encoder, "city") == expected
    encoder = Encoder.fit(replace(table, max_states=4))
    assert Encoder.from_dict(json.loads(json.dumps(encoder.to_dict()))) == encoder
    data = encoder.encode(table)
    codes = data.codes[:, 1]
    assert codes[:12].tolist() == [0] * 4 + [1] * 3 + [2] * 2 + [3] * 3
    # A value never seen in training is one more rare value; a missing one is not.
    assert codes[12:].tolist() == [3, 3, 3, -1]
    assert encoder.transform(pd.DataFrame({"city": ["zzz", "a", "7"], "x": ["u"] * 3})).unseen == {}


def test_the_pool_and_the_missing_state_are_real_states() -> None:
    table = make_table(
        {"city": [*"aaabbbcd", None, "other", "other"]}, "ny" * 5 + "n", missing="state",
        max_states=4,
    )  # fmt: skip
    encoder = Encoder.fit(table)
    assert states(encoder, "city") == ("a", "b", "other", "other_2", "missing")
    assert encoder.encode(table).codes[:, 1].tolist() == [0, 0, 0, 1, 1, 1, 3, 3, 4, 2, 2]


def test_a_state_with_one_row_is_never_kept() -> None:
    mails = [f"{i}@x" for i in range(8)]
    table = make_table({"mail": mails, "x": [*"uv" * 4]}, "ny" * 4, max_states=3)
    encoder = Encoder.fit(table)
    assert encoder.dropped == {"mail": "every state is rare"}
    assert "Features left out (every state is rare): 'mail'." in encoder.encode(table).notes


def test_declared_states_are_pooled_too() -> None:
    table = make_table(
        {"x": [*"aabbcd"]}, "nynyny", states={"x": (*"dcbaz",)}, max_states=3
    )  # fmt: skip
    assert states(Encoder.fit(table), "x") == ("b", "a", "other")
