"""Checks of the claims of a model file, as verification reports them; for all kinds of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from milpbn.anytime import allowed_gap
from milpbn.datasets.table import Table
from milpbn.result import Result, Status
from milpbn.verification.entries import differences, present, unknown_entries

DISAGREES = "The model does not agree with its data: do not trust its claims."
"""The verdict if any claim is wrong."""


@dataclass(frozen=True)
class Check:
    """One claim of a model file: whether it holds, and what was found.

    `holds` is None if the claim could neither be confirmed nor refuted. If the check proved
    the bound again, `proves` says how.
    """

    claim: str
    holds: bool | None
    seen: str
    proves: str = ""


@dataclass(frozen=True)
class Verification:
    """All checks of one model.

    Attributes
    ----------
    checks
        The claims that were checked.
    unchecked
        Entries of the file that cannot be checked, such as how long the run took.
    verdict
        All checks in a sentence or two.
    """

    checks: tuple[Check, ...]
    unchecked: tuple[str, ...] = ()
    verdict: str = ""

    @property
    def agrees(self) -> bool:
        """Whether nothing disagreed."""
        return all_hold(self.checks)


def all_hold(checks: Sequence[Check]) -> bool:
    """Whether nothing disagreed."""
    return all(check.holds is not False for check in checks)


def check_entries(told: Mapping[str, Any], again: Mapping[str, Any]) -> Check:
    """Check the entries of a file against what the model that was built from it writes."""
    errors = list(differences(told, {**again, "milpbn": told.get("milpbn")}))
    return check_that("entries that follow from others are right", errors, "all of them")


def not_checkable(
    paths: Sequence[str], told: Mapping[str, Any], again: Mapping[str, Any]
) -> tuple[str, ...]:
    """The entries of a file that cannot be checked, and those that no model has."""
    return (*present(paths, told), *unknown_entries(told, again))


def check_that(text: str, errors: Sequence[str], seen: str) -> Check:
    """A check that holds if there are no errors."""
    more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
    return Check(text, not errors, "; ".join(errors[:3]) + more if errors else seen)


def check_source(told: Mapping[str, Any], table: Table) -> Check:
    """Check that a table is the one that a model file names."""
    text = "the data are those that the model was learned from"
    expected, found = told.get("sha256"), table.source.get("sha256")
    if expected is None and found is None:
        return Check(text, None, "generated data have no checksum")
    seen = f"sha256 {str(found)[:12]}"
    if expected is None:
        seen += ", the model does not say which"
    elif expected != found:
        seen += f", the model says {str(expected)[:12]}"
    return Check(text, expected == found, seen)


def data_errors(told: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[str]:
    """Where a file describes its rows in another way than they are.

    The name and the path may be others, if the file has moved; its checksum may not.
    """
    moved = told.get("file") != again.get("file")
    known = {k: v for k, v in again.items() if not (moved and k in ("file", "name"))}
    yield from differences(told, known, "data")
    if "n_rows" not in told:
        yield "data.n_rows is missing"


def check_status(result: Result) -> Check:
    """Check that status, objective and bound of a result are consistent."""
    claim = f"the status {result.status} fits objective and bound"
    if result.bound is None:
        return Check(claim, result.status is not Status.OPTIMAL, "no bound is stated")
    slack = allowed_gap(result.objective, result.scale)
    gap = result.bound - result.objective
    fits = gap >= -slack and (result.status is Status.OPTIMAL) == (gap <= slack)
    return Check(claim, fits, f"gap {gap:.6f}, tolerance {slack:.2g}")
