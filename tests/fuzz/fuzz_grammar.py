# SPDX-License-Identifier: Apache-2.0
"""Makes random programs (fuzz_program.py) by drawing from hypothesis, and runs them plainly meanwhile:
shapes and dtypes of what there is so far decide what can come next.

Builder holds the run and the means to draw; each function of STATEMENTS adds one or more statements.
Draws of 0 are the simple choice, which is where hypothesis shrinks to.
"""
import warnings

import numpy as np

import fuzz_program
from fuzz_tables import NUMERIC, REDUCTION_ULPS, ZERO_SIGNS, is_numeric, numeric_ufuncs, ulps

UFUNCS = numeric_ufuncs()
BINARY = [name for name in UFUNCS if getattr(np, name).nin == 2 and getattr(np, name).nout == 1]
# Those whose reduction makes sense to compare: the others' rounding depends on the order.
REDUCED = ["add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_or", "logical_and", "logical_xor",
           "bitwise_or", "bitwise_and", "bitwise_xor", "gcd", "lcm", "subtract"]
KINDS = ("small", "unit", "wide", "special")
LENGTHS = (3, 1, 2, 5, 0, 4, 7, 17, 40, 300, 5000, 70000)
LARGEST = 100000
IN_PLACE = {"+=": "add", "-=": "subtract", "*=": "multiply", "/=": "divide", "//=": "floor_divide", "%=": "remainder",
            "**=": "power", "&=": "bitwise_and", "|=": "bitwise_or", "^=": "bitwise_xor", "<<=": "left_shift",
            ">>=": "right_shift"}
SCALARS = ("2", "-1", "0", "1.5", "float('nan')", "True", "3j", "1e30", "300", "np.float32(1.5)", "np.int8(3)",
           "np.float64(-2)", "np.uint64(7)", "np.bool_(True)", "np.complex64(1+2j)", "np.float16(0.1)", "2**70")


