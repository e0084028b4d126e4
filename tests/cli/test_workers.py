"""Worker processes and Dask clusters on the command line."""

import gc
import json
import os
import signal
import sys
import time

import psutil
import pytest

HEART = ("--dataset", "heart", "--class-root")


@pytest.fixture(scope="module")
def scheduler():
    """The address of a cluster with two workers in this process."""
    from distributed import LocalCluster

    gc.collect()  # clients of earlier tests that lost their scheduler close themselves now
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "--dataset", "iris", "--method", "nb,tan-cmi"),
        pytest.param(
            ("mdc", "evaluate", "--dataset", "Jura", "--methods", "br", "--folds", "2"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_cluster_evaluates_like_one_process(milpbn, scheduler, command):
    alone = milpbn(*command, "--quiet")
    shared = milpbn(*command, "--quiet", "--scheduler", scheduler)
    assert (alone.exit_code, shared.exit_code) == (0, 0), shared.output
    assert without_seconds(shared.stdout) == without_seconds(alone.stdout)


def without_seconds(text):
    return [[c for c in line.split() if c.isalpha() or "." not in c] for line in text.splitlines()]


def test_stability_uses_a_cluster(milpbn, scheduler, tmp_path):
    model = tmp_path / "iris.json"
    milpbn("learn", "--dataset", "iris", "--method", "nb", "--out", model, "--quiet")
    command = ("stability", model, "--resamples", "4", "--quiet", "--json")
    alone, shared = milpbn(*command), milpbn(*command, "--scheduler", scheduler)
    assert shared.exit_code == 0, shared.output
    assert json.loads(shared.stdout)["counts"] == json.loads(alone.stdout)["counts"]


@pytest.mark.slow
def test_base_models_are_trained_on_a_cluster(milpbn, scheduler):
    result = milpbn("mdc", "solve", "--dataset", "Jura", "--scheduler", scheduler, "--quiet")
    assert result.exit_code == 0, result.output


def test_the_tree_is_solved_by_a_cluster(milpbn, scheduler, tmp_path):
    model, certificate = tmp_path / "heart.json", tmp_path / "heart.gz"
    files = ("--out", model, "--certificate", certificate)
    result = milpbn("solve", *HEART, "--scheduler", scheduler, "--json", "--quiet", *files)
    assert result.exit_code == 0, result.output
    checked = milpbn("check", model, certificate)
    assert checked.exit_code == 0, checked.output
    assert "The structure is optimal" in checked.stdout
    content = json.loads(result.stdout)
    assert content["result"]["status"] == "optimal"
    assert content["result"]["objective"] == pytest.approx(418.362125)


@pytest.mark.parametrize("command", ["solve", "evaluate"])
def test_a_wrong_address_is_an_error(milpbn, command, monkeypatch):
    monkeypatch.setattr("milpbn.cluster._CONNECT", 0.5)
    result = milpbn(command, "--dataset", "heart", "--scheduler", "tcp://127.0.0.1:9", "--quiet")
    assert result.exit_code == 1
    assert "cannot connect to a Dask scheduler at 'tcp://127.0.0.1:9'" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--workers", "-1"), "-1 is not in the range"),
        (("--workers", "2", "--scheduler", "x"), "give one of --workers and --scheduler"),
        (("--workers", "2", "--method", "monolithic"), "--workers requires --method branch"),
    ],
)
def test_options_that_do_not_go_together(milpbn, options, message):
    result = milpbn("solve", "--dataset", "iris", *options)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_the_command_and_its_workers(launch, tmp_path):
    """The signal reaches all processes of the terminal; only the command answers."""
    tree = tmp_path / "vehicle.tree"
    paths = os.pathsep.join(p for p in sys.path if p)
    command = ("solve", "--dataset", "vehicle", "--class-root", "--workers", 2)
    started = launch(
        *command, "--checkpoint", tree, "--time-limit", "10m",
        env={**os.environ, "PYTHONPATH": paths}, start_new_session=True,
    )  # fmt: skip
    children = psutil.Process(started.pid).children
    workers = []
    while len(workers) < 2:
        time.sleep(0.1)
        workers = [c for c in children() if "spawn_main" in " ".join(c.cmdline())]
    time.sleep(5)
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=120)
    assert started.returncode == 3, err
    assert "interrupted" in out
    assert "Traceback" not in err
    assert "distributed" not in err
    assert tree.exists()
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive
