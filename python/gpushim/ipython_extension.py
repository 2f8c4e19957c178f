# SPDX-License-Identifier: Apache-2.0
"""`%load_ext gpushim` in IPython and Jupyter: the cell magic %%gpushim, and %timeit, %%timeit, %time and %%time that measure the work
and not its recording. In a kernel without gpushim it says how to get one with it."""
import ast
import contextlib

from gpushim import stats_interval, timing
from gpushim.loaded import active, library, stats, synchronize

NOT_LOADED = """gpushim is not loaded in this kernel. In a terminal, once:
    gpushim kernel install
then choose the kernel "Python 3 (gpushim)" in Jupyter's menu Kernel, or start IPython by `gpushim run -m IPython`."""
NOT_LOADED_LINE = "gpushim: not loaded in this kernel, NumPy alone ran the cell: `%load_ext gpushim` says what to do"
NOT_ACTIVE = "gpushim: loaded, and not active: `import numpy` comes first; if it has: `gpushim doctor` says why"

undo = contextlib.ExitStack()  # of what the extension has replaced in this process


def _statements(shell, cell):
    """(all statements, or all but the last; the last one, where it is an expression, else None). Lines have the numbers that the
    cell shows: the magic's is the first."""
    text = "\n" + shell.transform_cell(cell)
    tree = shell.transform_ast(ast.parse(text))
    name = shell.compile.cache(text)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    return compile(tree, name, "exec"), last and compile(last, name, "eval")


def _tell(interval, name):
    """Prints what ran where and why; the code of the file `name` is the cell's."""
    for line in interval.lines:
        line["file"] = "cell" if line["file"] == name else line["file"]
    print("\n".join(["gpushim: " + stats_interval.verdict(interval), *stats_interval.details(interval)]))


def cell_magic(shell, line, cell):
    """%%gpushim: runs the cell as it would run alone, in the user's names, and prints what of it ran where and why, or that gpushim is
    not loaded. Returns what Out shows."""
    if line.strip():
        raise ValueError("%%gpushim takes no arguments, not " + line.strip())
    body, last = _statements(shell, cell)
    synchronize()
    before = stats()
    try:
        exec(body, shell.user_ns)
        return eval(last, shell.user_ns) if last else None
    finally:
        synchronize()
        if library() is None:
            print(NOT_LOADED_LINE)
        else:
            _tell(stats_interval.between(before, stats()), body.co_filename)
            if not active():
                print(NOT_ACTIVE)


def _replace(owner, name, value):
    undo.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)


def _synchronize_time_magic(shell):
    """%time reads IPython's processor clock before and after the statement, and then the wall clock."""
    from IPython.core.magics import execution
    from IPython.utils import timing as clocks
    clock = timing.synchronized(clocks.clock2)
    for owner in (clocks, execution):
        if hasattr(owner, "clock2"):
            _replace(owner, "clock2", clock)
    original = shell.find_cell_magic("time")

    def time(line, cell=None):
        synchronize()
        return original(line) if cell is None else original(line, cell)
    for kind in ("line", "cell"):
        undo.callback(shell.register_magic_function, original, kind, "time")
        shell.register_magic_function(time, kind, "time")


def load_ipython_extension(shell):
    undo.close()
    if library() is None:
        print(NOT_LOADED)
    else:
        undo.callback(timing.patch_timeit())
        _synchronize_time_magic(shell)
    shell.register_magic_function(lambda line, cell: cell_magic(shell, line, cell), "cell", "gpushim")


def unload_ipython_extension(shell):
    undo.close()
    shell.magics_manager.magics["cell"].pop("gpushim", None)