class Builder:
    def __init__(self, draw_integer):
        """`draw_integer(low, high)` draws, both included."""
        self.draw, self.run, self.statements, self.names = draw_integer, fuzz_program.Run(), [], 0

    # --- drawing

    def integer(self, low, high):
        return self.draw(low, high)

    def pick(self, options):
        return options[self.draw(0, len(options) - 1)]

    def chance(self, percent):
        return self.draw(0, 99) >= 100 - percent

    # --- statements

    def add(self, statement):
        """Runs it; True unless it raised."""
        self.statements.append(statement)
        return self.run.step(statement)

    def new(self, expression):
        """The name of a new value, or None where the expression raised."""
        name = "v%d" % self.names
        self.names += 1
        return name if self.add("%s = %s" % (name, expression)) else None

    def value(self, name):
        return self.run.values[name]

    def evaluate(self, expression):
        """What an expression gives, or None; leaves no trace in the program."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return eval(expression, dict(self.run.values))  # noqa: S307
            except Exception:  # noqa: BLE001
                return None

    # --- values

    def arrays(self, accept=lambda array: True):
        return [name for name, value in self.run.values.items() if name[1:].isdigit() and
                isinstance(value, np.ndarray) and accept(value)]

    def shape(self):
        shape = []
        for _ in range(self.pick((1, 1, 2, 2, 3, 0, 4))):
            room = LARGEST // max(1, int(np.prod(shape, dtype=int)))
            shape.append(self.pick([n for n in LENGTHS if n <= room and (not shape or n <= 40)] or [1]))
        return tuple(shape)

    def make(self, dtype=None, shape=None, kind=None):
        dtype = dtype or self.pick(("d", "f", "l", "i", "?", "D", "F", "e", "b", "B", "h", "H", "I", "L"))
        shape = self.shape() if shape is None else shape
        return self.new("make(%r, %r, %d, %r, %r)" % (dtype, shape, self.integer(0, 999), kind or self.pick(KINDS),
                                                      self.pick("CCF")))

    def array(self, accept=lambda array: True, dtype=None):
        """One that is there and accepted, or a new one."""
        names = self.arrays(lambda value: accept(value) and (dtype is None or value.dtype.char == dtype))
        if names and self.chance(60):
            return self.pick(names[::-1])
        return self.make(dtype)

    def index(self, shape):
        """The text of a basic index, of views with any strides."""
        pieces = []
        for length in shape:
            if not self.chance(60):
                pieces.append(":")
            elif self.chance(25) and length:
                pieces.append(str(self.integer(-length, length - 1)))
            else:
                low, high = self.integer(0, length), self.integer(0, length)
                step = self.pick((1, -1, 2, -2, 3))
                low, high = (min(low, high), max(low, high)) if step > 0 else (max(low, high), min(low, high))
                pieces.append("%s:%s:%d" % (low or "", high if self.chance(60) else "", step))
        if self.chance(10):
            pieces.insert(self.integer(0, len(pieces)), "None")
        if self.chance(15):
            pieces = pieces[:self.integer(0, len(pieces))] + ["..."]
        return ", ".join(pieces) or "..."

    def view(self, name):
        """A view of an array: another name, or the same."""
        value = self.value(name)
        way = self.pick(("same", "same", "index", "index", "transpose", "reshape", "part", "broadcast"))
        if way == "index":
            return self.new("%s[%s]" % (name, self.index(value.shape))) or name
        if way == "transpose" and value.ndim > 1:
            axes = list(range(value.ndim))
            for i in range(len(axes)):
                j = self.integer(i, len(axes) - 1)
                axes[i], axes[j] = axes[j], axes[i]
            return self.new("%s.transpose(%r)" % (name, tuple(axes))) or name
        if way == "reshape" and value.size and value.flags.c_contiguous:
            return self.new("%s.reshape(%s)" % (name, self.pick(("-1", "-1, 1", "1, -1")))) or name
        if way == "part" and value.dtype.kind == "c":
            return self.new("%s.%s" % (name, self.pick(("real", "imag")))) or name
        if way == "broadcast" and value.size < 2000:
            return self.new("np.broadcast_to(%s, %r)" % (name, (self.integer(1, 3),) + value.shape)) or name
        return name

    def viewed(self, **wanted):
        """An array or view; None only where something raised unexpectedly."""
        name = self.array(**wanted)
        seen = self.view(name)
        return seen if isinstance(self.value(seen), np.ndarray) else name

    def partner(self, name, dtype=None):
        """An operand that broadcasts with an array, mostly."""
        value = self.value(name)
        way = self.pick(("new", "new", "there", "scalar", "same", "any"))
        if way == "scalar":
            return self.pick(SCALARS)
        if way == "same":
            return name
        if way == "any":
            return self.viewed()
        if way == "there":
            names = self.arrays(lambda other: broadcasts(other.shape, value.shape))
            if names:
                return self.pick(names[::-1])
        return self.make(dtype, self.partner_shape(value.shape))

    def partner_shape(self, shape):
        shape = [length if not self.chance(20) else 1 for length in shape]
        return tuple(shape[self.integer(0, len(shape)):] if self.chance(20) else shape)

    def mask(self, shape):
        return self.make("?", shape)


def broadcasts(one, other):
    try:
        return np.prod(np.broadcast_shapes(one, other), dtype=float) <= LARGEST
    except ValueError:
        return False


def too_big(builder, expression_shapes):
    """Whether operands broadcast to more than programs should hold."""
    try:
        return np.prod(np.broadcast_shapes(*expression_shapes), dtype=float) > LARGEST
    except ValueError:
        return False


# --- how far results may be apart ----------------------------------------------------------------

# The device finds errors by values: of inputs that are NaN already (of a complex number's one part, say) it reports none,
# where NumPy's formula may. Which errors a complex function raises is the C library's choice, version by version.
SILENT = ("logaddexp", "logaddexp2")


def chars_of(value):
    """The dtypes of a result or of a tuple of them; "O" for what is no NumPy value."""
    parts = value if isinstance(value, tuple) else (value,)
    return [part.dtype.char if hasattr(part, "dtype") else "O" for part in parts]


def observe(builder, name, ufunc, operands=()):
    """After an elementwise call: bounds where its results may differ from NumPy's. A real result of
    complex operands was computed by a complex loop."""
    chars = chars_of(builder.value(name))
    for operand in operands:
        chars += [char for char in chars_of(builder.evaluate(operand)) if char in "FD"]
    most = max(ulps(ufunc, char) for char in chars)
    if ufunc in ZERO_SIGNS and chars[0] in "efdFD":
        builder.add("%s = observe(%s, zeros=True)" % (name, name))
        return
    is_complex = "F" in chars or "D" in chars
    is_silent = is_complex or ufunc in SILENT
    if most > 0 or is_silent:
        rest = ", warns=False" if is_silent else ""
        if ufunc in SILENT:  # log(e^a + e^b) near 0 is a difference of numbers near 1
            rest += ", of=lambda: np.maximum(np.abs(%s), 1)" % name
        if is_complex and ufunc in ("power", "float_power"):  # an ulp of the logarithm counts as often as it is large
            most *= 16
        builder.add("%s = observe(%s, ulps=%d%s)" % (name, name, most, rest))


def loop_char(builder, ufunc, operands):
    """The dtype of a call's first output, found by calling it on nothing; None: it would raise."""
    values = [builder.evaluate(operand) for operand in operands]
    if any(value is None for value in values):
        return None
    empty = [value.reshape(-1)[:0] if isinstance(value, np.ndarray) and value.ndim else value for value in values]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = getattr(np, ufunc)(*empty)
    except Exception:  # noqa: BLE001
        return None
    return chars_of(result)


