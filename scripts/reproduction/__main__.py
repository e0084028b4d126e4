"""Run tables and figures of the publications by name."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from milpbn.cli.workers import worker_processes
from milpbn.errors import MilpbnError
from reproduction.options import OUT, Options
from reproduction.report import DOCS, Report, fill_page, pages, tables_of
from reproduction.results import read_results, write_results
from reproduction.tables import PAPERS, TABLES

RESULTS = DOCS / "reproduction" / "results"
IMAGES = DOCS / "images"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="scripts/reproduce",
        description="Run tables and figures of the publications again. Results are kept: a run "
        "that was stopped continues where it was. Without a name, the tables are listed.",
    )
    add = made.add_argument
    add("tables", nargs="*", metavar="TABLE", help="a table, or all tables of a publication")
    add("--sets", help="restrict the data sets to these, separated by commas")
    add("--folds", type=int, help="number of cross-validation folds (default: as published)")
    add("--splits", type=int, default=10, help="random splits where the published one is unknown")
    add("--repeats", type=int, help="number of random orders, draws or seeds")
    add("--rows", type=int, help="number of training rows of drawn data")
    add("--time-limit", type=float, default=60.0, help="seconds for each fit (default: 60)")
    add("--jobs", "--workers", type=int, default=1, help="number of processes (default: 1)")
    add("--minutes", type=float, help="start no further fit after this time")
    add("--file", action="append", default=[], metavar="NAME=PATH", help="a data set from a file")
    add("--discrete", action="store_true", help="the columns of these files are states already")
    add("--out", type=Path, default=OUT, help="folder of the results (default: build/reproduce)")
    add("--publish", action="store_true", help="put the results into the manual")
    add("--more", action="store_true", help="add to the manual's results, compute none of them")
    add("--pages", action="store_true", help="only write the pages of the manual again")
    return made


def main(arguments: Sequence[str]) -> int:
    given = parser().parse_args(arguments)
    if given.pages:
        write_pages()
        return 0
    if not given.tables:
        print_list()
        return 0
    try:
        names, options = chosen_tables(given.tables), read_options(given)
        check_sets(names, options)
        with worker_processes({"jobs": options.jobs, "scheduler": None}, kill=True):
            finished = [run(name, options) for name in names]
        if given.publish:
            publish(names, options.out)
    except (MilpbnError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; finished runs are kept", file=sys.stderr)
        return 130
    return 0 if all(finished) else 1


def print_list() -> None:
    """Print all tables with a line about each."""
    for prefix, paper in PAPERS.items():
        print(f"{paper}")
        for name, table in TABLES.items():
            if name.startswith(f"{prefix}-"):
                print(f"  {name:<24}{table.title}")


def chosen_tables(given: Sequence[str]) -> list[str]:
    """The tables with these names; the name of a publication stands for all of its tables."""
    names: list[str] = []
    for name in given:
        own = [t for t in TABLES if t == name or t.startswith(f"{name}-")]
        if not own:
            raise ValueError(f"there is no table {name!r}; run scripts/reproduce for a list")
        names += own
    return list(dict.fromkeys(names))


def read_options(given: argparse.Namespace) -> Options:
    """The options of the command line."""
    files = {}
    for text in given.file:
        name, sign, path = text.partition("=")
        if not sign or not name or not path:
            raise ValueError(f"--file {text!r}: expected NAME=PATH")
        files[name] = Path(path)
        if not files[name].is_file():
            raise ValueError(f"--file {text!r}: there is no file {path}")
    for name, least in (("folds", 2), ("splits", 2), ("repeats", 1), ("rows", 120), ("jobs", 1)):
        value = getattr(given, name)
        if value is not None and value < least:
            raise ValueError(f"--{name} must be at least {least}, not {value}")
    if not given.time_limit > 0:
        raise ValueError(f"--time-limit must be positive, not {given.time_limit:g}")
    return Options(
        sets=tuple(s.strip() for s in (given.sets or "").split(",") if s.strip()),
        folds=given.folds,
        splits=given.splits,
        repeats=given.repeats,
        rows=given.rows,
        time_limit=given.time_limit,
        jobs=given.jobs,
        deadline=None if given.minutes is None else time.time() + 60 * given.minutes,
        out=given.out,
        files=files,
        discrete=given.discrete,
        published=RESULTS if given.more else None,
    )


def check_sets(names: Sequence[str], options: Options) -> None:
    """Every data set must belong to one of the tables."""
    known = {data for name in names for data in TABLES[name].sets} | set(options.files)
    for data in options.sets:
        if data not in known:
            raise ValueError(f"--sets: {data!r} is not a data set of {', '.join(names)}")


def run(name: str, options: Options) -> bool:
    """Compute a table and write its results; return whether everything went well."""
    table = TABLES[name]
    if table.sets and not options.chosen(table.sets):
        return True
    results, well = table.run(name, options)
    if results.empty:
        print(f"{name}: no results", file=sys.stderr)
        return well
    path = options.out / f"{name}.csv"
    write_results(path, results)
    report = make_report(name, path, Report(options.out))
    path.with_suffix(".md").write_text(report, encoding="utf-8")
    print(report)
    return well


def make_report(name: str, results: Path, report: Report) -> str:
    """The report of a table, from its results."""
    head, frame = read_results(results)
    TABLES[name].show(frame, report)
    limits = sorted(set(frame["limit"].dropna())) if "limit" in frame else []
    limit = f" Limit per fit: {', '.join(f'{x:g} s' for x in limits)}." if limits else ""
    report.text(f"{head}.{limit}")
    return str(report)


def publish(names: Sequence[str], out: Path) -> None:
    """Copy the results into the manual and write its pages again."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (out / f"{name}.csv").exists():
            shutil.copyfile(out / f"{name}.csv", RESULTS / f"{name}.csv")
    write_pages(names)


def write_pages(names: Sequence[str] = ()) -> None:
    """Write the results in the manual into its pages, all or those of some tables."""
    for page in pages(names):
        found = {
            name: make_report(
                name, RESULTS / f"{name}.csv", replace(Report(IMAGES), link="../images/")
            )
            for name in tables_of(page)
            if (RESULTS / f"{name}.csv").exists()
        }
        fill_page(page, found)
        print(page, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
