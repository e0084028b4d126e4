"""The option --select of `solve`, `learn` and `evaluate`."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from milpbn import Model

QUICK = ("--dataset", "synthetic-3")


def test_solve_selects_and_proves(milpbn, tmp_path):
    out, plot = tmp_path / "model.json", tmp_path / "candidates.png"
    result = milpbn(
        *("solve", *QUICK, "--select", "max-parents=1,2", "--select", "penalty=0,bic"),
        *("--select-by", "accuracy", "--out", out, "--plot-selection", plot),
    )
    assert result.exit_code == 0
    assert "selected    max-parents=2, penalty=" in result.stdout
    assert "on held-out rows, best of 4 candidates)" in result.stdout
    assert "status      optimal" in result.stdout
    assert f"wrote {plot}" in result.stderr
    assert plot.read_bytes()[:4] == b"\x89PNG"
    selection = Model.load(out).selection
    assert (selection.by, len(selection.candidates)) == ("accuracy", 4)
    shown = milpbn("inspect", out).stdout
    assert "max-parents=1, penalty=bic" in shown
    assert milpbn("verify", out).exit_code == 0


def test_a_heuristic_that_is_chosen_has_no_certificate(milpbn, tmp_path):
    certificate = tmp_path / "proof.gz"
    done = milpbn("solve", *QUICK, "--select", "method=nb,hc", "--certificate", certificate)
    assert done.exit_code == 0, done.output
    assert f"note: {certificate} was not written: " in done.stderr
    assert "was chosen and proves nothing" in done.stderr
    assert not certificate.exists()


def test_plot_with_select_still_draws_the_candidates(milpbn, tmp_path):
    old, new, gap = (tmp_path / f"{name}.svg" for name in ("old", "new", "gap"))
    how = ("learn", *QUICK, "--method", "nb", "--select", "parameters=ml,cl:penalty=1")
    done = milpbn(*how, "--plot", old)
    assert done.exit_code == 0, done.output
    assert "note: with --select, --plot draws the candidates; use --plot-" in done.stderr
    both = milpbn(*how, "--plot", gap, "--plot-selection", new)
    assert both.exit_code == 0, both.output
    assert "note: with --select" not in both.stderr
    assert "cl:penalty=1" in old.read_text()
    assert "cl:penalty=1" in new.read_text()
    assert "cl:penalty=1" not in gap.read_text()


def test_yes_and_no_are_values_and_inspect_cuts_long_lists_off(milpbn, tmp_path):
    file = tmp_path / "model.json"
    grid = ("--select", "class_parents=true,False", "--select", "p=0.6,0.65,0.7,0.75,0.8,0.85")
    done = milpbn("learn", "--dataset", "iris", "--method", "nb", *grid, "--json", "--out", file)
    assert done.exit_code == 0, done.output
    tried = json.loads(done.stdout)["selection"]["candidates"]
    assert len(tried) == 12
    assert [c["values"]["class_parents"] for c in tried].count(True) == 6
    assert [c["values"]["class_parents"] for c in tried].count(False) == 6
    assert re.search(r"\n +\.\.\.  2 more candidates\n", milpbn("inspect", file).stdout)


def test_learn_selects_with_a_heuristic(milpbn):
    result = milpbn(
        *("learn", *QUICK, "--method", "hc", "--select", "score=cr,cll", "--json"),
        *("--select", "parameters=ml,cl"),
    )
    content = json.loads(result.stdout)
    chosen = content["selection"]["candidates"][content["selection"]["chosen"]]["values"]
    assert content["settings"]["score"] == chosen["score"]
    assert content["result"]["bound"] is None


def test_cuttings_are_selected_and_verified(milpbn, tmp_path):
    out = tmp_path / "model.json"
    result = milpbn(
        *("learn", "--dataset", "iris", "--method", "nb", "--out", out),
        *("--select", "bins=mdlp,quantile:2", "--select", "parameters=ml"),
    )
    assert result.exit_code == 0
    assert "best of 2 candidates" in result.stdout
    model = Model.load(out)
    assert model.encoder.bins == model.selection.values["bins"] == model.data["bins"]
    assert milpbn("verify", out).exit_code == 0


def test_default_candidates_with_cuttings(milpbn, monkeypatch):
    from milpbn.selection import plan

    monkeypatch.setitem(plan.AUTO_GRIDS, "auto", [{"method": ["nb"], "parameters": ["ml"]}])
    bins = ("--select", "bins=quantile:3,quantile:5")
    result = milpbn("solve", "--dataset", "iris", "--select", "auto", *bins, "--json")
    content = json.loads(result.stdout)
    assert [c["values"]["bins"] for c in content["selection"]["candidates"]] == [
        "quantile:3",
        "quantile:5",
    ]
    result = milpbn("evaluate", "--dataset", "iris", "--method", "nb,auto", *bins, "--json")
    records = json.loads(result.stdout)["folds"]
    assert {r["method"] for r in records} == {"nb", "auto"}
    assert all(r["selected"]["bins"].startswith("quantile:") for r in records)


def test_evaluate_has_a_method_that_selects_by_itself(milpbn, monkeypatch):
    from milpbn.selection import plan

    monkeypatch.setitem(plan.AUTO_GRIDS, "auto", [{"method": ["nb"], "parameters": ["ml", "cl"]}])
    result = milpbn("evaluate", *QUICK, "--method", "nb,auto", "--json")
    records = json.loads(result.stdout)["folds"]
    assert [r["method"] for r in records] == ["nb", "auto"]
    assert records[1]["selected"]["method"] == "nb"


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("solve", ("--plot-selection", "a.png"), "--plot-selection requires --select"),
        ("solve", ("--select-by", "auc"), "--select-by requires --select"),
        ("learn", ("--exact-folds",), "--exact-folds requires --select"),
        ("solve", ("--select", "auto", "--select", "p=0.9"), "can only be combined with --s"),
        (
            "solve",
            ("--select", "bins=mdlp,4"),
            "unknown bins 4; write mdlp, fine, auto",
        ),
        (
            "solve",
            ("--select", "bins=mdlp", "--bins", "auto"),
            "cannot be combined with --select bins",
        ),
        (
            "solve",
            ("--select", "p=0.9,2"),
            "select p: each value must be a number above 0.5 and below 1, not 2",
        ),
        ("solve", ("--select", "penalty=aic"), "penalty"),
        ("solve", ("--select", "penalty=0,1", "--p", "0.6,0.9"), "No such option '--select'"),
        ("learn", ("--select", "p=0.9", "--method", "all"), "cannot be combined with --method all"),
        ("evaluate", ("--select", "auto"), "use --method auto"),
        ("evaluate", ("--select", "p=0.6", "--select-by", "f1"), "cannot select by 'f1'"),
    ],
)
def test_mistakes_are_named(milpbn, command, options, message):
    result = milpbn(command, *QUICK, *options)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_ctrl_c_during_the_selection_leaves_a_model(tmp_path):
    out = tmp_path / "model.json"
    command = [sys.executable, "-m", "milpbn", "solve", "--dataset", "car", "--out", str(out)]
    grid = ",".join(f"{0.51 + k / 100:.2f}" for k in range(45))
    run = subprocess.Popen(
        [*command, "--select", f"p={grid}", "--select", "parameters=ml,cl"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    while "selecting" not in run.stderr.readline():
        pass
    os.kill(run.pid, signal.SIGINT)
    stdout, stderr = run.communicate()
    assert "Traceback" not in stderr
    assert run.returncode == 3
    assert "status      interrupted" in stdout
    assert Model.load(out).result.status == "interrupted"


def test_a_selected_heuristic_that_has_finished_is_a_success(milpbn):
    result = milpbn("solve", *QUICK, "--select", "method=nb,hc", "--json")
    assert json.loads(result.stdout)["result"]["status"] == "feasible"
    assert result.exit_code == 0
    late = milpbn("solve", *QUICK, "--select", "method=hc", "--time-limit", "0.001s", "--quiet")
    assert late.exit_code in (1, 3)
