"""``milpbn verify`` confirms honest models and finds every kind of false claim."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from milpbn import Model, load_dataset
from milpbn.structure import Structure
from milpbn.verification.verify import verify_model

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def iris_model(milpbn: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two parents a variable, so that there is something to break."""
    out = tmp_path_factory.mktemp("verify") / "iris.json"
    result = milpbn("solve", "--dataset", "iris", "--class-root", "--out", out, "--quiet")
    assert result.exit_code == 0, result.output
    return out


def changed(model: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    content = json.loads(model.read_text())
    change(content)
    out = model.with_name("changed.json")
    out.write_text(json.dumps(content))
    return out


def disagreements(result: Result) -> list[str]:
    return [line for line in result.stdout.splitlines() if line.startswith("DISAGREES")]


def test_an_honest_model_agrees_and_is_proven_again(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("verify", iris_model)
    assert (result.exit_code, disagreements(result)) == (0, [])
    assert "proven again by" in result.stdout
    assert "enumeration" in result.stdout


def test_budgets_are_checked(milpbn: Run, tmp_path: Path) -> None:
    model = tmp_path / "small.json"
    options = ("--dataset", "iris", "--class-root", "--quiet", "--out", model)
    assert milpbn("solve", *options, "--max-arcs", 3, "--max-features", 2).exit_code == 0
    assert milpbn("verify", model).exit_code == 0
    for name, message in (("arcs", "but max_arcs is 1"), ("parameters", "parameters is 1")):

        def tighten(content: dict[str, Any], name: str = name) -> None:
            content["settings"]["constraints"][f"max_{name}"] = 1

        found = disagreements(milpbn("verify", changed(model, tighten)))
        assert any(message in line for line in found)


def test_augmented_families_are_checked(milpbn: Run, tmp_path: Path) -> None:
    model = tmp_path / "mdl.json"
    options = ("--dataset", "iris", "--score", "mdl", "--quiet", "--out", model)
    assert milpbn("solve", *options, "--augmented").exit_code == 0
    assert milpbn("verify", model).exit_code == 0
    assert milpbn("solve", *options).exit_code == 0
    claim = changed(model, lambda content: content["settings"].update(augmented=True))
    found = disagreements(milpbn("verify", claim))
    assert any("has parents, but not the class" in line for line in found)


def test_a_users_file_is_read_again_as_it_was(milpbn: Run, messy_csv: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(messy_csv, tmp_path / "own.csv"))
    model = tmp_path / "own.json"
    options = ("--target", "Klasse №", "--drop", "Kennung", "--missing", "state", "--quiet")
    result = milpbn("solve", "--data", file, *options, "--out", model)
    assert result.exit_code == 0, result.output
    columns = json.loads(model.read_text())["data"]["columns"]
    assert columns == {
        "target": "Klasse №",
        "categorical": [],
        "numeric": [],
        "drop": ["Kennung"],
        "dates": "expand",
        "max_states": 50,
        "target_bins": None,
    }
    agreed = milpbn("verify", model)
    assert agreed.exit_code == 0, agreed.output
    moved = file.rename(tmp_path / "moved.csv")
    gone = milpbn("verify", model)
    assert gone.exit_code == 1
    assert str(file) in gone.stderr
    assert milpbn("verify", model, "--data", moved).exit_code == 0
    moved.write_bytes(moved.read_bytes() + moved.read_bytes().splitlines()[-1] + b"\n")
    other = milpbn("verify", model, "--data", moved)
    assert other.exit_code == 4
    assert "the data are those" in disagreements(other)[0]


def _objective(model: dict[str, Any]) -> None:
    model["result"]["objective"] += 0.01


def _bound_too_low(model: dict[str, Any]) -> None:
    # A worse structure that claims to be optimal.
    names = list(model["structure"])
    structure = {name: [names[0]] if name == names[1] else [] for name in names}
    model["result"]["structure"] = model["structure"] = structure


def _probability(model: dict[str, Any]) -> None:
    table = model["log_probabilities"][next(iter(model["structure"]))]
    table[0], table[1] = table[1] - 0.1, table[0]


def _count(model: dict[str, Any]) -> None:
    model["counts"]["class"][0] += 1


def _encoder(model: dict[str, Any]) -> None:
    column = next(c for c in model["encoder"]["columns"] if c.get("cuts"))
    column["cuts"][0] += 0.05


def _forbidden(model: dict[str, Any]) -> None:
    name, parents = next((n, p) for n, p in model["structure"].items() if p)
    model["settings"]["constraints"] = {"forbidden": [[parents[0], name]]}


def _limit(model: dict[str, Any]) -> None:
    model["settings"]["max_parents"] = 1


def _rows(model: dict[str, Any]) -> None:
    model["data"]["n_rows"] -= 1


def _status(model: dict[str, Any]) -> None:
    model["result"]["bound"] += 1.0


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (_objective, "the structure has the stated score"),
        (_probability, "counting again gives the same counts and probabilities"),
        (_count, "counting again gives the same counts"),
        (_encoder, "fitting the encoder again"),
        (_rows, "the rows are described as they are"),
        (_forbidden, "satisfies limits and constraints"),
        (_limit, "satisfies limits and constraints"),
        (_status, "the status optimal fits"),
    ],
)
def test_false_claims_are_found(
    milpbn: Run, iris_model: Path, tmp_path: Path, change: Callable[..., None], claim: str
) -> None:
    copy = tmp_path / "copy.json"
    copy.write_text(iris_model.read_text())
    result = milpbn("verify", changed(copy, change))
    assert result.exit_code == 4, result.output
    assert any(claim in line for line in disagreements(result)), result.stdout
    assert "do not trust" in result.stdout


