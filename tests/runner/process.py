# SPDX-License-Identifier: Apache-2.0
"""Programs that are started: what they print, how they end, and what they cost."""
import collections
import os
import signal
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77  # the exit status of a test that could not run
WORKERS = len(os.sched_getaffinity(0))
STEP_TIMEOUT = 1800

# Seconds: of the clock, and of processors (user and system, with the children that were waited for).
Spent = collections.namedtuple("Spent", "wall processor")
NOTHING = Spent(0.0, 0.0)


def together(parts):
    """What parts cost that ran side by side; of the clock the longest one."""
    return Spent(max(part.wall for part in parts), sum(part.processor for part in parts))


def wait(process, timeout):
    """(exit status, processor seconds); ends the process after `timeout` seconds, with status 124."""
    killed = []

    def kill():
        killed.append(process.pid)
        os.kill(process.pid, signal.SIGKILL)
    late = threading.Timer(timeout, kill)
    late.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        late.cancel()
    process.returncode = 124 if killed else os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def execute(argv, env=None, cwd=ROOT, timeout=STEP_TIMEOUT):
    """(exit status, stdout and stderr together, Spent); never raises. The output goes through a file, which children that
    live on may keep open."""
    start, processor = time.monotonic(), 0.0
    with tempfile.TemporaryFile() as printed:
        try:
            with subprocess.Popen(argv, cwd=cwd, env=dict(os.environ, **(env or {})), stdin=subprocess.DEVNULL,
                                  stdout=printed, stderr=subprocess.STDOUT) as process:
                status, processor = wait(process, timeout)
            printed.seek(0)
            output = printed.read()
        except OSError as error:
            status, output = 127, str(error).encode()
    if status == 124:
        output += b"\ntimed out after %d s" % timeout
    return status, output.decode("utf-8", "replace"), Spent(time.monotonic() - start, processor)


def step(totals, name, argv, env=None):
    status, output, spent = execute(argv, env)
    return totals.add_status(name, status, spent, output)
