"""The options --best and --within, and the table of the structures that they find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.grouping import Group, option, option_group
from milpbn.cli.params import Gap, usage_errors
from milpbn.messages import option as spelled
from milpbn.words import arc_in_list, count

if TYPE_CHECKING:
    from milpbn.certainty.alternative_records import Alternatives
    from milpbn.certainty.pool import PoolLimits
    from milpbn.cli.session import Session
    from milpbn.encoding import Encoder
    from milpbn.learning.model import Model

# How many structures, changes of each, and arcs that only some of them have, are listed.
_STRUCTURES = 20
_CHANGES = 4
_ARCS = 20

alternative_options = option_group(
    (
        option(
            Group.PROOF,
            "--best",
            type=click.IntRange(min=1),
            metavar="K",
            help="Also find the K best structures.",
        ),
        option(
            Group.PROOF,
            "--within",
            type=Gap(),
            metavar="T",
            help="Also find all structures whose score is within T of the best: 0.5%. At most "
            "1000, or the number given by --best.",
            rare=True,
        ),
    )
)
"""Options for structures other than the best one."""


def given_limits(options: dict[str, Any]) -> PoolLimits | None:
    """The wanted structures; reject options that cannot be combined with them."""
    if options["best"] is None and options["within"] is None:
        return None
    from milpbn.certainty.alternatives import pool_limits
    from milpbn.errors import OptionError
    from milpbn.learning.methods import require

    with usage_errors():
        wanted = "within" if options["best"] is None else "best"
        require("tree_host", spelled(wanted), options["method"], options["host"])
    try:
        return pool_limits(options["best"], options["within"])
    except OptionError as error:
        raise click.UsageError(f"--within: {error}") from None


def with_alternatives(session: Session, model: Model, limits: PoolLimits) -> Model:
    """Find the other structures in the time that is left; Ctrl-C keeps those found so far."""
    from dataclasses import replace

    from milpbn.certainty.alternatives import alternatives_of
    from milpbn.errors import MilpbnError

    session.interrupts.reopen()
    session.table.print("looking for other structures; Ctrl-C keeps those found so far")
    try:
        found = alternatives_of(session.data, session.settings, model.result, limits, session.clock)
    except KeyboardInterrupt:
        session.table.print("note: interrupted before there were other structures")
        return model
    except MilpbnError as error:  # the model itself is kept
        session.table.print(f"note: no other structures: {error.on_command_line()}")
        return model
    finally:
        session.interrupts.close()
    return replace(model, alternatives=found)


def alternative_lines(alternatives: Alternatives, encoder: Encoder) -> list[str]:
    """The structures as a table, how they differ, and how often each arc occurs."""
    listed = alternatives.structures
    groups = len({s.group for s in listed})
    lines = [
        f"{'alternatives':<13}{alternatives}",
        f"{'':<13}{count(groups, 'group')} of equivalent structures, {alternatives.nodes} nodes",
    ]
    if (accuracies := alternatives.accuracy_range) is not None:
        low, high = (f"{100 * x:.2f} %" for x in accuracies)
        lines.append(f"{'':<13}test accuracy from {low} to {high}")
    title = "test" if accuracies is not None else ""
    lines += ["", _line("", "score", "loss", "group", title, "compared with structure 1")]
    for k, one in enumerate(listed[:_STRUCTURES]):
        test = "" if one.test_accuracy is None else f"{100 * one.test_accuracy:.2f} %"
        loss = f"{listed[0].score - one.score:.4f}"
        cells = str(k + 1), f"{one.score:.6f}", loss, str(one.group), test
        lines.append(_line(*cells, _difference(alternatives, k, encoder)).rstrip())
    if len(listed) > _STRUCTURES:
        lines.append(f"{count(len(listed) - _STRUCTURES, 'more structure')}, see --json")
    return [*lines, "", *_frequencies(alternatives)]


def _line(k: str, score: str, loss: str, group: str, test: str, difference: str) -> str:
    tested = f" {test:>9}" if test else ""
    return f"{k:>4} {score:>14} {loss:>10} {group:>6}{tested}  {difference}"


def _difference(alternatives: Alternatives, k: int, encoder: Encoder) -> str:
    added, removed, otherwise = alternatives.described(k, encoder)
    words = [
        *(f"+ {arc_in_list(*arc)}" for arc in added),
        *(f"- {arc_in_list(*arc)}" for arc in removed),
        *otherwise,
    ]
    more = len(words) - _CHANGES
    return ", ".join(words[:_CHANGES]) + (f" and {more} more" if more > 0 else "")


def _frequencies(alternatives: Alternatives) -> list[str]:
    shares = alternatives.arc_frequencies()
    always = [arc for arc, share in shares.items() if share == 1]
    sometimes = [(arc, share) for arc, share in shares.items() if share < 1]
    lines = [f"in all of them: {', '.join(arc_in_list(*arc) for arc in always) or 'no arc'}"]
    lines += [f"{100 * share:>6.1f} %  {arc_in_list(*arc)}" for arc, share in sometimes[:_ARCS]]
    if len(sometimes) > _ARCS:
        lines.append(f"{count(len(sometimes) - _ARCS, 'more arc')} in some of them")
    return lines
