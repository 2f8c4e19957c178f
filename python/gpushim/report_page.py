# SPDX-License-Identifier: Apache-2.0
"""Reports as one HTML page: no other file and no network is needed, and nothing but the timeline needs a script. All that comes from
a report is escaped."""
import html
import itertools
import json

from gpushim import advice, report_data
from gpushim.bench_reports import reasons_of
from gpushim.messages import counted
from gpushim.report_script import SCRIPT
from gpushim.report_style import STYLE
from gpushim.report_words import (FORKED, PARTS, device_text, is_forked, nanoseconds, name_of, name_of_reader, of_one, place_of, seconds,
                                  size, top_reason, verdict_of)

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
MOST_ADVICE, MOST_LINES, MOST_PROCESSES = 10, 200, 500
LEAST_SHARE = 0.005  # of the wall time, that calls must take on the CPU for their reason to be named
SUFFIX = "_s"  # of the keys of parts; the rest is the colour


class Cell:
    """A cell: its text, the number by which its column is sorted, and a meter as a share of 1."""

    def __init__(self, text, value=None, meter=0.0, colour=""):
        self.text, self.value, self.meter, self.colour = text, value, meter, colour

    def html(self):
        number = ' class="number" data-value="%r"' % self.value if self.value is not None else ""
        meter = '<i class="meter %s" style="width:calc((100%% - 24px) * %.3f)"></i>' % (self.colour, self.meter) if self.meter >= 0.005 else ""
        text = '<span class="none">-</span>' if self.text in ("", "-", "0") else html.escape(self.text)
        return "<td%s>%s%s</td>" % (number, text, meter)


class Wide(Cell):
    def html(self):
        return '<td class="wide">%s</td>' % html.escape(self.text)


class Code(Cell):
    def html(self):
        return "<td><code>%s</code></td>" % html.escape(self.text)


def count(number):
    return Cell(format(number, ",d"), number)


def time_cell(number, most=0, colour=""):
    return Cell(nanoseconds(number), number, number / most if most else 0, colour)


def table(heads, rows):
    """Rows are lists of cells; numbers stand on the right, as their heads do."""
    rows = list(rows)
    numbers = [bool(rows) and rows[0][k].value is not None for k in range(len(heads))]
    head = "".join('<th%s><button type="button">%s</button></th>' % (' class="number"' if number else "", html.escape(text))
                   for text, number in zip(heads, numbers))
    body = "\n".join("<tr>%s</tr>" % "".join(cell.html() for cell in row) for row in rows)
    return '<div class="scroll"><table data-sorts><thead><tr>%s</tr></thead><tbody>\n%s\n</tbody></table></div>' % (head, body)


def section(title, about, content):
    return "<section><h2>%s</h2><p>%s</p>\n%s</section>" % (html.escape(title), html.escape(about), content) if content else ""


# ---- the top ----

def tile(value, label):
    return '<div class="tile"><b>%s</b><span>%s</span></div>' % (html.escape(value), html.escape(label))


def tiles(merged):
    share, counters = report_data.share(merged), merged.counters
    verdict = merged.first["verdict"]
    found = [tile("-" if share is None else "%.0f %%" % (100 * share), "of NumPy's hooked work on the device")]
    if len(merged.reports) == 1:
        found += [tile(seconds(verdict["wall_s"]), "wall time of the program"),
                  tile(seconds(verdict["plain_s"]), "estimated without gpushim")]
    else:
        found += [tile(str(len(merged.reports)), "processes"), tile(seconds(verdict["wall_s"]), "wall time of the first process")]
    return '<div class="tiles">%s</div>' % "".join([
        *found, tile(size(counters["upload_bytes"]), "to the device in %s transfers" % format(counters["uploads"], ",d")),
        tile(size(counters["download_bytes"]), "to the CPU in %s transfers" % format(counters["downloads"], ",d"))])


