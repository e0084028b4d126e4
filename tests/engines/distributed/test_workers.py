"""Distributed runs: subtrees in other processes, which may be lost at any moment."""

import asyncio
import gc
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import here_cluster
import msgspec
import pytest
from certified import Certified, lines_of
from here_cluster import HereFuture, connect_here
from problems import all_rows, noise, small_problem

from milpbn import learn_structure
from milpbn.anytime import Progress, Run, SolveOptions, offer_simple_starts
from milpbn.clock import Clock
from milpbn.cluster import cluster_client
from milpbn.engines.branch_and_cut.engine import BranchAndCut, solve_branch_and_cut
from milpbn.engines.distributed import subtrees, supervisor
from milpbn.engines.distributed.snapshot import incumbent_of, take_snapshot
from milpbn.errors import ClusterWarning, OptionError, SolverError
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace, make_settings
from milpbn.learning.structure import run_method
from milpbn.scores import make_score

SM = make_score("sm", p=0.9)
OPTIMUM = 87.03520889766565


@pytest.fixture(scope="module")
def objective():
    return build_objective(noise(), SM, SearchSpace(class_parents=False))


def assert_valid_at_every_moment(result, optimum):
    bounds = [t.bound for t in result.trace if t.bound is not None]
    assert all(bound >= optimum - 1e-5 for bound in bounds)
    assert bounds == sorted(bounds, reverse=True)


@pytest.fixture
def here(monkeypatch):
    return connect_here(monkeypatch)


def solve(objective, score=SM, listener=None, clock=None, **options):
    options = SolveOptions(**{"scheduler": "tcp://here", **options})
    return solve_branch_and_cut(
        objective, score, Run(clock=clock or Clock(), options=options, listener=listener)
    )


@pytest.mark.parametrize("loses", [False, True])
@pytest.mark.parametrize("score", ["sm", "sbm", "cll", "mdl"])
@pytest.mark.parametrize("seed", range(4))
def test_subtrees_prove_what_enumeration_finds(here, score, seed, loses):
    here.loses = loses
    objective, _, values = small_problem(seed, score)
    result = solve(objective, make_score(score))
    assert result.status == "optimal"
    assert result.objective == pytest.approx(values.max())


@pytest.mark.parametrize("loses", [False, True])
def test_a_tree_in_tasks_of_one_node(here, objective, loses):
    here.loses = loses
    result = solve(objective)
    assert here.tasks > 10
    assert result.status == "optimal"
    assert result.objective == pytest.approx(OPTIMUM)
    assert result.nodes >= here.tasks // 2
    assert_valid_at_every_moment(result, OPTIMUM)


def test_idle_workers_search_while_the_root_is_processed(monkeypatch, objective):
    """The structure that the tree needs comes from a worker."""
    here = connect_here(monkeypatch, searching=True)
    for name in ("search_at_root", "search_when_due", "search_after", "improve"):
        monkeypatch.setattr(f"milpbn.engines.branch_and_cut.primal.Primal.{name}", lambda *_: None)
    monkeypatch.setattr(subtrees, "_PATIENCE", 50)
    result = solve(objective)
    assert here.searches > 1
    assert result.status == "optimal"
    assert result.objective == pytest.approx(OPTIMUM)
    sources = {t.source for t in result.trace if t.nodes == 0}
    assert "local-search" in sources
    assert_valid_at_every_moment(result, OPTIMUM)


def test_an_error_of_a_search_is_an_error_of_the_run(monkeypatch, objective):
    connect_here(monkeypatch, searching=True)
    monkeypatch.setattr(subtrees.SharedProblem, "__getstate__", lambda self: {"version": "0.0"})
    with pytest.raises(SolverError, match="install the same version everywhere"):
        solve(objective)


def test_a_checkpoint_contains_the_nodes_that_are_out(here, objective, tmp_path):
    file = str(tmp_path / "tree")
    pressed = []

    def interrupt(point):
        if point.nodes >= 8 and not pressed:
            pressed.append(point)
            raise KeyboardInterrupt

    stopped = solve(objective, listener=interrupt, checkpoint=file)
    assert stopped.status == "interrupted"
    for options in ({}, {"scheduler": None}):
        result = solve(objective, resume=file, **options)
        assert result.status == "optimal"
        assert result.objective == pytest.approx(OPTIMUM)
        assert result.trace[0].bound <= stopped.bound


def test_nodes_that_are_always_lost_end_the_run(here, objective, monkeypatch):
    class Lost(HereFuture):
        status = "lost"

    monkeypatch.setattr(here_cluster, "HereFuture", Lost)
    with pytest.raises(SolverError, match="lost with its worker several times"):
        solve(objective)


