"""The table of settings, and that everything else follows from it."""

import inspect
import re
import warnings
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest

from milpbn import BNClassifier, BNClassifierCV, SelectionPlan, make_settings
from milpbn.cli import cli
from milpbn.cli.registries import help_text
from milpbn.errors import OptionError
from milpbn.estimators.bn import PARAMETERS
from milpbn.schema import SettingsContent
from milpbn.selection.candidates import Selection
from milpbn.settings import (
    SETTINGS,
    LimitNames,
    OptionGroup,
    ProofNames,
    SettingNames,
    SolveOptions,
    TreeNames,
    check_settings,
    declared,
)
from milpbn.settings.values import Anything, Switch, Text

MANUAL = Path(__file__).parents[2] / "docs"
WRONG = {"a number": ("x", True, np.nan), "a whole": (1.5, "1", -1), "one of": ("odd", 1)}


def commands(group=cli):
    for one in group.commands.values():
        yield from commands(one) if isinstance(one, click.Group) else [one]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_explains_itself(name):
    text = help_text(SETTINGS[name])
    assert text.endswith((".", ":", ")"))
    assert not re.search(r"[{}]", text)


@pytest.mark.parametrize("name", SETTINGS)
def test_wrong_values_are_refused_in_the_spelling_of_the_user(name):
    one = SETTINGS[name]
    for kind, values in WRONG.items():
        if one.values.what.startswith(kind):
            for value in values:
                with pytest.raises(OptionError, match=f"^{name} must be {kind}") as error:
                    check_settings({name: value})
                assert error.value.on_command_line().startswith(f"{one.flag.split('/')[0] or '--'}")
                with pytest.raises(OptionError, match=r"^alias must be"):
                    check_settings({name: value}, {name: "alias"})
    check_settings({name: one.default})


def test_the_options_of_commands_are_those_of_the_table():
    used = set()
    for command in commands():
        for one in command.params:
            flags = {flag: name for name, s in SETTINGS.items() for flag in s.flag.split("/")}
            names = {flags[flag] for flag in one.opts if flag in flags}
            if isinstance(one, click.Option) and one.name in SETTINGS:
                assert names == {one.name}
                used.add(one.name)
    assert used == {name for name, one in SETTINGS.items() if one.flag}


def test_parameters_of_the_estimator_have_the_names_and_defaults_of_the_table():
    own = inspect.signature(BNClassifier).parameters
    assert set(own) == {*PARAMETERS, "engine"}
    other = {"categorical_features": "from_dtype"}
    for parameter, name in PARAMETERS.items():
        assert own[parameter].default == other.get(parameter, SETTINGS[name].default) or (
            parameter == "time_limit" and own[parameter].default == 60.0
        )


def test_the_docstring_describes_the_parameters_in_their_order():
    text = inspect.getdoc(BNClassifier).partition("Attributes\n")[0]
    described = re.findall(r"^(\w+) : (.+(?:\n.+)?), default=(.+)$", text, re.M)
    own = inspect.signature(BNClassifier).parameters
    assert [name for name, _, _ in described] == list(own)
    for name, _, default in described:
        assert default == repr(own[name].default).replace("'", '"')


def test_options_of_engines_have_the_defaults_of_the_table():
    own = {one.name: one.default for one in fields(SolveOptions)}
    table = declared(LimitNames, ProofNames, TreeNames)
    assert own == {name: one.default for name, one in table.items() if name != "time_limit"}


def test_a_setting_is_an_entry_of_model_files():
    content = set(make_settings(score="sm", validation=3, penalty=0.5).to_dict())
    content |= set(make_settings(score="bdeu").to_dict())
    assert content == set(SettingsContent.__annotations__) - {"folds"}


def test_what_can_be_selected_is_in_the_table():
    able = {name for name, one in SETTINGS.items() if one.selectable}
    for name in {*SETTINGS} - able:
        with pytest.raises(OptionError, match=f"{name!r} cannot be selected"):
            SelectionPlan({name: [1]})
    assert able > {"score", "p", "max_parents", "bins"}
    with pytest.raises(OptionError, match="select max_parents: each value must be a whole number"):
        SelectionPlan({"max_parents": [0]})


def test_former_names_work_with_a_warning():
    with pytest.warns(DeprecationWarning, match="structure_score is now called score"):
        assert make_settings(structure_score="mdl").score.name == "mdl"
    with pytest.warns(DeprecationWarning, match="engine is now called method"):
        assert SelectionPlan({"engine": ["nb"]}).grids == [{"method": ["nb"]}]
    X, y = [["a"], ["b"], ["a"], ["b"]] * 5, [0, 1, 0, 1] * 5
    with pytest.warns(DeprecationWarning, match="engine is now called method"):
        model = BNClassifier(engine="nb").fit(X, y)
    assert model.result_.engine == "nb"
    candidate = {"values": {"structure_score": "sm", "engine": "nb"}}
    content = {"by": "log-loss", "folds": 1, "candidates": [candidate], "chosen": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Selection.from_dict(content).values == {"score": "sm", "method": "nb"}


def test_unknown_settings_are_named():
    with pytest.raises(OptionError, match="unknown setting 'depth'; the settings are"):
        make_settings(depth=3)


def test_an_estimator_names_its_own_parameters_in_errors():
    X, y = [["a"], ["b"]] * 10, [0, 1] * 10
    for parameters, message in (
        ({"random_state": -1}, "random_state must be a whole number from 0"),
        ({"max_parents": 0}, "max_parents must be a whole number of at least 1, not 0"),
        ({"max_states": 1}, "max_states must be a whole number of at least 2, not 1"),
        ({"class_parents": "yes"}, "class_parents must be True or False, not 'yes'"),
        ({"time_limit": "1m"}, "time_limit must be a number of at least 0, not '1m'"),
    ):
        for kind in (BNClassifier, BNClassifierCV):
            with pytest.raises(OptionError, match=f"^{message}"):
                kind(**parameters).fit(X, y)


@pytest.mark.skipif(not MANUAL.exists(), reason="the manual is not part of an installed package")
def test_the_manual_shows_every_setting(monkeypatch):
    monkeypatch.syspath_prepend(MANUAL)
    text = import_module("settings_table").settings_table()
    for name, one in SETTINGS.items():
        assert f"| `{name}`" in text
        assert one.flag.replace("|", r"\|") in text
    assert [f"## {group.value}" for group in OptionGroup if f"## {group.value}" in text]


def test_every_kind_of_values_accepts_its_default():
    assert {type(one.values) for one in SETTINGS.values()} >= {Anything, Switch, Text}
    assert set(declared(SettingNames)) <= set(SETTINGS)
