"""The command as a process: start, exit codes, signals, pipes and terminals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from milpbn import Model, __version__
from milpbn.cli.interrupts import Interrupts

Run = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[str]]
Launch = Callable[..., subprocess.Popen[str]]

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and devices")


# In this process


def test_help_names_commands_and_exit_codes(milpbn: Run) -> None:
    for option in ("--help", "-h"):
        result = milpbn(option)
        assert result.exit_code == 0
        for word in ("solve", "learn", "inspect", "predict", "datasets", "Exit codes", "130"):
            assert word in result.stdout
        assert "..." not in result.stdout.partition("Learn:")[2]


def test_version(milpbn: Run) -> None:
    assert milpbn("--version").stdout == f"milpbn {__version__}\n"


def test_a_misspelt_command_is_named(milpbn: Run) -> None:
    result = milpbn("sovle")
    assert result.exit_code == 2
    assert "No such command 'sovle'" in result.stderr


def test_without_a_command_the_help_is_shown(milpbn: Run) -> None:
    result = milpbn()
    assert result.exit_code == 2
    assert "Learn:" in result.stderr


def test_signals_in_quick_succession_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: at[0])
    interrupts = Interrupts()
    assert not interrupts.asked
    with pytest.raises(KeyboardInterrupt):
        interrupts(signal.SIGINT, None)
    assert interrupts.asked
    at[0] += 1.9
    interrupts(signal.SIGINT, None)
    at[0] += 0.2
    with pytest.raises(KeyboardInterrupt):
        interrupts(signal.SIGINT, None)


def test_once_closed_signals_do_nothing() -> None:
    interrupts = Interrupts()
    interrupts.close()
    interrupts(signal.SIGINT, None)
    assert not interrupts.asked


# In a process of its own


HELP_NEEDS_NONE = "numpy pandas scipy highspy pulp sklearn rich matplotlib numba networkx pyarrow"
SOLVE_NEEDS_NONE = "scipy.stats scipy.optimize pulp sklearn joblib rich matplotlib networkx dask"


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        ("--help", HELP_NEEDS_NONE),
        ("--version", HELP_NEEDS_NONE),
        ("mdc --help", HELP_NEEDS_NONE),
        ("solve --dataset car --max-parents 1 --quiet", SOLVE_NEEDS_NONE),
    ],
)
def test_commands_load_no_heavy_modules_that_they_do_not_use(
    process: Process, arguments: str, heavy: str
) -> None:
    code = (
        "import os, sys\nfrom milpbn.cli import main\nos._exit = sys.exit\n"
        "try:\n    main()\nfinally:\n"
        f"    loaded = set({heavy!r}.split()) & set(sys.modules)\n"
        "    print('heavy:', sorted(loaded), file=sys.stderr)\n"
    )
    result = process(*arguments.split(), code=code)
    assert result.returncode == 0
    assert result.stderr == "heavy: []\n"


def test_learning_does_not_wait_for_scikit_learn(process: Process) -> None:
    code = (
        "import os, sys\nfrom milpbn.cli import main\nos._exit = sys.exit\n"
        "try:\n    main()\nfinally:\n    print('sklearn' in sys.modules, file=sys.stderr)\n"
    )
    result = process("solve", "--dataset", "iris", "--max-parents", "1", "--quiet", code=code)
    assert result.returncode == 0
    assert result.stderr == "False\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("solve", "--dataset", "iris", "--max-parents", "1"), 0),
        (("solve", "--dataset", "irsi"), 1),
        (("solve", "--data", "missing.csv", "--target", "x"), 1),
        (("inspect", "missing.json"), 1),
        (("solve", "--dataset", "iris", "--p", "0.4"), 2),
        (("solve",), 2),
    ],
)
def test_exit_codes(
    process: Process, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    result = process(*arguments, cwd=tmp_path)
    assert result.returncode == code
    assert "Traceback" not in result.stderr
    if code:
        assert result.stdout == ""
        assert "Error: " in result.stderr
        assert not list(tmp_path.iterdir())


def test_the_package_can_be_run_as_a_module() -> None:
    command = [sys.executable, "-m", "milpbn", "--version"]
    assert subprocess.check_output(command, encoding="utf-8") == f"milpbn {__version__}\n"


def test_a_time_limit_ends_with_a_structure_and_exit_code_3(
    process: Process, tmp_path: Path
) -> None:
    out = tmp_path / "model.json"
    options = ("--dataset", "vehicle", "--time-limit", "3s", "--json", "--out", out)
    # Time passes by a millisecond whenever it is read, and so the same on any machine.
    code = (
        "import itertools, time\nticks = itertools.count()\n"
        "time.perf_counter = lambda: next(ticks) / 1000\n"
        "from milpbn.cli import main\nmain()\n"
    )
    result = process("solve", *options, code=code)
    assert result.returncode == 3, result.stderr
    content = json.loads(result.stdout)["result"]
    assert content["status"] == "time_limit"
    assert content["bound"] > content["objective"]
    assert Model.load(out).result.status == "time_limit"


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_structure_bound_and_trace(
    launch: Launch, tmp_path: Path, number: int
) -> None:
    out, trace = tmp_path / "model.json", tmp_path / "trace.csv"
    options = ("--dataset", "vehicle", "--time-limit", "600", "--out", out, "--trace", trace)
    run = launch("solve", *options)
    assert run.stderr is not None
    for line in run.stderr:
        if re.match(r" +[\d.]+s +\d+ +-?\d", line):  # there is a structure
            break
    for _ in range(3):  # an impatient user
        run.send_signal(number)
        time.sleep(0.01)
    stdout, stderr = run.communicate(timeout=600)
    assert run.returncode == 3, stderr
    assert "Traceback" not in stderr
    assert "status      interrupted" in stdout
    result = Model.load(out).result
    assert result.status == "interrupted"
    assert result.bound is not None
    assert result.bound > result.objective
    assert trace.read_text().splitlines()[-1].endswith(",end")
    assert sorted(tmp_path.iterdir()) == [out, trace]


@posix
def test_an_interrupt_before_there_is_a_structure(process: Process, tmp_path: Path) -> None:
    code = (
        "import os, signal\nimport milpbn.cli.session as session\nfrom milpbn.cli import main\n"
        "session.load_table = lambda *options: os.kill(os.getpid(), signal.SIGINT)\n"
        "main()\n"
    )
    options = ("--dataset", "iris", "--out", tmp_path / "model.json")
    result = process("solve", *options, code=code)
    assert result.returncode == 130
    assert result.stdout == ""
    assert result.stderr.strip() == "Interrupted before there was a result."
    assert not list(tmp_path.iterdir())


@posix
def test_an_interrupt_while_the_result_is_written_is_too_late(
    process: Process, tmp_path: Path
) -> None:
    code = (
        "import os, signal\nfrom milpbn import Model\nfrom milpbn.cli import main\n"
        "save = Model.save\n"
        "def interrupted_save(model, path):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    save(model, path)\n"
        "Model.save = interrupted_save\nmain()\n"
    )
    out = tmp_path / "model.json"
    options = ("--dataset", "iris", "--max-parents", "1", "--out", out)
    result = process("solve", *options, code=code)
    assert result.returncode == 0, result.stderr
    assert "status      optimal" in result.stdout
    assert Model.load(out).result.status == "optimal"


@posix
def test_a_reader_that_goes_away_is_no_error_message(launch: Launch) -> None:
    run = launch("datasets", "export", "letter")
    assert run.stdout is not None
    assert run.stdout.readline().startswith("x.box,")
    run.stdout.close()
    assert run.stderr is not None
    assert run.stderr.read() == ""
    run.wait(timeout=600)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_message(process: Process) -> None:
    code = "import sys\nsys.stdout = open('/dev/full', 'w')\nfrom milpbn.cli import main\nmain()\n"
    result = process("datasets", "list", code=code)
    assert result.returncode == 1
    assert result.stderr == "Error: cannot write the output: No space left on device\n"


@posix
def test_in_a_terminal_the_progress_line_comes_and_goes() -> None:
    import pty

    leader, follower = pty.openpty()
    code = "from milpbn.cli import main; main()"
    run = subprocess.Popen(
        [sys.executable, "-c", code, "solve", "--dataset", "iris", "--json"],
        stdout=subprocess.PIPE,
        stderr=follower,
        encoding="utf-8",
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
    )
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 65536):
            shown += part
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(leader)
    assert run.stdout is not None
    assert json.loads(run.stdout.read())["result"]["status"] == "optimal"
    assert run.wait(timeout=600) == 0
    text = shown.decode()
    assert "best bound" in text
    # Which phases last long enough to be seen depends on the machine.
    assert re.search(r"(loading|scoring|warm start|solving|checking), \d", text)
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1  # cursor hidden, then back
    assert text.rstrip().endswith("\x1b[2K")  # nothing of the progress line is left


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("net.bifxml", ("export", "MODEL", "--out", "FILE")),
        ("net.png", ("inspect", "MODEL", "--draw", "FILE")),
        ("gap.svg", ("inspect", "MODEL", "--plot", "FILE")),
        ("iris.csv", ("datasets", "export", "iris", "--out", "FILE")),
        ("iris.jkl", ("scores", "--dataset", "iris", "--score", "mdl", "--out", "FILE")),
        ("out.csv", ("predict", "MODEL", "ROWS", "--out", "FILE")),
    ],
)
def test_a_command_that_writes_a_file_says_so(
    milpbn: Run, iris_model: Path, iris_rows: Path, tmp_path: Path, name: str, arguments: tuple
) -> None:
    file = tmp_path / name
    places = {"MODEL": iris_model, "ROWS": iris_rows, "FILE": file}
    done = milpbn(*(places.get(a, a) for a in arguments))
    assert done.exit_code == 0, done.output
    assert file.stat().st_size > 0
    assert done.stderr.splitlines().count(f"wrote {file}") == 1


@posix
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_cost_nothing(tmp_path: Path, closed: str) -> None:
    out = tmp_path / "model.json"
    options = "solve --dataset corral --max-parents 1 --method monolithic --out"
    line = f'"{sys.executable}" -m milpbn {options} "{out}" {closed}'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert Model.load(out).result.status == "optimal"
    assert ("status      optimal" in done.stdout) == (closed == "2>&-")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            ImportError("lib.so: failed to map segment"),
            "a library cannot be loaded: lib.so: failed",
        ),
        (OSError("Could not find/load lib.so"), "a library cannot be loaded: Could not find/load"),
        (OSError(28, "No space left on device"), "cannot write the output: No space left"),
    ],
)
def test_errors_of_the_system_are_told_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: OSError, told: str
) -> None:
    from milpbn.cli import app

    def fail(**_: object) -> None:
        raise error

    codes: list[int] = []
    monkeypatch.setattr(app.cli, "main", fail)
    monkeypatch.setattr(app, "_exit", codes.append)
    app.run(Interrupts())
    assert codes == [1]
    assert capsys.readouterr().err.startswith(f"Error: {told}")
