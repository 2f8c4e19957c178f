# SPDX-License-Identifier: Apache-2.0
"""pytest's plugin, which is loaded where the package is installed (`-p no:gpushim` leaves it out). Under gpushim, the durations of
tests and pytest-benchmark's times contain the work of the device; at the end a line says which share of NumPy ran there. pytest-xdist's
workers synchronise too, but only the main process, which runs no tests then, prints."""
import pkgutil
import sys

import pytest

from gpushim import stats_interval, timing
from gpushim.loaded import active, library, stats, synchronize


def pytest_report_header():
    if library() is None:
        return "gpushim: not loaded (gpushim run -m pytest)"
    if "numpy" not in sys.modules:
        return "gpushim: loaded; it becomes active when NumPy is imported"
    return "gpushim: active" if active() else "gpushim: loaded, not active (gpushim doctor says why)"


def pytest_terminal_summary(terminalreporter):
    if library() is not None:
        synchronize()
        state = "" if active() else "not active; "
        terminalreporter.write_line("gpushim: " + state + stats_interval.verdict(stats_interval.whole(stats())))


@pytest.hookimpl(hookwrapper=True)
def _synchronized_edges(item):
    """What ran before is not this phase's, and what it began is."""
    synchronize()
    yield
    synchronize()


pytest_runtest_setup = pytest_runtest_call = pytest_runtest_teardown = _synchronized_edges


def _timer_of(item, default):
    marker = item.get_closest_marker("benchmark")
    return dict(marker.kwargs if marker else {}, timer=timing.synchronized((marker and marker.kwargs.get("timer")) or default))


def pytest_collection_modifyitems(config, items):
    """pytest-benchmark takes the timer of a test from its marker."""
    if library() is None or not config.pluginmanager.hasplugin("benchmark"):
        return
    default = pkgutil.resolve_name(config.getoption("benchmark_timer"))
    for item in items:
        item.add_marker(pytest.mark.benchmark(**_timer_of(item, default)), append=False)
