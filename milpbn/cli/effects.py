"""The effects of features on the log-odds, as text for people, as plain data and as a picture."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.params import Names
from milpbn.words import count, name_in_list

if TYPE_CHECKING:
    from milpbn.explanation import Effect
    from milpbn.learning.model import Model


class ModelEffects:
    """Effects of features, averaged over the rows of a file.

    Parameters
    ----------
    model
        The model.
    file
        The rows.
    names
        The features, as they are typed; empty for all of them.
    strict
        Whether the file must have all columns that the model uses.
    """

    def __init__(self, model: Model, file: str, names: str, strict: bool) -> None:
        from milpbn.cli.predict import coded
        from milpbn.datasets import read_features
        from milpbn.errors import OptionError
        from milpbn.explanation import effects_of

        chosen = Names().convert(names, None, None)
        frame = read_features(file, model.encoder.sources(), strict=strict)
        codes = coded(model, file, frame)
        self._rows = f"{count(len(frame), 'row')} of {file}"
        self._target = model.encoder.target.name
        self._named = bool(chosen)
        try:
            self._effects = effects_of(model.network, model.encoder, codes, chosen or None)
        except OptionError as error:
            raise click.UsageError(f"--effects: {error}") from None

    def json(self) -> str:
        """All effects as JSON."""
        found = {effect.feature: _as_data(effect) for effect in self._effects}
        return json.dumps({"rows": self._rows, "effects": found}, indent=1, allow_nan=False) + "\n"

    def text(self) -> str:
        """One table per feature: a line per state, a column per class."""
        told = f"Added to the log-odds of {name_in_list(self._target)}, averaged over {self._rows}."
        return "\n\n".join([told, *map(_table, self._effects)]) + "\n"

    def plot(self, file: str) -> None:
        """Draw the effects; of many, those that are largest."""
        from milpbn.pictures import plot_effects
        from milpbn.pictures.effects import MOST_EFFECTS

        most = len(self._effects) if self._named else MOST_EFFECTS
        first = self._effects[0]
        labels = [str(first.classes[c]) for c in first.shown]
        title = f"added to the log-odds of {self._target}"
        title += f" = {labels[0]}" if len(labels) == 1 else ""
        plot_effects(self._effects[:most], file, title=title)


def _as_data(effect: Effect) -> dict[str, Any]:
    return {
        "cuts": list(effect.cuts),
        "states": [
            {
                "state": state,
                "share": float(share),
                "log_odds": dict(zip(map(str, effect.classes), own, strict=True)),
            }
            for state, share, own in zip(
                effect.states, effect.shares, effect.log_odds.tolist(), strict=True
            )
        ],
    }


def _table(effect: Effect) -> str:
    from milpbn.widths import aligned

    labels = [name_in_list(str(effect.classes[c])) for c in effect.shown]
    lines = [[name_in_list(effect.feature), "rows", *labels]]
    for state, share, own in zip(effect.states, effect.shares, effect.log_odds, strict=True):
        shown = [f"{own[c]:+z.3f}" for c in effect.shown]
        lines.append([name_in_list(state), f"{100 * share:.1f} %", *shown])
    return aligned(lines)