# --- statements ----------------------------------------------------------------------------------

def operands_for(builder, ufunc):
    """Operand texts for a ufunc, of dtypes that it mostly has loops for; their shapes."""
    loops = [loop for loop in getattr(np, ufunc).types if is_numeric(loop)]
    wanted = builder.pick(loops) if builder.chance(75) else builder.pick(NUMERIC.replace("q", "").replace("Q", ""))
    letters = {"q": "l", "Q": "L"}
    first = builder.viewed(dtype=letters.get(wanted[0], wanted[0]))
    operands = [first]
    for i in range(1, getattr(np, ufunc).nin):
        dtype = wanted[i] if "->" in wanted else None
        operands.append(builder.partner(first, letters.get(dtype, dtype)))
    if len(operands) > 1 and builder.chance(25):
        operands.reverse()
    return operands


def shapes_of(builder, operands):
    return [np.shape(value) for value in map(builder.evaluate, operands)]


def call_ufunc(builder):
    """A ufunc, with any of its keywords."""
    ufunc = builder.pick(UFUNCS)
    operands = operands_for(builder, ufunc)
    shapes = shapes_of(builder, operands)
    if too_big(builder, shapes):
        return
    keywords, outs = [], None
    if builder.chance(40):
        keywords, outs = outputs_for(builder, ufunc, operands, shapes)
    if builder.chance(10):
        keywords.append("casting=%r" % builder.pick(("same_kind", "unsafe", "no", "equiv", "safe")))
    if builder.chance(10):
        keywords.append("dtype=%r" % builder.pick(fuzz_program.DTYPES))
    if builder.chance(10) and outs is None:
        keywords.append("order=%r" % builder.pick("KCFA"))
    if builder.chance(5):
        keywords.append("subok=%s" % builder.pick(("True", "False")))
    text = "np.%s(%s)" % (ufunc, ", ".join(operands + keywords))
    name = builder.new(text)
    if name:
        observe_call(builder, name, ufunc, operands, keywords)


def observe_call(builder, name, ufunc, operands, keywords):
    """Where dtype=, casting= or an output of another dtype chose the loop, its precision is unknown:
    that of the coarsest one counts. Integers made of inexact floats are not compared any further."""
    result = builder.value(name)
    odd = any(k.startswith(("dtype", "casting")) and "same_kind" not in k for k in keywords) or (
        chars_of(result) != loop_char(builder, ufunc, operands))
    if not odd or not any(ulps(ufunc, char) for char in "efdFD"):
        observe(builder, name, ufunc, operands)
    elif result.dtype.kind in "fc":
        warns = ", warns=False" if result.dtype.kind == "c" or ufunc in SILENT else ""
        builder.add("%s = observe(%s, ulps=16, like='e'%s)" % (name, name, warns))
    else:
        builder.add("%s = observe(%s, ulps=1, of=lambda: np.inf)" % (name, name))


