"""Files appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from milpbn.errors import OptionError, OutputError
from milpbn.files import check_writable, read_limited, reserved, write_whole, writing_whole


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.dot"
    path.write_bytes(b"a longer text from before")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_move_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.dot"
    path.write_bytes(b"before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OptionError, match=r"a\.dot: .*No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def failing(path: Path, draft: Path, content: bytes, error: Exception) -> None:
    with writing_whole(path, draft) as file:
        file.write(content)
        raise error


def test_a_draft_stays_until_a_later_block_completes_it(tmp_path: Path) -> None:
    path, draft = tmp_path / "a.txt", tmp_path / "a.txt.part"
    with pytest.raises(ZeroDivisionError):
        failing(path, draft, b"", ZeroDivisionError())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ZeroDivisionError):
        failing(path, draft, b"one", ZeroDivisionError())
    assert list(tmp_path.iterdir()) == [draft]
    with writing_whole(path, draft, goes_on=True) as file:
        assert file.read() == b"one"
        file.write(b" two")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "one two"
    with pytest.raises(OutputError, match="cannot write"):
        failing(path, draft, b"three", OSError(28, "No space left on device"))
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "a.dot"
    with pytest.raises(OptionError, match=r"missing.a\.dot: .*No such file or directory"):
        write_whole(path, b"new")


def test_a_folder_in_the_way_is_an_error_without_rests(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.mkdir()
    with pytest.raises(OptionError, match=r"a\.png"):
        write_whole(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_as_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match="cannot write"):
        write_whole(tmp_path / "file" / "a.png", b"new")


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_whole(tmp_path / "a.dot", b"new")
    assert (tmp_path / "a.dot").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_whole("/dev/null", b"new")
    assert Path("/dev/null").is_char_device()


def test_what_could_not_be_written_later_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(OptionError, match="there is no folder"):
        check_writable(tmp_path / "missing" / "a.json")
    check_writable(tmp_path / "a.json")
    assert not list(tmp_path.iterdir())


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * 11)
    assert len(read_limited(path, 11)) == 11
    with pytest.raises(OSError, match="larger than the limit"):
        read_limited(path, 10)
    if os.path.exists("/dev/zero"):
        with pytest.raises(OSError, match="larger than the limit"):
            read_limited("/dev/zero", 2**20)


def test_a_folder_without_permission_is_named_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    check_writable("/dev/null")
    with pytest.raises(OptionError, match=f"a.json: no permission to write in {tmp_path}"):
        check_writable(tmp_path / "a.json")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OptionError, match="cannot write /dev/null: no permission"):
        check_writable("/dev/null")


def test_a_reserved_file_is_refused_until_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "tree"
    with reserved(path):
        write_whole(path, b"replaced while it is reserved")
        refused = pytest.raises(OptionError, match=r"tree is in use by another run; wait for")
        with refused, reserved(path):
            pass
    assert list(tmp_path.iterdir()) == [path]
    # A killed run leaves the file of its lock, but no lock.
    (tmp_path / "tree.lock").touch()
    with reserved(path):
        pass
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_and_a_missing_folder_are_not_reserved(tmp_path: Path) -> None:
    for path in (Path("/dev/null"), tmp_path / "gone" / "tree"):
        with reserved(path), reserved(path):
            pass
