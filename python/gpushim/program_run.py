# SPDX-License-Identifier: Apache-2.0
"""One run of a program, by the clock. The program has a process group of its own, which is ended with it: whatever it started is
gone before the next run begins."""
import contextlib
import os
import signal
import subprocess
import threading
import time

GRACE = 2.0  # seconds between SIGTERM and SIGKILL


class Outcome:
    """seconds from start to end; status as subprocess gives it, None: it did not end within the time; stdout, stderr: bytes;
    files: {path as the program wrote it: path of a copy}."""

    def __init__(self, seconds, status, stdout, stderr):
        self.seconds, self.status, self.stdout, self.stderr, self.files = seconds, status, stdout, stderr, {}


def send(process, number):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class Watchdog:
    """Ends the process's group after some seconds (None: never) unless it is called off."""

    def __init__(self, process, seconds):
        self.process, self.seconds, self.expired, self.called_off = process, seconds, False, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        if not self.called_off.wait(self.seconds):
            self.expired = True
            send(self.process, signal.SIGTERM)
            if not self.called_off.wait(GRACE):
                send(self.process, signal.SIGKILL)

    def call_off(self):
        self.called_off.set()
        self.thread.join()


def end(process):
    """Ends the process, politely first, and what is left of its group."""
    send(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    send(process, signal.SIGKILL)
    process.wait()


def wait(process, timeout):
    """(when it ended by time.perf_counter, whether its time was up). The process is gone, however this returns."""
    watchdog = Watchdog(process, timeout)
    try:
        process.wait()  # without a timeout: with one, subprocess looks only every 50 ms
        return time.perf_counter(), watchdog.expired
    finally:
        watchdog.call_off()
        if process.returncode is None:
            end(process)
        send(process, signal.SIGKILL)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def run(arguments, environment, scratch, timeout=None):
    """The Outcome, without files; stdin is empty. Writes the files out and err into the folder `scratch`. OSError: the program
    cannot be started."""
    paths = [os.path.join(scratch, name) for name in ("out", "err")]
    with open(paths[0], "wb") as out, open(paths[1], "wb") as error:
        begin = time.perf_counter()
        process = subprocess.Popen(arguments, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=error,
                                   start_new_session=True)
        finish, expired = wait(process, timeout)
    return Outcome(finish - begin, None if expired else process.returncode, *map(contents, paths))
