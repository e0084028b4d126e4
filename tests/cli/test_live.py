"""The gap table: plain lines, and a progress line that follows the clock."""

from __future__ import annotations

import pytest

from milpbn.cli.interrupts import Interrupts
from milpbn.cli.live import GapTable, format_header, format_point, format_seconds
from milpbn.clock import Clock
from milpbn.result import TracePoint


def test_points_stand_under_the_header() -> None:
    line = format_point(TracePoint(1.25, 50.0, 51.0, 7, "HiGHS"))
    assert line.split() == ["1.2s", "7", "50.0000", "51.0000", "2.000", "%", "HiGHS"]
    assert line.index("HiGHS") == format_header().index("by")
    assert format_point(TracePoint(1.0, None, None)).split() == ["1.0s", "0", "-", "-", "-"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (59.9, "59.9 s"), (60, "1 min 00 s"), (3725, "1 h 02 min")]
)
def test_seconds_for_people(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_bounds_are_told_once_a_second_and_solutions_always(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with GapTable(Clock(), Interrupts()) as table:
        table(TracePoint(1.0, 10.0, 20.0, 0, "a"))
        table(TracePoint(1.1, 10.0, 19.0, 0, "b"))  # a bound alone, too soon
        table(TracePoint(1.2, 11.0, 19.0, 0, "c"))
        table(TracePoint(2.3, 11.0, 18.0, 0, "d"))
        table(TracePoint(2.4, 11.0, 18.0, 0, "end"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == format_header()
    assert [line.split()[-1] for line in lines[1:]] == ["a", "c", "d", "end"]


def test_no_event_no_header(capsys: pytest.CaptureFixture[str]) -> None:
    with GapTable(Clock(), Interrupts()):
        pass
    assert capsys.readouterr().err == ""


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with GapTable(Clock(), Interrupts(), quiet=True) as table:
        table.print("note")
        table(TracePoint(1.0, 10.0, 20.0))
    assert capsys.readouterr() == ("", "")


def test_the_progress_line_follows_clock_and_phase(now: list[float]) -> None:
    clock, interrupts = Clock(3600), Interrupts()
    now[0] += 65
    table = GapTable(clock, interrupts, ("loading", "building", "solving"), quiet=True)
    assert table._progress_line().plain == "loading, 1 min 05 s of 1 h 00 min"
    clock.close_phase("loading")
    assert table._progress_line().plain.startswith("building, ")
    clock.close_phase("building")
    table(TracePoint(65.0, 10.0, 20.0))
    now[0] += 10  # no event, but time goes on
    line = "solving, 1 min 15 s of 1 h 00 min; gap 100.000 %; Ctrl-C keeps the best structure"
    assert table._progress_line().plain == line
    with pytest.raises(KeyboardInterrupt):
        interrupts(2, None)
    assert table._progress_line().plain.startswith("stopping, 1 min 15 s")


@pytest.mark.parametrize("width", [100, 80, 76, 65, 50, 40])
def test_a_narrow_terminal_gets_fewer_columns(width: int) -> None:
    point = TracePoint(1234.5, -99999.1234, 12345.6789, 7, "branch-and-cut")
    line, header = format_point(point, width), format_header(width)
    assert len(line) <= width
    assert line.index("branch-and-cut") == header.index("by")
    assert ("nodes" in header) == (width >= 80)
    assert "gap" in header
