# SPDX-License-Identifier: Apache-2.0
"""Whether a program can tell that RuntimeWarnings of device calls come late: by what it records, by filters that change
in between, by exceptions in other places than NumPy's, by the lines and the number of what stands on stderr, at ends of
the process.
"""
import os
import re
import sys
import textwrap
import unittest

import shim_runner

PRELUDE = """
import contextlib, io, logging, os, sys, unittest, warnings
import numpy as np
SIZE = 2000
zero, one = np.zeros(SIZE), np.ones(SIZE)
def say(*what):
    print(*what, flush=True)
"""

# Each body is one way of looking at warnings; "read" is a read of an earlier result.
OBSERVERS = {
    "record": """
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            x = one / zero
            say([(str(w.message), w.lineno) for w in seen])
        """,
    "showwarning": """
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, file, line, *rest: say(message, line)
        x = one / zero
        say("behind")
        """,
    "_showwarnmsg_impl": """
        warnings._showwarnmsg_impl = lambda message: say(message.message, message.lineno)
        x = one / zero
        say("behind")
        """,
    "formatwarning": """
        warnings.formatwarning = lambda message, category, file, line, text=None: say(message, line) or "formatted"
        x = one / zero
        say("behind")
        """,
    "wrapped showwarning": """
        import functools
        original = warnings.showwarning
        @functools.wraps(original)
        def wrapper(message, category, filename, lineno, file=None, line=None):
            say(message, lineno)
        warnings.showwarning = wrapper
        x = one / zero
        say("behind")
        """,
    "sys.stderr": """
        sys.stderr = io.StringIO()
        x = one / zero
        say(sys.stderr.getvalue())
        """,
    "sys.stderr.write": """
        write = sys.stderr.write
        sys.stderr.write = lambda text: say("written", text)
        x = one / zero
        say("behind")
        del sys.stderr.write
        x = np.log(zero)
        sys.stderr.write = lambda text: say("written", text)
        say(x[2])
        del sys.stderr.write
        """,
    "another module": """
        import types
        other = types.ModuleType("warnings")
        other.__dict__.update(vars(warnings))
        other._showwarnmsg = lambda message: say(message.message)
        sys.modules["warnings"] = other
        x = one / zero
        say("behind")
        sys.modules["warnings"] = warnings
        """,
    "redirect_stderr": """
        with contextlib.redirect_stderr(io.StringIO()) as text:
            x = np.log(zero)
        say(text.getvalue())
        """,
    "stderr restored": """
        sys.stderr = io.StringIO()
        x = np.log(zero)
        text, sys.stderr = sys.stderr.getvalue(), sys.__stderr__
        say(text)
        """,
    "stderr replaced behind the call": """
        x = np.log(zero)
        sys.stderr = io.StringIO()
        say(x[2])
        say(sys.stderr.getvalue())
        """,
    "showwarning replaced behind the call": """
        x = np.log(zero)
        warnings.showwarning = lambda *what: say("seen", *what)
        say(x[2])
        say("behind")
        """,
    "captureWarnings": """
        logging.basicConfig(stream=sys.stdout)
        logging.captureWarnings(True)
        x = one / zero
        say("behind")
        logging.captureWarnings(False)
        """,
    "assertWarns": """
        with unittest.TestCase().assertWarns(RuntimeWarning) as caught:
            x = one / zero
        say(caught.lineno)
        """,
    "np.testing": """
        warnings.simplefilter("ignore", DeprecationWarning)
        np.testing.assert_warns(RuntimeWarning, np.log, zero)
        with np.testing.suppress_warnings() as suppress:
            seen = suppress.record(RuntimeWarning)
            x = one / zero
        say(len(seen))
        try:
            np.testing.assert_no_warnings(np.log, zero)
        except AssertionError as error:
            say(error)
        """,
    "scopes from before numpy": """
        seen = []
        def hook(message, category, filename, lineno, file=None, line=None):
            seen.append((str(message), lineno))
        with warnings.catch_warnings():
            warnings.showwarning = hook
            warnings.simplefilter("always")
            x = one / zero
            y = np.sqrt(-one)
            say(seen)
        """,
    "lines on stderr": """
        def function(a):
            return np.log(
                -a)
        for _ in range(3):
            x = one / zero
            y = [np.sqrt(-one) for _ in range(2)]
        z = function(one)
        m = np.mean(np.full(SIZE, 1e308))
        names = {"one": one, "zero": zero}
        exec(compile("q = zero / zero", "elsewhere.py", "exec"), names)
        say(float(x[0]), float(z[0]))
        """,
    "read under a filter that raises": """
        for before in ("always", "ignore", "default", "once"):
            warnings.resetwarnings()
            warnings.simplefilter(before, RuntimeWarning)
            x = one / zero
            warnings.simplefilter("error", RuntimeWarning)
            y = x + 1
            say(before, y[2])
        """,
    "list changed in place": """
        for before, after in (("always", "error"), ("ignore", "error"), ("ignore", "always"), ("always", "ignore")):
            for change in ("insert", "slice", "assign", "item"):
                warnings.filters[:] = [(before, None, RuntimeWarning, None, 0)]
                x = one / zero
                item = (after, None, RuntimeWarning, None, 0)
                if change == "insert":
                    warnings.filters.insert(0, item)
                elif change == "slice":
                    warnings.filters[:] = [item]
                elif change == "assign":
                    warnings.filters = [item]
                else:
                    warnings.filters[0] = item
                say(before, after, change, x[2])
        """,
    "last filter changed": """
        warnings.simplefilter("ignore", UserWarning)
        warnings.filters.append(("ignore", None, RuntimeWarning, None, 0))
        x = one / zero
        warnings.filters[-1] = ("error", None, RuntimeWarning, None, 0)
        say(x[2])
        try:
            x = one / zero
        except RuntimeWarning as warning:
            say("raised", warning)
        """,
    "default action": """
        warnings.resetwarnings()
        x = one / zero
        warnings.defaultaction = "error"
        say(x[2])
        """,
    "errstate that raises behind the call": """
        x = one / zero
        with np.errstate(all="raise"):
            y = one + one
            say(x[2], y[2])
            try:
                z = np.sqrt(-one)
            except FloatingPointError as error:
                say(error)
        """,
    "many, then one that raises": """
        warnings.simplefilter("always")
        warnings.showwarning, shown = warnings.showwarning, warnings.showwarning
        xs = [one / zero for _ in range(200)]
        with np.errstate(all="raise"):
            try:
                z = np.sqrt(-one)
            except FloatingPointError as error:
                say(error)
        """,
    "threads": """
        import threading
        told = []
        def quiet():
            for _ in range(40):
                x = one / zero
                x[0]
        def strict():
            for _ in range(40):
                try:
                    with np.errstate(all="raise"):
                        np.sqrt(-one)
                except FloatingPointError as error:
                    told.append(str(error))
        threads = [threading.Thread(target=target) for target in (quiet, strict, quiet)]
        [thread.start() for thread in threads], [thread.join() for thread in threads]
        say(len(told), set(told))
        """,
    "os.supports_fd": """
        say(os.execve in os.supports_fd)
        """,
}

