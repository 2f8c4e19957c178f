# SPDX-License-Identifier: Apache-2.0
"""The JSON reports (docs/user/report.md) of a program's processes, each in a file of one folder."""
import glob
import json
import os

NAME = "report-%p.json"


def setting(folder):
    """The value of GPUSHIM_REPORT for reports in that folder."""
    return "json:" + os.path.join(folder, NAME)


def read(folder):
    """The reports in the folder; one that was cut off counts as none."""
    reports = []
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), NAME.replace("%p", "*")))):
        with open(path, encoding="utf-8") as file:
            try:
                reports.append(json.load(file))
            except ValueError:
                continue
    return reports
