# SPDX-License-Identifier: Apache-2.0
"""Programs that never load NumPy: the shim changes neither output nor exit status, starts no thread, and costs less
than a millisecond. What it exports is what the tables say, and it needs no Python symbol."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from shim_runner import LIBRARY, TestCase, find_tool, main

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_ADDED_SECONDS = 1e-3
MAX_ADDED_PAGES = 98


def environment(shim):
    """As inherited, without options, with every report switched on under the shim: still nothing may appear."""
    result = {name: value for name, value in os.environ.items() if not name.startswith("GPUSHIM_")}
    result.pop("LD_PRELOAD", None)
    result["LC_ALL"] = "C"
    if shim:
        result.update(LD_PRELOAD=LIBRARY, GPUSHIM_REPORT="1", GPUSHIM_DOCTOR="1", GPUSHIM_HELP="1",
                      GPUSHIM_LOG="trace", GPUSHIM_DEVICE="no such word", GPUSHIM_MODE="force")
    return result


def run(command, shim, **options):
    return subprocess.run(command, env=environment(shim), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False, **options)


@unittest.skipUnless(os.path.exists(LIBRARY), "no library %s" % LIBRARY)
class TestPrograms(TestCase):
    def assert_unchanged(self, command, **options):
        plain, shimmed = run(command, False, **options), run(command, True, **options)
        traces = [re.sub(rb"0x[0-9a-f]+", b"0x..", result.stderr) for result in (shimmed, plain)]
        self.assertEqual((shimmed.returncode, shimmed.stdout, traces[0]),
                         (plain.returncode, plain.stdout, traces[1]), command)
        return shimmed

    def test_ls(self):
        self.assert_unchanged(["ls", "-l", os.path.dirname(os.path.abspath(__file__)), "/nowhere"])

    def test_bash(self):
        script = "trap 'echo usr1' USR1; kill -USR1 $$; printf '%s\\n' a b | sort -r | cat; (exit 3) || echo $?; exit 7"
        self.assertEqual(self.assert_unchanged(["bash", "-c", script]).returncode, 7)

    def test_bash_crash(self):
        self.assertEqual(self.assert_unchanged(["bash", "-c", "kill -SEGV $$"]).returncode, -11)

    def test_gcc(self):
        find_tool("gcc")
        self.assert_unchanged(["gcc", "-v"])
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "hello.c")
            with open(source, "w", encoding="ascii") as stream:
                stream.write('#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n')
            command = "gcc -Wall -Wextra -Wundeclared hello.c; gcc hello.c -o hello && ./hello"
            self.assertEqual(self.assert_unchanged(["sh", "-c", command], cwd=folder).stdout, b"hello\n")

    def test_dlopen_keeps_its_caller(self):
        """A name without a slash is searched for along the calling library's own RUNPATH, and dlerror is dlopen's."""
        find_tool("gcc")
        sources = {
            "inner.c": "int answer(void) { return 42; }",
            "outer.c": """#include <dlfcn.h>
                #include <stdio.h>
                int ask(void) {
                    void *inner = dlopen("libinner.so", RTLD_NOW);
                    if (inner == NULL) return puts(dlerror());
                    puts(dlopen("_umath_linalg.none.so", RTLD_NOW) == NULL ? dlerror() : "found");
                    puts(dlopen(NULL, RTLD_LAZY) != NULL ? "self" : dlerror());
                    return printf("%d\\n", ((int (*)(void))dlsym(inner, "answer"))());
                }""",
            "main.c": "int ask(void);\nint main(void) { return ask() != 3; }",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in sources.items():
                with open(os.path.join(folder, name), "w", encoding="ascii") as stream:
                    stream.write(text)
            subprocess.run(["sh", "-ec", """mkdir deep
                gcc -shared -fPIC inner.c -o deep/libinner.so
                gcc -shared -fPIC outer.c -o libouter.so -Wl,--enable-new-dtags,-rpath,'$ORIGIN/deep'
                gcc main.c -o main ./libouter.so"""], cwd=folder, check=True)
            self.assertIn(b"42\n", self.assert_unchanged(["./main"], cwd=folder).stdout)

    def test_python(self):
        self.assert_unchanged([sys.executable, "-c", "print(1)"])
        self.assert_unchanged([sys.executable, "-c", "import sys; sys.exit(5)"])
        self.assert_unchanged([sys.executable, "-X", "faulthandler", "-c",
                               "import ctypes, os; os.kill(os.getpid(), 11)"])

    def test_python_files_and_processes(self):
        self.assert_unchanged([sys.executable, "-c", """if True:
            import fcntl, multiprocessing, os, signal, socket, subprocess, tempfile
            with tempfile.TemporaryFile() as stream:
                stream.write(b"x" * 100000)
                stream.seek(0)
                print(len(stream.read()), fcntl.fcntl(stream, fcntl.F_GETFD))
            a, b = socket.socketpair()
            a.sendmsg([b"one", b"two"])
            print(b.recvmsg(100)[0], a.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE))
            signal.signal(signal.SIGSEGV, lambda *_: print("caught", flush=True))
            os.kill(os.getpid(), signal.SIGSEGV)
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())) == sorted(
                signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}), flush=True)
            print(subprocess.run(["cat"], input=b"data", stdout=subprocess.PIPE).stdout)
            if os.fork() == 0:
                os._exit(9)
            print(os.waitstatus_to_exitcode(os.wait()[1]))
            """])

    def test_no_threads(self):
        script = "import re; print(re.search('Threads:.*', open('/proc/self/status').read()).group())"
        shimmed = self.assert_unchanged([sys.executable, "-c", script])
        self.assertEqual(shimmed.stdout.split(), [b"Threads:", b"1"])

    def test_no_descriptors(self):
        self.assert_unchanged(["ls", "/proc/self/fd"])

    def test_added_time(self):
        """Of a program that does nothing the fastest of many runs, with and without the library in turns."""
        def seconds(env):
            start = time.perf_counter()
            subprocess.run(command, env=env, check=True)
            return time.perf_counter() - start
        command, fastest = [shutil.which("true")], [float("inf"), float("inf")]
        environments = [environment(False), environment(True)]
        # Other load of the machine delays some runs, in the end not all.
        for count in range(1, 3001):
            fastest = [min(fastest[shim], seconds(environments[shim])) for shim in (False, True)]
            if count >= 300 and fastest[True] - fastest[False] < MAX_ADDED_SECONDS:
                break
        self.assertLess(fastest[True] - fastest[False], MAX_ADDED_SECONDS, fastest)

    def test_added_pages(self):
        """Each page of the library that the loader or our constructor touches takes the kernel microseconds."""
        def faults(env):
            with subprocess.Popen([shutil.which("true")], env=env) as process:
                usage = os.wait4(process.pid, 0)[2]
                process.returncode = 0
            return usage.ru_minflt + usage.ru_majflt
        plain, shimmed = (min(faults(environment(shim)) for _ in range(20)) for shim in (False, True))
        if plain == 0:
            self.skipTest("this kernel counts no page faults")
        self.assertGreater(shimmed, plain)
        self.assertLessEqual(shimmed - plain, MAX_ADDED_PAGES)


@unittest.skipUnless(os.path.exists(LIBRARY), "no library %s" % LIBRARY)
class TestSymbols(TestCase):
    def symbols(self, option):
        listing = subprocess.run([find_tool("nm"), "-D", option, LIBRARY], stdout=subprocess.PIPE, check=True)
        return {line.split()[-1].split("@")[0] for line in listing.stdout.decode().splitlines()
                if line.split()[-2] != "w"}  # a weak reference to what may be missing

    def test_exports(self):
        with open(os.path.join(os.path.dirname(LIBRARY), "exports.map"), encoding="ascii") as stream:
            names = set(re.findall(r"\b(\w+);", stream.read().split("global:")[1].split("local:")[0]))
        with open(os.path.join(ROOT, "interpose", "gpushim.h"), encoding="ascii") as stream:
            names |= set(re.findall(r"\b(gpushim_\w+)\(", stream.read()))
        self.assertGreater(len(names), 900)
        self.assertEqual(self.symbols("--defined-only"), names)

    def test_needs_no_python(self):
        self.assertEqual([name for name in self.symbols("--undefined-only") if re.match("_?Py", name)], [])

    def test_leaves_dlsym_alone(self):
        self.assertFalse({"dlsym", "dlvsym", "malloc", "free"} & self.symbols("--defined-only"))


if __name__ == "__main__":
    main()
