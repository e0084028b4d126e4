"""``milpbn solve --certificate``, ``verify --certificate`` and its old spelling ``check``."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def solved(milpbn: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model of iris, and its certificate."""
    folder = tmp_path_factory.mktemp("check")
    model, certificate = folder / "iris.json", folder / "iris.gz"
    done = milpbn("solve", "--dataset", "iris", "--out", model, "--certificate", certificate)
    assert done.exit_code == 0, done.output
    assert f"wrote {certificate}" in done.stderr
    return model, certificate


def test_the_certificate_of_a_model_holds(milpbn: Run, solved: tuple[Path, Path]) -> None:
    done = milpbn("check", *solved)
    assert done.exit_code == 0, done.output
    bound = json.loads(solved[0].read_text())["result"]["bound"]
    found = re.search(r"no structure in this space scores more than (\S+) ", done.stdout)
    assert found is not None
    assert float(found[1]) == pytest.approx(bound, abs=2e-6 * abs(bound))
    assert "The structure is optimal" in done.stdout


def test_the_draft_of_a_killed_run_is_no_certificate(
    milpbn: Run, solved: tuple[Path, Path], tmp_path: Path
) -> None:
    """It ends somewhere: in the middle of the compressed lines, or complete at a checkpoint."""
    whole, draft = solved[1].read_bytes(), tmp_path / "iris.gz.part"
    lines = gzip.decompress(whole).splitlines(keepends=True)
    ends = [whole[: len(whole) * k // 5] for k in range(5)]
    ends += [gzip.compress(b"".join(lines[:k])) for k in range(1, len(lines), 2)]
    ends += [whole[:-1], gzip.compress(b"".join(lines)[:-9])]
    for content in ends:
        draft.write_bytes(content)
        done = milpbn("check", solved[0], draft)
        assert done.exit_code in (1, 4), done.output
        assert "optimal" not in done.stdout
        assert not done.exception or isinstance(done.exception, SystemExit)


def test_a_new_run_writes_over_the_draft_of_a_killed_one(milpbn: Run, tmp_path: Path) -> None:
    model, certificate = tmp_path / "iris.json", tmp_path / "iris.gz"
    (tmp_path / "iris.gz.part").write_bytes(b"left by a killed run" * 10**5)
    files = ("--out", model, "--certificate", certificate, "--checkpoint", tmp_path / "tree")
    done = milpbn("solve", "--dataset", "iris", *files, "--quiet")
    assert done.exit_code == 0, done.output
    assert milpbn("check", model, certificate).exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["iris.gz", "iris.json", "tree"]


def test_verify_replays_the_certificate_too(milpbn: Run, solved: tuple[Path, Path]) -> None:
    done = milpbn("verify", solved[0], "--certificate", solved[1])
    assert done.exit_code == 0, done.output
    assert "holds      a new search finds nothing above the bound" in done.stdout
    assert "\nproven     no structure in this space scores more than" in done.stdout
    assert "Everything agrees. The certificate holds. The structure is optimal" in done.stdout
    old = milpbn("check", *solved)
    assert old.stderr.startswith("note: `milpbn check` is now `milpbn verify --certificate`")


def test_verify_fails_if_only_the_certificate_is_wrong(
    milpbn: Run, solved: tuple[Path, Path], tmp_path: Path
) -> None:
    _, certificate = edited(solved, tmp_path, lambda _, lines: lines.pop())
    done = milpbn("verify", solved[0], "--certificate", certificate)
    assert done.exit_code == 4, done.output
    assert "DISAGREES" not in done.stdout
    assert "Everything else agrees. The certificate proves nothing here." in done.stdout


def test_the_memory_limit_of_verify_is_for_certificates(
    milpbn: Run, solved: tuple[Path, Path]
) -> None:
    done = milpbn("verify", solved[0], "--memory-limit", "1GB")
    assert (done.exit_code, "--memory-limit requires --certificate" in done.stderr) == (2, True)


def edited(
    solved: tuple[Path, Path], folder: Path, change: Callable[..., Any]
) -> tuple[Path, Path]:
    content = json.loads(solved[0].read_text())
    lines = [json.loads(line) for line in gzip.decompress(solved[1].read_bytes()).splitlines()]
    change(content, lines)
    model, certificate = folder / "edited.json", folder / "edited.gz"
    model.write_text(json.dumps(content))
    certificate.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    return model, certificate


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _, lines: lines.pop(), "the end is missing"),
        (lambda _, lines: lines.pop(-2), "still open"),
        (lambda _, lines: lines[-1].update(bound=300.0), "which is more than the bound"),
        (lambda _, lines: lines[0]["settings"].update(gamma=1.0), "settings.gamma is 1.0, not 2.1"),
        (lambda _, lines: lines[0]["data"].update(sha256="0"), "data.sha256 is '0', not"),
        (lambda _, lines: lines.insert(3, {"hello": 1}), "line 4: this is not a step of a proof"),
        (lambda model, _: model["settings"].update(max_parents=3), "max_parents is 2, not 3"),
        (lambda model, _: model["settings"].update(class_parents=False), "class_parents is True"),
        (lambda model, _: model["result"].update(bound=300.0), "but the model claims 300"),
        (lambda model, _: model["result"].update(objective=301.5), "the structure scores 301.2"),
    ],
)
def test_what_does_not_hold_is_rejected_with_its_place(
    milpbn: Run,
    solved: tuple[Path, Path],
    tmp_path: Path,
    change: Callable[..., Any],
    message: str,
) -> None:
    done = milpbn("check", *edited(solved, tmp_path, change))
    assert done.exit_code == 4, done.output
    assert done.stdout.startswith("REJECTED")
    assert message in done.stdout


