"""Worker processes: nodes per second and time to proof, and a simulation of many workers.

``bash scripts/bench workers:measure`` solves each set in this process, with one worker and with
two, and appends to build/bench/workers.csv; what is found there is not measured again.
``workers:simulate`` records the tree of each set, with the CPU seconds of each node, and replays
the supervisor's rules for 1 to 256 workers: which nodes a task gets, how long it may take, and the
time to send it and to answer. It draws build/bench/workers.png. Without a part, both are done.

The simulation assumes that the tree does not depend on the order of its nodes. This holds once the
best structure is known: then all nodes above it have to be processed in any order.

MILPBN_BENCH_SETS replaces the sets, MILPBN_BENCH_SECONDS is the time limit of a measurement.
"""

import heapq
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.engines import limit
from benchmarks.problems import all_rows
from benchmarks.records import OUT, Records
from milpbn import learn_structure
from milpbn.anytime import Progress, SolveOptions, offer_simple_starts
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.engine import BranchAndCut
from milpbn.engines.branch_and_cut.node_processor import NodeProcessor
from milpbn.engines.branch_and_cut.tree import Tree
from milpbn.engines.distributed import supervisor
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score

FIELDS = ("set", "workers", "limit", "seconds", "status", "objective", "bound", "nodes")
SETS = ("crx", "lymphography", "vote", "australian")
WORKERS = tuple(2**k for k in range(9))
# Seconds to send a task, to rebuild its nodes and to answer, measured with a local cluster.
LATENCY = 0.02


def sets() -> list[str]:
    return os.environ.get("MILPBN_BENCH_SETS", ",".join(SETS)).split(",")


def measure(name: str, workers: int, seconds: float) -> dict[str, str]:
    """Run once, or return the row of an earlier run."""
    records = Records(OUT / "workers.csv", FIELDS)
    key = {"set": name, "workers": str(workers), "limit": f"{seconds:g}"}
    if (row := records.find(key)) is not None:
        return row
    began = time.perf_counter()
    result = learn_structure(
        all_rows(name),
        class_parents=False,
        workers=workers,
        time_limit=seconds,
    )
    row = {
        **key,
        "seconds": f"{time.perf_counter() - began:.2f}",
        "status": str(result.status),
        "objective": repr(result.objective),
        "bound": repr(result.bound),
        "nodes": str(result.nodes),
    }
    records.append(row)
    return row


class RecordedTree(Tree):
    """A tree that remembers for each node its parent, its first bound and its CPU seconds."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.nodes = {id(self.root): 0}
        self.keep = [self.root]
        self.parents, self.bounds, self.seconds = [-1], [self.root.bound], [0.0]

    def close(self, node, children):
        number = self.nodes[id(node)]
        for child in children:
            self.nodes[id(child)] = len(self.parents)
            self.keep.append(child)
            self.parents.append(number)
            self.bounds.append(min(child.bound, node.bound))
            self.seconds.append(0.0)
        return super().close(node, children)


class RecordedProcessor(NodeProcessor):
    """A worker that measures the CPU time of each node with its branching, without local search."""

    tree: RecordedTree
    began = 0.0

    def process(self, node):
        self.began = time.process_time()
        return super().process(node)

    def step(self, node):
        following = super().step(node)
        self.tree.seconds[self.tree.nodes[id(node)]] = time.process_time() - self.began
        return following


class RecordedSearch(BranchAndCut):
    tree_type = RecordedTree
    processor_type = RecordedProcessor
    tree: RecordedTree


def recorded_tree(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parents, bounds and CPU seconds of the nodes of a proof; kept in a file."""
    file = OUT / f"tree-{name}.npz"
    if not file.exists():
        objective = build_objective(
            all_rows(name), make_score("sm", p=0.9), SearchSpace(class_parents=False)
        )
        progress = Progress(objective, Clock(), bound=objective.quick_bound())
        offer_simple_starts(progress)
        began = time.process_time()
        search = RecordedSearch(objective, progress, SolveOptions())
        tree = search.tree
        search.start()
        tree.seconds[0] = time.process_time() - began
        tree.reopen(np.zeros(len(objective.space), dtype=bool), frozenset())
        search.processor.work(tree.next(None))
        OUT.mkdir(parents=True, exist_ok=True)
        np.savez(file, parents=tree.parents, bounds=tree.bounds, seconds=tree.seconds)
    saved = np.load(file)
    return saved["parents"], saved["bounds"], saved["seconds"]


def simulate(parents, bounds, seconds, workers: int, latency: float = LATENCY) -> float:
    """Seconds from the end of the root to the proof, by the rules of the supervisor."""
    children = [[] for _ in parents]
    for child, parent in enumerate(parents[1:], start=1):
        if seconds[child] > 0:  # the others were discarded at once
            children[parent].append(child)
    waiting = [(-bounds[c], c) for c in children[0]]
    heapq.heapify(waiting)
    free, busy, now = workers, [], 0.0
    while waiting or busy:
        while waiting and free:
            left = supervisor.task_seconds(len(waiting), workers, now)
            size = min(max(len(waiting) // workers, 1), supervisor._NODES_PER_TASK)
            own = [heapq.heappop(waiting) for _ in range(min(size, len(waiting)))]
            spent = latency
            while own and (spent == latency or spent < left):
                _, node = heapq.heappop(own)
                spent += seconds[node]
                for child in children[node]:
                    heapq.heappush(own, (-bounds[child], child))
            free -= 1
            heapq.heappush(busy, (now + spent, len(busy), own))
        now, _, returned = heapq.heappop(busy)
        free += 1
        for entry in returned:
            heapq.heappush(waiting, entry)
    return now


def plot(results: dict[str, list[float]], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    axis.plot(WORKERS, WORKERS, ":", color="grey", label="ideal")
    for name, speedups in results.items():
        axis.plot(WORKERS, speedups, "o-", ms=4, label=name)
    axis.set(xscale="log", yscale="log", xlabel="workers", ylabel="speed-up after the root")
    ticks = [str(w) for w in WORKERS]
    axis.set_xticks(WORKERS, ticks)
    axis.set_yticks(WORKERS, ticks)
    axis.minorticks_off()
    axis.grid(alpha=0.3)
    axis.legend()
    figure.savefig(file, dpi=130)


def run(parts: str = "measure,simulate") -> None:
    if "measure" in parts:
        print(f"{'set':<14}{'workers':>8}{'seconds':>10}{'nodes':>8}{'per second':>12}  status")
        for name in sets():
            for workers in (0, 1, 2):
                row = measure(name, workers, limit(600))
                rate = float(row["nodes"]) / float(row["seconds"])
                print(
                    f"{name:<14}{workers:>8}{float(row['seconds']):>10.1f}"
                    f"{row['nodes']:>8}{rate:>12.1f}  {row['status']}",
                    flush=True,
                )
    if "simulate" in parts:
        results = {}
        print(f"{'seconds with':<28}{'root':>8}" + "".join(f"{w:>8}" for w in WORKERS))
        for name in sets():
            tree = recorded_tree(name)
            times = [simulate(*tree, workers) for workers in WORKERS]
            alone = float(tree[2][1:].sum())
            results[name] = [alone / t for t in times]
            label = f"{name} ({int((tree[2] > 0).sum()):,} nodes)"
            print(f"{label:<28}{tree[2][0]:>8.1f}" + "".join(f"{t:>8.1f}" for t in times))
        plot(results, OUT / "workers.png")
        print(f"wrote {OUT / 'workers.png'}")
