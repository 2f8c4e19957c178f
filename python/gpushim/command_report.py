# SPDX-License-Identifier: Apache-2.0
"""`gpushim report`: prints reports of one or several processes, or makes a page of them."""
from gpushim import report_data

USAGE = "gpushim report FILE|DIR [-o FILE.html [--trace FILE ...]]"


def add_to(commands):
    parser = commands.add_parser("report", usage=USAGE, help="print reports, or make a page of them", allow_abbrev=False,
                                 description="Prints what GPUSHIM_REPORT=json:FILE or dir:DIR has written, or makes an HTML page of it.")
    parser.add_argument("path", metavar="FILE|DIR", help="a report, or a folder of those of several processes")
    parser.add_argument("-o", "--output", metavar="FILE.html", help="write a page that needs no network and no other file")
    parser.add_argument("--trace", metavar="FILE", action="append", default=[],
                        help="the page has a timeline of this file of GPUSHIM_TRACE; may be repeated, for several processes")


def execute(options):
    if options.trace and not options.output:
        options.parser.error("--trace is for a page: -o FILE.html is missing")
    merged = report_data.merge(report_data.read_all(options.path))
    if options.output:
        from gpushim import report_page, report_timeline
        timeline = report_timeline.read(options.trace) if options.trace else None
        page = report_page.page(merged, timeline)
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(page)
    else:
        from gpushim import report_text
        print(report_text.text(merged))
    return 0