def test_a_wrong_bound_is_refuted_by_search_and_enumeration(
    milpbn: Run, iris_model: Path, tmp_path: Path
) -> None:
    """A worse structure, scored honestly, with a bound that says nothing better exists."""
    from milpbn import Encoder
    from milpbn.network.network import fit_network
    from milpbn.scores import make_score
    from milpbn.scores.rescore import rescore

    def change(model: dict[str, Any]) -> None:
        _bound_too_low(model)
        table = load_dataset("iris")
        data = Encoder.fit(table).encode(table)
        structure = Structure.from_dict(model["structure"])
        score = make_score("sm")
        value = rescore(score, structure, data.variables, data.train())
        network = fit_network(structure, data.variables, data.train(), score.smoothing)
        model["log_probabilities"] = {
            name: cpt.tolist()
            for name, cpt in zip(structure.variables, network.log_cpts, strict=True)
        }
        del model["counts"]
        model["result"]["objective"] = model["result"]["bound"] = value

    copy = tmp_path / "copy.json"
    copy.write_text(iris_model.read_text())
    result = milpbn("verify", changed(copy, change))
    assert result.exit_code == 4
    found = " ".join(disagreements(result))
    assert "a new search finds nothing above the bound" in found
    assert "no structure scores higher than the bound" in found


def test_a_heuristic_claims_no_bound(milpbn: Run, tmp_path: Path) -> None:
    out = tmp_path / "tan.json"
    milpbn("learn", "--dataset", "iris", "--method", "tan-cmi", "--out", out, "--quiet")
    result = milpbn("verify", out)
    assert result.exit_code == 0, result.output
    assert "no bound to check" in result.stdout


@pytest.mark.parametrize("how", [("--smoothing", "epsilon"), ("--parameters", "cl")])
def test_other_smoothing_and_learned_parameters_agree_too(
    milpbn: Run, tmp_path: Path, how: tuple[str, str]
) -> None:
    out = tmp_path / "model.json"
    milpbn("solve", "--dataset", "iris", "--max-parents", 1, *how, "--out", out, "--quiet")
    result = milpbn("verify", out)
    assert result.exit_code == 0, result.output


