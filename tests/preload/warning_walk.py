# SPDX-License-Identifier: Apache-2.0
"""warning_walk.py SEED STEPS: a random walk of calls that warn, reads of arrays, changes of warnings.filters and scopes
that look at warnings. Prints what the program itself sees of it, with the lines that warnings name.
"""
import contextlib, io, logging, os, random, sys, warnings
import numpy as np

seed, steps = int(sys.argv[1]), int(sys.argv[2])
choose = random.Random(seed)
SIZE = 2000
zero, one, huge, nan = (np.full(SIZE, value) for value in (0.0, 1.0, 1e308, np.nan))
arrays, stack, told = [one], [], []

def tell(*what):
    print(*what, flush=True)

CALLS = [
    lambda: one / zero,
    lambda: zero / zero,
    lambda: np.log(zero), lambda: np.log(-one),
    lambda: np.sqrt(-one),
    lambda: huge * huge,
    lambda: huge.sum(),
    lambda: huge.astype("f4"),
    lambda: nan.astype("i4"),
    lambda: np.add(arrays[-1], one) / zero,
    lambda: one + one,
    lambda: np.arcsin(one * 2),
]

def call():
    which = choose.randrange(len(CALLS))
    try:
        arrays.append(np.atleast_1d(CALLS[which]()))
    except (RuntimeWarning, FloatingPointError) as error:
        tell("raised in the call", which, type(error).__name__, error)
    del arrays[:-5]

def read():
    array = choose.choice(arrays)
    tell("read", array[choose.randrange(array.size)])

ACTIONS = ["error", "ignore", "always", "default", "module", "once"]

def change_filters():
    how, action = choose.randrange(11), choose.choice(ACTIONS)
    item = (action, None, choose.choice([RuntimeWarning, Warning, UserWarning]), None, 0)
    if how == 0:
        warnings.simplefilter(action, item[2])
    elif how == 1:
        warnings.filterwarnings(action, message=choose.choice(["divide", "invalid", "overflow"]))
    elif how == 2:
        warnings.filterwarnings(action, module=choose.choice(["__main__", "numpy", "other"]))
    elif how == 3:
        warnings.filters.insert(0, item)
    elif how == 4:
        warnings.filters.append(item)
    elif how == 5 and warnings.filters:
        del warnings.filters[choose.randrange(len(warnings.filters))]
    elif how == 6:
        warnings.filters[:] = [item]
    elif how == 7:
        warnings.filters = list(warnings.filters) + [item]
    elif how == 8:
        warnings.resetwarnings()
    elif how == 9 and warnings.filters:
        warnings.filters[choose.randrange(len(warnings.filters))] = item
    else:
        warnings.simplefilter(action, append=True)

def show_elsewhere(message, category, filename, lineno, file=None, line=None):
    tell("shown", message, lineno)

def format_otherwise(message, category, filename, lineno, line=None):
    return "formatted %s %s\n" % (message, lineno)

@contextlib.contextmanager
def replaced(owner, name, value):
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield value
    finally:
        setattr(owner, name, before)

@contextlib.contextmanager
def captured():
    handler = logging.StreamHandler(sys.stdout)
    logging.getLogger("py.warnings").addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        logging.getLogger("py.warnings").removeHandler(handler)

def scopes():
    yield "catch", lambda: warnings.catch_warnings()
    yield "record", lambda: warnings.catch_warnings(record=True)
    yield "suppress", lambda: np.testing.suppress_warnings()
    yield "stderr", lambda: contextlib.redirect_stderr(io.StringIO())
    yield "show", lambda: replaced(warnings, "showwarning", show_elsewhere)
    yield "format", lambda: replaced(warnings, "formatwarning", format_otherwise)
    yield "message", lambda: replaced(warnings, "_showwarnmsg_impl", lambda m: tell("message", m.message, m.lineno))
    yield "logging", captured
    yield "errstate", lambda: np.errstate(all=choose.choice(["ignore", "warn", "raise"]))
    yield "callback", lambda: np.errstate(all="call", call=lambda kind, flag: tell("called", kind, flag))

def enter():
    name, make = choose.choice(list(scopes()))
    try:
        scope = make()
    except DeprecationWarning:
        return
    result = scope.__enter__()
    stack.append((name, scope, result))
    if name == "record" and choose.random() < 0.8:
        warnings.simplefilter("always")
    if name == "suppress" and choose.random() < 0.5:
        stack[-1] = (name, scope, scope.record(RuntimeWarning))
    tell("enter", name)

def describe(result):
    if isinstance(result, io.StringIO):
        return result.getvalue()
    return [(str(w.message), w.lineno, os.path.basename(w.filename)) for w in result] if isinstance(result, list) else None

def leave():
    if stack:
        name, scope, result = stack.pop()
        before = describe(result)
        scope.__exit__(None, None, None)
        tell("leave", name, describe(result))
        assert before == describe(result), (before, describe(result))

MOVES = [(call, 10), (read, 3), (change_filters, 4), (enter, 2), (leave, 2)]
try:
    for step in range(steps):
        move = choose.choices([m for m, _ in MOVES], [w for _, w in MOVES])[0]
        if len(stack) > 4:
            move = leave
        move()
finally:
    while stack:
        leave()
warnings.resetwarnings()
tell("end", [float(a[0]) for a in arrays])
