# SPDX-License-Identifier: Apache-2.0
"""Clocks that wait for the device before they are read: a call of NumPy may return before its result has been computed. From the
first reading on, results that the program drops are computed too.

    synchronized_timer()          time.perf_counter() of a moment when the device has nothing left to do
    synchronized(timer)           the same of another timer
    python -m gpushim.timing ...  python -m timeit with such a timer
"""
import contextlib
import functools
import sys
import time
import timeit

from gpushim.loaded import keep_results, synchronize


class SynchronizedTimer:
    """Not a function, so that it may be an attribute of a class (asv's `timer`) and still takes no argument."""

    def __init__(self, timer):
        self.timer = timer
        self.is_read = False
        functools.update_wrapper(self, timer)

    def __call__(self):
        if not self.is_read:
            keep_results()
            self.is_read = True
        synchronize()
        return self.timer()


@functools.lru_cache(maxsize=None)
def _wrapped(timer):
    return SynchronizedTimer(timer)


def synchronized(timer=time.perf_counter):
    """The timer, read when the device has finished what it was given so far. The same object for the same timer."""
    return timer if isinstance(timer, SynchronizedTimer) else _wrapped(timer)


synchronized_timer = synchronized()


def _replace_default(function, old, new):
    function.__defaults__ = tuple(new if value is old else value for value in function.__defaults__)


def patch_timeit():
    """Makes the timers synchronise that `timeit`, and what asks it for its timer, use by default. Returns what undoes that."""
    plain, timer = timeit.default_timer, synchronized(timeit.default_timer)
    undo = contextlib.ExitStack()
    for function in (timeit.Timer.__init__, timeit.timeit, timeit.repeat):
        _replace_default(function, plain, timer)
        undo.callback(_replace_default, function, timer, plain)
    timeit.default_timer = timer
    undo.callback(setattr, timeit, "default_timer", plain)
    return undo.close


if __name__ == "__main__":
    patch_timeit()
    sys.exit(timeit.main())
