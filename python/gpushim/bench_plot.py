# SPDX-License-Identifier: Apache-2.0
"""The picture of `gpushim bench`: bars of plain runs and of those under gpushim. Needs matplotlib (the extra `plots`)."""
import importlib.util

from gpushim.bench_output import UNITS, in_units
from gpushim.bench_turns import PLAIN, SHIM

# The two differ in grey too. y: where a program's bars are, from its middle.
BARS = {PLAIN: {"color": "#c4c4c4", "y": -0.2, "hatch": None}, SHIM: {"color": "#1f6f43", "y": 0.2, "hatch": None}}
THICKNESS = 0.38


def missing():
    """Why no picture can be drawn; None: it can."""
    if importlib.util.find_spec("matplotlib") is None:
        return "--png needs matplotlib: pip install 'gpushim[plots]'"
    return None


def relative(summary, unit):
    """(length of the bar, its error bar below and above) in plain medians; the error bar is from the fastest to the slowest run."""
    return summary["median"] / unit, [(summary["median"] - summary["min"]) / unit], [(summary["max"] - summary["median"]) / unit]


def draw_row(axes, place, row):
    """A program's two bars, each with its seconds; how far to the right they reach."""
    unit, reach = row[PLAIN]["median"], 0
    for side, look in BARS.items():
        length, below, above = relative(row[side], unit)
        axes.barh(place + look["y"], length, THICKNESS, color=look["color"], edgecolor="black", linewidth=0.6,
                  xerr=[below, above], error_kw={"ecolor": "black", "capsize": 3, "elinewidth": 1}, label=None if place else side)
        text = "  " + in_units(row[side]["median"], UNITS)
        if side == SHIM:
            text += "   %.2fx" % row["speedup"]["ratio"]
        axes.text(length + above[0], place + look["y"], text, va="center", fontsize=9, fontweight="bold" if side == SHIM else None)
        reach = max(reach, length + above[0])
    return reach


def draw(path, measurements):
    """Writes the picture; programs that were not measured on both sides are left out. OSError, ValueError: it cannot be written."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    rows = {name: row for measurement in measurements for name, row in measurement.rows().items() if row["speedup"]}
    figure = Figure(figsize=(9, 1.6 + 0.75 * max(len(rows), 1)), layout="constrained")
    axes = FigureCanvasAgg(figure).figure.add_subplot()
    reach = max([draw_row(axes, place, row) for place, row in enumerate(rows.values())], default=1)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.invert_yaxis()
    axes.set_xlim(0, reach * 1.3)
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlabel("time relative to plain NumPy (less is better); median, lines from the fastest to the slowest run")
    axes.spines[["top", "right"]].set_visible(False)
    if rows:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    figure.savefig(path, dpi=120, format="png")
