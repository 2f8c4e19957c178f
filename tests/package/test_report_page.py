# SPDX-License-Identifier: Apache-2.0
"""`gpushim report`: its text, its page and its sums, from reports and traces that are written here; tests/preload/test_trace.py has
it read the library's own. Needs no library, no wheel and no browser."""
import contextlib
import copy
import html.parser
import io
import json
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))
from gpushim import command, report_data, report_page, report_text, report_timeline, report_words, stats_interval  # noqa: E402

EVIL = '</script ><script >alert(1)</script ><b a="\'&'
COUNTERS = ("upload_bytes", "uploads", "download_bytes", "downloads", "device_copy_bytes", "launches", "compiles", "cache_hits",
            "faults_read", "faults_write", "forks", "start_ns", "device_peak_bytes")
VOID = {"meta", "br", "link", "img", "input"}


def row(name, device=0, host=0, **reasons):
    return {"name": name, "signature": "d->d", "device_calls": device, "device_ns": device * 1000, "host_calls": host,
            "host_ns": host * 1000000, "parallel_calls": 0, "outputs_fetched": 0, "reasons": reasons}


def reader(name, size, kind="function"):
    return {"name": name, "kind": kind, "bytes": size, "transfers": 2}


def report(pid=10, parent=1, rows=None, lines=None, readers=(), **verdict):
    parts = {"program_s": 1.0, "cpu_s": 0.5, "device_s": 2.0, "transfers_s": 0.25, "start_s": 0.0, "dispatch_s": 0.25}
    made = {"version": 1, "gpushim_version": "0.1.0", "pid": pid, "device": "GPU X, 80 GiB", "wall_ns": 4000000000,
            "verdict": {"state": "started", "why_not": "", "share": 0.9, "wall_s": 4.0, "plain_s": 6.0, "device_work_s": 4.5,
                        "work": {"device_s": 4.5, "cpu_s": 0.5}, "parallel_saved_s": 0.0, "reused_s": 0.0, "foregone_s": 0.0, "start_price_s": 0.0, "parts": parts, **verdict},
            "counters": {name: 100 for name in COUNTERS}, "operations": rows or [row("add", 5), row("sort", 0, 3, dtype=3)],
            "readers": list(readers),
            "process": {"host": "node", "parent": parent, "forked": False, "start_ms": 1000 + pid, "command": "python x.py"}}
    if lines is not None:
        made["lines"] = lines
    return made


def line(file="x.py", number=3, cost=1e6, advice=None):
    entry = dict.fromkeys(("device_calls", "device_ns", "host_calls", "host_ns", "uploads", "upload_bytes", "downloads",
                           "download_bytes", "small_downloads", "elements", "faults_read", "faults_write"), 1)
    return dict(entry, file=file, line=number, cost_ns=cost, reasons={"dtype": 1}, calls=[],
                advice=advice and {"code": "reason", "text": advice})


