# SPDX-License-Identifier: Apache-2.0
"""The timeline of a report's page, from files of GPUSHIM_TRACE. Times are microseconds since the first event of all files."""
import collections

from gpushim import json_file

FACTS = ("ran on", "reason", "why", "holds", "calls", "bytes")  # of an event, in this order
KINDS = {  # the beginning of a track's name: its colour (report_style.py)
    "NumPy calls": "cpu", "flushes and groups": "dispatch", "host to device": "transfers", "device to host": "transfers",
    "page faults": "faults", "compiling": "start", "device start": "start", "device": "device", "waits": "program"}
WAYS = ("host to device", "device to host")
DIGIT = 2e-3  # microseconds: what the file's digits leave uncertain


class Strings:
    """Each text once; events have its number."""

    def __init__(self):
        self.list, self.numbers = [], {}

    def number(self, text):
        if text not in self.numbers:
            self.numbers[text] = len(self.list)
            self.list.append(text)
        return self.numbers[text]


def read_file(path):
    """(events, other data). ValueError: the file is no trace."""
    trace = json_file.read(path, "trace")
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        raise ValueError("%s: not a trace of GPUSHIM_TRACE" % path)
    return trace["traceEvents"], trace.get("otherData", {})


def facts_of(event):
    args = event.get("args", {})
    return ", ".join("%s: %s" % (key, format(args[key], ",d") if key == "bytes" else args[key]) for key in FACTS if key in args)


def kind_of(name):
    return next((kind for begin, kind in KINDS.items() if name.startswith(begin)), "program")


def lanes_of(events, begin, strings):
    """Events as [begin, duration, name, facts, colour or None], in lanes: one that lies in another stands in the next lane."""
    lanes, ends = [], []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        while ends and ends[-1] <= event["ts"] + DIGIT:
            ends.pop()
        if len(ends) == len(lanes):
            lanes.append([])
        colour = "device" if event.get("args", {}).get("ran on") == "device" else None
        lanes[len(ends)].append([round(event["ts"] - begin, 3), event["dur"], strings.number(event["name"]),
                                 strings.number(facts_of(event)), colour])
        ends.append(event["ts"] + event["dur"])
    return lanes


def tracks_of(events, begin, strings, prefix):
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"}
    by_track = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            by_track[event["tid"]].append(event)
    return [{"name": prefix + names.get(tid, str(tid)), "kind": kind_of(names.get(tid, "")),
             "lanes": lanes_of(by_track[tid], begin, strings)} for tid in sorted(by_track)]


def memory_of(events, begin, prefix):
    points = [[round(event["ts"] - begin, 3), event["args"]["bytes"]] for event in events if event["ph"] == "C"]
    return [{"name": prefix + "device memory", "kind": "device", "memory": sorted(points)}] if points else []


def causes_of(files):
    """[(way, why, transfers, bytes, microseconds)], the longest first."""
    total = collections.defaultdict(lambda: [0, 0, 0.0])
    for events, _other in files:
        names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        for event in events:
            way = names.get(event.get("tid"), "").partition(" (")[0]
            if event["ph"] == "X" and way in WAYS:
                cause = total[way, event["args"].get("why", "not said")]
                cause[0] += 1
                cause[1] += event["args"].get("bytes", 0)
                cause[2] += event["dur"]
    return sorted(((*key, *value) for key, value in total.items()), key=lambda row: -row[4])


def read(paths):
    """What the page's script draws, and the causes of transfers."""
    files = [read_file(path) for path in paths]
    times = [event["ts"] for events, _other in files for event in events if "ts" in event]
    ends = [event["ts"] + event.get("dur", 0) for events, _other in files for event in events if "ts" in event]
    begin, strings, tracks = min(times, default=0), Strings(), []
    for events, _other in files:
        prefix = "%s: " % events[0].get("pid", "?") if len(files) > 1 and events else ""
        tracks += tracks_of(events, begin, strings, prefix) + memory_of(events, begin, prefix)
    return {"tracks": tracks, "strings": strings.list, "length": max(ends, default=begin) - begin, "causes": causes_of(files),
            "dropped": sum(other.get("dropped", 0) for _events, other in files),
            "short_calls": sum(other.get("short_calls", 0) for _events, other in files)}
