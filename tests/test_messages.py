"""Messages name options as parameters in Python and with dashes on the command line."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from milpbn.errors import BudgetError, DataError, MilpbnError
from milpbn.messages import Message, Spelling, on_command_line, option

MESSAGE = Message("toy: use ", option("missing", "state"), ", or ", option("drop", ["my x", "y"]))
PYTHON = "toy: use missing='state', or drop=['my x', 'y']"
COMMAND_LINE = "toy: use --missing state, or --drop 'my x,y'"


@pytest.mark.parametrize(
    ("spelling", "python", "command_line"),
    [
        (option("drop"), "drop", "--drop"),
        (option("time_limit"), "time_limit", "--time-limit"),
        (option("augmented", True), "augmented=True", "--augmented"),
        (option("missing", "state"), "missing='state'", "--missing state"),
        (option("numeric", ["age"]), "numeric=['age']", "--numeric age"),
        (option("numeric", ("age", "zip")), "numeric=['age', 'zip']", "--numeric age,zip"),
        (option("numeric", ["it's"]), 'numeric=["it\'s"]', "--numeric 'it'\"'\"'s'"),
        (option("drop", ["{0}", "$x"]), "drop=['{0}', '$x']", "--drop '{0},$x'"),
        (option("trusted", ["a.B"], flag="trust"), "trusted=['a.B']", "--trust a.B"),
    ],
)
def test_an_option_has_two_spellings(spelling, python, command_line):
    assert (str(spelling), spelling.on_command_line()) == (python, command_line)


def test_a_message_reads_as_its_python_text():
    assert isinstance(MESSAGE, str)
    assert MESSAGE == PYTHON
    assert f"{MESSAGE}" == str(MESSAGE) == PYTHON
    assert json.loads(json.dumps({"notes": [MESSAGE]})) == {"notes": [PYTHON]}
    assert MESSAGE.on_command_line() == COMMAND_LINE


def test_messages_can_be_parts_of_messages():
    outer = Message("fold 1: ", MESSAGE, "; see ", Spelling("fit", "`milpbn solve`"))
    assert outer == f"fold 1: {PYTHON}; see fit"
    assert outer.on_command_line() == f"fold 1: {COMMAND_LINE}; see `milpbn solve`"


def test_plain_text_is_the_same_on_the_command_line():
    assert on_command_line("100 % of {braces}") == "100 % of {braces}"
    assert on_command_line(MESSAGE) == COMMAND_LINE


def copies(thing):
    yield copy.copy(thing)
    yield copy.deepcopy(thing)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(thing, protocol))


def test_a_message_survives_copying_and_pickling():
    for again in copies(MESSAGE):
        assert type(again) is Message
        assert again == PYTHON
        assert again.on_command_line() == COMMAND_LINE


@pytest.mark.parametrize("kind", [MilpbnError, DataError, BudgetError])
def test_an_error_keeps_both_texts_between_processes(kind):
    for error in copies(kind(MESSAGE)):
        assert type(error) is kind
        assert str(error) == PYTHON
        assert error.on_command_line() == COMMAND_LINE


@pytest.mark.parametrize("kind", [MilpbnError, *MilpbnError.__subclasses__()])
def test_errors_can_be_made_in_the_way_of_dasks_workers(kind):
    error = kind.__new__(kind, MESSAGE)
    assert (str(error), error.on_command_line()) == (PYTHON, COMMAND_LINE)


def test_a_place_is_put_in_front_of_an_error():
    error = DataError(MESSAGE).at("fold 2")
    assert type(error) is DataError
    assert str(error) == f"fold 2: {PYTHON}"
    assert error.on_command_line() == f"fold 2: {COMMAND_LINE}"
    assert DataError("plain").at("fold 2").on_command_line() == "fold 2: plain"


def test_an_error_with_a_plain_text_or_none_at_all():
    assert DataError("no file {x}").on_command_line() == "no file {x}"
    assert DataError().on_command_line() == ""
