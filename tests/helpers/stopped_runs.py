"""Runs that are stopped: by a clock, by Ctrl-C between two lines, and by SIGKILL."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager

from milpbn.clock import Clock, OutOfTime
from milpbn.engines.branch_and_cut.tree import Tree

KILLED = """
import json, sys
from milpbn import learn_structure
from milpbn.engines.distributed import checkpoint
from problems import noise

checkpoint._EVERY, checkpoint._SHARE = 0.0, 1.0
write = checkpoint.write_checkpoint

def announced(path, problem, snapshot):
    write(path, problem, snapshot)
    value, bounds = snapshot.incumbent.value, (n.bound for n in snapshot.nodes)
    print(value, max(value, snapshot.record.settled, *bounds), flush=True)

checkpoint.write_checkpoint = announced
learn_structure(noise(), class_parents=False, **json.loads(sys.argv[1]))
"""


class Countdown(Clock):
    """A clock whose time is over after a number of steps: the same place on every machine."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def checkpoint(self):
        self.steps -= 1
        if self.steps < 0:
            raise OutOfTime


@contextmanager
def ctrl_c_in_the_tree(moment):
    """KeyboardInterrupt after a number of lines inside the methods that move nodes.

    Yields a list with the number of lines so far.
    """
    lines, code = [0], {Tree.close.__code__, Tree.next.__code__, Tree.settle.__code__}

    def trace(frame, event, _):
        if frame.f_code not in code:
            return None
        lines[0] += event == "line"
        if lines[0] == moment:
            lines[0] += 1
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(before)


def killed(writes, **options):
    """Run in a process that gets SIGKILL after some writes of a checkpoint.

    Returns the objective and the bound of all that it announced.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, json.dumps(options)], stdout=subprocess.PIPE, text=True
    )
    seen = [process.stdout.readline() for _ in range(writes)]
    process.send_signal(signal.SIGKILL)
    seen += process.stdout.readlines()
    process.wait()
    return [tuple(map(float, line.split())) for line in seen if line.endswith("\n")]
