"""Compiled code: where it is stored, what happens if it cannot be, and who is told."""

import subprocess
import sys
from pathlib import Path

import pytest

import milpbn
from milpbn.compiled import COMPILING, jit, watching

ROOT = Path(milpbn.__file__).parent

LOOP = """
import warnings
from milpbn.compiled import jit

@jit()
def add_up(n):
    total = 0
    for k in range(n):
        total += k
    return total

if __name__ == "__main__":
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print(add_up(5), *(w.category.__name__ + ": " + str(w.message) for w in caught))
        print(dict(add_up.stats.cache_hits) and "from a file" or "compiled")
"""


@pytest.fixture
def run(tmp_path):
    """Run a module with a compiled loop in a process whose cache folder cannot be written."""

    def run_module(text=LOOP, **environment):
        module = tmp_path / "module.py"
        module.write_text(text)
        nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/cache"}
        path = {"PYTHONPATH": str(ROOT.parent)}
        return subprocess.run(
            [sys.executable, module],
            env={**path, **nowhere, **environment},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run_module


def test_without_a_place_for_it_code_is_compiled_in_memory_with_one_warning(run, tmp_path):
    (tmp_path / "__pycache__").write_text("a file where a folder should be")
    done = run(LOOP.replace("add_up(5),", "add_up(5), add_up(5.0),"))
    assert done.stderr == ""
    assert done.stdout.startswith("10 10 CacheWarning: compiled code cannot be stored (neither")
    assert done.stdout.count("NUMBA_CACHE_DIR") == 1


def test_code_is_stored_and_found_again(run, tmp_path):
    place = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(**place).stdout == "10\ncompiled\n"
    assert run(**place).stdout == "10\nfrom a file\n"


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_a_damaged_file_of_compiled_code_is_replaced(run, tmp_path, pattern):
    place = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run(**place)
    for file in (tmp_path / "cache").rglob(pattern):
        file.write_bytes(file.read_bytes()[:20])
    assert run(**place).stdout == "10\ncompiled\n"
    assert run(**place).stdout == "10\nfrom a file\n"


def test_compilation_is_announced_once_for_a_function_and_those_it_calls():
    told = []

    class Watcher:
        compiling = staticmethod(told.append)
        print = staticmethod(told.append)

    inner = jit()(lambda x: x + 1)
    outer = jit()(lambda x: inner(x) * 2)
    with watching(Watcher()):
        assert outer(3) == 8
        assert outer(4) == 10
    assert told == [True, False]


def test_the_progress_line_says_that_code_is_compiled(capsys):
    from milpbn.bar import Bar

    with Bar(sys.stderr, "folds"):
        assert jit()(lambda x: x + 2)(3) == 5
        assert jit()(lambda x: x + 3)(3) == 6
    assert capsys.readouterr().err == COMPILING + "\n"


def test_every_loop_is_compiled_by_the_one_decorator():
    files = [p for p in ROOT.rglob("*.py") if "numba import" in p.read_text("utf-8")]
    assert [p.name for p in files] == ["compiled.py"]


@pytest.mark.slow
def test_the_command_compiles_every_loop(tmp_path):
    code = (
        "from milpbn.compile import main; from milpbn.compiled import functions; main();"
        "print([f.__name__ for f in functions if not f.signatures])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT.parent), "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert COMPILING in done.stderr