def trace(pid=10, begin=5000.0, name="add dd->d"):
    def event(tid, at, length, name, **args):
        return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": begin + at, "dur": length, "args": args}

    def track(tid, name):
        return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
    return {"traceEvents": [
        {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": "p"}}, track(1, "NumPy calls"), track(193, "host to device"),
        event(1, 0, 100, name, **{"ran on": "CPU", "reason": "dtype"}), event(1, 10, 20, "dot", **{"ran on": "device"}),
        event(1, 200, 5, name), event(193, 30, 40, "transfer", bytes=4096, why="operand of add"),
        event(193, 80, 10, "transfer", bytes=4096, why="operand of add"),
        {"ph": "C", "pid": pid, "name": "device memory", "ts": begin + 30, "args": {"bytes": 4096}}],
        "otherData": {"dropped": 7, "short_calls": 3, "short_ns": 300}}


class Page(html.parser.HTMLParser):
    """A page: whether its tags fit, its texts, its scripts, what it links to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.bad, self.scripts, self.links, self.texts, self.tags = [], [], {}, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.links += [value for name, value in attrs.items() if name in ("href", "src", "action")]
        if tag not in VOID:
            self.open.append((tag, attrs.get("id", "")))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()[0] != tag:
            self.bad.append(tag)

    def handle_data(self, data):
        tag, name = self.open[-1] if self.open else ("", "")
        if tag in ("script", "style"):
            self.scripts[tag, name] = data
        else:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(self.texts)


def page(*reports, timeline=None):
    return Page(report_page.page(report_data.merge(list(reports)), timeline))


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpushim-report-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, value):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(value if isinstance(value, str) else json.dumps(value))
        return path

    def run_command(self, *words):
        """(status, stdout, stderr)."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = command.main(["report", *words])
            except SystemExit as end:
                status = end.code
        return status, out.getvalue(), err.getvalue()


class TestMerge(InFolder):
    def test_sums(self):
        child = report(20, parent=10, rows=[row("add", 2), row("mean", 1, 1, layout=1)])
        child["counters"]["device_peak_bytes"] = 500
        merged = report_data.merge([report(), child])
        rows = {entry["name"]: entry for entry in merged.operations}
        self.assertEqual((rows["add"]["device_calls"], rows["sort"]["reasons"], rows["mean"]["host_ns"]), (7, {"dtype": 3}, 1000000))
        self.assertEqual((merged.counters["uploads"], merged.counters["device_peak_bytes"]), (200, 500))
        self.assertEqual([entry["name"] for entry in merged.operations], ["sort", "mean", "add"])
        self.assertEqual(merged.first["pid"], 10)

    def test_readers_are_added_and_sorted(self):
        reports = [report(readers=[reader("sort", 2048), reader("sort", 1024, "library")]),
                   report(20, readers=[reader("x%d" % i, 10 + i) for i in range(5)] + [reader("sort", 4096, "library")])]
        merged = report_data.merge(reports)
        self.assertEqual([(entry["kind"], entry["name"], entry["bytes"]) for entry in merged.readers[:3]],
                         [("library", "sort", 5120), ("function", "sort", 2048), ("function", "x4", 14)])
        self.assertIn("\n brought back by code of sort 5.00 KiB in 4, sort 2.00 KiB in 2, x4 14 B in 2, x3 13 B in 2, x2 12 B in 2, "
                      "2 others 21 B in 4\n", report_text.text(merged))
        self.assertIn("Brought back", report_page.page(merged))
        self.assertNotIn("brought back", report_text.text(report_data.merge([report()])))

    def test_merging_changes_no_report(self):
        reports = [report(lines=[line()]), report(20, lines=[line()])]
        before = copy.deepcopy(reports)
        merged = report_data.merge(reports)
        self.assertEqual(merged.lines[0]["uploads"], 2)
        self.assertEqual(reports, before)

    def test_first_is_the_one_without_a_parent(self):
        self.assertEqual(report_data.first_of([report(30, parent=10), report(10), report(40, parent=10)])["pid"], 10)

    def test_lines_are_added_and_sorted(self):
        merged = report_data.merge([report(lines=[line(cost=5), line(number=4, cost=8)]),
                                    report(20, lines=[line(cost=9, advice="do"), line("(no line)", 0, 100)])])
        self.assertEqual([(entry["line"], entry["cost_ns"]) for entry in merged.lines], [(3, 14), (4, 8), (0, 100)])
        self.assertEqual(merged.lines[0]["advice"]["text"], "do")

    def test_folder(self):
        self.write("a.json", report(30))
        self.write("b.json", report(10))
        self.write("half.json", json.dumps(report())[:200])
        self.write("other.txt", "no report")
        status, out, err = self.run_command(self.folder)
        self.assertEqual(status, 0)
        self.assertIn("2 processes: 90 % of NumPy's hooked work ran on a device", out)
        self.assertIn("half.json: not a report", err)
        self.assertLess(out.index(" 10 "), out.index(" 30 "))

    def test_what_is_no_report(self):
        for name, value in (("a.json", "[]"), ("b.json", {"version": 2}), ("c.json", "{"), ("d.json", trace())):
            status, out, err = self.run_command(self.write(name, value))
            self.assertEqual((status, out), (1, ""))
            self.assertIn(name + ": not a report", err)
        os.mkdir(os.path.join(self.folder, "empty"))
        self.assertIn("no report in this folder", self.run_command(os.path.join(self.folder, "empty"))[2])
        missing = os.path.join(self.folder, "missing")
        self.assertEqual(self.run_command(missing), (1, "", "gpushim: %s: No such file or directory\n" % missing))


class TestWords(unittest.TestCase):
    def test_places(self):
        here = os.getcwd()
        for file, number, place in ((os.path.join(here, "a.py"), 3, "a.py:3"), (os.path.join(here, "b", "a.py"), 3, os.path.join("b", "a.py:3")),
                                    (here + "a.py", 3, here + "a.py:3"), ("/a.py", 4, "/a.py:4"), ("(no line)", 0, "(no line)")):
            self.assertEqual(report_words.place_of({"file": file, "line": number}), place)

    def test_verdicts(self):
        for verdict, words in (({}, "90 % of NumPy's hooked work ran on GPU X: 4.00 s instead of an estimated 6.00 s, 1.5 times as fast"),
                               ({"plain_s": 3.0}, "instead of an estimated 3.00 s, slower"),
                               ({"plain_s": 3.9}, "3.90 s, about as fast"), ({"plain_s": 4.1}, "4.10 s, about as fast"),
                               ({"plain_s": 60.0}, "60.0 s, 15 times as fast"),
                               ({"device_work_s": 0.0}, "nothing ran on GPU X; NumPy"),
                               ({"state": "not-started", "foregone_s": 0.2, "start_price_s": 0.5},
                                "the device was not started: predicted gain 0.200 s, start 0.500 s"),
                               ({"state": "not-started", "why_not": "no GPU"}, "the device was not started: no GPU; NumPy"),
                               ({"state": "inactive", "why_not": "no GPU"}, "not active: no GPU; NumPy"),
                               ({"state": "retired"}, "the device was given up; NumPy"), ({"state": "cores"}, "NumPy ran on the CPU's cores")):
            self.assertIn(words, report_words.of_one(report(**verdict)))
        child = report(state="retired")
        child["process"]["forked"] = True
        self.assertEqual(report_words.of_one(child), "a forked child, which computes on the CPU; one that is started by spawn or forkserver "
                                                     "does not")

    def test_units(self):
        self.assertEqual([report_words.nanoseconds(number) for number in (0, 7, 999, 1500, 312000, 1900000000, 999900)],
                         ["-", "7 ns", "999 ns", "1.50 us", "312 us", "1.90 s", "1.00 ms"])
        self.assertEqual([report_words.size(number) for number in (0, 4, 1023, 1536, 3 << 29)], ["0 B", "4 B", "1023 B", "1.50 KiB", "1.50 GiB"])

    def test_text(self):
        text = report_text.text(report_data.merge([report(lines=[line(advice="convert once")])]))
        self.assertIn("time: 4.00 s = 1.00 s Python and what is not hooked + 0.500 s NumPy on the CPU + 2.00 s waiting", text)
        self.assertNotIn("start and compilation", text)
        self.assertRegex(text, r"\n sort d->d +0 +- +3 +3\.00 ms   dtype\n")
        self.assertIn("x.py:3", text)
        self.assertIn("(100 transfers)", text)
        self.assertNotIn("on the CPU: ", text)
        self.assertIn("\n   convert once", text)

    def test_text_says_what_the_librarys_says(self):
        """Reasons and advice, names that are long, calls that ran together, numbers of one thing, and why a line costs."""
        long_name = "group: multiply, add, sqrt, subtract, copy"
        made = report(rows=[row(long_name, 1)], reasons=[{"code": "dtype", "text": "no such", "seconds": 0.4, "calls": 1},
                                                         {"code": "scalar", "text": "0-d", "seconds": 0.2, "calls": 1}],
                      advice="convert once",
                      lines=[dict(line(number=3), calls=[{"name": "add", "signature": "dd->d", "on_device": True, "calls": 9},
                                                         {"name": "sort", "signature": "", "on_device": False, "calls": 2}]),
                             dict(line(number=4), host_calls=0, reader="tolist", calls=[]), dict(line(number=5), host_calls=0),
                             dict(line(os.path.join(os.getcwd(), "here.py"), 6), host_calls=0, reader="tolist",
                                  calls=[{"name": "add", "signature": "dd->d", "on_device": True, "calls": 9}])])
        made["counters"].update(uploads=1, launches=1, compiles=1, evictions=1, forks=1, grouped=5, groups=1, needless=1)
        text = report_text.text(report_data.merge([made]))
        for words in ("\n on the CPU: 0.400 s dtype (no such)\n to change: convert once\n", "\n %s d->d\n" % long_name, "(1 transfer), device",
                      "; 1 launch, 1 kernel compiled, 100 from the disk cache; 1 eviction\n",
                      "\n 5 calls ran together, in 1 group; 1 call never needed\n", " write; 1 fork\n"):
            self.assertIn(words, text)
        self.assertEqual([text.split(" x.py:%d " % number)[1].split("\n")[0].split("   ")[-1] for number in (3, 4, 5)],
                         ["sort: dtype", "read by tolist", "no hooked call"])
        self.assertRegex(text, r"\n here\.py:6 .*   add dd->d, read by tolist")

    def test_text_where_nothing_is_hooked(self):
        idle = report(state="inactive", why_not="no NVIDIA GPU was found")
        self.assertIn(" 1.00 s Python and what is not hooked, here all of NumPy + ", report_text.text(report_data.merge([idle])))
        self.assertNotIn("here all of NumPy", report_text.text(report_data.merge([idle, report(20)])))

    def test_text_of_several_processes(self):
        """The estimate, reasons and advice of all together; a forked child's advice is another way to start it."""
        def reason(seconds):
            return {"code": "dtype", "text": "no such", "seconds": seconds, "calls": 1}
        first, second, child = (report(pid, parent=10, advice=advice, reasons=[reason(spent)], work={"device_s": 4.5, "cpu_s": spent})
                                for pid, advice, spent in ((10, "convert once", 0.25), (20, "convert once", 0.5), (30, "doctor", 0.75)))
        child["process"]["forked"] = True
        second["process"]["command"] = "python3 -c 'begin%s end'" % ("x" * 60)
        merged = report_data.merge([first, second, child])
        text = report_text.text(merged)
        self.assertTrue(text.startswith("gpushim: 3 processes: 90 % of NumPy's hooked work ran on a device: together 12.0 s instead of an "
                                        "estimated 18.0 s, 1.5 times as fast\n"), text)
        self.assertIn("\n on the CPU: 1.50 s dtype (no such)\n to change: %s\n to change: convert once\n operation" % report_words.FORKED, text)
        self.assertIn("   python3 -c 'begin%s...\n" % ("x" * (57 - 17)), text)
        self.assertIn(report_words.FORKED, page(first, child).text)
        self.assertNotIn(report_words.FORKED, page(first, second).text)

    def test_text_without_calls(self):
        for verdict, words in (({"state": "inactive"}, "(calls were not looked at)"), ({}, "(no call that could run on a device)")):
            made = report(**verdict)
            made["operations"] = []
            self.assertIn("\n " + words, report_text.text(report_data.merge([made])))

    def test_reports_without_process(self):
        made = report()
        del made["process"]
        self.assertIn("process 10", page(made).text)


class TestInterval(unittest.TestCase):
    def test_lines_are_those_of_the_interval(self):
        """Of a line that ran before, what came since; lines that did not run are left out. The dearest comes first."""
        before = report(lines=[line(number=3, cost=100), line(number=4, cost=100)])
        after = report(lines=[dict(line(number=3, cost=150), host_calls=4, host_ns=4001, reasons={"dtype": 4}), line(number=4, cost=100), line(number=5, cost=60)])
        found = stats_interval.between(before, after).lines
        self.assertEqual([(each["line"], each["cost_ns"]) for each in found], [(5, 60), (3, 50)])
        self.assertEqual((found[1]["host_ns"], found[1]["reasons"]), (4000, {"dtype": 3}))
        text = "\n".join(stats_interval.details(stats_interval.between(before, after)))
        self.assertRegex(text, r"^lines, the worst round trips first\n line .*\n x.py:5 .*\n x.py:3 .* 4.00 us .* dtype")
        self.assertNotIn("lines,", "\n".join(stats_interval.details(stats_interval.between(before, before))))


class TestPage(InFolder):
    def test_it_is_whole_and_alone(self):
        made = page(report(lines=[line(advice="convert once")]), timeline=report_timeline.read([self.write("t.json", trace())]))
        self.assertEqual((made.open, made.bad, made.links), ([], [], []))
        for words in ("90 % of NumPy's hooked work", "Where the time went", "What to change", "convert once", "Timeline", "Operations", "Lines",
                      "operand of add", "sort d->d", "7 events were dropped", "python x.py"):
            self.assertIn(words, made.text)
        self.assertNotRegex(report_page.SCRIPT + report_page.STYLE, r"https?:|url\(|@import|fetch\(|XMLHttp")

    def test_device_of_the_head(self):
        self.assertIn("device: GPU X, 80 GiB", page(report()).text)
        made = report(state="not-started")
        made["device"] = "no device"
        self.assertIn("device: not started", page(made).text)
        self.assertNotIn("no device", page(made).text)
        self.assertIn("device: GPU X, 80 GiB", page(made, report(20, parent=10)).text)  # a worker's

    def test_json_inside_is_the_reports(self):
        reports = [report(), report(20, parent=10)]
        self.assertEqual(json.loads(page(*reports).scripts["script", "report-data"]), reports)

    def test_what_a_program_says_is_escaped(self):
        evil = report(rows=[row(EVIL, 1, 1, **{EVIL: 1})], lines=[line(EVIL, advice=EVIL)], state="retired", why_not=EVIL)
        evil["device"] = evil["gpushim_version"] = evil["process"]["command"] = evil["process"]["host"] = EVIL
        timeline = report_timeline.read([self.write("t.json", trace(name=EVIL))])
        harmless = page(report(lines=[line(advice="a")]), timeline=report_timeline.read([self.write("u.json", trace())]))
        for reports in ([evil], [evil, report(20)]):
            made = page(*reports, timeline=timeline)
            self.assertEqual((made.open, made.bad), ([], []))
            self.assertEqual(made.tags.count("script"), harmless.tags.count("script"))
            self.assertEqual(json.loads(made.scripts["script", "report-data"])[0]["device"], EVIL)
            self.assertIn(EVIL, json.loads(made.scripts["script", "timeline-data"])["strings"])
            for name in "report-data", "timeline-data":  # a browser ends a script at any "</script"
                self.assertNotIn("<", made.scripts["script", name])
            self.assertIn(EVIL, made.text)

    def test_sections_are_there_only_where_they_say_something(self):
        text = page(report()).text
        for title in ("Timeline", "Lines", "Processes"):
            self.assertNotIn(title, text)
        self.assertIn("Processes", page(report(), report(20)).text)

    def test_reasons_are_advice_where_there_are_no_lines(self):
        text = page(report(rows=[row("sort", 0, 900, dtype=900)])).text
        self.assertIn("use a numeric dtype", text)
        self.assertNotIn("use a numeric dtype", page(report(rows=[row("sort", 0, 1, dtype=1)])).text)

    def test_the_verdicts_advice_is_there_where_there_is_no_other(self):
        idle = report(rows=[row("add", 5)], state="inactive", why_not="no NVIDIA GPU was found", advice="`gpushim doctor` says what is missing")
        self.assertIn("`gpushim doctor` says what is missing", page(idle).text)
        self.assertNotIn("gpushim doctor", page(dict(idle, lines=[line(advice="convert once")])).text)
        self.assertNotIn("What to change", page(report(rows=[row("add", 5)], advice="")).text)

    def test_parts_and_widths_add_up(self):
        text = report_page.page(report_data.merge([report()]))
        widths = [float(width) for width in re.findall(r"flex-grow:([\d.]+)", text)]
        self.assertAlmostEqual(sum(widths), 1, places=4)

    def test_command(self):
        path, target = self.write("r.json", report()), os.path.join(self.folder, "out.html")
        self.assertEqual(self.run_command(path, "-o", target, "--trace", self.write("t.json", trace())), (0, "", ""))
        with open(target, encoding="utf-8") as file:
            self.assertIn(("script", "timeline-data"), Page(file.read()).scripts)
        status, _out, err = self.run_command(path, "--trace", "t.json")
        self.assertEqual(status, command.USAGE_ERROR)
        self.assertIn("-o FILE.html is missing", err)
        self.assertIn("not a trace", self.run_command(path, "-o", target, "--trace", path)[2])


class TestTimeline(InFolder):
    def test_lanes(self):
        timeline = report_timeline.read([self.write("t.json", trace())])
        calls, up, memory = timeline["tracks"]
        names = timeline["strings"]
        self.assertEqual([[(names[event[2]], event[0], event[1], event[4]) for event in lane] for lane in calls["lanes"]],
                         [[("add dd->d", 0, 100, None), ("add dd->d", 200, 5, None)], [("dot", 10, 20, "device")]])
        self.assertEqual((calls["kind"], up["kind"], memory["memory"]), ("cpu", "transfers", [[30, 4096]]))
        self.assertEqual(names[up["lanes"][0][0][3]], "why: operand of add, bytes: 4,096")
        self.assertEqual((timeline["length"], timeline["dropped"], timeline["short_calls"]), (205, 7, 3))

    def test_causes(self):
        self.assertEqual(report_timeline.read([self.write("t.json", trace())])["causes"],
                         [("host to device", "operand of add", 2, 8192, 50.0)])

    def test_processes_share_a_clock(self):
        timeline = report_timeline.read([self.write("a.json", trace(10, 5000.0)), self.write("b.json", trace(11, 6000.0))])
        self.assertEqual([track["name"] for track in timeline["tracks"] if "lanes" in track][::2], ["10: NumPy calls", "11: NumPy calls"])
        self.assertEqual([track["lanes"][0][0][0] for track in timeline["tracks"] if "lanes" in track][::2], [0, 1000])

    def test_empty(self):
        self.assertEqual(report_timeline.read([self.write("t.json", {"traceEvents": [], "otherData": {}})])["tracks"], [])


if __name__ == "__main__":
    unittest.main()