def outputs_for(builder, ufunc, operands, shapes):
    """(keywords with out= and perhaps where=, names of the outputs): new ones, operands, or views
    that overlap them."""
    chars = loop_char(builder, ufunc, operands) or ["d"] * getattr(np, ufunc).nout
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        shape = shapes[0]
    outs = []
    for char in chars:
        way = builder.pick(("new", "new", "cast", "operand", "view", "wider"))
        candidates = [op for op in operands if op in builder.run.values and np.shape(builder.value(op)) == shape]
        if way == "operand" and candidates:
            outs.append(builder.pick(candidates))
        elif way == "view" and (overlapping := overlapping_view(builder, operands, shape)):
            outs.append(overlapping)
        elif way == "wider":
            outs.append(builder.make(char, (2,) + shape))
        else:
            outs.append(builder.make(char if way != "cast" else None, shape))
    keywords = ["out=%s" % (outs[0] if len(outs) == 1 and builder.chance(70) else "(%s,)" % ", ".join(outs))]
    if builder.chance(40):
        mask = builder.mask(builder.partner_shape(shape))
        keywords.append("where=%s" % builder.pick((mask, mask, "True", "False")))
    return keywords, outs


def overlapping_view(builder, operands, shape):
    """A view of an operand's base with the wanted shape, shifted or reversed; None: none was found."""
    for operand in operands:
        value = builder.run.values.get(operand)
        if isinstance(value, np.ndarray) and value.shape == shape and value.ndim:
            return builder.new("%s[%s]" % (operand, ", ".join([builder.pick(("::-1", ":"))] * value.ndim)))
    return None


def in_place(builder):
    """An operator that writes into its left side, or a slice of it."""
    name = builder.viewed(accept=lambda array: array.flags.writeable)
    value = builder.value(name)
    operator = builder.pick(sorted(IN_PLACE))
    target = name
    other = builder.partner(name)
    if value.ndim and value.shape[0] > 1 and builder.chance(40):  # neighbours: it overlaps
        target, other = builder.pick((("%s[1:]" % name, "%s[:-1]" % name), ("%s[:-1]" % name, "%s[1:]" % name),
                                      ("%s[::-1]" % name, name)))
    if builder.add("%s %s %s" % (target, operator, other)):
        observe(builder, name, IN_PLACE[operator])
    elif operator == "**=":  # NumPy has written what its buffer held: integers to negative powers end early
        builder.add("%s[...] = 1" % name)


def axis_text(builder, ndim, single=False):
    options = ["None"] + [str(axis) for axis in range(-ndim, ndim)]
    if ndim > 1 and not single:
        options += ["(0, 1)", "(-1,)", "()", "(%d, 0)" % (ndim - 1)]
    if single:
        options = options[1:] or ["0"]
    return builder.pick(options)


def finish_reduction(builder, ufunc, function, operand, arguments, steps=0):
    """Makes the call, and observes it: NumPy's order of summation is not ours. `steps`: fuzz_program.Run.observe's."""
    name = builder.new("%s(%s, %s)" % (function, operand, arguments))
    if not name:
        return
    char = chars_of(builder.value(name))[0]
    if char in "efdFD" and REDUCTION_ULPS.get(ufunc):
        bare = ", ".join(piece for piece in split_arguments(arguments) if not piece.startswith(("out=", "dtype=")))
        of = "reach(lambda m: %s(m, %s), %d, %s, %r)" % (
            function, bare.replace("initial=-", "initial="), ufunc == "multiply", operand, char.lower())
        # which of a complex number's infinities and NaNs meet first is the order of joining
        rest = ", warns=False" if char in "FD" or ufunc in SILENT else ""
        rest += ", steps=%d" % steps if steps else ""
        builder.add("%s = observe(%s, ulps=%d, of=lambda: %s%s)" % (name, name, REDUCTION_ULPS[ufunc], of, rest))
    elif char in "efdFD" and ufunc in ZERO_SIGNS:
        builder.add("%s = observe(%s, zeros=True, nans=True)" % (name, name))