def test_an_error_of_a_worker_is_an_error_of_the_run(here, objective, monkeypatch):
    monkeypatch.setattr(subtrees.SharedProblem, "__getstate__", lambda self: {"version": "0.0"})
    with pytest.raises(SolverError, match="install the same version everywhere"):
        solve(objective)


def after_the_root(objective):
    """The state of a run with a poor structure, after its root."""
    progress = Progress(objective, Clock(), bound=objective.quick_bound())
    offer_simple_starts(progress)
    search = BranchAndCut(objective, progress, SolveOptions())
    poor = incumbent_of(progress)
    root = search.tree.root
    search.tree.close(root, search.processor.children(root, search.processor.process(root)))
    return msgspec.structs.replace(take_snapshot(search, search.tree.open_nodes), incumbent=poor)


def answer_to(objective, start, key):
    task = subtrees.Task(start.nodes, start.incumbent, start.record, 1e9)
    problem = subtrees.SharedProblem(key, objective, 0)
    answer = subtrees.work_on(problem, start, msgspec.msgpack.encode(task))
    return msgspec.msgpack.decode(answer, type=subtrees.Answer)


def test_structures_travel_while_a_task_runs(objective, monkeypatch):
    """Between two nodes, a worker takes what the supervisor sent, and sends what it found."""
    sent = []
    monkeypatch.setattr(subtrees, "_teller", lambda key: sent.append)
    start = after_the_root(objective)
    answer = answer_to(objective, start, "one run")
    assert answer.nodes == ()
    assert answer.incumbent.value == pytest.approx(OPTIMUM)
    found = [msgspec.msgpack.decode(s, type=type(answer.incumbent)).value for s in sent]
    assert found == sorted(found)
    assert found[-1] == answer.incumbent.value > start.incumbent.value
    # A worker that hears of the optimum has nothing to send.
    asyncio.run(subtrees.hear("another run", msgspec.msgpack.encode(answer.incumbent)))
    sent.clear()
    again = answer_to(objective, start, "another run")
    assert (again.nodes, again.incumbent.value, sent) == ((), answer.incumbent.value, [])
    # One that is told to stop keeps its nodes.
    asyncio.run(subtrees.hear("a third run", None))
    stopped = answer_to(objective, start, "a third run")
    assert sorted(n.bound for n in stopped.nodes) == sorted(n.bound for n in start.nodes)
    assert stopped.record.count == 0


def test_threads_of_a_worker_count_their_own_tables(objective):
    """Two of them that fill the same tables at once would damage them."""
    problem = subtrees.SharedProblem("threads", objective, 0)
    with ThreadPoolExecutor(1) as other:
        there = other.submit(subtrees._search_for, problem).result()
    here = subtrees._search_for(problem)
    objectives = {id(s.objective) for s in (here, there)} | {id(objective)}
    assert len(objectives) == 3


def test_options_that_do_not_go_together(monkeypatch):
    with pytest.raises(OptionError, match="give one of workers and scheduler"):
        SolveOptions(workers=1, scheduler="tcp://x")
    with pytest.raises(OptionError, match="workers must be a whole number of at least 0"):
        SolveOptions(workers=-1)
    with pytest.raises(OptionError, match="workers requires method='branch-and-cut'"):
        learn_structure(noise(), method="monolithic", workers=2)


def test_without_dask_the_message_names_the_extra(objective, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OptionError, match=r"scheduler needs Dask: pip install 'milpbn\[cluster\]'"):
        solve(objective)


def test_without_cryptography_there_are_no_local_processes(objective, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(OptionError, match="workers needs the package cryptography: pip install"):
        solve(objective, scheduler=None, workers=1)


def test_local_processes_are_closed_to_other_users():
    from distributed import Security
    from distributed.core import connect

    async def enter(address, security):
        await connect(address, timeout=1, **security.get_connection_args("client"))

    with cluster_client(1, None) as client:
        address = client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        assert client.submit(int, "7").result() == 7
        asyncio.run(enter(address, client.security))
        # Somebody without TLS sees a closed connection, or tries until the time is over.
        with pytest.raises(OSError, match=r"Timed out|reset by peer|[Cc]losed"):
            asyncio.run(enter(address.replace("tls", "tcp"), Security()))
        # Somebody who accepts any scheduler, but has no key, is refused by the scheduler.
        stranger = ssl.create_default_context()
        stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
        door = ("127.0.0.1", int(address.rpartition(":")[2]))
        with (
            socket.create_connection(door, timeout=60) as plain,
            pytest.raises(ssl.SSLError, match=r"(?i)certificate.required|handshake.failure"),
            stranger.wrap_socket(plain) as connection,
        ):
            connection.recv(1)
        ports = [client.cluster.scheduler.http_server.port, *client.run(_http_port).values()]
        for port in ports:
            for page in ("", "status", "health", "metrics", "info/main/workers.html"):
                with pytest.raises(HTTPError, match="404"):
                    urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5)