ENDS = {
    "os._exit": "os._exit(3)",
    "execv": "os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])",
    "execve": "os.execve(sys.executable, [sys.executable, '-c', 'print(1)'], dict(os.environ))",
    "execlp": "os.execlp(sys.executable, sys.executable, '-c', 'print(1)')",
    "kill": "os.kill(os.getpid(), 9)",
    "killpg": "os.killpg(os.getpgrp(), 9)",
    "raise_signal": "import signal; signal.raise_signal(15)",
    "pthread_kill": "import signal, threading; signal.pthread_kill(threading.get_ident(), 9)",
    "abort": "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.abort()",
    "dup2": "os.dup2(os.open(os.devnull, os.O_WRONLY), 2)",
    "stderr.close": "sys.stderr.close()",
    "stderr.detach": "sys.stderr.detach()",
    "os.close": "os.close(2)",
    "closerange": "os.closerange(2, 4)",
    "exit": "sys.exit(4)",
    "exception": "raise KeyError('end')",
    "daemon": "os.fork() and os._exit(0)",
    "child": "pid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)\nos._exit(0)",
    "computing child": "pid = os.fork()\nif pid == 0:\n  np.sqrt(-one)\n  os._exit(0)\nos.waitpid(pid, 0)\nos._exit(0)",
    "child of multiprocessing": "import multiprocessing as m\np = m.get_context('fork').Process(target=np.log, args=(zero,))\np.start(); p.join()",
    "atexit": "import atexit; atexit.register(lambda: one / zero)",
    "atexit from before numpy": "before.append(lambda: np.log(-one)[0])",
}

