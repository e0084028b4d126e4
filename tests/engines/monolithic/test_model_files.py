"""LP and MPS files: readable, complete, and never half-written."""

import os
import re

import highspy
import pytest

from milpbn.engines.monolithic import write_model
from milpbn.engines.monolithic.emit_highs import Arrays
from milpbn.errors import OptionError, SolverError

ODD = ["none", "a b", "a-b", "1st größe\n"]


def optimum(highs):
    for name, value in (("mip_rel_gap", 0.0), ("mip_abs_gap", 0.0)):
        highs.setOptionValue(name, value)
    highs.run()
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return highs.getObjectiveValue()


def quiet_highs():
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    return highs


def read(path):
    highs = quiet_highs()
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    return highs


@pytest.mark.parametrize("names", [None, ODD, ["class", "x" * 300, "y" * 300, "1"]])
@pytest.mark.parametrize("score", ["sm", "mdl"])
@pytest.mark.parametrize("suffix", [".lp", ".mps"])
def test_a_file_read_back_has_the_same_optimum(problem, tmp_path, suffix, score, names):
    _, model, _ = problem(score, seed=2, names=names)
    write_model(model, tmp_path / f"model{suffix}")
    highs, direct = read(tmp_path / f"model{suffix}"), quiet_highs()
    Arrays.of(model).pass_to(direct)
    assert optimum(highs) == pytest.approx(optimum(direct), rel=1e-9)
    lp = highs.getLp()
    assert lp.sense_ == highspy.ObjSense.kMaximize
    assert sorted(lp.col_names_) == sorted(model.column_names())
    assert sorted(lp.row_names_) == sorted(model.row_names())


# The strictest reader: names are no numbers, also not those with an exponent, and no keywords.
_WORDS = {
    "max",
    "min",
    "st",
    "free",
    "inf",
    "infinity",
    "bounds",
    "bin",
    "gen",
    "end",
    "sos",
    "semi",
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf", re.ASCII)
_SECTIONS = {"max", "min", "st", "bounds", "bin", "gen", "semi", "end"}


def names_in(path):
    """The names in an LP file, of which everything else is a number, an operator or a section."""
    for line in path.read_text(encoding="utf-8").splitlines():
        assert line.startswith("\\") or len(line) <= 560
        if line.startswith("\\") or line.strip() in _SECTIONS:
            continue
        for token in line.split():
            word = token.removesuffix(":")
            if token not in ("<=", ">=", "=", "free") and not _NUMBER.fullmatch(token):
                yield word


@pytest.mark.parametrize(
    "names", [None, ODD, ["e1", "free", "1e5", "st"], ["é" * 300, "E", "", "."]]
)
@pytest.mark.parametrize("score", ["sm", "mdl"])
def test_names_are_those_of_the_strictest_readers(problem, tmp_path, score, names):
    _, model, _ = problem(score, seed=2, names=names)
    path = tmp_path / "model.lp"
    write_model(model, path)
    found = set(names_in(path))
    assert found == {*model.column_names(), *model.row_names(), "obj"}
    for name in found:
        assert re.fullmatch(r"(?![eE][\d.])[A-Za-z][A-Za-z0-9_.]{0,254}", name, re.ASCII)
        assert name.lower() not in _WORDS


@pytest.mark.parametrize(("suffix", "mark"), [(".lp", "\\"), (".mps", "*")])
def test_the_file_begins_with_the_legend(problem, tmp_path, suffix, mark):
    _, model, _ = problem("sm", names=ODD)
    path = tmp_path / f"model{suffix}"
    write_model(model, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    legend = [line for line in lines if line.startswith(mark)][: len(model.legend())]
    assert lines[: len(legend)] == [f"{mark} {line}" for line in model.legend()]
    assert f"{mark} eta.a_b.from.none_2: a b <- none" in legend
    assert any("eta.a_b.from.none" in line for line in lines[len(legend) :])


@pytest.mark.parametrize("name", ["model.txt", "model", "model.lp.gz"])
def test_an_unknown_suffix_is_refused(problem, tmp_path, name):
    _, model, _ = problem("mdl")
    with pytest.raises(OptionError, match=r"a model file must end in \.lp or \.mps, not "):
        write_model(model, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_or_a_folder_in_the_way_is_named(problem, tmp_path):
    _, model, _ = problem("mdl")
    with pytest.raises(OptionError, match=r"model\.lp: there is no folder .*missing"):
        write_model(model, tmp_path / "missing" / "model.lp")
    (tmp_path / "model.lp").mkdir()
    with pytest.raises(OptionError, match=r"model\.lp: it is a folder"):
        write_model(model, tmp_path / "model.lp")
    assert list(tmp_path.iterdir()) == [tmp_path / "model.lp"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(problem, tmp_path, monkeypatch):
    _, model, _ = problem("mdl")
    path = tmp_path / "model.lp"
    path.write_text("before", encoding="utf-8")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OptionError, match=r"cannot write .*model\.lp: No space left"):
        write_model(model, path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_solver_that_cannot_write_is_an_error_without_rests(problem, tmp_path, monkeypatch):
    _, model, _ = problem("mdl")
    monkeypatch.setattr(highspy.Highs, "writeModel", lambda *_: highspy.HighsStatus.kError)
    with pytest.raises(SolverError, match=r"HiGHS could not write .*model\.mps"):
        write_model(model, tmp_path / "model.mps")
    assert not list(tmp_path.iterdir())


def test_an_existing_file_is_replaced(problem, tmp_path):
    _, model, _ = problem("mdl")
    path = tmp_path / "model.lp"
    path.write_text("before", encoding="utf-8")
    write_model(model, path)
    assert "before" not in path.read_text(encoding="utf-8").splitlines()[0]
    assert list(tmp_path.iterdir()) == [path]