def test_learned_parameters_must_add_up(milpbn: Run, tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    learn = ("learn", "--dataset", "iris", "--class-root", "--method", "nb", "--parameters", "cl")
    assert milpbn(*learn, "--out", out, "--quiet").exit_code == 0
    claim = changed(out, lambda model: model["log_probabilities"].update({"class": [-1.2] * 3}))
    result = milpbn("verify", claim)
    assert result.exit_code == 4
    assert any("add up to 1 only within" in line for line in disagreements(result))


def test_a_result_about_another_structure_is_found(iris_model: Path) -> None:
    model = Model.load(iris_model)
    empty = Structure.from_arcs(model.network.structure.variables, [])
    other = replace(model, result=replace(model.result, structure=empty))
    verification = verify_model(other, load_dataset("iris"))
    assert not verification.agrees
    told = " ".join(check.seen for check in verification.checks if check.holds is False)
    assert "the result and the network have different structures" in told


def test_a_bundled_set_needs_no_file(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("verify", iris_model, "--data", "x.csv")
    assert result.exit_code == 2
    assert "leave out --data" in result.stderr


def test_a_sparse_model_is_checked_with_its_penalty(milpbn: Run, tmp_path: Path) -> None:
    out = tmp_path / "sparse.json"
    solved = milpbn("solve", "--dataset", "iris", "--penalty", "bic", "--out", out)
    assert solved.exit_code == 0, solved.output
    assert "penalty=bic" in solved.stdout
    verified = milpbn("verify", out)
    assert verified.exit_code == 0, verified.output
    assert "proven again" in verified.stdout

    def cheaper(model: dict[str, Any]) -> None:
        model["result"]["score_parameters"]["penalty"] = 0.1

    assert milpbn("verify", changed(out, cheaper)).exit_code == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["settings"].pop("score"), "settings: 'score' is missing"),
        (lambda m: m["settings"].pop("smoothing"), "settings: 'smoothing' is missing"),
        (lambda m: m.update(settings=None), "settings: expected an object, found null"),
        (
            lambda m: m["settings"].update(max_parents="2"),
            r"settings\.max_parents: expected a",
        ),
        (
            lambda m: m["settings"].update(max_parents=-1),
            r"settings\.max_parents: expected a",
        ),
        (lambda m: m["settings"].update(constraints=[]), r"settings\.constraints: expected an obj"),
        (lambda m: m["settings"].update(score="best"), "unknown score 'best'"),
        (lambda m: m["settings"].update(smoothing="heavy"), "smoothing"),
        (lambda m: m["settings"]["constraints"].update(required=[["a"]]), "required"),
        (lambda m: m["data"].update(rows=[]), r"data\.rows: expected a string, found a list"),
        (lambda m: m["data"].update(rows="some"), r"data\.rows: 'some' is not one of the known"),
        (lambda m: m["data"].update(dataset=7), r"data\.dataset: expected a string"),
        (lambda m: m["result"].update(score="best"), "unknown score 'best'"),
        (lambda m: m["result"].update(score_parameters={"p": "x"}), r"score_parameters\.p: exp"),
        (lambda m: m["result"].update(objective=10**400), "objective: the number is out of range"),
    ],
)
def test_a_file_edited_by_hand_is_named_with_the_entry(
    milpbn: Run, iris_model: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    result = milpbn("verify", changed(iris_model, change), "--time-limit", "5s")
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1
    assert "changed.json" in result.stderr
    assert re.search(message, result.stderr)


def test_data_that_are_not_a_file_are_not_opened(
    milpbn: Run, iris_model: Path, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)  # opening it would wait for a writer for ever
    for name in (fifo, "/dev/zero", tmp_path):

        def point_at(model: dict[str, Any], name: object = name) -> None:
            model["data"] = {"file": str(name), "columns": {"target": "class"}}

        result = milpbn("verify", changed(iris_model, point_at))
        assert result.exit_code == 1
        assert "as its data, which is not a file of data; name the file with" in result.stderr


def test_ctrl_c_during_the_search_for_a_counterexample_ends_verify(milpbn, tmp_path, monkeypatch):
    from dataclasses import replace

    from milpbn import Status
    from milpbn.verification import verify as module

    def interrupted(*arguments):
        return replace(run(*arguments), status=Status.INTERRUPTED)

    out, run = tmp_path / "model.json", module.run_learner
    assert milpbn("solve", "--dataset", "corral", "--max-parents", "1", "--out", out).exit_code == 0
    monkeypatch.setattr(module, "run_learner", interrupted)
    done = milpbn("verify", out)
    assert done.exit_code != 0
    assert "Everything agrees" not in done.stdout