PYTEST = """
import numpy as np, pytest, warnings
SIZE = 2000
zero, one = np.zeros(SIZE), np.ones(SIZE)
def test_warns():
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        one / zero
def test_warns_not():
    with pytest.warns(RuntimeWarning):
        one + one
def test_recwarn(recwarn):
    x = np.sqrt(-one)
    assert [w.lineno for w in recwarn] == [13]
    x[0]
    assert len(recwarn) == 1
@pytest.mark.filterwarnings("error")
def test_error():
    with pytest.raises(RuntimeWarning):
        np.log(zero)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ignored():
    x = np.log(zero)
    x[0]
def test_in_the_summary():
    x = np.log(-one)
def test_of_the_next():
    assert one[0] == 1
def test_errors_in_the_test(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.arcsin(one * 2)
def test_captured(capfd):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.arcsin(one * 2)
    assert len(seen) == 1 and capfd.readouterr().err == ""
"""


def scrub(text):
    """Each run has a folder of its own, and addresses."""
    return re.sub(r"0x[0-9a-f]+", "", re.sub(r"/\S*/(?=\w+\.py)", "", text))


class TestWarnings(shim_runner.TestCase):
    def compare(self, script, args=(), needs_device=True, feeds=("0",)):
        """Output and status must be the same; so must the lines on stderr, which may come in another order."""
        plain = shim_runner.run_plain(script, args=args)
        for feed in feeds:
            shimmed = shim_runner.run(script, args=args, env={"GPUSHIM_FEED_MS": feed})
            with self.subTest(feed=feed):
                self.assertEqual((shimmed.returncode, scrub(shimmed.stdout)), (plain.returncode, scrub(plain.stdout)), shimmed)
                self.assertEqual(sorted(scrub(shimmed.stderr).splitlines()), sorted(scrub(plain.stderr).splitlines()), shimmed)
                if needs_device:
                    self.assertGreater(shim_runner.device_calls(shimmed.report), 0)
        return plain

    def test_observers(self):
        for name, body in OBSERVERS.items():
            with self.subTest(name):
                self.compare(PRELUDE + textwrap.dedent(body), needs_device=name != "os.supports_fd")

    def test_numpy_imported_while_warnings_are_recorded(self):
        """What stands for the functions of warnings then is not taken for the original."""
        self.compare("""
import warnings
seen = []
with warnings.catch_warnings():
    warnings.showwarning = lambda message, *rest: seen.append(str(message))
    import numpy as np
    warnings.simplefilter("always")
    one, zero = np.ones(2000), np.zeros(2000)
    x = one / zero
    print(seen)
y = np.sqrt(-one)
print(seen, y[0])
""")

    def test_ends(self):
        plain_lines = {}
        for name, statement in ENDS.items():
            script = ("import atexit\nbefore = []\natexit.register(lambda: [f() for f in before])\n" + PRELUDE +
                      "warnings.simplefilter('always')\n"
                      "warnings.filterwarnings('ignore', 'This process', DeprecationWarning)\n"  # a fork beside threads, from 3.12 on
                      "x = one / zero\n" + statement + "\n")
            with self.subTest(name):
                needs_report = name in ("exit", "exception", "atexit", "dup2", "stderr.detach")
                plain = self.compare(script, needs_device=needs_report)
                plain_lines[name] = plain.stderr.count("RuntimeWarning")
        self.assertGreaterEqual(min(plain_lines.values()), 1, plain_lines)

    def test_walks(self):
        """Random calls, reads, filters and scopes."""
        walk = os.path.join(shim_runner.HERE, "warning_walk.py")
        for seed in ("1", "2", "3", "4"):
            with self.subTest(seed=seed):
                plain = self.compare(walk, args=(seed, "150"), feeds=("0", "2"))
                self.assertEqual(plain.returncode, 0, plain)
                self.assertGreater(plain.stderr.count("RuntimeWarning"), 0)

    def test_late_is_late(self):
        """GPUSHIM_FPERR=late gives what is recorded at the next synchronisation; a read raises nothing even so."""
        script = PRELUDE + """
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    x = one / zero
    say(len(seen))
    x[0]
    for _ in range(10):
        pass
    say(len(seen))
x = np.log(zero)
warnings.simplefilter("error")
say(x[0])
"""
        result = shim_runner.run(script, env={"GPUSHIM_FEED_MS": "0", "GPUSHIM_FPERR": "late"})
        self.assertEqual((result.returncode, result.stdout), (0, "0\n1\n-inf\n"), result)

    def test_output_over_an_input(self):
        """A warning that only joins a list ends no call: the device computes. Where one may raise, the output stays as it was."""
        recorded = shim_runner.run(PRELUDE + """
values = np.linspace(-1, 4, 2 * SIZE)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    np.sqrt(values[::2], out=values[:SIZE])
    say(len(seen), values[SIZE - 1])
""")
        self.assertEqual(recorded.stdout.split()[0], "1", recorded)
        self.assertEqual(shim_runner.device_calls(recorded.report, "sqrt"), 1, recorded)
        self.compare(PRELUDE + """
values = np.linspace(-1, 4, 2 * SIZE)
def refuse(*what):
    raise ValueError(what[0])
def judge():
    try:
        np.sqrt(values[::2], out=values[:SIZE])
    except (ValueError, RuntimeWarning) as error:
        say(error, values[:3])
with warnings.catch_warnings():
    warnings.simplefilter("always")
    warnings.showwarning = refuse
    judge()
with warnings.catch_warnings(record=True):
    warnings.simplefilter("error")
    judge()
with warnings.catch_warnings(record=True):
    warnings.simplefilter("always")
    warnings._showwarnmsg_impl = refuse
    judge()
""")

    def test_pytest(self):
        try:
            import pytest
        except ImportError:
            self.skipTest("this Python has no pytest")
        for arguments in ([], ["-W", "error"], ["-p", "no:warnings"]):
            outcomes = []
            for shim in (False, True):
                with self.subTest(arguments, shim=shim):
                    outcomes.append(self.run_pytest(arguments, shim))
            self.assertEqual(*outcomes)
            self.assertIn("passed", outcomes[0])

    def run_pytest(self, arguments, shim):
        import tempfile
        with tempfile.TemporaryDirectory(prefix="shim-pytest-") as folder:
            with open(os.path.join(folder, "test_it.py"), "w", encoding="utf-8") as file:
                file.write(PYTEST)
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", *arguments, "test_it.py"]
            result = shim_runner.run_command(command, shim=shim, env={"GPUSHIM_FEED_MS": "0"}, folder=folder)
            self.assertEqual(result.stderr, "")
            if shim:
                self.assertGreater(shim_runner.device_calls(result.report), 5)
            return re.sub(r"in \d+\.\d+s|0x[0-9a-f]+", "", result.stdout.replace(folder, ""))


if __name__ == "__main__":
    unittest.main()
