"""``milpbn solve --checkpoint`` and ``--resume``."""

import json
import signal

import pytest

HEART = ("solve", "--dataset", "heart", "--class-root", "--max-parents", "2", "--p", "0.99")


def test_a_run_that_was_stopped_goes_on_with_its_tree(milpbn, tmp_path):
    tree = tmp_path / "heart.tree"
    first = milpbn(*HEART, "--gap", "2%", "--checkpoint", tree, "--json", "--quiet")
    assert first.exit_code == 0, first.output
    before = json.loads(first.stdout)["result"]
    more = ("--out", tmp_path / "model.json", "--json", "--quiet")
    second = milpbn(*HEART, "--checkpoint", tree, "--resume", tree, *more)
    assert second.exit_code == 0, second.output
    result = json.loads(second.stdout)["result"]
    assert result["status"] == "optimal"
    assert result["objective"] == pytest.approx(781.539310)
    assert result["nodes"] >= before["nodes"]
    assert result["trace"][0]["bound"] <= before["bound"]
    # The files of one run are of no interest to a reader of its model.
    settings = json.loads((tmp_path / "model.json").read_text())["settings"]
    assert not {"checkpoint", "resume"} & settings.keys()
    done = milpbn(*HEART, "--resume", tree, "--json", "--quiet")
    assert json.loads(done.stdout)["result"]["nodes"] == result["nodes"]


def test_the_certificate_goes_on_with_the_tree(milpbn, tmp_path):
    tree, model, certificate = (tmp_path / name for name in ("tree", "heart.json", "heart.gz"))
    files = ("--out", model, "--certificate", certificate, "--quiet")
    first = milpbn(*HEART, "--gap", "2%", "--checkpoint", tree, *files)
    assert first.exit_code == 0, first.output
    checked = milpbn("check", model, certificate)
    assert checked.exit_code == 0, checked.output
    assert "It proves the bound of the model." in checked.stdout
    stopped = certificate.read_bytes()
    second = milpbn(*HEART, "--resume", tree, *files)
    assert second.exit_code == 0, second.output
    checked = milpbn("check", model, certificate)
    assert checked.exit_code == 0, checked.output
    assert "The structure is optimal" in checked.stdout
    certificate.write_bytes(stopped[:1000])
    refused = milpbn(*HEART, "--resume", tree, *files)
    assert refused.exit_code == 1
    assert "Error: cannot continue the certificate: neither" in refused.stderr
    assert certificate.read_bytes() == stopped[:1000]
    certificate.unlink()
    refused = milpbn(*HEART, "--resume", tree, *files)
    assert refused.exit_code == 1
    assert "give the file of the earlier run as --certificate, or leave it out" in refused.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["heart.json", "tree"]


def test_ctrl_c_leaves_a_checkpoint(launch, wait_for_line, milpbn, tmp_path):
    tree = tmp_path / "vehicle.tree"
    command = ("solve", "--dataset", "vehicle", "--class-root")
    started = launch(*command, "--checkpoint", tree)
    wait_for_line(started, "branch-and-cut")
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=600)
    assert started.returncode == 3, err
    assert "interrupted" in out
    result = milpbn(*command, "--resume", tree, "--time-limit", "0.1", "--json", "--quiet")
    assert result.exit_code == 3, result.output
    bound = float(next(line for line in out.splitlines() if line.startswith("bound")).split()[1])
    assert json.loads(result.stdout)["result"]["bound"] <= bound + 1e-6


def test_local_scores_have_checkpoints_too(milpbn, tmp_path):
    scores, tree = tmp_path / "car.jkl", tmp_path / "car.tree"
    milpbn("scores", "--dataset", "car", "--score", "mdl", "--out", scores)
    assert milpbn("solve-scores", scores, "--checkpoint", tree, "--quiet").exit_code == 0
    moved = scores.rename(tmp_path / "moved.jkl")
    result = milpbn("solve-scores", moved, "--resume", tree, "--quiet")
    assert result.exit_code == 0, result.output
    assert "optimal" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--resume", "absent"), "File 'absent' does not exist"),
        (("--checkpoint", "absent/tree"), "there is no folder absent"),
        (("--checkpoint", "tree", "--p", "0.6,0.9"), "No such option '--checkpoint'"),
        (("--checkpoint", "tree", "--method", "monolithic"), "requires --method branch-and-cut"),
        (("--checkpoint", "tree", "--host", "scip"), "requires --method branch-and-cut"),
        (("--checkpoint", "tree", "--out", "tree"), "--checkpoint tree is also --out"),
    ],
)
def test_options_that_do_not_go_together(milpbn, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = milpbn("solve", "--dataset", "iris", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "tree").exists()


def test_another_file_is_refused(milpbn, tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    result = milpbn("solve", "--dataset", "iris", "--resume", tmp_path / "data.csv")
    assert result.exit_code == 1
    assert "data.csv is not a milpbn checkpoint" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_run_that_replaces_a_checkpoint_says_so_before_it_begins(milpbn, tmp_path):
    tree = tmp_path / "iris.tree"
    command = ("solve", "--dataset", "iris", "--max-parents", 1, "--checkpoint", tree)
    note = f"note: {tree} will be replaced; --resume {tree} continues from it.\n"
    assert note not in milpbn(*command).stderr
    assert note not in milpbn(*command, "--resume", tree).stderr
    assert milpbn(*command, "--quiet").stderr == ""
    assert milpbn(*command).stderr.startswith(note)
    scores = tmp_path / "iris.jkl"
    milpbn("scores", "--dataset", "iris", "--score", "mdl", "--out", scores)
    assert milpbn("solve-scores", scores, "--checkpoint", tree).stderr.startswith(note)