def test_other_files_are_not_certificates(
    milpbn: Run, solved: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.gz"
    for content in (b"", b"hello", gzip.compress(b"hello"), solved[1].read_bytes()[:-300]):
        other.write_bytes(content)
        done = milpbn("check", solved[0], other)
        assert done.exit_code == 4, done.output
        assert "REJECTED" in done.stdout
    missing = milpbn("check", solved[0], tmp_path / "no.gz")
    assert missing.exit_code == 2
    assert "does not exist" in missing.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "monolithic"), "--certificate requires --method branch-and-cut"),
        (("--p", "0.6,0.9"), "No such option '--certificate'"),
        (("--out", "c.gz"), "c.gz is also --out"),
        (("--out", "c.gz.part"), "--out c.gz.part is also the unfinished certificate"),
    ],
)
def test_bad_combinations_are_refused_before_anything_is_read(
    milpbn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = milpbn("solve", "--dataset", "iris", "--certificate", "c.gz", *options)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_weighted_model_of_own_rows_is_checked(milpbn: Run, tmp_path: Path) -> None:
    """With weights, a constraint, a penalty, folds and a data file that has moved."""
    lines = ["w,a,b,c,y"]
    lines += [f"{1 + k % 3 / 2},{k % 2},{k % 3},{k % 5 // 2},{k * k % 7 // 3}" for k in range(90)]
    rows, model, certificate = (tmp_path / name for name in ("rows.csv", "m.json", "c.gz"))
    rows.write_text("\n".join(lines) + "\n")
    options = ("--target", "y", "--weight", "w", "--categorical", "a,b,c", "--forbid", "a->b")
    more = ("--penalty", "0.05", "--validation", "3", "--out", model, "--certificate", certificate)
    done = milpbn("solve", "--data", rows, *options, *more)
    assert done.exit_code == 0, done.output
    moved = rows.rename(tmp_path / "moved.csv")
    done = milpbn("check", model, certificate, "--data", moved)
    assert done.exit_code == 0, done.output
    assert "The certificate holds." in done.stdout


def test_a_model_that_chooses_resolutions_is_checked(milpbn: Run, tmp_path: Path) -> None:
    model, certificate = tmp_path / "m.json", tmp_path / "c.gz"
    more = ("--class-root", "--out", model, "--certificate", certificate, "--quiet")
    done = milpbn("solve", "--dataset", "iris", "--bins", "auto", *more)
    assert done.exit_code == 0, done.output
    assert json.loads(model.read_text())["resolutions"]
    done = milpbn("check", model, certificate)
    assert done.exit_code == 0, done.output
    assert "The structure is optimal" in done.stdout
    solved = model, certificate

    def another_map(_: Any, lines: Any) -> None:
        lines[0]["variables"][1][2][0] ^= 1

    done = milpbn("check", *edited(solved, tmp_path, another_map))
    assert done.exit_code == 4, done.output
    assert "variables is" in done.stdout


def test_a_certificate_that_is_lost_does_not_cost_the_result(
    milpbn: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("milpbn.engines.certificates.certificate.CertificateWriter._write", full)
    model, certificate = tmp_path / "iris.json", tmp_path / "iris.gz"
    done = milpbn("solve", "--dataset", "iris", "--out", model, "--certificate", certificate)
    assert done.exit_code == 1
    assert "No space left on device; there is no certificate" in done.stderr
    assert "objective" in done.stdout
    assert f"{certificate} was not written" in done.stderr
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.slow
def test_ctrl_c_leaves_a_certificate_of_the_open_bound(milpbn: Run, tmp_path: Path) -> None:
    model, certificate = tmp_path / "vehicle.json", tmp_path / "vehicle.gz"
    command = ["solve", "--dataset", "vehicle", "--out", model, "--certificate", certificate]
    run = subprocess.Popen(
        [sys.executable, "-m", "milpbn", *command], stderr=subprocess.PIPE, text=True
    )
    assert run.stderr is not None
    for line in run.stderr:  # until there is a bound
        if "branch-and-cut" in line:
            break
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=120)
    assert run.returncode == 3
    done = milpbn("check", model, certificate)
    assert done.exit_code == 0, done.output
    assert "It proves the bound of the model." in done.stdout
