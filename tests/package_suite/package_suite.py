# SPDX-License-Identifier: Apache-2.0
"""A package's own test suite, plain and under the shim: every test must end alike.

    package_suite.py [--package NAME] [PART ...]             core, lib, core/test_umath, sparse.linalg ...:
                                                             default are the package's parts in suite_runs.py
      --device host|cuda  --library FILE  --jobs N  --shard K/N (of the work; for a time limit)
      --mode force|auto  --limit SECONDS (of one process)  --fresh (forget the plain results kept in build/)
      --set NAME=VALUE (one more variable of the shim's)  --no-share (do not judge the device's share)
      --against NAME=VALUE (compare with a run under the shim too, that has this variable besides)

With --mode force all that is supported is sent to the device: no minimum sizes, strict floating-point
errors where the library knows the option; with --mode auto what the library itself sends there once the device
has started. Ends with status 1 where a test ends otherwise than without the shim and accepted_PACKAGE.txt does not
say why, where a process died, where no process had the shim, or where, in mode force, the device ran no more than
90 % (in a shard 70 %) of the eligible ufunc calls, or where SciPy's linalg is among the parts of the eligible calls of BLAS and LAPACK
(suite_counts.py). With --against, which is about calls that run together,
accepted_PACKAGE.txt has no say, and instead of that share LEAST_GROUPED of the device's calls must have
run in groups, and none in the other run. Needs the package, pytest, hypothesis.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import importlib
import json
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
import time

import suite_counts
import suite_runs

# Of a shard less: one file of tests may hold most calls of its shard that are never the device's.
LEAST_SHARE, LEAST_SHARE_OF_A_SHARD = 0.9, 0.7
LEAST_GROUPED = 0.1
SHOWN_LINES = 14
KEPT = os.path.join(suite_runs.ROOT, "build", "package-suite")  # plain results, and the device's kernels


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--package", choices=sorted(suite_runs.PACKAGES), default="numpy")
    parser.add_argument("--mode", choices=sorted(suite_runs.MODES), default="force")
    parser.add_argument("--device", default=os.environ.get("GPUSHIM_DEVICE") or "host")
    parser.add_argument("--library", default=os.environ.get("GPUSHIM_LIBRARY") or
                        os.path.join(suite_runs.ROOT, "build", "libgpushim.so"))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--limit", type=float, default=900)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--no-share", action="store_true")
    parser.add_argument("--against", action="append", default=[])
    return parser.parse_args(argv)


# --- accepted differences ------------------------------------------------------------------------

def version_of(text):
    return tuple(int(piece) for piece in re.findall(r"\d+", text)[:2])


def matches_version(condition, version):
    """`condition`: ">=2.0 <2.3", all of whose pieces must hold, or empty."""
    tests = {">=": lambda a, b: a >= b, "<": lambda a, b: a < b}
    return all(tests[sign](version_of(version), version_of(bound))
               for sign, bound in re.findall(r"(>=|<)\s*([\d.]+)", condition))


class Accepted:
    """One paragraph of accepted_PACKAGE.txt: its keys, and how often it was needed."""

    def __init__(self, paragraph, where):
        self.fields = dict(re.findall(r"^(\w+):[ \t]*(.*)$", paragraph, re.M))
        needed = {"test", "outcome", "reason"}
        if not needed <= set(self.fields) <= needed | {"version", "device", "mode"}:
            raise SystemExit("%s: test, outcome and reason are needed, version, device and mode allowed:\n%s"
                             % (where, paragraph))
        pieces = map(re.escape, self.fields["test"].split("*"))
        self.pattern = re.compile(".*".join(pieces))
        self.used = 0

    def applies(self, version, device, mode):
        return (matches_version(self.fields.get("version", ""), version) and
                self.fields.get("device", device) == device and self.fields.get("mode", mode) == mode)

    def concerns(self, job):
        return fnmatch.fnmatchcase(job.path, self.fields["test"].split("::")[0])

    def accepts(self, test, change):
        return bool(self.pattern.fullmatch(test)) and self.fields["outcome"] == change


def read_accepted(package, version, device, mode):
    path = os.path.join(suite_runs.HERE, "accepted_%s.txt" % package)
    with open(path, encoding="utf-8") as stream:
        text = re.sub(r"^#.*\n", "", stream.read(), flags=re.M)
    entries = [Accepted(paragraph, path) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]
    return [entry for entry in entries if entry.applies(version, device, mode)]


# --- the runs ------------------------------------------------------------------------------------

def versions(package):
    """[(name, version)] of the package and of the NumPy that it uses."""
    return [(name, importlib.import_module(name).__version__) for name in dict.fromkeys((package, "numpy"))]


def plain_cache(package):
    """The file of plain results: one for each package, NumPy, Python and processor, since tests look at all."""
    how = sorted(suite_runs.COMMON.items()), suite_runs.PACKAGES[package].pytest, suite_runs.SHARE_BYTES
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
        flags = re.findall(r"^flags.*$", stream.read(), re.M)[:1]
    key = suite_runs.package_folder(package), versions(package), platform.node(), flags, how
    os.makedirs(KEPT, exist_ok=True)
    return os.path.join(KEPT, "plain-%s-%s-%s.json" % (
        "-".join(versions(package)[0]), platform.python_version(), hashlib.sha256(repr(key).encode()).hexdigest()[:12]))


def load_plain(path, fresh):
    if fresh or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def save_plain(path, plain):
    with open(path + ".new", "w", encoding="utf-8") as stream:
        json.dump(plain, stream)
    os.replace(path + ".new", path)


def job_name(job):
    return job.path + (" %d/%d" % (job.share, job.shares) if job.shares > 1 else "")


class Suite:
    """The jobs, run in a pool; `base` and `shimmed` are {job name: {test: [outcome, text, s]}}. The base run
    is plain, its results kept for later; with --against it is under the shim, and made each time."""

    def __init__(self, arguments, settings, scratch):
        self.arguments, self.settings = arguments, settings
        self.cache = None if arguments.against else plain_cache(arguments.package)
        self.base, self.shimmed = load_plain(self.cache, arguments.fresh) if self.cache else {}, {}
        self.fresh_base = 0
        self.seconds = collections.Counter()
        self.scratch = scratch
        self.reports = {run: os.path.join(scratch, "reports-" + run) for run in ("base", "shim")}
        for folder in self.reports.values():
            os.mkdir(folder)

    def run_one(self, job, run, shim, more=()):
        settings = dict(self.settings, GPUSHIM_REPORT="json:%s/%s-%%p.json" % (
            self.reports[run], re.sub(r"\W+", "-", job_name(job))), **dict(more))
        folder = tempfile.mkdtemp(dir=self.scratch)
        start = time.monotonic()
        result = suite_runs.run_job(job, shim, settings, folder, self.arguments.limit)
        self.seconds[run] += time.monotonic() - start
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def compare(self, job):
        name, library, against = job_name(job), self.arguments.library, self.arguments.against
        if name not in self.base:
            self.base[name] = self.run_one(job, "base", library if against else None, pairs(against))
            self.fresh_base += 1
        self.shimmed[name] = self.run_one(job, "shim", library)
        return job

    def run(self, jobs):
        """Yields each job when both its runs are there."""
        pool = concurrent.futures.ThreadPoolExecutor(self.arguments.jobs)
        try:
            futures = [pool.submit(self.compare, job) for job in jobs]
            for future in concurrent.futures.as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            suite_runs.stop()
            if self.cache and self.fresh_base:
                save_plain(self.cache, self.base)

    def judged(self, counts):
        """The tallies that tell whether the device was there."""
        folder = suite_runs.PACKAGES[self.arguments.package].routines
        has_routines = folder is not None and any(name.startswith(folder) for name in self.shimmed)
        return [counts.ufuncs] + [counts.routines] * has_routines

    def counts(self, run):
        counts = suite_counts.Counts()
        counts.add_folder(self.reports[run])
        return counts


def differences(base, shimmed):
    """(test, "passed -> failed", text) of the tests that end otherwise."""
    for test in sorted(set(base) | set(shimmed)):
        before, after = base.get(test, ["absent", "", 0]), shimmed.get(test, ["absent", "", 0])
        if before[0] != after[0]:
            yield test, "%s -> %s" % (before[0], after[0]), after[1] or before[1]


def report_job(job, suite, accepted):
    """Prints what differs in a job; the number of differences nobody accepted."""
    base, shimmed = suite.base[job_name(job)], suite.shimmed[job_name(job)]
    wrong = 0
    for test, change, text in differences(base, shimmed):
        entry = next((entry for entry in accepted if entry.accepts(test, change)), None)
        if entry:
            entry.used += 1
            continue
        wrong += 1
        print("DIFFERS %s: %s" % (test, change))
        print("        " + "\n        ".join(text.strip().splitlines()[:SHOWN_LINES]))
    print("%-4s %-58s %6d tests %4d differ" % ("FAIL" if wrong else "ok", job_name(job), len(base), wrong),
          flush=True)
    return wrong


def pairs(settings):
    return [setting.split("=", 1) for setting in settings]


def settings_of(arguments):
    settings = dict(suite_runs.MODES[arguments.mode], GPUSHIM_DEVICE=arguments.device,
                    GPUSHIM_CACHE_DIR=os.path.join(KEPT, "kernels"))
    if suite_runs.knows_option(arguments.library, "GPUSHIM_PROFILE"):
        settings["GPUSHIM_PROFILE"] = "0"
    if suite_runs.knows_option(arguments.library, "GPUSHIM_FPERR"):
        settings["GPUSHIM_FPERR"] = "strict"
    settings.update(pairs(arguments.set))
    return settings


def report_stale(arguments, accepted, jobs):
    """Of a whole run only: an entry that nothing needed, though its file ran, has outlived its reason."""
    whole = not arguments.parts and arguments.shard == "1/1"
    stale = [entry for entry in accepted if whole and not entry.used and any(map(entry.concerns, jobs))]
    for entry in stale:
        print("STALE   accepted_%s.txt: %s was not needed" % (arguments.package, entry.fields["test"]))
    return len(stale)


def is_proven(suite):
    """Whether the run did what it is there to judge; says where not."""
    counts = suite.counts("shim")
    print(counts.text())
    if not counts.reports:
        print("no process had the shim")
        return False
    if suite.arguments.against:
        base = suite.counts("base")
        print("groups: %s; in the other run: %s" % (counts.groups_text(), base.groups_text()))
        if counts.grouped_share() < LEAST_GROUPED or base.grouped:
            print("calls must run together in this run, and alone in the other one")
            return False
    elif suite.arguments.mode == "force" and not suite.arguments.no_share:
        least = LEAST_SHARE if suite.arguments.shard == "1/1" else LEAST_SHARE_OF_A_SHARD
        few = [tally.kind for tally in suite.judged(counts) if tally.share() <= least]
        if few:
            print("the device ran too few %s calls" % " and ".join(few))
            return False
    return True


def run(arguments, scratch):
    names = versions(arguments.package)
    accepted = [] if arguments.against else read_accepted(
        arguments.package, names[0][1], arguments.device, arguments.mode)
    suite = Suite(arguments, settings_of(arguments), scratch)
    jobs = suite_runs.shard_of(suite_runs.jobs_of(arguments.package, arguments.parts), arguments.shard)
    print("%s, Python %s, device %s, %d processes at a time; %s%s" % (
        ", ".join("%s %s" % pair for pair in names), platform.python_version(), arguments.device, arguments.jobs,
        " ".join("%s=%s" % pair for pair in sorted(suite.settings.items())),
        "".join(" against " + setting for setting in arguments.against)), flush=True)
    start = time.monotonic()
    wrong = sum(report_job(job, suite, accepted) for job in suite.run(jobs))
    outcomes = collections.Counter(entry[0] for name in map(job_name, jobs) for entry in suite.shimmed[name].values())
    report_stale(arguments, accepted, jobs)
    proven = is_proven(suite)
    print("%d tests: %s; %d accepted differences; %d differences" % (
        sum(outcomes.values()), ", ".join("%d %s" % (n, name) for name, n in outcomes.most_common()),
        sum(entry.used for entry in accepted), wrong))
    print("%.0f s; processes: %.0f s %s (%d of %d jobs, the others kept from before), %.0f s shim" % (
        time.monotonic() - start, suite.seconds["base"], " ".join(arguments.against) or "plain", suite.fresh_base,
        len(jobs), suite.seconds["shim"]))
    return 1 if wrong or not proven or not outcomes else 0


def main():
    arguments = parse_arguments(sys.argv[1:])
    arguments.library = os.path.abspath(arguments.library)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="package-suite-") as scratch:
        return run(arguments, scratch)


if __name__ == "__main__":
    sys.exit(main())