def reduce(builder):
    ufunc = builder.pick(REDUCED)
    name = builder.viewed()
    value = builder.value(name)
    keywords = ["axis=" + axis_text(builder, value.ndim)]
    if builder.chance(25):
        keywords.append("keepdims=True")
    if builder.chance(20):
        keywords.append("initial=" + builder.pick(("0", "1", "5", "-2.5", "None")))
    if builder.chance(20):
        keywords.append("where=" + builder.mask(builder.partner_shape(value.shape)))
    if builder.chance(15):
        keywords.append("dtype=%r" % builder.pick(fuzz_program.DTYPES))
    arguments = ", ".join(keywords)
    if builder.chance(20):
        result = builder.evaluate("np.%s.reduce(%s, %s)" % (ufunc, name, arguments))
        if result is not None:
            arguments += ", out=" + builder.make(np.asarray(result).dtype.char, np.shape(result))
    finish_reduction(builder, ufunc, "np.%s.reduce" % ufunc, name, arguments)


def split_arguments(text):
    """At commas outside brackets."""
    pieces, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [piece.strip() for piece in pieces]


def accumulate(builder):
    ufunc = builder.pick(REDUCED)
    name = builder.viewed()
    arguments = "axis=" + axis_text(builder, builder.value(name).ndim, single=True)
    if builder.chance(20):
        arguments += ", dtype=%r" % builder.pick(fuzz_program.DTYPES)
    steps = max(np.shape(builder.value(name)), default=1)
    finish_reduction(builder, ufunc, "np.%s.accumulate" % ufunc, name, arguments, steps)


def reduceat(builder):
    ufunc = builder.pick(REDUCED)
    name = builder.viewed(accept=lambda array: array.ndim > 0)
    value = builder.value(name)
    if not value.ndim or not value.shape[0]:
        return
    places = "rows(%d, %d, %d, True)" % (value.shape[0], builder.integer(1, 6), builder.integer(0, 99))
    finish_reduction(builder, ufunc, "np.%s.reduceat" % ufunc, name, "%s, axis=0" % places)


def at(builder):
    ufunc = builder.pick([name for name in UFUNCS if name not in SILENT])
    name = builder.array(accept=lambda array: array.ndim > 0 and array.shape[0] > 0)
    value = builder.value(name)
    if not value.ndim or not value.shape[0]:
        return
    count = builder.integer(1, 8)
    places = "rows(%d, %d, %d)" % (value.shape[0], count, builder.integer(0, 99))
    arguments = [name, places]
    if getattr(np, ufunc).nin == 2:
        arguments.append(builder.make(value.dtype.char, (count,) + value.shape[1:]) if builder.chance(60)
                         else builder.pick(SCALARS))
    if getattr(np, ufunc).nout == 1 and builder.add("np.%s.at(%s)" % (ufunc, ", ".join(arguments))):
        # several applications to one element add up; NumPy's text names "at" or the ufunc, by the loop it takes
        builder.add("%s = observe(%s, ulps=%d, zeros=%r, warns=False)" % (
            name, name, 64 * ulps(ufunc, value.dtype.char), ufunc in ZERO_SIGNS))


def outer(builder):
    ufunc = builder.pick(BINARY)
    one, two = (builder.viewed(accept=lambda array: array.size < 300) for _ in range(2))
    first, second = builder.value(one), builder.value(two)
    if first.size * second.size < LARGEST and first.ndim + second.ndim < 8:
        name = builder.new("np.%s.outer(%s, %s)" % (ufunc, one, two))
        if name:
            observe(builder, name, ufunc, (one, two))


STATEMENTS = [call_ufunc, call_ufunc, call_ufunc, in_place, reduce, reduce, accumulate, reduceat, at, outer]
