"""A Dask cluster that is no cluster: its tasks run in this process, when they are submitted."""

from __future__ import annotations

from contextlib import contextmanager

from milpbn.engines.distributed import subtrees, supervisor


class HereFuture:
    """A task that was done when it was submitted."""

    status = "finished"

    def __init__(self, key, value):
        self.key, self.value = key, value

    def result(self):
        return self.value

    def exception(self):
        return self.value

    def add_done_callback(self, call):
        call(self)


class HereClient:
    """A cluster in this process: tasks run at once, and every third is lost with its worker."""

    status, workers, loses = "running", 2, False

    def __init__(self):
        self.tasks = self.searches = 0

    def submit(self, function, *arguments, key):
        given = [a.value if isinstance(a, HereFuture) else a for a in arguments]
        future = HereFuture(key, function(*given))
        self.tasks += function is subtrees.work_on
        self.searches += function is subtrees.look_for
        if self.loses and self.tasks % 3 == 2 and function is subtrees.work_on:
            future.status = "lost"
        return future

    def nthreads(self):
        return {"here": self.workers}

    def run(self, *arguments, **options):
        pass

    subscribe_topic = unsubscribe_topic = cancel = run


def connect_here(monkeypatch, searching=False):
    """Let distributed runs use such a cluster, with one node per task.

    If `searching`, workers search for structures from the beginning.
    """
    client = HereClient()

    @contextmanager
    def connected(workers, scheduler):
        yield client

    monkeypatch.setattr(supervisor, "cluster_client", connected)
    monkeypatch.setattr(subtrees, "_teller", lambda key: lambda structure: None)
    for name in ("_TASK", "_SHORT_TASK"):
        monkeypatch.setattr(supervisor, name, 0.0)
    if searching:
        monkeypatch.setattr(supervisor, "_ALONE_SECONDS", 0.0)
        monkeypatch.setattr(subtrees, "_PATIENCE", 2)
    return client
