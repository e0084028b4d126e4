"""Certificates: the proof of a bound as a file that a small program can check.

The lines are those of :mod:`milpbn.engines.certificates.proof_lines`. A thread of its own makes,
compresses and writes them: Ctrl-C reaches only the main thread, so it cannot cut a line in two, and
it leaves what is open to be closed by the proofs of the open nodes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any

from milpbn.anytime import Progress
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.cuts.source import Line
from milpbn.engines.branch_and_cut.proof import BOUND, CertificateMark, Proof, ProofLog, SubtreeLog
from milpbn.engines.branch_and_cut.tree import Node
from milpbn.engines.certificates.certificate_file import CertificateFile
from milpbn.engines.certificates.proof_lines import ProofLines
from milpbn.errors import OptionError
from milpbn.families.candidates import FamilySpace
from milpbn.messages import Message, option

FORMAT = "milpbn-certificate"
VERSION = 2

_Marked = tuple[list[Node], CertificateMark]


class CertificateWriter(ProofLog):
    """Writes a proof while it is found; to be used as a context manager.

    Parameters
    ----------
    file
        Where to write the lines.
    header
        What is maximised, and over what.
    space
        The candidate families; those that were pruned are written with what replaces them.
    """

    recording = True

    def __init__(
        self, file: CertificateFile, header: Mapping[str, Any], space: FamilySpace
    ) -> None:
        self._file = file
        self._header = {"format": FORMAT, "version": VERSION, **header}
        self._lines = ProofLines(self._write, space)
        self._begun = False
        self._error: BaseException | None = None
        self._steps: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> CertificateWriter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._steps.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def resume(self, mark: CertificateMark | None) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        if mark is None:
            raise OptionError(
                Message(
                    "the run that is continued had no certificate, so a part of the proof is "
                    "missing; leave out ",
                    option("certificate"),
                    ", or start again without ",
                    option("resume"),
                )
            )
        self._file.resume(mark.length, mark.sha256)
        self._begun = mark.length > 0
        self._lines.continue_with(mark.nodes, mark.n_nodes, mark.n_rows)

    # Each step is one item of the queue, so that an interrupt leaves all of it or nothing.

    def begin(self, oracle: CutOracle, nodes: Sequence[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._begin, oracle, list(nodes)))

    def fix(self, node: Node, proof: Proof, limit: float) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._lines.fix, node, proof, limit))

    def branch(self, node: Node, children: list[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._lines.branch, node, tuple(children)))

    def close(self, node: Node) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._lines.close, node))

    def probe(self, trial: Node, node: Node, parent: int) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._lines.probe, trial, node, parent))

    def finish_probe(self, trial: Node) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._lines.finish_probe, trial))

    def lend(self, nodes: Sequence[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._lines.lend, tuple(nodes)))

    def join(self, nodes: Sequence[Node], log: SubtreeLog | None, left: Sequence[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._lines.join, tuple(nodes), log, tuple(left)))

    def mark(self, nodes: list[Node]) -> tuple[list[Node], CertificateMark | None]:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        answer: SimpleQueue[_Marked | None] = SimpleQueue()
        self._steps.put((self._mark, answer))
        return answer.get() or (nodes, None)

    def end(self, progress: Progress) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._steps.put((self._end, progress.bound, progress.value))

    # The rest runs in the thread.

    def _work(self) -> None:
        while (step := self._steps.get()) is not None:
            write: Callable[..., None] = step[0]
            try:
                if self._error is None or write == self._mark:
                    write(*step[1:])
            except BaseException as error:
                self._error = error
        try:
            self._file.close()
        except OSError as error:
            self._error = self._error or error

    def _write(self, line: Line) -> None:
        self._file.write(json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n")

    def _begin(self, oracle: CutOracle | None, nodes: list[Node]) -> None:
        if not self._begun:
            concave = None if oracle is None else oracle.concave
            groups = [] if concave is None else concave.first_row.tolist()
            self._write({**self._header, "groups": groups})
            self._lines.write_dominated()
        self._begun = True
        if oracle is not None:
            self._lines.begin(oracle, nodes)

    def _mark(self, answer: SimpleQueue[_Marked | None]) -> None:
        """Somebody waits for the answer, even if the file could not be written."""
        found = None
        try:
            if self._error is None:
                nodes, numbers = self._lines.lend_all()
                length, sha256 = self._file.mark()
                lines = self._lines
                mark = CertificateMark(length, sha256, numbers, lines.n_nodes, lines.n_rows)
                found = nodes, mark
        finally:
            answer.put(found)

    def _end(self, bound: float, objective: float) -> None:
        if not self._begun:
            # There was no search: the bound is the trivial one.
            self._begin(None, [])
            self._write({"close": 0, "by": BOUND, "y": []})
        self._lines.close_all()
        self._write({"end": True, "bound": bound, "objective": objective})
