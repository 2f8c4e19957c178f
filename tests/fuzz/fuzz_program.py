# SPDX-License-Identifier: Apache-2.0
"""Programs of the fuzzer, and how one process runs one of them.

A program is a list of Python statements over `np` and the functions make, rows, observe and reach below;
names v0, v1 ... are its values. run() executes them and keeps, for each statement, what a user could
see: the exception or the result's type, dtype, shape, strides and flags, and the warnings. Data is
read at the end only, so that it stays where it is meanwhile. Both sides must agree exactly; where an
operation may differ a little the generator adds an observe(), which records the result, to be compared
within bounds, and replaces it by the plain run's.
"""
import warnings

import numpy as np

DTYPES = "? b h i l B H I L e f d F D".split()
FLOATS = {"e": np.float16, "f": np.float32, "d": np.float64}


def numbers(kind, dtype, count, draw):
    """`count` numbers of a kind, of the dtype: small integers, the unit interval, a wide range of
    magnitudes, or with NaN, infinities, zeros and limits among them."""
    if dtype.kind == "c":
        part = np.dtype(dtype.char.lower())
        return (numbers(kind, part, count, draw) + 0j).astype(dtype) + \
            1j * numbers(kind, part, count, draw).astype(dtype)
    if dtype.kind == "b":
        return draw.randint(0, 2, count).astype(bool)
    if dtype.kind in "iu":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        small = draw.randint(-9 if low < 0 else 0, 10, count).astype(dtype)
        if kind in ("small", "unit"):
            return small
        edges = np.array([low, low + 1, high - 1, high, 0, 1, high // 2], dtype)
        chosen = edges[draw.randint(0, len(edges), count)]
        return np.where(draw.rand(count) < (0.5 if kind == "special" else 0.2), chosen, small).astype(dtype)
    if kind == "small":
        return draw.randint(-9, 10, count).astype(dtype)
    values = draw.uniform(-1, 1, count)
    if kind != "unit":
        most = {"e": 15, "f": 126, "d": 1022}[dtype.char] if kind == "special" else 13
        values = np.ldexp(values, draw.randint(-most, most + 1, count))  # exact, on every device
    values = values.astype(dtype)
    if kind == "special":
        limits = np.finfo(dtype)
        edges = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, limits.max, limits.min, limits.tiny, limits.tiny / 4,
                          1.0, -1.0, 0.5, 2.0, -3.0], dtype)
        values = np.where(draw.rand(count) < 0.4, edges[draw.randint(0, len(edges), count)], values).astype(dtype)
    return values


def make(dtype, shape, seed, kind="small", order="C"):
    """A new array; the same numbers in every process and NumPy version."""
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        data = numbers(kind, dtype, int(np.prod(shape, dtype=int)), np.random.RandomState(seed))
    return np.array(data.reshape(shape), order=order)


def rows(length, count, seed, sorted_=False):
    """An index array: `count` places in an axis of `length`, some of them negative or repeated."""
    draw = np.random.RandomState(seed)
    result = draw.randint(0, length, count) if sorted_ else draw.randint(-length, length, count)
    return np.sort(result) if sorted_ else result


def structure(value):
    """What can be seen of a value without reading an array's data."""
    if isinstance(value, np.ndarray):
        strides = tuple(s for s, n in zip(value.strides, value.shape) if n > 1) if value.size else ()
        return ("array", type(value).__name__, value.dtype.str, value.shape, strides,
                value.flags.writeable, value.flags.owndata)
    if isinstance(value, np.generic):
        return ("scalar", type(value).__name__, value.dtype.str)
    if isinstance(value, tuple):
        return ("tuple",) + tuple(structure(item) for item in value)
    return ("object", type(value).__name__, repr(value))


