"""Compiled code: where it is stored, what happens if it cannot be, and how it is announced."""

import importlib.util
import signal
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import milpbn
from milpbn import compiled
from milpbn.compiled import COMPILING, _warn_not_stored, is_first_run, jit, watching
from milpbn.errors import CacheWarning

ROOT = Path(milpbn.__file__).parent

LOOP = """
from milpbn.compiled import jit

@jit()
def add_up(n):
    total = 0
    for k in range(n):
        total += k
    return total
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load a module with a compiled loop as a new process does: nothing is compiled yet."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "module.py"
    path.write_text(LOOP)

    def load_module():
        spec = importlib.util.spec_from_file_location("module", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.add_up

    return load_module


def from_file(function):
    assert function(5) == 10
    return bool(function.stats.cache_hits)


def test_without_a_place_for_it_code_is_compiled_in_memory_with_one_warning(load, tmp_path):
    (tmp_path / "__pycache__").write_text("a file where a folder should be")
    _warn_not_stored.cache_clear()
    add_up = load()
    with pytest.warns(CacheWarning, match="neither the installation .* NUMBA_CACHE_DIR") as told:
        assert (add_up(5), add_up(5.0)) == (10, 10)
    assert len(told) == 1


def test_code_is_stored_and_found_again(load):
    assert [from_file(load()), from_file(load())] == [False, True]


def test_code_in_a_package_that_cannot_be_written_is_used(load, monkeypatch):
    assert not from_file(load())

    def refuse(self):
        raise OSError("read-only")

    monkeypatch.setattr(numba.core.caching._CacheLocator, "ensure_cache_path", refuse)
    assert from_file(load())


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_a_damaged_file_of_compiled_code_is_replaced(load, tmp_path, pattern):
    assert not from_file(load())
    (file,) = (tmp_path / "__pycache__").glob(pattern)
    file.write_bytes(file.read_bytes()[:20])
    assert [from_file(load()), from_file(load())] == [False, True]


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


def test_ctrl_c_waits_until_a_function_is_compiled(load, monkeypatch):
    function = load()
    compiler = function._compiler
    compile_now = compiler.compile

    def interrupted(*args):
        signal.raise_signal(signal.SIGINT)
        return compile_now(*args)

    monkeypatch.setattr(compiler, "compile", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        function(5)
    assert signal.getsignal(signal.SIGINT) is before
    assert function.signatures
    assert function(5) == 10


def test_the_first_run_says_that_code_is_compiled(load, monkeypatch, capsys):
    from milpbn.bar import Bar

    monkeypatch.setattr(compiled, "functions", [])
    for stored in (False, True):
        is_first_run.cache_clear()
        # Functions without a file: machine code that an earlier run stored would not be announced.
        with Bar(sys.stderr, "folds"):
            assert jit()(eval("lambda x: x + 2"))(3) == 5
            assert jit()(eval("lambda x: x + 3"))(3) == 6
        assert capsys.readouterr().err == ("" if stored else COMPILING + "\n")
        load()(5)  # from now on, code of the package is stored
    is_first_run.cache_clear()


def test_small_work_is_interpreted_until_it_takes_long(load, tmp_path, monkeypatch):
    (tmp_path / "module.py").write_text(LOOP.replace("jit()", "jit(lazily=True)"))
    small = load()
    assert [small(5), small(6)] == [10, 15]
    assert not small.signatures
    monkeypatch.setattr(compiled, "_SMALL", 0)
    assert small(5) == 10
    assert len(small.signatures) == 1
    # Code that is stored is used at once, whatever its size.
    monkeypatch.undo()
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert from_file(load())


@pytest.mark.parametrize("name", ["_PATIENCE", "compile_all"])
def test_interpretation_has_an_end(load, tmp_path, monkeypatch, name):
    (tmp_path / "module.py").write_text(LOOP.replace("jit()", "jit(lazily=True)"))
    monkeypatch.setattr(compiled, name, name == "compile_all" or 1e-12)
    function = load()
    assert [function(5), function(5)] == [10, 10]
    assert len(function.signatures) == 1


def test_interpreted_loops_agree_with_compiled_ones(monkeypatch):
    monkeypatch.setattr(compiled, "compile_all", True)
    from milpbn.encoding import kernels
    from milpbn.engines.branch_and_cut.cuts import flow

    rng = np.random.default_rng(0)
    for n in range(2, 12):
        weights = rng.random((n, n)) * (rng.random((n, n)) < 0.5)
        weights += weights.T
        compiled_sets, interpreted = flow.heavy_sets(weights), flow.heavy_sets.py_func(weights)
        assert np.array_equal(compiled_sets, interpreted)
        values = rng.integers(0, 5, 3 * n).astype(float)
        values = np.concatenate([np.sort(values[:n]), np.sort(values[n:])])
        ends, none = np.array([n, 3 * n]), np.empty(0)
        found = [k(values, none, ends) for k in (kernels.cumulate, kernels.cumulate.py_func)]
        for one, other in zip(*found, strict=True):
            assert np.array_equal(one, other)
        bits = [k(found[0][1], none) for k in (kernels.bits_of_cuts, kernels.bits_of_cuts.py_func)]
        np.testing.assert_allclose(*bits, rtol=1e-12, atol=1e-12)


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
