"""Options in groups: every option says where it belongs, and help texts show the common ones.

A small subclass of click's commands: cloup and rich-click do more, but importing them takes longer
than everything else that ``milpbn --help`` needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Any

import click

from milpbn.cli.outputs import say
from milpbn.settings import OptionGroup

Group = OptionGroup
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_ALL = "milpbn.help_all"
# Flags wider than this have their help text below them, as in click.
_WIDEST = 30


class Option(click.Option):
    """An option that belongs to a group.

    Parameters
    ----------
    group
        Where help texts show it.
    rare
        Whether only ``--help-all`` describes it.
    help_from
        Returns the help text when it is shown, for texts that name what is in a registry.
    old
        Former spellings, which work for one release, with a note.
    """

    def __init__(
        self,
        *args: Any,
        group: Group,
        rare: bool = False,
        help_from: Callable[[], str] | None = None,
        old: Sequence[str] = (),
        **attributes: Any,
    ) -> None:
        self.group, self.rare, self._help_from, self.old = group, rare, help_from, tuple(old)
        super().__init__(*args, **attributes)

    @property
    def help(self) -> str | None:
        """The help text."""
        return self._text if self._help_from is None else self._help_from()

    @help.setter
    def help(self, value: str | None) -> None:
        self._text = value


def option(group: Group, *flags: str, **attributes: Any) -> Decorator:
    """Declare an option, see :class:`Option` and :func:`click.option`."""
    return click.option(*flags, cls=Option, group=group, **attributes)


def option_group(options: Sequence[Decorator]) -> Decorator:
    """A decorator that adds these options to a command."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for one in reversed(options):
            command = one(command)
        return command

    return decorate


def _show_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class Command(click.Command):
    """A command with options in groups."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        for one in self.params:
            if isinstance(one, click.Option) and not isinstance(one, Option):
                raise TypeError(f"{self.name} {one.opts[0]} has no group; use grouping.option")
        if any(isinstance(one, Option) and one.rare for one in self.params):
            self.params.append(
                Option(
                    ["--help-all"],
                    group=Group.HELP,
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_all,
                    help="Describe all options and exit.",
                )
            )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; old spellings become the new ones, and no option is given twice."""
        renamed = list(self._renamed(args))
        self._refuse_repeated(renamed)
        return super().parse_args(ctx, renamed)

    def _refuse_repeated(self, args: Sequence[str]) -> None:
        """Raise an error if an option has two values, of which one would be ignored."""
        options = {flag: one for one in self.params for flag in (*one.opts, *one.secondary_opts)}
        given: dict[str | None, str] = {}
        rest = iter(args)
        for arg in rest:
            if arg == "--":
                return
            flag, equals, _ = arg.partition("=")
            one = options.get(flag)
            if not isinstance(one, click.Option) or one.multiple or one.count:
                continue
            if one.name in given:
                first = given[one.name]
                both = f"{flag} is given twice" if first == flag else f"{first} contradicts {flag}"
                raise click.UsageError(f"{both}; choose one")
            given[one.name] = flag
            if not one.is_flag and not equals:
                next(rest, None)

    def _renamed(self, args: Sequence[str]) -> Iterator[str]:
        options = [one for one in self.params if isinstance(one, Option)]
        new = {old: one.opts[0] for one in options for old in one.old}
        for arg in args:
            flag, equals, value = arg.partition("=")
            if flag in new and "--quiet" not in args:
                say(f"note: {flag} is now {new[flag]}")
            yield new.get(flag, flag) + equals + value

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups; rare options are only named, except with ``--help-all``."""
        groups: dict[Group, list[tuple[str, str]]] = {group: [] for group in Group}
        named: dict[Group, list[str]] = {group: [] for group in Group}
        for one in self.get_params(ctx):
            if not isinstance(one, click.Option):
                continue
            group = one.group if isinstance(one, Option) else Group.HELP
            if isinstance(one, Option) and one.rare and not ctx.meta.get(_ALL):
                named[group].append(one.opts[0])
            elif (record := one.get_help_record(ctx)) is not None:
                groups[group].append(record)
        flags = [len(flag) for records in groups.values() for flag, _ in records]
        width = max((n for n in flags if n <= _WIDEST), default=0)
        for group in Group:
            if groups[group] or named[group]:
                with formatter.section(group.value):
                    if groups[group]:
                        formatter.write_dl([(f.ljust(width), text) for f, text in groups[group]])
                    if named[group]:
                        formatter.write(_line(named[group], formatter))


def _line(flags: Sequence[str], formatter: click.HelpFormatter) -> str:
    """The names of rare options; click would break them at their hyphens."""
    indent = " " * formatter.current_indent
    text = f"also {', '.join(flags)}"
    lines = wrap(text, formatter.width - len(indent), break_on_hyphens=False)
    return "".join(f"{indent}{line}\n" for line in lines)


class Commands(click.Group):
    """A group of such commands, which may be in sections."""

    command_class = Command

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.sections: dict[str, Sequence[click.Command]] = {}
        """The commands under their titles, in the order of the help text."""

    def add_section(self, title: str, commands: Sequence[click.Command]) -> None:
        """Add commands, which the help text shows together under a title."""
        self.sections[title] = commands
        for one in commands:
            self.add_command(one)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        if not self.sections:
            super().format_commands(ctx, formatter)
        width = max(map(len, self.commands), default=0)
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [((c.name or "").ljust(width), c.get_short_help_str(100)) for c in commands]
                )


def command(name: str | None = None, **attributes: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare a command, see :func:`click.command`."""
    return click.command(name, **{"cls": Command, **attributes})
