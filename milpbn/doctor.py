"""What a report of an error needs: versions, the machine, the cache of compiled code, a self-test.

``milpbn doctor`` prints it. Package names and extras are read from the metadata of the
installation, so that pyproject.toml is the only list of them.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from milpbn import __version__, compiled
from milpbn.datasets import load_dataset
from milpbn.errors import MilpbnError
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.settings import make_settings
from milpbn.verification.verify import verify_model

# Extras of contributors; nobody needs them to run milpbn.
_OF_CONTRIBUTORS = ("dev", "docs", "test")

# A problem that takes a tenth of a second, and is small enough to enumerate all structures.
_DATA = "iris"
_SETTINGS: dict[str, Any] = {"max_parents": 1, "class_parents": False, "time_limit": 20.0}


@dataclass(frozen=True)
class Package:
    """A package that milpbn needs, or that an extra installs.

    Attributes
    ----------
    name, wanted
        Its name, and the versions that milpbn asks for.
    version
        The installed version; None if there is none.
    extra
        The extra that installs it; empty if milpbn always needs it.
    """

    name: str
    wanted: str
    version: str | None
    extra: str


@dataclass(frozen=True)
class CompiledCode:
    """Where compiled code is kept.

    Attributes
    ----------
    folder
        The folder that contains the files of all modules.
    stored, functions
        How many of the functions of the self-test are stored there, and how many there are.
    writable
        Whether more can be stored.
    """

    folder: str
    stored: int
    functions: int
    writable: bool


@dataclass(frozen=True)
class SelfTest:
    """A small problem: learned, verified, and every structure enumerated.

    Attributes
    ----------
    passed
        Whether the structure is optimal and everything agrees.
    told
        What was seen, or the error.
    seconds
        Of the wall clock, compilation included.
    """

    passed: bool
    told: str
    seconds: float


@dataclass(frozen=True)
class Diagnosis:
    """Everything that ``milpbn doctor`` prints."""

    milpbn: str
    python: str
    system: str
    processors: int
    packages: tuple[Package, ...]
    environment: dict[str, str]
    compiled: CompiledCode
    test: SelfTest

    @property
    def missing(self) -> list[str]:
        """Required packages that are not installed."""
        return [p.name for p in self.packages if not p.extra and p.version is None]

    @property
    def healthy(self) -> bool:
        """Whether nothing is missing and the self-test has passed."""
        return not self.missing and self.test.passed

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "healthy": self.healthy}


def diagnose() -> Diagnosis:
    """Look at the installation and run the self-test, which takes about a second.

    Examples
    --------
    >>> diagnose().test.passed
    True
    """
    test = self_test()  # loads what is compiled
    return Diagnosis(
        milpbn=__version__,
        python=f"{platform.python_version()} ({platform.python_implementation()})",
        system=f"{platform.system()} {platform.machine()}",
        processors=_processors(),
        packages=packages(),
        environment=_environment(),
        compiled=_compiled_code(),
        test=test,
    )


def packages() -> tuple[Package, ...]:
    """The packages that the installed milpbn asks for, the required ones first."""
    found = []
    for line in requires("milpbn") or ():
        named = re.match(r"([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)", line)
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)", line)
        if named and not (extra and extra[1] in _OF_CONTRIBUTORS):
            name, wanted = named[1], named[2].strip()
            found.append(Package(name, wanted, _installed(name), extra[1] if extra else ""))
    return tuple(sorted(found, key=lambda p: (p.extra, p.name)))


def self_test() -> SelfTest:
    """Prove an optimum, verify the model, and compare with the enumeration of all structures."""
    began = time.perf_counter()
    try:
        table = load_dataset(_DATA)
        model = learn_classifier(table, make_settings(**_SETTINGS))
        verification = verify_model(model, table)
    except MilpbnError as error:
        return SelfTest(False, str(error), time.perf_counter() - began)
    result = model.result
    failed = [f"{c.claim}: {c.seen}" for c in verification.checks if c.holds is False]
    passed = result.status == "optimal" and not failed
    told = f"{_DATA}: {result.status}, objective {result.objective:.4f}"
    checks = f"{len(verification.checks)} checks agree"
    told = "; ".join([told, *(failed or [checks])])
    return SelfTest(passed, told, time.perf_counter() - began)


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processors() -> int:
    """The processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _environment() -> dict[str, str]:
    """Variables that change where or how milpbn computes."""
    names = ("NUMBA_", "OMP_", "MKL_", "OPENBLAS_", "MILPBN_")
    return {k: v for k, v in sorted(os.environ.items()) if k.startswith(names)}


def _compiled_code() -> CompiledCode:
    caches = [f._cache for f in compiled.functions if hasattr(f._cache, "is_stored")]
    folders = [Path(c.cache_path) for c in caches]
    folder = os.path.commonpath(folders) if folders else sys.prefix
    return CompiledCode(
        folder=str(folder),
        stored=sum(c.is_stored() for c in caches),
        functions=len(compiled.functions),
        writable=bool(folders) and all(os.access(f, os.W_OK) for f in folders if f.exists()),
    )
