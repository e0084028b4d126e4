"""What estimators say about inputs that cannot be used."""

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier, GBNCClassifier
from milpbn.errors import DataError

X = pd.DataFrame({"a": ["u", "v"] * 10, "b": ["s", "s", "t", "t"] * 5})
Y = np.array(["no", "yes"] * 10, dtype=object)


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA])
@pytest.mark.parametrize("method", [BNClassifier, GBNCClassifier])
def test_missing_labels_are_counted(method, gap):
    y = pd.Series(Y)
    y[3] = y[7] = gap
    with pytest.raises(DataError, match=r"is missing \(NaN\) in row 4 and 1 more; leave out rows"):
        method().fit(X, y)
    y[7] = "no"
    with pytest.raises(DataError, match=r"is missing \(NaN\) in row 4; leave out rows"):
        method().fit(X, y.tolist())


def test_a_single_class_is_shown_as_it_was_given():
    with pytest.raises(DataError, match=r"'y' has only one class \('no'\); two are needed"):
        BNClassifier().fit(X, ["no"] * 20)
    with pytest.raises(DataError, match=r"'y' has only one class \(1\); two are needed"):
        BNClassifier().fit(X, np.ones(20, dtype=int))


@pytest.mark.parametrize("method", [BNClassifier, GBNCClassifier])
def test_columns_with_equal_names_are_named(method):
    twice = X.set_axis(["a", "a"], axis=1)
    with pytest.raises(DataError, match="X: several columns are named 'a'; rename them"):
        method().fit(twice, Y)
    fitted = method().fit(X, Y)
    with pytest.raises(DataError, match="X: several columns are named 'a'; rename them"):
        fitted.predict(twice)


def test_lists_of_labels_keep_their_types():
    y = [["no", 4], ["yes", 6]] * 10
    model = GBNCClassifier(max_parents=1).fit(X, y)
    assert [c.tolist() for c in model.classes_] == [["no", "yes"], [4, 6]]
    assert model.predict(X).tolist() == y
    flat = GBNCClassifier().fit(X, [4, 6] * 10)
    assert flat.predict(X).dtype.kind == "i"
    with pytest.raises(DataError, match=r"'y1' is missing \(NaN\) in row 1; leave out rows"):
        GBNCClassifier().fit(X, [["no", np.nan], *y[1:]])


def test_labels_of_other_rows_are_counted():
    model = BNClassifier(method="nb").fit(X, Y)
    with pytest.raises(DataError, match="X has 20 rows, but y has 19 labels"):
        model.importances(X, Y[:-1])
