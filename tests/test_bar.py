"""The progress bar in a terminal, in a pipe, and when nothing is to be shown."""

import io

from milpbn.bar import Bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_gets_a_line_for_each_piece():
    stream = io.StringIO()
    with Bar(stream, "folds") as bar:
        bar.show(1, 2, "1/2 [nb]")
        bar.show(2, 2, "2/2 [nb]")
    assert stream.getvalue() == "1/2 [nb]\n2/2 [nb]\n"


def test_lines_come_no_more_often_than_asked():
    stream = io.StringIO()
    with Bar(stream, "models", seconds_between_lines=3600.0) as bar:
        bar.show(1, 2, "one")
        bar.show(2, 2, "two")
        bar.print("end")
    assert stream.getvalue() == "end\n"


def test_a_terminal_gets_a_bar_with_the_words_beside_it(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = Terminal()
    with Bar(stream, "folds") as bar:
        bar.show(1, 2, "1/2 [nb]")  # brackets are no markup
    assert "1/2 [nb]" in stream.getvalue()
    assert "━" in stream.getvalue()


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with Bar(stream, "folds") as bar:
        bar.show(1, 2, "1/2 [nb]")
    assert stream.getvalue() == "1/2 [nb]\n"


def test_quiet_shows_nothing():
    for stream in (io.StringIO(), Terminal()):
        with Bar(stream, "folds", quiet=True) as bar:
            bar.show(1, 1, "one")
            bar.print("end")
        assert stream.getvalue() == ""
