"""What the evaluating commands print and save."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from milpbn.cli.grouping import Group, option, option_group
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.errors import OutputError
from milpbn.widths import terminal_width

if TYPE_CHECKING:
    import pandas as pd

    from milpbn.evaluation import Evaluation, Evaluations, FoldRecord, Summary

_OUT = option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(),
    metavar="RESULTS.jsonl",
    help="Keep finished folds in this file; the same command continues where it stopped.",
)
_PRINTED = (
    option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print the results as JSON."),
    option(Group.OUTPUT, "--quiet", is_flag=True, help="No progress, notes or warnings on stderr."),
)

# Files of a comma-separated table: option, its name in the code, and its help text.
_CSV = (
    ("--csv", "csv_file", "Save the table with all measures."),
    ("--predictions", "predictions_file", "Save the predictions for all test rows."),
    ("--confusion", "confusion_file", "Save the confusion matrices."),
    ("--reliability", "reliability_file", "Save the reliability curves."),
)

evaluation_outputs = option_group(
    (
        _OUT,
        option(
            Group.CONTENT,
            "--details",
            is_flag=True,
            help="Print confusion matrices and reliability curves, too.",
            rare=True,
        ),
        *(
            option(
                Group.OUTPUT,
                flag,
                name,
                type=OutputFile(),
                metavar="FILE.csv",
                help=text,
                rare=flag != "--csv",
            )
            for flag, name, text in _CSV
        ),
        option(
            Group.OUTPUT,
            "--plot",
            type=OutputFile(".png", ".svg", ".pdf"),
            metavar="OUT.png",
            help="Draw reliability curves and confusion matrices (png, svg, pdf).",
        ),
        *_PRINTED,
    )
)
"""Options for the output of `evaluate`."""

short_outputs = option_group((_OUT, *_PRINTED))
"""Options for the output of commands that only print the table."""


def check_outputs(options: Mapping[str, Any], inputs: Mapping[str, str | None]) -> None:
    """Reject output files that would replace an input or another output."""
    names = {"--out": "out", "--plot": "plot", **{flag: name for flag, name, _ in _CSV}}
    refuse_overwriting({flag: options.get(name) for flag, name in names.items()}, inputs)


def deliver(evaluations: Evaluations, options: Mapping[str, Any]) -> None:
    """Print the tables and write the requested files."""
    frames: dict[str, Callable[[Evaluation], pd.DataFrame]] = {
        "csv_file": lambda e: e.to_frame(),
        "predictions_file": lambda e: e.predictions(),
        "confusion_file": lambda e: e.confusion_frame(),
        "reliability_file": lambda e: e.reliability_frame(),
    }

    def plot(file: str) -> None:
        from milpbn.pictures import plot_evaluation

        plot_evaluation(evaluations.parts, file)

    with Outputs(quiet=options["quiet"]) as outputs:
        if options["as_json"]:
            outputs.report(json.dumps(_content(evaluations), indent=1, allow_nan=False))
        else:
            outputs.report(evaluations.text(terminal_width()))
            if options.get("details"):
                outputs.report("\n" + evaluations.details())
        if not options["quiet"]:
            _warn(evaluations)
        outputs.write(options["out"], lambda file: _check_kept(evaluations))
        for name, frame in frames.items():
            outputs.write(options.get(name), partial(_write_frame, evaluations, frame))
        outputs.write(options.get("plot"), plot)


def _check_kept(evaluations: Evaluations) -> None:
    """Raise if the results file lacks folds; it is written while the evaluation runs."""
    for part in evaluations.parts:
        if part.not_kept:
            raise OutputError(part.not_kept)


def _write_frame(
    evaluations: Evaluations, frame: Callable[[Evaluation], pd.DataFrame], file: str
) -> None:
    from milpbn.files import write_whole

    write_whole(file, evaluations.concat(frame).to_csv(index=False, lineterminator="\n"))


def _warn(evaluations: Evaluations) -> None:
    for part in evaluations.parts:
        if weak := part.not_better():
            told = "not more accurate than always predicting the majority class"
            say(f"warning: {part.table.name}: {_named(weak, 'is', 'are')} {told}")
        if lossy := part.worse_loss():
            told = "a larger log-loss than the class frequencies of the training rows"
            say(f"warning: {part.table.name}: {_named(lossy, 'has', 'have')} {told}")


def _named(methods: Sequence[Summary], one: str, several: str) -> str:
    """The names of methods with a verb."""
    return f"{', '.join(s.name for s in methods)} {one if len(methods) == 1 else several}"


def _content(evaluations: Evaluations) -> dict[str, Any]:
    """The results as plain data; those of a single data set are not nested."""
    parts = [_part(part) for part in evaluations.parts]
    if evaluations.n_expected == 1:
        return parts[0]
    return {
        "complete": evaluations.complete,
        "sets": parts,
        "methods": [vars(s) for s in evaluations.summaries()],
        "tests": [vars(t) for t in evaluations.tests()],
    }


def _part(evaluation: Evaluation) -> dict[str, Any]:
    least = evaluation.majority()
    return {
        "data": evaluation.table.name,
        "protocol": evaluation.protocol,
        "n_incomplete_rows": evaluation.n_incomplete,
        "complete": evaluation.complete,
        "majority": None if least is None else vars(least),
        "methods": [vars(s) for s in evaluation.summaries()],
        "tests": [vars(t) for t in evaluation.tests()],
        "folds": [_as_dict(record) for record in evaluation.records],
    }


def _as_dict(record: FoldRecord) -> dict[str, Any]:
    """One fold of a method as plain data, without the predictions of single rows."""
    names = ("method", "parameters", "fold", "selected", "status", "gap", "seconds", "unconverged")
    measures = ("accuracy", "hamming", "sub_exact", "macro_f1")
    return {
        **{name: getattr(record, name) for name in names},
        **{name: getattr(record.measures, name) for name in measures},
    }
