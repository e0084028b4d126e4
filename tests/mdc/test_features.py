import numpy as np
import pandas as pd
import pytest

from milpbn.errors import DataError
from milpbn.mdc.features import FeatureEncoder


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "x": [1.0, 2.0, np.nan, 5.0],
            "constant": [0.1] * 4,
            "color": ["red", "blue", "red", None],
        }
    )


def test_numbers_are_standardised_and_gaps_filled_with_the_mean(frame):
    features = FeatureEncoder.fit(frame, {"color"}, "partition").transform(frame)
    known = np.array([1.0, 2.0, 5.0])
    expected = (known - known.mean()) / known.std()
    assert features.matrix[[0, 1, 3], 0] == pytest.approx(expected)
    assert features.matrix[2, 0] == 0.0
    assert (features.matrix[:, 1] == 0.0).all()
    assert features.missing_counts == {"x": 1}


def test_categories_become_codes_with_missing_as_a_state(frame):
    encoder = FeatureEncoder.fit(frame, {"color"}, "partition")
    assert [v.states for v in encoder.partition] == [("blue", "red", "missing")]
    assert encoder.transform(frame).codes[:, 0].tolist() == [1, 0, 1, 2]
    odd = encoder.transform(frame.assign(color="green"))
    assert odd.codes[:, 0].tolist() == [-1] * 4
    assert odd.unseen == {"color": {"green": 4}}


def test_indicators_of_unseen_categories_are_zero(frame):
    encoder = FeatureEncoder.fit(frame, {"color"}, "one-hot")
    assert encoder.partition == ()
    matrix = encoder.transform(frame).matrix
    assert matrix[:, 2:].tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert (encoder.transform(frame.assign(color="green")).matrix[:, 2:] == 0).all()


def test_texts_for_numbers_are_read_or_reported(frame):
    encoder = FeatureEncoder.fit(frame, {"color"}, "partition")
    as_texts = encoder.transform(frame.assign(x=["1", " 2 ", "", "many"]))
    assert as_texts.unseen == {"x": {"many": 1}}
    assert as_texts.missing_counts == {"x": 1}
    plain = encoder.transform(frame)
    assert as_texts.matrix[:2, 0] == pytest.approx(plain.matrix[:2, 0])


def test_what_cannot_be_encoded_is_named(frame):
    encoder = FeatureEncoder.fit(frame, {"color"}, "partition")
    with pytest.raises(DataError, match="no column 'x'"):
        encoder.transform(frame.drop(columns="x"))
    with pytest.raises(DataError, match="'x' holds an infinite number"):
        encoder.transform(frame.assign(x=np.inf))


def test_the_encoder_survives_json(frame):
    encoder = FeatureEncoder.fit(frame, {"color"}, "one-hot")
    assert FeatureEncoder.from_dict(encoder.to_dict()) == encoder


def test_weights_count_a_row_several_times(frame):
    weights = np.array([1.0, 2.0, 3.0, 1.0])
    weighted = FeatureEncoder.fit(frame, {"color"}, "one-hot", weights)
    repeated = FeatureEncoder.fit(frame.loc[[0, 1, 1, 2, 2, 2, 3]], {"color"}, "one-hot")
    assert weighted.means == pytest.approx(repeated.means)
    assert weighted.scales == pytest.approx(repeated.scales)