def _http_port(dask_worker):
    return dask_worker.http_server.port


def test_nobody_answers_at_the_address(objective, monkeypatch):
    monkeypatch.setattr("milpbn.cluster._CONNECT", 0.5)
    with pytest.raises(OptionError, match="cannot connect to a Dask scheduler at 'tcp://127"):
        solve(objective, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(OptionError, match="cannot connect to a Dask scheduler at 'nonsense:x'"):
        solve(objective, scheduler="nonsense:x")


@pytest.fixture
def quick_tasks(monkeypatch):
    """Many small tasks."""
    monkeypatch.setattr(supervisor, "_TASK", 0.1)
    monkeypatch.setattr(supervisor, "_SHORT_TASK", 0.05)
    monkeypatch.setattr(supervisor, "_NODES_PER_TASK", 2)


class Processes:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.started = []
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", self.file,
        )  # fmt: skip
        while not self.address:
            time.sleep(0.05)

    @property
    def address(self):
        try:
            return json.loads(self.file.read_text())["address"]
        except (OSError, ValueError):
            return None

    def start(self, kind, *options):
        command = [sys.executable, "-m", "dask", kind, *map(str, options)]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.file.parent
        )
        self.started.append(process)
        return process

    def add_worker(self):
        """Without a nanny, so that a worker that is killed is gone."""
        return self.start(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
            "--memory-limit", "0",
        )  # fmt: skip

    def end(self):
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def processes(tmp_path, monkeypatch):
    paths = (p for p in sys.path if p)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    made = Processes(tmp_path)
    yield made
    made.end()


def after_nodes(count, do):
    """A listener that does something once, after some nodes."""
    done = []

    def listen(point):
        if point.nodes >= count and not done:
            done.append(point)
            do()

    return listen


def assert_certified(data, path, listener=None, **options):
    """Learn a structure with a certificate, which proves the bound of the result."""
    settings = make_settings(class_parents=False, **options)
    result = run_method(data, settings, listener=listener, certificate=path)
    proven = Certified(data, settings, result, lines_of(path), result.objective).check()
    slack = 1e-6 * abs(result.bound)
    assert result.objective - slack <= proven.bound <= result.bound + slack
    return result


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_only_time(processes, quick_tasks, tmp_path):
    victim, _ = processes.add_worker(), processes.add_worker()
    kill = after_nodes(25, lambda: victim.send_signal(signal.SIGKILL))
    glass, certificate = all_rows("glass"), tmp_path / "glass.gz"
    result = assert_certified(glass, certificate, kill, scheduler=processes.address)
    assert victim.wait(60) == -signal.SIGKILL
    assert result.status == "optimal"
    assert result.objective == pytest.approx(247.128271, abs=1e-5)
    assert_valid_at_every_moment(result, 247.128271)


def test_a_worker_may_join_late_and_the_scheduler_may_be_lost(
    processes, quick_tasks, objective, tmp_path
):
    """The run begins without any worker; later the scheduler is killed; then it goes on here."""
    file = str(tmp_path / "tree")
    join = after_nodes(1, processes.add_worker)
    kill = after_nodes(14, lambda: processes.scheduler.send_signal(signal.SIGKILL))

    def listen(point):
        join(point)
        kill(point)

    with pytest.warns(ClusterWarning, match="connection to the Dask scheduler was lost"):
        lost = solve(objective, scheduler=processes.address, listener=listen, checkpoint=file)
    assert lost.status == "interrupted"
    assert lost.objective <= OPTIMUM + 1e-6 <= lost.bound + 2e-6
    assert Path(file).exists()
    result = solve(objective, scheduler=None, resume=file)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(OPTIMUM)


@pytest.mark.slow
def test_local_processes_prove_the_same_optimum(monkeypatch, tmp_path):
    monkeypatch.setattr(supervisor, "_ALONE_SECONDS", 0.0)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    result = assert_certified(noise(), tmp_path / "noise.gz", workers=2)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(OPTIMUM)
    assert_valid_at_every_moment(result, OPTIMUM)


def test_nothing_is_collected_while_a_client_starts(monkeypatch):
    """A client that closes itself when it is collected would wait for the one that starts."""
    seen = []

    def start(*arguments, **options):
        seen.append(gc.isenabled())
        raise OSError("nobody there")

    monkeypatch.setattr("distributed.Client", start)
    with pytest.raises(OptionError, match="nobody there"), cluster_client(0, "tcp://here"):
        pass
    assert seen == [False]
    assert gc.isenabled()