def parts(merged):
    spent = report_data.parts_of(merged)
    total = sum(spent.values())
    if total <= 0:
        return ""
    shown = [(key[:-len(SUFFIX)], label, text, spent[key]) for key, label, text in PARTS if spent[key] > 0]
    bar = "".join('<i class="%s" style="flex-grow:%.6f" title="%s: %s"></i>' % (colour, value / total, html.escape(label), seconds(value))
                  for colour, label, _text, value in shown)
    legend = "".join('<li title="%s"><i class="%s"></i>%s<b>%s</b></li>' % (html.escape(text), colour, html.escape(label), seconds(value))
                     for colour, label, text, value in shown)
    whose = "of the main thread" if len(merged.reports) == 1 else "of the main threads of all processes"
    return section("Where the time went", "%s %s. The parts add up." % (seconds(total), whose),
                   '<div class="bar" role="img" aria-label="parts of the wall time">%s</div><ul class="legend">%s</ul>' % (bar, legend))


def head(merged):
    first = merged.first
    host = first.get("process", {}).get("host", "")
    user = next((report for report in merged.reports if report["verdict"]["state"] == "started"), first)
    device = "device: " + device_text(user["device"], user["verdict"]["state"])
    facts = [report_data.command_of(first), device, "gpushim " + first["gpushim_version"] + (" on " + host if host else "")]
    return "<header><h1>gpushim report</h1>%s</header>" % "".join("<p>%s</p>" % html.escape(fact) for fact in facts if fact)


# ---- advice ----

def line_advice(merged):
    for line in merged.lines:
        if line.get("advice") and line["line"]:
            yield place_of(line), line["advice"]["text"]


def reason_advice(merged):
    wall = sum(report["verdict"]["wall_s"] for report in merged.reports)
    for reason in reasons_of(merged.operations):
        if reason["code"] in advice.ADVICE and reason["seconds"] >= LEAST_SHARE * wall:
            why, instead = advice.ADVICE[reason["code"]]
            calls = counted(reason["calls"], "call", "calls")
            yield "%s: %s, %s on the CPU" % (reason["code"], calls, seconds(reason["seconds"])), "%s: %s" % (why, instead)


def fork_advice(merged):
    count = sum(map(is_forked, merged.reports))
    if count:
        yield counted(count, "forked child", "forked children"), FORKED


def verdict_advice(merged):
    for text in dict.fromkeys(report["verdict"].get("advice") for report in merged.reports):
        if text:
            yield "the whole program", text


def advices(merged):
    found = [*fork_advice(merged), *(list(line_advice(merged)) or reason_advice(merged))] or verdict_advice(merged)
    items = "".join("<li>%s<small>%s</small></li>" % (html.escape(text), html.escape(place)) for place, text in itertools.islice(found, MOST_ADVICE))
    return section("What to change", "The most expensive first.", '<ol class="advice">%s</ol>' % items if items else "")


# ---- tables ----

def operations(merged):
    most = max((max(row["device_ns"], row["host_ns"]) for row in merged.operations), default=0)
    rows = ([Code(name_of(row)), count(row["device_calls"]), time_cell(row["device_ns"], most, "device"), count(row["host_calls"]),
             time_cell(row["host_ns"], most, "cpu"), Cell(top_reason(row))] for row in merged.operations)
    return section("Operations",
                   "A call that ran in a group is counted in the row of its function. "
                   "The time of the group stands in a row of its own, which names what the group holds.",
                   table(("operation", "device calls", "device time", "CPU calls", "CPU time", "top reason for the CPU"), rows)
                   if merged.operations else "")


def moved(transfers, moved_bytes):
    return Cell("%s in %d" % (size(moved_bytes), transfers) if transfers else "-", moved_bytes)


def lines(merged):
    most = max((max(line["device_ns"], line["host_ns"]) for line in merged.lines), default=0)
    rows = ([Code(place_of(line)), time_cell(line["device_ns"], most, "device"), time_cell(line["host_ns"], most, "cpu"),
             moved(line["uploads"], line["upload_bytes"]), moved(line["downloads"], line["download_bytes"]),
             count(line["faults_read"] + line["faults_write"]), Wide(line["advice"]["text"] if line.get("advice") else "")]
            for line in merged.lines[:MOST_LINES])
    return section("Lines", "The worst round trips first.", table(
        ("line", "device", "CPU", "to the device", "to the CPU", "faults", "advice"), rows) if merged.lines else "")


