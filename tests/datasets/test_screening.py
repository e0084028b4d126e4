"""The screening: the same columns, codes and notes from every way in, and each rule by itself."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from troubles import ROWS, TARGET, WRITERS, troubled_frame

from milpbn.datasets import load_dataset, read_features, read_table, table_from_frame
from milpbn.datasets.frames import labelled_table
from milpbn.datasets.infer import Rules
from milpbn.datasets.screening import screen
from milpbn.encoding import Encoder
from milpbn.errors import DataError, OptionError
from milpbn.messages import on_command_line

NOTES = """\
T: left out 2 rows where target 'left, or stayed' is missing.
T: column 'nothing' is dropped: it has no values.
T: column 'currency' is dropped: 'EUR' is its only value.
T: column 'no' is dropped: it counts up or down like a row number; --numeric no keeps it.
T: column 'customerID' is dropped: its name and its 118 different integers suggest an \
identifier; --numeric customerID keeps it.
T: column 'email' is dropped: it has 118 different values in 118 rows, like an identifier; \
--categorical email keeps it.
T: column 'copy' is dropped: it has the same values as 'tenure'; --numeric copy keeps it.
T: 5 columns are dropped because they repeat other columns: 'visit.month' ('signup.month'), \
'visit.weekday' ('signup.weekday'), 'day.year' ('signup.year'), 'day.month' ('signup.month'), \
'day.weekday' ('signup.weekday').
T: column 'rooms' has only 4 different numbers and is read as categories; --numeric rooms keeps it \
numeric.
T: column 'score' holds 115 numbers but also 'broken', '-', so it is not numeric; --numeric \
score treats the other values as missing.
T: 4 columns are read as numbers: 'income' (unit $), 'rate' (unit %), 'weight' (unit kg), 'preis' \
(separators as in 1.234,5); --categorical income,rate,weight,preis reads them as categories.
T: column 'member' spells yes and no as 'N', 'Y', 'Yes', 'no', 'yes' and is read as True and \
False; --categorical member keeps the spellings apart.
T: 2 columns have many different values; the rare ones are pooled into the state 'other': 'city' \
(66), 'score' (65); --max-states sets the limit.
T: 3 columns hold dates and are replaced: 'signup' ('signup.year', 'signup.month', \
'signup.weekday'), 'visit' ('visit.year', 'visit.month', 'visit.weekday', 'visit.time'), 'day' \
('day.year', 'day.month', 'day.weekday'); --dates drop leaves them out.
T: column 'call' holds times and is read as a number of hours; --dates drop leaves it out.
"""


@pytest.fixture(scope="module")
def frame():
    return troubled_frame()


@pytest.fixture(scope="module")
def tables(frame, tmp_path_factory):
    """The troubled table by every way in."""
    folder = tmp_path_factory.mktemp("troubles")
    out = {}
    for suffix, write in WRITERS.items():
        write(frame, folder / f"T.{suffix}")
        out[suffix] = read_table(folder / f"T.{suffix}", TARGET)
    labelled = frame[frame[TARGET].notna()]
    out["frame"] = table_from_frame(labelled.drop(columns=TARGET), labelled[TARGET], "T")
    return out


def notes_of(table):
    """Its notes as the command line prints them, without the extension of the file."""
    return [on_command_line(n).replace(table.name, "T", 1) for n in table.notes]


@pytest.mark.parametrize("way", ["arff", "parquet", "frame"])
def test_every_way_in_gives_the_same_table(tables, way):
    expected, table = tables["csv"], tables[way]
    pd.testing.assert_frame_equal(table.features, expected.features)
    assert table.target.tolist() == expected.target.tolist()
    assert table.numeric == expected.numeric
    rows = 1 if way == "frame" else 0  # a frame was given labelled rows only
    assert notes_of(table) == notes_of(expected)[rows:]
    codes = [Encoder.fit(t).encode(t) for t in (expected, table)]
    assert codes[0].variables == codes[1].variables
    np.testing.assert_array_equal(codes[0].codes, codes[1].codes)


def test_every_decision_leaves_a_note(tables):
    assert "\n".join(notes_of(tables["csv"])) + "\n" == NOTES
    assert list(tables["csv"].features.columns) == [
        *("signup.year", "signup.month", "signup.weekday", "visit.year", "visit.time", "call"),
        *("income", "rate", "weight", "preis", "city", "member", "flag", "score", "tenure"),
        *("rooms", "a,b", "a->b", "größe 体重", "plan"),
    ]


def test_values_are_those_that_people_mean(tables, frame):
    features = tables["csv"].features
    raw = frame[frame[TARGET].notna()].reset_index(drop=True)
    assert features["signup.month"].tolist() == raw["signup"].dt.month.tolist()
    assert features["signup.weekday"].tolist() == (raw["signup"].dt.day_of_week + 1).tolist()
    assert features["signup.year"].astype(int).tolist() == raw["signup"].dt.year.tolist()
    hours, minutes = (raw["call"].str.split(":").str[k].astype(float) for k in (0, 1))
    np.testing.assert_allclose(features["call"], hours + minutes / 60)
    income = raw["income"].str.replace("[$,]", "", regex=True).astype(float)
    assert features["income"].tolist() == income.tolist()
    assert features["rate"].tolist() == raw["rate"].str[:-1].astype(float).tolist()
    assert features["preis"].tolist() == [
        float(v.replace(".", "").replace(",", ".")) for v in raw["preis"]
    ]
    yes = raw["member"].str.lower().str[0] == "y"
    assert features["member"].tolist() == yes.map(str).tolist()


@pytest.mark.parametrize("way", [*WRITERS])
def test_rows_to_predict_are_read_as_the_training_rows(tables, frame, way, tmp_path):
    # The frame is stored without the labels, half of it, in another format than in training.
    encoder = Encoder.fit(tables["parquet"])
    expected = encoder.encode(tables["parquet"]).codes[:, 1:]
    rows = frame[frame[TARGET].notna()]
    WRITERS[way](rows, tmp_path / f"rows.{way}")
    raw = read_features(tmp_path / f"rows.{way}", encoder.sources())
    features = encoder.transform(raw)
    np.testing.assert_array_equal(features.codes, expected)
    assert features.unseen == {}
    again = Encoder.from_dict(encoder.to_dict())
    np.testing.assert_array_equal(again.transform(rows).codes, expected)
    read = tables["csv"].features
    np.testing.assert_array_equal(encoder.transform(read).codes, expected)


@pytest.mark.parametrize(
    ("dates", "left"),
    [
        ("drop", []),
        ("keep", ["signup", "visit", "day", "call"]),
    ],
)
def test_dates_are_left_out_or_kept_as_categories(frame, dates, left):
    chosen = frame[["signup", "visit", "day", "call", "tenure"]].head(20)
    screened = screen(chosen, Rules("T", dates=dates), {})
    assert list(screened.features.columns) == [*left, "tenure"]
    if dates == "keep":
        assert screened.features["signup"][0] == str(frame["signup"][0].date())
        assert screened.features["visit"][0] == str(frame["visit"][0])
    else:
        told = [on_command_line(note) for note in screened.notes]
        assert told == [
            "T: 4 columns are dropped because they hold dates or times: 'signup' (dates), 'visit' "
            "(dates), 'day' (dates), 'call' (times); --dates expand reads them as numbers."
        ]


def test_an_unknown_choice_for_dates():
    with pytest.raises(OptionError, match="dates must be one of expand, drop, keep, not 'all'"):
        table_from_frame(pd.DataFrame({"x": [1.0]}), ["u"], dates="all")


def only(values, wanted=None, **rules):
    """The screened form of one column, and its only note on the command line."""
    frame = pd.DataFrame({"x": pd.Series(values)})
    screened = screen(frame, Rules("T", **rules), {"x": wanted} if wanted else {})
    assert len(screened.notes) <= 1
    return screened.features, on_command_line(screened.notes[0]) if screened.notes else ""


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["$1,200", "$7", "-$15.50", "$2", "$3", "$ 4"], [1200, 7, -15.5, 2, 3, 4]),
        (["1.200,5 €", "7 €", "15 €", "2 €", "3 €", "4 €"], [1200.5, 7, 15, 2, 3, 4]),
        (["1'200", "7", "15", "2", "3", "4.5"], [1200, 7, 15, 2, 3, 4.5]),
        (["1 200 000", "7", "15", "2", "3", "4"], [1200000, 7, 15, 2, 3, 4]),
        (["55.2%", "7 %", "15%", "2%", "3%", "-4%"], [55.2, 7, 15, 2, 3, -4]),
        (["5 km/h", "7 km/h", "15km/h", "2", "3", "4"], [5, 7, 15, 2, 3, 4]),
        (["EUR 5", "EUR 7", "EUR 15", "EUR 2", "EUR 3", "EUR 4"], [5, 7, 15, 2, 3, 4]),
    ],
)
def test_numbers_as_people_write_them(written, read):
    features, note = only(written)
    assert features["x"].tolist() == read
    assert note.endswith("--categorical x reads it as categories.")
    assert only(written, "numeric")[0]["x"].tolist() == read
    assert only(written, "categorical")[0]["x"].tolist() == written


@pytest.mark.parametrize(
    "words",
    [
        ["1st", "2nd", "3rd", "4th", "5th", "6th"],
        ["5 kg", "300 g", "2 kg", "7 kg", "900 g", "1 kg"],
        ["18-25", "26-35", "36-45", "46-55", "56-65", "66-75"],
        ["v1", "v2", "v3", "v4", "v5", "v6"],
        ["A12", "B7", "C3", "D5", "E8", "F1"],
        ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"],
        ["1,5", "2.5", "3", "4", "5", "6"],
        ["1", "2", "3", "4", "5", "6more"],
        ["+49 30 123", "+49 30 124", "0", "+49 30 126", "+49 30 127", "+49 30 12x"],
        ["$1", "$2", "$3"],  # few values: categories keep their names
        ["12.5", "13.5", "14.5", "15.5", "16.5", "17.5"],  # the type says strings
    ],
)
def test_words_with_digits_are_categories(words):
    features, note = only(words)
    assert features["x"].tolist() == words
    assert note == ""


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        (["2021-03-04", "2022-04-05"], ["year", "month", "weekday"]),
        (["2021-03-04T10:00:00Z", "2021-03-05T10:00:00Z"], ["year", "weekday"]),
        (["2021-03-04 10:00:00+02:00", "2021-03-04 11:30:00.250+01:00"], ["year", "time"]),
        (["04.03.2021", "4.12.2021"], ["year", "month", "weekday"]),
        (["3/14/2021", "12/1/2021"], ["year", "month", "weekday"]),
        (["14/3/2021 3:15 PM", "1/12/2021 4:15 pm"], ["year", "month", "weekday", "time"]),
        (["4 Mar 2021", "24 Aug 2022"], ["year", "month", "weekday"]),
        (["March 4, 2021", "May 4, 2022"], ["year", "month", "weekday"]),
        (["2021-03", "2021-04"], ["year", "month", "weekday"]),
        ([dt.date(2021, 3, 4), dt.date(2022, 4, 5)], ["year", "month", "weekday"]),
        ([dt.datetime(2021, 3, 4, 10), dt.datetime(2021, 3, 4, 11)], ["year", "time"]),
        (pd.to_datetime(["2021-03-04 10:00+02:00", "2021-03-04 11:30+02:00"]), ["year", "time"]),
    ],
)
def test_dates_as_people_write_them(written, parts):
    features, note = only(written)
    assert list(features) == [f"x.{part}" for part in parts]
    assert features["x.year"].between(2021.16, 2022.7).all()
    assert "holds dates and is replaced by 'x.year'" in note


def test_day_and_month_are_told_apart_by_the_rows_or_by_the_note():
    features, note = only(["3/4/2021", "5/6/2021", "7/8/2021"])
    assert features["x.month"].tolist() == [3, 5, 7]
    assert "read as MM/DD/YYYY" in note
    features, note = only(["3/4/2021", "5/6/2021", "17/8/2021"])
    assert features["x.month"].tolist() == [4, 6, 8]
    assert "read as DD/MM/YYYY" in note


def test_a_few_values_that_are_no_dates_are_missing():
    days = [f"2021-{m:02d}-{d:02d}" for m in (1, 2) for d in range(1, 26)]
    frame = pd.DataFrame({"x": [*days, "unknown"]})
    screened = screen(frame, Rules("T"), {})
    assert screened.features["x.month"].isna().tolist() == [False] * 50 + [True]
    assert "column 'x': 1 value treated as missing (not a date): 'unknown'" in screened.notes[1]
    assert not list(screen(pd.DataFrame({"x": [*days, *"abc"]}), Rules("T"), {}).features)


def test_times_and_durations_are_numbers():
    assert only(["15:45", "3:15 PM", "0:30:36"])[0]["x"].tolist() == [15.75, 15.25, 0.51]
    assert only([dt.time(15, 45), None, dt.time(3)])[0]["x"].tolist()[::2] == [15.75, 3.0]
    features, note = only(pd.to_timedelta(["36h", "2D", "12h"]))
    assert features["x"].tolist() == [1.5, 2.0, 0.5]
    assert "a number of days; --dates drop leaves it out" in note


def test_typed_dates_obey_the_options():
    days = pd.Series(pd.date_range("2021-01-01", periods=3))
    assert only(days, "categorical")[0]["x"].tolist() == ["2021-01-01", "2021-01-02", "2021-01-03"]
    with pytest.raises(DataError, match=r"column 'x' holds dates, not numbers; remove numeric"):
        only(days, "numeric")
    assert only([dt.date(2021, 1, 1)] * 3)[1].endswith("'2021-01-01' is its only value.")


def test_parts_of_dates_do_not_take_the_name_of_another_column():
    frame = pd.DataFrame(
        {"d": pd.date_range("2021-01-01", periods=3), "d.year": list("aab"), "e": list("aba")}
    )
    screened = screen(frame, Rules("T", taken=frozenset(["d.weekday"])), {})
    assert list(screened.features) == ["d.year_", "d.weekday_", "d.year", "e"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["Yes", "no", "YES"], ["True", "False", "True"]),
        ([True, "no", "t"], ["True", "False", "True"]),
        (["1", "off", "y", None], ["True", "False", "True", None]),
        (["yes", "no", "no"], ["yes", "no", "no"]),  # consistent spellings stay
        (["Y", "N", "maybe"], ["Y", "N", "maybe"]),
        (["f", "n", "y", "t"], ["f", "n", "y", "t"]),  # letters of different pairs are categories
        (["f", "n", "f"], ["f", "n", "f"]),
        (["yes", "Yes", "yes"], ["yes", "Yes", "yes"]),
    ],
)
def test_spellings_of_yes_and_no_are_unified(written, read):
    assert only(written)[0]["x"].tolist() == read


def test_repeated_columns_go_unless_their_kind_is_chosen():
    frame = pd.DataFrame({"a": [1.5, None, 3], "b": [1.5, None, 3], "c": list("uvu")})
    frame["d"] = frame["c"]
    assert list(screen(frame, Rules("T"), {}).features) == ["a", "c"]
    kept = screen(frame, Rules("T"), {"b": "numeric", "d": "categorical"})
    assert list(kept.features) == ["a", "b", "c", "d"]


def test_columns_called_id_are_dropped_if_their_integers_differ():
    ids = np.random.default_rng(0).permutation(ROWS)
    for name in ("id", "ID", "user_id", "userId", "customerID", "order id"):
        assert list(screen(pd.DataFrame({name: ids, "x": ids % 7}), Rules("T"), {}).features) == [
            "x"
        ]
    for name in ("paid", "humid", "identity", "x"):
        assert name in screen(pd.DataFrame({name: ids}), Rules("T"), {}).features
    assert "id" in screen(pd.DataFrame({"id": ids // 2}), Rules("T"), {}).features


def test_many_different_strings_of_numbers_are_numbers():
    texts = [str(v) for v in np.random.default_rng(0).normal(size=60).round(3)]
    assert only(texts)[0]["x"].tolist() == list(map(float, texts))
    assert only(texts, "categorical", max_states=None)[0]["x"].tolist() == texts


def test_notes_of_one_kind_are_one_sentence():
    frame = pd.DataFrame({f"c{j:02}": ["same"] * 4 for j in range(13)} | {"x": list("aabb")})
    (note,) = screen(frame, Rules("T"), {}).notes
    assert note.startswith("T: 13 columns are dropped because they have only one value: 'c00' ('s")
    assert note.endswith("and 3 more.")


@pytest.mark.parametrize("name", ["car", "crx", "german", "flare", "heart", "mushroom", "iris"])
def test_bundled_data_are_encoded_as_before(name):
    table = load_dataset(name).train()
    expected = Encoder.fit(table)
    parameters = {"categorical_features": "from_dtype", "numeric_features": table.numeric}
    screened = labelled_table(
        table.features, {table.target.name: (table.target, expected.target.states)}, **parameters,
        missing=table.missing, dates="expand", max_states=50, bins="mdlp", ordered={},
    )  # fmt: skip
    assert Encoder.fit(screened).variables == expected.variables
    assert all("is its only value" in note for note in screened.notes)


def test_blank_categories_are_missing():
    blanks = pd.DataFrame({"a": pd.Categorical(["u", " ", "v", ""] * 5), "b": ["s", "nan"] * 10})
    table = table_from_frame(blanks, pd.Series(list("pqqp") * 5, name="class"), missing="state")
    assert table.features["a"].tolist()[:4] == ["u", None, "v", None]
    assert table.features["b"].isna().sum() == 10
