"""The calculator of a report: its answers are those of milpbn and of an exhaustive search."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from itertools import combinations, product

import numpy as np
import pytest
from deployed import run_node

from milpbn import BNClassifier, load_dataset
from milpbn.deployment.javascript import as_json, engine
from milpbn.evaluation.rows import MeasuredRows
from milpbn.explanation import explain_codes
from milpbn.network.inference import log_posterior
from milpbn.reporting import html_report, what_if

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed"),
    pytest.mark.filterwarnings("ignore::milpbn.errors.DataWarning"),
]

ASK = """
const [cases, keep] = JSON.parse(require("fs").readFileSync(0, "utf-8"));
eval(require("fs").readFileSync(process.argv[1], "utf-8") + `
const engine = classifier(model);
const { best, contributions, smallestChange } = whatIf(model, engine);
console.log(JSON.stringify(cases.map((codes) => {
  const shares = engine.probabilities(engine.logJoint(codes));
  return [shares, contributions(codes, best(shares)), smallestChange(codes, keep)];
})));`);
"""


def fitted(name, **settings):
    table = load_dataset(name)
    model = BNClassifier(**settings).fit(table.features, table.target)
    return model.model_, model.encode_rows(table.features, table.target)


def answers(model, codes, folder, keep=()):
    """What the page would say about some rows, and the rows as the page counts them."""
    part = what_if.what_if(model, codes, dict.fromkeys(range(len(codes)), ""))
    assert part is not None
    source = resources.files("milpbn.reporting").joinpath("templates", "whatif.js")
    file = folder / "page.js"
    text = f"const model = {as_json(part['model'])};\n{engine()}\n{source.read_text('utf-8')}"
    file.write_text(text, encoding="utf-8")
    cases = [case for _, case in part["starts"][:-1]]
    keeps = [column["name"] in keep for column in part["columns"]]
    return part, cases, run_node(ASK, file, json.dumps([cases, keeps]))


def holes(codes, seed=0):
    rng = np.random.default_rng(seed)
    gone = rng.random(codes[:, 1:].shape) < np.resize([0.0, 0.4], len(codes))[:, None]
    return np.column_stack([codes[:, 0], np.where(gone, -1, codes[:, 1:])])


KINDS = [
    ("iris", {"max_parents": 2}),
    ("heart", {"method": "hc", "bins": "auto"}),
    ("heart", {"method": "multinet-cmi"}),
    ("crx", {"method": "hc", "smoothing": "epsilon", "missing": "state"}),
]


@pytest.mark.parametrize(("name", "settings"), KINDS)
def test_probabilities_and_contributions_are_those_of_milpbn(name, settings, tmp_path):
    model, codes = fitted(name, **settings)
    codes = holes(codes[:: len(codes) // 12])
    part, _, found = answers(model, codes, tmp_path)
    shares = np.array([answer[0] for answer in found])
    assert shares == pytest.approx(np.exp(log_posterior(model.network, codes[:, 1:])), abs=1e-9)
    wanted = explain_codes(model.network, model.encoder, codes[:, 1:]).contributions
    told = [answer[1] for answer in found]
    assert [t["start"] for t in told] == pytest.approx(wanted.iloc[:, 0].tolist(), abs=1e-9)
    assert [t["rest"] for t in told] == pytest.approx(wanted.iloc[:, -1].tolist(), abs=1e-9)
    used = [column["name"] for column in part["columns"]]
    columns = np.array([t["columns"] for t in told])
    assert columns == pytest.approx(wanted[used].to_numpy(), abs=1e-9)
    # Nothing else contributes.
    others = wanted.iloc[:, 1:-1].drop(columns=used).to_numpy()
    assert others == pytest.approx(0, abs=1e-9)


def smallest_change(network, codes, free, forbidden):
    """The size of the smallest change, and its largest probability, by trying everything."""
    before = log_posterior(network, codes[None])[0].argmax()
    for size in range(1, len(free) + 1):
        rows = []
        for chosen in combinations(free, size):
            states = [
                [s for s in range(network.variables[1 + v].card) if s not in (codes[v], forbidden)]
                for v in chosen
            ]
            for own in product(*states):
                row = codes.copy()
                row[list(chosen)] = own
                rows.append(row)
        log_proba = log_posterior(network, np.array(rows))
        other = log_proba.argmax(axis=1) != before
        if other.any():
            return size, np.exp(log_proba.max(axis=1))[other].max()
    return None


@pytest.mark.parametrize("settings", [{"max_parents": 2}, {"method": "multinet-cmi"}])
def test_the_smallest_change_is_that_of_an_exhaustive_search(settings, tmp_path):
    model, codes = fitted("iris", **settings)
    codes = holes(codes[::9])
    keep = [model.network.variables[3].name]
    part, cases, found = answers(model, codes, tmp_path, keep)
    for case, row, (shares, _, change) in zip(cases, codes[:, 1:], found, strict=True):
        free = [
            v for v in np.flatnonzero(row >= 0) if model.network.variables[1 + v].name not in keep
        ]
        wanted = smallest_change(model.network, row, free, None)
        if wanted is None:
            assert change == {"searched": len(free), "all": True}
            continue
        size, probability = wanted
        assert len(change["columns"]) == size
        assert change["probability"] == pytest.approx(probability, abs=1e-9)
        changed = [v for v, (a, b) in enumerate(zip(case, change["codes"], strict=True)) if a != b]
        assert changed == change["columns"]
        assert not {part["columns"][v]["name"] for v in changed} & set(keep)
        assert change["after"] != int(np.argmax(shares))


def test_a_search_that_would_be_long_says_how_far_it_came(tmp_path):
    model, codes = fitted("vote", method="nb", missing="state")
    log_proba = log_posterior(model.network, codes[:, 1:])
    clear = codes[[int(log_proba.max(axis=1).argmax())]]
    incomplete = clear.copy()
    incomplete[0, 1] = -1
    (_, _, change), (_, _, less) = answers(model, np.vstack([clear, incomplete]), tmp_path)[2]
    assert len(change["columns"]) > 4
    # 15 + 105 + 455 + 1365 cases, and 3003 more would be too many.
    assert less == {"searched": 4, "all": False}


def test_there_is_no_calculator_for_large_tables(monkeypatch):
    model, codes = fitted("iris", method="nb")
    rows = MeasuredRows(codes, "rows")
    assert 'id="what-if"' in html_report(model, rows)
    monkeypatch.setattr(what_if, "_MOST_ENTRIES", 10)
    text = html_report(model, rows)
    assert 'id="what-if"' not in text
    assert "whatIf" not in text
