# SPDX-License-Identifier: Apache-2.0
"""The share of NumPy's work that the device did, of several reports (docs/user/report.md): the library's own share of one report
(config/report_verdict.h) is the same quotient."""


def work_of(report):
    """(seconds of the device's work, seconds of the CPU's), as NumPy alone takes."""
    work = report["verdict"]["work"]
    return work["device_s"], work["cpu_s"]


def share_of(on_device, on_cpu):
    """From 0 to 1; None: no work was measured."""
    return on_device / (on_device + on_cpu) if on_device + on_cpu > 0 else None
