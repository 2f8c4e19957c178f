# SPDX-License-Identifier: Apache-2.0
"""What `gpushim run` becomes: the program's arguments and environment. Nothing of this process is left in the program but
LD_PRELOAD and the options."""
import contextlib
import os
import re
import signal
import sys

from gpushim.files import library_path

SEPARATORS = re.compile("[ :]+")  # of LD_PRELOAD
PYTHON_FILES = (".py", ".pyw", ".pyc", ".pyz")
# What shows that NVIDIA's driver is there; the same as is_present of offload/cuda/cuda_backend.c.
DRIVER_SIGNS = ("/dev/nvidiactl", "/dev/dxg", "/proc/driver/nvidia/version")
ON, OFF = ("1", "yes", "on", "true"), ("0", "no", "off", "false")  # as config/option_words.c has them
# Python ignores these from its start, and a program inherits what is ignored.
RESTORED_SIGNALS = ("SIGPIPE", "SIGXFSZ")


def arguments_of(words):
    """The command line for what the words name: -m MODULE or a Python file, for this interpreter, or a program."""
    if words[0] == "-m" or words[0].endswith(PYTHON_FILES):
        return [sys.executable, *words]
    return list(words)


def why_not_started(command, word, error):
    """Of a program that the operating system refuses; Python's own forms of programs need an interpreter."""
    is_python = os.path.isfile(word) or os.path.exists(os.path.join(word, "__main__.py"))
    return "%s: %s%s" % (word, error.strerror, "; if it is Python: gpushim %s python %s" % (command, word) if is_python else "")


def check_words(words, parser):
    """Ends with an error where the words name no program."""
    if not words or words == ["-m"] or (words[0].startswith("-") and words[0] != "-m"):
        parser.error("a script, -m with a module, or a program is expected%s" % (", not " + words[0] if words else ""))


def own_environment():
    """The environment that this process was given: in the locale C, Python adds LC_CTYPE to it (PEP 538)."""
    environment = dict(os.environ)
    with contextlib.suppress(OSError), open("/proc/self/environ", "rb") as given:
        if not re.search(rb"(^|\0)LC_CTYPE=", given.read()):
            environment.pop("LC_CTYPE", None)
    return environment


def preload(environment, path):
    """Adds the library behind what LD_PRELOAD has: a sanitizer must stay the first. ValueError: LD_PRELOAD cannot hold the path."""
    if SEPARATORS.search(path):
        raise ValueError("LD_PRELOAD cannot hold a path with a space or a colon: %s" % path)
    there = list(filter(None, SEPARATORS.split(environment.get("LD_PRELOAD", ""))))
    if not any(os.path.realpath(other) == os.path.realpath(path) for other in there):
        there.append(path)
    environment["LD_PRELOAD"] = ":".join(there)


def environment_with(options):
    """The program's environment; the options are {GPUSHIM_NAME: value}."""
    environment = own_environment()
    environment.update(options)
    preload(environment, library_path())
    return environment


def why_no_gpu(environment):
    """Why the library will find no GPU, where it looks for one; None: it may find one, or looks for none."""
    if (environment.get("GPUSHIM_DEVICE") or "auto").lower() not in ("auto", *ON) or environment.get("GPUSHIM_MODE", "").lower() in OFF:
        return None
    if environment.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return "CUDA_VISIBLE_DEVICES hides it"
    if not any(os.path.exists(sign) for sign in DRIVER_SIGNS):
        return "NVIDIA's driver is not loaded (%s)" % DRIVER_SIGNS[0]
    return None


def status_of(returncode):
    """The exit status that a shell gives for subprocess's returncode: 128 + N for signal N."""
    return 128 - returncode if returncode < 0 else returncode


def end_in_words(returncode):
    """How a program ended, of subprocess's returncode: "status 3", "signal SIGTERM"."""
    if returncode >= 0:
        return "status %d" % returncode
    known = {each.value: each.name for each in signal.Signals}
    return "signal %s" % known.get(-returncode, -returncode)


def execute(arguments, environment):
    """Replaces this process by the program; OSError: it cannot be started."""
    for name in RESTORED_SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execvpe(arguments[0], arguments, environment)
