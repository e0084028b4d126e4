"""Help texts: commands in sections, options in groups, rare options by --help-all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import click
import pytest
from click.testing import Result

from milpbn.cli import cli
from milpbn.cli.grouping import Command, Group, Option, command, option

Run = Callable[..., Result]


def commands(group: click.Group = cli, *path: str) -> Iterator[tuple[tuple[str, ...], Command]]:
    for name, one in group.commands.items():
        if isinstance(one, click.Group):
            yield from commands(one, *path, name)
        else:
            assert isinstance(one, Command)
            yield (*path, name), one


def joined(text: str) -> str:
    """Without what depends on where lines are broken."""
    return re.sub(r"[\s-]", "", text)


COMMANDS = {" ".join(path): one for path, one in commands()}
MANY = 25


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_group_and_is_explained(milpbn: Run, name: str) -> None:
    options = [one for one in COMMANDS[name].params if isinstance(one, click.Option)]
    assert all(isinstance(one, Option) and one.help for one in options)
    rare = [one for one in options if isinstance(one, Option) and one.rare]
    shown = milpbn(*name.split(), "--help-all" if rare else "--help")
    assert shown.exit_code == 0, shown.output
    flags = shown.stdout.split()
    assert [one.name for one in options if not {*one.opts} & {f.strip(",") for f in flags}] == []
    assert "also --" not in shown.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_common_options_and_names_the_others(milpbn: Run, name: str) -> None:
    options = [one for one in COMMANDS[name].params if isinstance(one, Option)]
    assert sum(not one.rare for one in options) <= MANY + len(["--help-all"])
    shown = joined(milpbn(*name.split(), "--help").stdout)
    for one in options:
        assert joined(one.opts[0]) in shown
        assert (joined((one.help or "").split("  ")[0]) in shown) != one.rare


def test_the_groups_are_in_one_order(milpbn: Run) -> None:
    titles = [f"{group.value}:" for group in Group]
    lines = [line for line in milpbn("solve", "--help").stdout.splitlines() if line in titles]
    assert lines == [title for title in titles if title in lines]
    assert {"Data:", "Score:", "Search space:", "Proof:", "Output:"} <= set(lines)


def test_an_option_without_a_group_is_an_error() -> None:
    with pytest.raises(TypeError, match="show --new has no group"):

        @command("show")
        @click.option("--new")
        def show(new: str) -> None: ...

    with pytest.raises(TypeError, match="group"):

        @click.option("--new", cls=Option)
        def other(new: str) -> None: ...

    @command("show")
    @option(Group.DATA, "--new")
    def grouped(new: str) -> None: ...

    assert [one.name for one in grouped.params] == ["new"]


def test_every_visible_command_is_in_a_section(milpbn: Run) -> None:
    shown = milpbn("--help").stdout
    assert shown.index("\n  solve ") < min(
        shown.index(f"\n  {name} ") for name in cli.commands if name not in ("solve", "check")
    )
    hidden = [name for name in cli.commands if f"\n  {name} " not in shown]
    assert hidden == ["check"]
    assert cli.commands["check"].hidden


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--p", "0.6", "--p=0.9"], "--p is given twice"),
        (["--class-root", "--class-parents"], "--class-root contradicts --class-parents"),
        (["--engine", "monolithic", "--method", "nb"], "--method is given twice"),
    ],
)
def test_no_option_is_given_twice(milpbn: Run, options: list[str], message: str) -> None:
    result = milpbn("solve", "--dataset", "iris", *options)
    assert result.exit_code == 2
    assert f"{message}; choose one" in result.stderr
