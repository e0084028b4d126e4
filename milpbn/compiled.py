"""Compiled loops: one decorator, and the announcement of their compilation.

Compiling takes seconds, so numba stores the machine code: in ``NUMBA_CACHE_DIR`` if it is set, in
the ``__pycache__`` folders of the package, or below the user's cache folder. If none of them can
be written, code that is already in the package is used, and the rest is compiled in memory.

Some array expressions are slow to compile. Assigning an array to a part of another one compiles
numba's error message for shapes that do not fit, which takes longer than most kernels; loops do
not. Every function takes a tenth of a second or more, however short it is, so those that small
problems call with small arrays are interpreted at first.
"""

from __future__ import annotations

import pickle
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, ClassVar, Protocol

from milpbn import clock
from milpbn.errors import CacheWarning
from milpbn.signals import signals_wait

COMPILING = "compiling numerical code (later runs reuse it)"
"""The text that announces it."""


class Watcher(Protocol):
    """Receives notices about compilation: the progress line of a command."""

    def compiling(self, begins: bool) -> None:
        """Compilation begins or ends; see :func:`is_first_run` for a note about it."""

    def print(self, line: str) -> None:
        """Print a line for the user."""


functions: list[Any] = []
"""The functions that :func:`jit` has prepared, as numba's dispatchers."""

compile_all = False
"""Whether to compile functions at once that might be interpreted at first."""

# Nothing calls the functions from C, so the wrappers for that are not compiled.
_EVERYWHERE: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}

# Seconds for which a function is interpreted, and the largest arrays, in numbers.
_PATIENCE = 0.15
_SMALL = 4000

_watchers: list[Watcher] = []

# A file of compiled code is damaged, cannot be read, or cannot be written.
_TROUBLE = (OSError, EOFError, ValueError, LookupError, AttributeError, ImportError, TypeError)


def jit(
    *, lazily: bool = False, **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function on its first call, and store the machine code if possible.

    Parameters
    ----------
    lazily
        Interpret it while its arrays are small and calls have not taken long, unless machine code
        is stored. It must not use fast arithmetic, which would make the two differ.
    options
        Options of numba's ``njit``. The compiled function always releases the interpreter lock.

    Examples
    --------
    >>> @jit()
    ... def twice(x):
    ...     return 2 * x
    >>> twice.__name__
    'twice'
    """
    from numba import njit
    from numba.core.dispatcher import Dispatcher

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: Callable[..., Any] = njit(**{**_EVERYWHERE, **options})(function)
        if isinstance(compiled, Dispatcher):  # not with NUMBA_DISABLE_JIT
            _prepare(compiled, function, lazily)
        return compiled

    return decorate


def _prepare(dispatcher: Any, function: Callable[..., Any], lazily: bool) -> None:
    _listen_to_numba()
    functions.append(dispatcher)
    with suppress(OSError):  # a function that was typed in has no file
        dispatcher._cache = _cache_class()(function)
    work = _undisturbed(dispatcher._compile_for_args)
    dispatcher._compile_for_args = _Lazy(dispatcher, work) if lazily else work


class _Lazy:
    """What numba calls for arguments without machine code: it returns what to call instead."""

    def __init__(self, dispatcher: Any, compile_for: Callable[..., Any]) -> None:
        self._dispatcher, self._compile_for = dispatcher, compile_for
        self._left = _PATIENCE

    def __call__(self, *args: Any) -> Any:
        size = sum(getattr(arg, "size", 1) for arg in args)
        if compile_all or self._left <= 0.0 or size > _SMALL or self._is_stored():
            return self._compile_for(*args)
        return self._interpret

    def _is_stored(self) -> bool:
        is_stored = getattr(self._dispatcher._cache, "is_stored", None)
        return is_stored is not None and is_stored()

    def _interpret(self, *args: Any) -> Any:
        began = time.perf_counter()
        try:
            return self._dispatcher.py_func(*args)
        finally:
            self._left -= time.perf_counter() - began


@cache
def is_first_run() -> bool:
    """Whether no code of this part of the package had been stored when this was first asked.

    A later run may still compile a function for other problems, which is no news for the user.
    """
    caches = (dispatcher._cache for dispatcher in functions)
    return not any(c.is_stored() for c in caches if hasattr(c, "is_stored"))


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Tell `watcher` when compilation begins and ends."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def _undisturbed(work: Callable[..., Any]) -> Callable[..., Any]:
    """`work`, except that Ctrl-C waits for its end.

    An exception in the middle of llvmlite leaves half-made objects behind, whose destructors
    print tracebacks, and compilers that may not be used again.
    """

    @wraps(work)
    def undisturbed(*args: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return work(*args)  # handlers run in the main thread only
        with signals_wait():
            return work(*args)

    return undisturbed


@cache
def _warn_not_stored(reason: str) -> None:
    note = (
        f"compiled code cannot be cached ({reason}), so it is recompiled in every run; set the "
        "environment variable NUMBA_CACHE_DIR to a folder that can be written"
    )
    if _watchers:
        _watchers[-1].print(f"note: {note}")
    else:
        warnings.warn(note, CacheWarning, stacklevel=2)


@cache
def _listen_to_numba() -> None:
    """Announce the compilation of milpbn's functions; those inside of others are not counted."""
    from numba.core import event

    class Listener(event.Listener):
        def __init__(self) -> None:
            self.depth = 0
            self.began = 0.0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                self.began = time.perf_counter()
            if self.depth == 1 and _watchers:
                _watchers[-1].compiling(True)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                clock.not_charged(time.perf_counter() - self.began)
            if self.depth == 0 and _watchers:
                _watchers[-1].compiling(False)

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


@cache
def _cache_class() -> type[Any]:
    """Numba's cache, except that trouble with its files is no reason to stop."""
    from numba.core import caching

    class InPackage(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
        """Code that was compiled when the package was installed, in a folder only to be read."""

        def __init__(self, function: Any, file: str) -> None:
            self._py_file = file
            self._lineno = function.__code__.co_firstlineno

        def get_cache_path(self) -> str:
            return str(Path(self._py_file).parent / "__pycache__")

        @classmethod
        def from_function(cls, function: Any, file: str) -> Any:
            return cls(function, file)

        def ensure_cache_path(self) -> None:
            raise OSError("neither the installation nor the user's cache folder can be written")

    class Files(caching.CompileResultCacheImpl):
        _locator_classes: ClassVar[list[type[object]]] = [  # type: ignore[misc]
            *caching.CompileResultCacheImpl._locator_classes,
            InPackage,
        ]

    class Cache(caching.FunctionCache):
        _impl_class = Files

        def is_stored(self) -> bool:
            """Whether there is machine code for some arguments."""
            try:
                return bool(self._cache_file._load_index())  # type: ignore[no-untyped-call]
            except (*_TROUBLE, pickle.PickleError):
                return False

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            except (*_TROUBLE, pickle.PickleError):
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]
            except OSError as error:
                _warn_not_stored(error.strerror or str(error))
            except (*_TROUBLE, pickle.PickleError):  # the index is damaged
                with suppress(OSError):
                    self.flush()  # type: ignore[no-untyped-call]
                    super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    return Cache
