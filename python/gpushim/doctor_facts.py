# SPDX-License-Identifier: Apache-2.0
"""What `gpushim doctor` judges (Facts), and what a judgement is (Check)."""
import collections
import re

OK, NOTE, FAIL = "ok", "note", "FAIL"  # a note costs speed at most

# mend: the command or step that mends it, where something is to be mended.
Check = collections.namedtuple("Check", "name state text mend")
# environment: the library's; answer: of doctor_probe, None where there is none, for the reason `failure`; library_text: what the
# library printed; library: its path.
Facts = collections.namedtuple("Facts", "environment answer library_text failure library")

CPU_COMPUTED = "the CPU computed it"  # a probe's text


def check(name, is_well, text, mend="", otherwise=FAIL):
    return Check(name, OK if is_well else otherwise, text, "" if is_well else mend)


def device_lines(facts):
    """{label: value} of the library's lines on the device."""
    return dict(re.findall(r"^(\S[\S ]*?)  +(.*)$", (facts.answer or {}).get("device", ""), re.M))


def device_kind(facts):
    """cuda, host, none."""
    found = re.search(r"^device: (\w+)", (facts.answer or {}).get("device", ""), re.M)
    return found.group(1) if found else "none"