def transfers(merged, timeline):
    counters = merged.counters
    if timeline and timeline["causes"]:
        most = max(row[4] for row in timeline["causes"])
        rows = ([Cell(way), Cell(why), count(number), Cell(size(moved_bytes), moved_bytes),
                 time_cell(int(time * 1000), most * 1000, "transfers")] for way, why, number, moved_bytes, time in timeline["causes"])
        return section("Transfers", "By cause, from the trace.", table(("way", "why", "transfers", "bytes", "time"), rows))
    rows = [[Cell("host to device"), count(counters["uploads"]), Cell(size(counters["upload_bytes"]), counters["upload_bytes"])],
            [Cell("device to host"), count(counters["downloads"]), Cell(size(counters["download_bytes"]), counters["download_bytes"])]]
    return section("Transfers", "A trace (GPUSHIM_TRACE, --trace) tells why.", table(("way", "transfers", "bytes"), rows))


def readers(merged):
    rows = ([Code(name_of_reader(reader)), count(reader["transfers"]), Cell(size(reader["bytes"]), reader["bytes"])] for reader in merged.readers)
    return section("Brought back", "Which functions of NumPy, or code of which library, read on the CPU what the device held.", table(
        ("reader", "transfers", "bytes"), rows) if merged.readers else "")


def processes(merged):
    if len(merged.reports) == 1:
        return ""
    rows = ([count(report["pid"]), Cell(seconds(report["verdict"]["wall_s"]), report["verdict"]["wall_s"]),
             count(sum(row["device_calls"] for row in report["operations"])),
             count(sum(row["host_calls"] for row in report["operations"])), Wide(of_one(report)), Wide(report_data.command_of(report))]
            for report in merged.reports[:MOST_PROCESSES])
    return section("Processes", "In the order in which they began.",
                   table(("process", "wall time", "device calls", "CPU calls", "verdict", "command"), rows))


def counters_table(merged):
    rows = ([Code(name), count(value)] for name, value in merged.counters.items())
    return "<details><summary>Counters</summary>%s</details>" % table(("counter", "value"), rows)


# ---- the timeline ----

def embed(name, value):
    """JSON in the page. A tag in a text of the program's cannot end it."""
    text = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return '<script type="application/json" id="%s">%s</script>' % (name, text)


def left_out(timeline):
    told = ["%s calls of less than 2 us are not drawn" % format(timeline["short_calls"], ",d")] if timeline["short_calls"] else []
    told += ["%s events were dropped, as the buffer was full (GPUSHIM_TRACE_EVENTS)" % format(timeline["dropped"], ",d")] \
        if timeline["dropped"] else []
    return "; ".join(told)


TIMELINE = """
<div class="tools"><button type="button" id="closer">Zoom in</button><button type="button" id="farther">Zoom out</button>
<button type="button" id="all">All</button><span>Drag to move, Ctrl and the wheel to zoom; arrows, + and - with the keyboard.</span></div>
<div id="view"><canvas tabindex="0" role="img" aria-label="timeline of the trace"></canvas><div id="tip" hidden></div></div>
<p class="note">%s</p><noscript><p>The timeline needs JavaScript; the trace's file opens in Perfetto, too.</p></noscript>"""


def timeline_section(timeline):
    if not timeline or not timeline["tracks"]:
        return ""
    data = {key: timeline[key] for key in ("tracks", "strings", "length")}
    return section("Timeline", "NumPy's calls are blue where the device took them, orange where they stayed on the CPU.",
                   TIMELINE % html.escape(left_out(timeline)) + embed("timeline-data", data))


def page(merged, timeline=None):
    """The page's text. `timeline` is report_timeline.read's, or None."""
    content = [head(merged), '<p class="verdict">%s</p>' % html.escape(verdict_of(merged)), tiles(merged), parts(merged), advices(merged),
               timeline_section(timeline), operations(merged), lines(merged), transfers(merged, timeline), readers(merged), processes(merged),
               counters_table(merged)]
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta http-equiv="Content-Security-Policy" content="%s">' % POLICY,
        "<title>%s</title>" % html.escape("gpushim: " + verdict_of(merged)), "<style>%s</style></head><body><main>" % STYLE, *content,
        "<footer>Keys and codes: docs/user/report.md of gpushim.</footer></main>", embed("report-data", merged.reports),
        "<script>%s</script></body></html>\n" % SCRIPT])