class Run:
    """One run of a program: `steps` [(what came out, warnings)], `observed` {statement: (result,
    bounds)}, `values` {name: value}. `plain` is None in the run that decides, and its observed values
    in the other one."""

    def __init__(self, plain=None):
        self.steps, self.observed, self.plain = [], {}, plain
        self.values = {"np": np, "make": make, "rows": rows, "observe": self.observe, "reach": reach}

    def observe(self, result, ulps=0, of=None, like=None, zeros=False, nans=False, warns=True,
               steps=0):
        """A result that may differ: by so many units in its last place, or, where `of` is given, in
        that of the magnitude of() (an array of the result's shape, infinite where anything goes);
        `like`: a dtype, whose last place counts instead; `zeros`: in the sign of zeros; `nans`: in which
        complex NaN it is; not `warns`: in the warnings of the statement before; `steps`: how many roundings
        NumPy makes one after the other, where the device may join in another order. Its data is from here
        on the plain run's."""
        at = len(self.steps)
        of = None if of is None or self.plain is not None else quietly(of)
        bounds = {"ulps": ulps, "of": of, "like": like, "zeros": zeros, "nans": nans, "warns": warns,
                  "steps": steps}
        self.observed[at] = (copy_of(result), bounds)
        read_only = isinstance(result, np.ndarray) and not result.flags.writeable
        if self.plain is None or at not in self.plain or read_only:
            return result
        return replaced(result, self.plain[at][0])

    def step(self, statement):
        """Runs one statement; True unless it raised."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(compile(statement, "<program>", "exec"), self.values)  # noqa: S102
                came_out = ("done",)
            except Exception as error:  # noqa: BLE001 any exception is a result here
                came_out = ("raised", type(error).__name__, str(error))
        name = statement.split(" = ")[0]
        if came_out == ("done",) and name.isidentifier():
            came_out = structure(self.values[name])
        told = sorted({(w.category.__name__, str(w.message)) for w in caught})
        self.steps.append((came_out, [] if "observe(" in statement else told))
        return came_out[0] != "raised"

    def data(self):
        """{name: bytes of every value}: reads everything."""
        return {name: bytes_of(value) for name, value in sorted(self.values.items())
                if name[0] == "v" and name[1:].isdigit()}


def quietly(function):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()


def reach(call, neutral, array, dtype):
    """The magnitude by which a reduction's rounding is judged: call() of the finite elements'
    magnitudes; infinite where the order of its steps could overflow or underflow in the dtype.
    `neutral`: 0 for sums, 1 for products."""
    limits = np.finfo(dtype)
    array = array.astype("D")
    sizes, parts = np.abs(array), np.abs(np.stack((array.real, array.imag)))
    parts = np.where(np.isfinite(parts), parts, 0)  # the finite part of a number that is not counts
    sizes = np.where(np.isfinite(sizes), sizes, np.maximum(np.max(parts, 0), neutral))
    result = np.asarray(call(sizes), dtype="d")
    top = result if neutral == 0 else np.asarray(call(np.fmax(sizes, 1)), dtype="d")
    bottom = np.ones(()) if neutral == 0 else np.asarray(call(np.where(sizes > 0, np.fmin(sizes, 1), 1)), dtype="d")
    return np.where((top < limits.max / 4) & (bottom > limits.tiny * 4), result, np.inf)


def copy_of(value):
    return tuple(map(copy_of, value)) if isinstance(value, tuple) else np.array(value)


def replaced(value, decided):
    """`value` with the data of `decided`: an array in place, a scalar anew."""
    if isinstance(value, tuple) and isinstance(decided, tuple):
        return tuple(map(replaced, value, decided))
    if isinstance(value, np.ndarray) and value.shape == decided.shape and value.dtype == decided.dtype:
        value[...] = decided
    elif isinstance(value, np.generic) and value.dtype == decided.dtype and decided.shape == ():
        return decided[()]
    return value


def bytes_of(value):
    if isinstance(value, tuple):
        return tuple(bytes_of(item) for item in value)
    if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        return (value.dtype.str, np.ascontiguousarray(value).tobytes())
    return repr(value)


def run(statements, plain=None):
    """A Run; with NumPy's state for errors as it is by default."""
    done = Run(plain)
    with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        for statement in statements:
            done.step(statement)
    return done
