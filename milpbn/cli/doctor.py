"""``milpbn doctor``: the installation, for a report of an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from milpbn.cli.grouping import Group, command, option
from milpbn.cli.outputs import Outputs
from milpbn.words import count

if TYPE_CHECKING:
    from milpbn.doctor import Diagnosis, Package


@command(short_help="Check the installation.")
@option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check the installation, and print what a report of an error needs.

    Versions, the machine, where compiled code is kept, and a self-test: a small problem is solved
    and verified, and all its structures are enumerated. No file is read, and no name of a user or
    a machine is printed except in paths. The exit code is 1 if something is wrong.

    \b
    Examples:
      milpbn doctor
      milpbn doctor --json
    """
    import json

    from milpbn.doctor import diagnose

    found = diagnose()
    with Outputs() as outputs:
        outputs.report(json.dumps(found.to_dict(), indent=1) if as_json else _text(found))
    ctx.exit(0 if found.healthy else 1)


def _text(found: Diagnosis) -> str:
    from milpbn.widths import aligned

    code, extras = found.compiled, _extras(found)
    stored = f"{code.stored} of {count(code.functions, 'function')} stored"
    lines = [
        ["milpbn", found.milpbn],
        ["Python", found.python],
        ["system", f"{found.system}, {count(found.processors, 'processor')}"],
        *([p.name, _version(p)] for p in found.packages if not p.extra),
        *([f"extra {name}", told] for name, told in extras.items()),
        ["compiled code", f"{stored} in {code.folder}"],
        *([name, value] for name, value in found.environment.items()),
        ["self-test", f"{found.test.told} ({found.test.seconds:.1f} s)"],
    ]
    told = [aligned(lines, left=2), "", "Everything is in order." if found.healthy else ""]
    if found.missing:
        told[-1] = f"Missing: {', '.join(found.missing)}. Install milpbn again."
    elif not found.test.passed:
        told[-1] = "The self-test failed. Please report it with all of the above."
    if not code.writable:
        told.append(
            "Compiled code cannot be stored, so every run compiles it again; set the environment "
            "variable NUMBA_CACHE_DIR to a folder that can be written."
        )
    return "\n".join(told)


def _version(package: Package) -> str:
    return package.version or f"missing; {package.wanted} is needed"


def _extras(found: Diagnosis) -> dict[str, str]:
    """What is installed of every extra, or how to install it."""
    told = {}
    for extra in dict.fromkeys(p.extra for p in found.packages if p.extra):
        own = [p for p in found.packages if p.extra == extra]
        if all(p.version for p in own):
            told[extra] = ", ".join(f"{p.name} {p.version}" for p in own)
        else:
            told[extra] = f"not installed; pip install 'milpbn[{extra}]'"
    return told
