# SPDX-License-Identifier: Apache-2.0
"""`gpushim doctor`: starts the device, runs calls of each kind on it, looks at what they need, and says how to mend what fails."""
import json
import sys
import tempfile
import textwrap

from gpushim import doctor_checks, doctor_facts, files, launch, program_run, variables
from gpushim.parsing import number_from

TIMEOUT = 120.0  # s
WIDTH = 100


def add_to(commands):
    parser = commands.add_parser("doctor", allow_abbrev=False,
                                 description="Starts the device, runs calls on it, and says what fails and what mends it. Exit status: 0 all "
                                             "is well, 1 a check failed.",
                                 help="start the device, run calls on it, check what they need; exit status 0 where all is well")
    parser.add_argument("-v", "--verbose", action="store_true", help="also print all that the library says: hooks, options")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument("--timeout", type=number_from(0.1), default=TIMEOUT, metavar="SECONDS", help="the device may take so long (%g)" % TIMEOUT)
    variables.add_options(parser, report=False)


def run_probe(environment, timeout):
    """(the answer of doctor_probe or None, what the library printed, why there is no answer or None)."""
    with tempfile.TemporaryDirectory(prefix="gpushim-doctor-") as folder:
        outcome = program_run.run([sys.executable, "-m", "gpushim.doctor_probe"], environment, folder, timeout)
    text = outcome.stderr.decode(errors="replace")
    if outcome.status is None:
        return None, text, "it did not end within %g s" % timeout
    try:
        return json.loads(outcome.stdout), text, None
    except ValueError:
        return None, text, ": ".join(["it ended with status %d" % launch.status_of(outcome.status), *text.strip().splitlines()[-1:]])


def gather(options):
    environment = launch.environment_with(dict({"GPUSHIM_MODE": "force"}, **options.variables, GPUSHIM_DOCTOR="1"))
    environment.setdefault("GPUSHIM_LOG", "info")  # says why a device cannot be used
    environment["GPUSHIM_REPORT"] = "json:/dev/null"  # seconds are measured only where a report is asked for
    return doctor_facts.Facts(environment, *run_probe(environment, options.timeout), files.library_path())


def summary(facts, checks):
    failed = [check for check in checks if check.state == doctor_facts.FAIL]
    if failed:
        return "%d of %d checks failed: %s" % (len(failed), len(checks), ", ".join(check.name for check in failed))
    device = doctor_facts.device_lines(facts).get("GPU", "device %s" % doctor_facts.device_kind(facts))
    notes = sum(check.state == doctor_facts.NOTE for check in checks)
    return "ready: %s; %d checks passed%s" % (device, len(checks) - notes, ", %d with a note" % notes if notes else "")


def lines_of(check):
    """The check in the width of a terminal, and what mends it."""
    begin = "%-5s %-23s " % (check.state, check.name)
    yield from wrap(check.text, begin, len(begin)) or [begin.rstrip()]
    if check.mend:
        yield from wrap(check.mend, " " * len(begin) + "-> ", len(begin) + 3)


def wrap(text, begin, indent):
    """Lines of at most WIDTH columns, broken at blanks; a longer word, as a path, is not broken."""
    return textwrap.wrap(text, WIDTH, initial_indent=begin, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def execute(options):
    facts = gather(options)
    checks = doctor_checks.all_checks(facts, files.cache_folder(facts.environment))
    told = summary(facts, checks)
    if options.json:
        print(json.dumps({"summary": told, "checks": [check._asdict() for check in checks], "device": doctor_facts.device_lines(facts),
                          "library_text": facts.library_text}, indent=1))
    else:
        print("\n".join(wrap(told, "", 4) + [""] + [line for check in checks for line in lines_of(check)]))
        if options.verbose:
            print("\n" + facts.library_text, end="")
    return int(any(check.state == doctor_facts.FAIL for check in checks))
