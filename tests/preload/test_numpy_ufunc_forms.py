# SPDX-License-Identifier: Apache-2.0
"""The forms of ufunc calls: outputs, masks, dtypes and signatures, casting, order, overlap, outer.

Everything a call leaves is compared with plain NumPy: results, outputs, identity, warnings.
"""
import unittest

import numpy as np

import shim_runner

# Complex ones go through hypot: 4 units in the last place.
ROOTS = {"^sqrt F dtype <class 'complex'>": 4 * 2.0**-52, "^sqrt (F|. dtype F)": 4 * 2.0**-23}

PRELUDE = """
import itertools
import warnings
import numpy as np
from shim_script import attempt, dump, on_device, report, residency
np.seterr(all="ignore")
CLIP = (np.core if np.__version__ < "2" else np._core).umath.clip


def array(dtype, n=24, seed=0):
    random = np.random.RandomState(seed)
    values = random.randint(0 if dtype in "BHIL" else -30, 30, n)
    if dtype in "efd":
        return on_device(np.array(values / 4, dtype))
    if dtype in "FD":
        return on_device(np.array(values / 4 + 1j * values[::-1], dtype))
    return on_device(values > 0) if dtype == "?" else on_device(values.astype(dtype))


def zeros(dtype, n=24):
    return on_device(np.zeros(n, dtype))


def device_calls():
    live = report()
    return live and sum(row["device_calls"] for row in live["operations"])


def expect_device(name, function):
    before = device_calls()
    result = function()
    assert before is None or device_calls() > before, name
    return result
"""


class TestOutputs(shim_runner.TestCase):
    def test_two_outputs(self):
        self.assert_same(PRELUDE + """
for name, f, inputs in [("divmod", np.divmod, ("d", "d")), ("modf", np.modf, ("f",)),
                        ("frexp", np.frexp, ("d",)), ("divmod l", np.divmod, ("l", "b"))]:
    args = [array(d, seed=i) for i, d in enumerate(inputs)]
    for d, e in [("d", "d"), ("f", "i"), ("d", "i"), ("l", "l"), ("F", "D"), ("?", "d")]:
        for form in ["x,y", "x", "(x,y)", "(x,None)", "(None,y)", "(None,None)", "None", "(x,)",
                "[x,y]", "x,None",
                     "None,y", "same"]:
            for casting in ["same_kind", "unsafe"]:
                x, y = zeros(d), zeros(e)
                label = "%s %s%s %s %s" % (name, d, e, form, casting)
                if form[0] in "([N":
                    r = attempt(label, f, *args, out=eval(form), casting=casting)
                elif form == "same":
                    r = attempt(label, f, *args, x, x, casting=casting)
                else:
                    r = attempt(label, f, *args, *eval("(%s,)" % form), casting=casting)
                print(label, [item is x or item is y for item in r] if type(r) is tuple else "")
                if form != "same":
                    dump(label + " x", x)
                    dump(label + " y", y)
a = array("d")
expect_device("divmod", lambda: np.divmod(a, 3))
expect_device("modf", lambda: np.modf(a, out=(a, None)))
dump("modf in place", a)
dump("divmod operator", divmod(array("l"), 7))
x, y = array("d"), array("d", seed=1)
np.divmod(x, y, out=(y, x))  # each output is the other input
dump("crossed", [x, y])
""")

    def test_overlap(self):
        self.assert_same(PRELUDE + """
def views(base):
    square = base[:16].reshape(4, 4)
    return {"all": base, "head": base[:12], "tail": base[12:], "even": base[::2], "odd": base[1::2],
            "reversed": base[:12][::-1], "shifted": base[1:13], "late": base[5:17],
                    "square": square,
            "transposed": square.T, "row": square[1], "column": square[:, 2], "one": base[3:4],
                    "rows": square[1:]}


names = list(views(np.zeros(24)))
for x, y, z in itertools.product(names, repeat=3):
    for d in "d":
        base = array(d)
        v = views(base)
        if v[x].shape == v[z].shape and v[y].shape in (v[x].shape, v["one"].shape):
            attempt("add %s %s %s" % (x, y, z), np.add, v[x], v[y], out=v[z])
            dump("after add %s %s %s" % (x, y, z), base)
for x, z in itertools.product(names, repeat=2):
    base = array("d")
    v = views(base)
    if v[x].shape == v[z].shape:
        attempt("negative %s %s" % (x, z), np.negative, v[x], v[z])
        dump("after negative %s %s" % (x, z), base)
        mask = v[x] > 0
        attempt("masked %s %s" % (x, z), np.square, v[x], out=v[z], where=mask)
        dump("after masked %s %s" % (x, z), base)
base = array("d")
narrow = base.view("f")[:24]
attempt("other width", np.multiply, base, 2, out=narrow)
dump("other width after", base)
flags = array("?")
attempt("mask is output", np.logical_not, flags, out=flags, where=flags)
dump("mask is output after", flags)
""")

    def test_casting(self):
        self.assert_same(PRELUDE + """
for f in [np.add, np.divide, np.less, np.square, np.absolute, np.logical_and, np.ldexp]:
    for d, e in itertools.product("?bLfdF", repeat=2):
        for casting in ["no", "equiv", "safe", "same_kind", "unsafe"]:
            out = on_device(np.full(24, 1).astype(e))
            label = "%s %s %s %s" % (f.__name__, d, e, casting)
            attempt(label, f, *[array(d, seed=i) for i in range(f.nin)], out=out, casting=casting)
            dump(label + " out", out)
            attempt(label + " mixed", f, *[array(c) for c in (d, e)[:f.nin]], casting=casting)
""", rtol={"absolute F": 1e-6})


class TestMask(shim_runner.TestCase):
    def test_where(self):
        self.assert_same(PRELUDE + """
a, b = array("d"), array("d", seed=1)
m = array("?")
for f in [np.add, np.sqrt, np.less, np.divmod, np.modf, np.power, CLIP]:
    args = [a, b, b + 5][:f.nin]
    outs = lambda: tuple(on_device(np.full(24, 7.0)) for _ in range(f.nout))
    for label, mask in [("array", m), ("none", m & False), ("all", m | True), ("slice",
            np.repeat(m, 2)[::2]),
                        ("one", m[:1]), ("reversed", m[::-1]), ("integers", m.astype("i")),
                                ("list", m.tolist()),
                        ("scalar", np.True_), ("False", False), ("True", True), ("not given", np._NoValue), ("None", None),
                                ("0-d", np.array(True)),
                        ("too long", array("?", 25)), ("2-d", array("?", 48).reshape(2, 24)),
                                ("unit", m[None])]:
        out = outs()
        r = attempt("%s %s" % (f.__name__, label), f, *args, out=out, where=mask)
        dump("%s %s out" % (f.__name__, label), list(out))
    # Without out, only the elements where the mask is true mean anything.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = f(*args, where=m)
        dump("%s fresh" % f.__name__, [item[m] for item in (r if f.nout > 1 else (r,))])
wide = array("?", 48).reshape(2, 24)
attempt("mask broadens", lambda: np.add(a, b, where=wide, out=None)[wide])
out = zeros("d", 48).reshape(2, 24)
expect_device("mask", lambda: np.add(a, b, out=out, where=wide))
dump("broad", out)
expect_device("not given", lambda: np.add(a, b, out=out, where=np._NoValue))
f_mask = array("?", 24).reshape(4, 6, order="F")
r = np.add(a.reshape(4, 6), 1, where=f_mask, out=None)
dump("order of masks", r.strides)
r = np.negative(1.5, where=f_mask, out=None)
dump("order of a mask alone", r.strides)
for e in "fFDi?":
    out = on_device(np.full(24, 1).astype(e))
    attempt("cast %s" % e, np.add, a, 1.5, out=out, where=m, casting="unsafe")
    dump("cast %s out" % e, out)
a += a * 2
dump("after", a)
""", rtol={"power": 1e-12})


class TestLoops(shim_runner.TestCase):
    def test_dtype_and_signature(self):
        self.assert_same(PRELUDE + """
names = ["?", "b", "l", "L", "e", "f", "d", "F", "g", "O", "f8", ">f8", "m8", float, int,
        complex, bool, np.float32,
         np.dtype("d"), None, "x"]
for f in [np.add, np.divide, np.less, np.sqrt, np.bitwise_and, np.isnan, np.logical_or, np.modf,
        np.ldexp, CLIP]:
    for d in "?lfF":
        args = [array(d, seed=i) for i in range(f.nin)]
        for name in names:
            for casting in ["same_kind", "unsafe"]:
                attempt("%s %s dtype %s %s" % (f.__name__, d, name, casting), f, *args,
                        dtype=name, casting=casting)
signatures = ["dd->d", "ff->f", "ll->l", "??->?", "dd->?", "bb->b", "FF->F", "d->d", "d", "dd",
        "dl->d", "di->d", "ddd->d",
              ("d", "d", "d"), (None, None, "f"), ("f", None, None), (None, None, None), ("d",),
                      ("d", "d"), (int, int, float),
              (None, None, np.dtype("d")), "gg->g", "qq->q", b"dd->d", None, "dd->dd"]
for f in [np.add, np.divide, np.less, np.logical_and, np.ldexp, np.sqrt, np.power, np.divmod]:
    for d in "?lfd":
        args = [np.abs(array(d, seed=i)) if f is np.power else array(d,
                seed=i) for i in range(f.nin)]
        for i, signature in enumerate(signatures):
            for keyword in ["signature", "sig"]:
                attempt("%s %s %s %d" % (f.__name__, d, keyword, i), f, *args,
                        **{keyword: signature, "casting": "unsafe"})
            attempt("%s %s scalar %d" % (f.__name__, d, i), f, *(args[:1] + [3, 3])[:f.nin],
                    signature=signature)
a = array("l")
attempt("both", np.add, a, a, dtype="d", signature="dd->d")
attempt("twice", np.add, a, a, sig="dd->d", signature="dd->d")
expect_device("dtype", lambda: np.add(a, a, dtype="d"))
expect_device("signature", lambda: np.add(a, a, signature="dd->d"))
expect_device("tuple", lambda: np.add(a, a, signature=(None, None, "d")))
expect_device("truth", lambda: np.logical_and(array("d"), array("f")))
expect_device("truth of halves", lambda: np.logical_and(array("d") / 100, 0.5))
dump("truth", np.logical_and(array("d") / 100, 0.5))
""", rtol=dict(shim_runner.off_host(ROOTS), power=1e-3))

    def test_keywords(self):
        self.assert_same(PRELUDE + """
a, b = array("d"), array("d", seed=1)
for i, keywords in enumerate([dict(subok=True), dict(subok=False), dict(subok=1),
        dict(order="C"), dict(order="K"),
                              dict(order="x"), dict(order=None), dict(order="Keep"),
                                      dict(casting="nonsense"), dict(casting=None),
                              dict(extobj=[8192, 0, None]), dict(keepdims=True), dict(axis=0),
                                      dict(out=...), dict(unknown=1),
                              dict(out=None, where=a > 0, order="F", casting="safe", subok=True,
                                      dtype="d")]):
    r = attempt("add %d" % i, np.add, a, b, **keywords) if "where" not in keywords else np.add(a,
            b, **keywords)
    attempt("divmod %d" % i, np.divmod, a, 3.0, **keywords) if "where" not in keywords else None
attempt("maximum", np.maximum, a, b, zeros("d"))
attempt("maximum out", np.maximum, a, b, out=zeros("d"))
attempt("ellipsis", np.add, a, b, ...)
attempt("ellipses", np.divmod, a, b, out=...)
attempt("0-d ellipsis", np.add, np.array(2.0), 3, out=...)
attempt("0-d", np.add, np.array(2.0), 3)
attempt("0-d out", np.add, np.array(2.0), 3, out=np.array(0.0))
for n in range(6):
    attempt("%d arguments" % n, np.divmod, *[a, b, zeros("d"), zeros("d"), zeros("d"), a][:n])
for seven, base in [("int", array("l")), ("small", array("b")), ("unsigned",
        np.abs(array("b")).view("B"))]:
    for i, exponent in enumerate([2, 0, -1, 3.0, 2.5, np.int8(2), np.int8(-2), np.uint8(3), True,
            base, np.abs(base), base.astype("l") * 0,
                     -1.0, 0.5, 2j]):
        attempt("power %s %d" % (seven, i), lambda: base ** exponent)
        attempt("reversed power %s %d" % (seven, i), lambda: exponent ** base)
expect_device("powers", lambda: np.power(base, np.abs(base)))
roots = on_device(np.array([-np.inf, -0.0, 0.0, 4.0, -1.0, np.inf, np.nan]))
for i, exponent in enumerate([0.5, np.float64(0.5), np.float32(0.5), np.array(0.5), -1, 0, 1, 2,
        2.0, -0.5]):
    attempt("power of special values %d" % i, np.power, roots, exponent)
""", rtol={"power": 1e-12})

    def test_roots_by_power(self):
        """NumPy 2 takes the root of minus zero and infinity, too, and names its warning after power; what it casts hangs on its iterator."""
        self.assert_same(PRELUDE + """
np.seterr(all="warn", under="ignore")
warnings.simplefilter("always")
roots = np.resize([-np.inf, -0.0, 0.0, 4.0, -1.0, np.inf, np.nan, 2.0, 5e-324], 36)
for dtype in "efdbBhHiIlL?":
    x = on_device(roots.astype(dtype) if dtype in "efd" else np.resize([0, 1, 2, 3, 100], 36).astype(dtype))
    for i, exponent in enumerate([0.5, np.float64(0.5), np.float32(0.5), np.float16(0.5), np.array(0.5), np.array([0.5]), np.broadcast_to(0.5, 36)]):
        attempt("%s %d power" % (dtype, i), np.power, x, exponent)
        attempt("%s %d operator" % (dtype, i), lambda: x ** exponent)
        attempt("%s %d out" % (dtype, i), np.power, x, exponent, zeros("d", 36))
        attempt("%s %d narrow" % (dtype, i), lambda: np.power(x, exponent, zeros("f", 36), casting="unsafe"))
        attempt("%s %d where" % (dtype, i), lambda: np.power(x, exponent, zeros("d", 36), where=x > 1))
        attempt("%s %d steps" % (dtype, i), np.power, x.reshape(6, 6)[::2, ::-1].T, exponent)
    attempt("%s all" % dtype, np.power, x, on_device(np.full(36, 0.5)))
    attempt("%s one" % dtype, np.power, x[1:2], 0.5)
attempt("negative integers", lambda: on_device(np.arange(-9, 9)) ** 0.5)
with np.errstate(invalid="raise"):
    attempt("raised", lambda: np.power(on_device(np.array([4, -1.0] * 9)), 0.5))
whole = on_device(np.arange(200000))
for i, root in enumerate([whole ** 0.5, np.power(whole * 1.0, 0.5), np.power(whole.astype("f"), 0.5)]):
    assert residency(root) in ("plain", "device"), residency(root)
    dump("root %d" % i, root)
""", rtol={"^e [^:]*$": 2e-3, "^[^:]* (all|one)$" if np.__version__ >= "2" else "^[^:]*$": 1e-6})

    def test_promotion_state(self):
        """NumPy 1.24 to 1.26 can be told to promote as NumPy 2 does."""
        self.assert_same(PRELUDE + """
a = array("e")
for state in ["legacy", "weak", "weak_and_warn", "legacy"]:
    if hasattr(np, "_set_promotion_state"):
        np._set_promotion_state(state)
    for i, scalar in enumerate([2, 3.0, np.float64(1.5), np.float32(0.5), 70000.0, 1j]):
        for f in [np.add, np.power, np.less]:
            for again in range(2 if state[-1] != "y" else 1):
                print(state, i, f.__name__, np.asarray(f(a, scalar)).dtype)
    print(state, [np.add(b, 200).dtype if state[0] == "l" else 0 for b in (array("b"), array("B"))]
          if np.__version__ < "2" else "")
""")

    def test_subclasses(self):
        """They reach the device from the loops of NumPy."""
        self.assert_same(PRELUDE + """
class Plain(np.ndarray):
    pass


n = 3000
for name, f, dtypes in [("divmod", np.divmod, "dd"), ("modf", np.modf, "f"), ("frexp", np.frexp,
        "d"), ("clip", CLIP, "ddd"),
                        ("clip narrow", CLIP, "bbb"), ("logical_and", np.logical_and, "dl"),
                                ("logical_or", np.logical_or, "ee"),
                        ("ldexp", np.ldexp, "di"), ("ldexp long", np.ldexp, "fl"), ("absolute",
                                np.absolute, "F"),
                        ("isnan", np.isnan, "F"), ("gcd", np.gcd, "BB"), ("power", np.power,
                                "ll"), ("equal", np.equal, "FF"),
                        ("invert", np.invert, "H"), ("multiply", np.multiply, "ee"), ("less",
                                np.less, "Ll")]:
    inputs = [array(d, n, seed=i).view(Plain) for i, d in enumerate(dtypes)]
    if name == "power":
        inputs[1] = np.abs(inputs[1])
    attempt(name, f, *inputs)
    attempt(name + " strided", f, *[x[::-2] for x in inputs])
    attempt(name + " scalar", f, *(inputs[:1] + [3] * (len(inputs) - 1)))
a, b = array("d", n).view(Plain), array("d", n, seed=1).view(Plain)
expect_device("divmod", lambda: np.divmod(a, b))
expect_device("clip", lambda: CLIP(a, b, b + 1))
for i, exponents in enumerate([b.astype("l"), -1]):
    attempt("power refused %d" % i, np.power, a.astype("l"), exponents)
with np.errstate(all="warn"):
    attempt("warned", np.divide, a, b * 0)
    attempt("overflow", np.multiply, a.astype("e"), np.float16(60000))
with np.errstate(over="raise", invalid="raise", divide="raise"):
    attempt("raised", np.divide, a + 100, b * 0)
    attempt("invalid", np.sqrt, -a - 100)
    attempt("integers", np.floor_divide, a.astype("l"), 0)
    attempt("fine", np.sqrt, np.abs(a))
""", rtol={"absolute": 1e-6}, env={"GPUSHIM_ARENA_MIN": "1"})


class TestOrder(shim_runner.TestCase):
    def test_order(self):
        self.assert_same(PRELUDE + """
base = on_device(np.arange(120.0))
views = {"c": base.reshape(4, 5, 6), "f": base.reshape(6, 5, 4).T, "swapped": base.reshape(5, 4,
        6).swapaxes(0, 1),
         "slice": base.reshape(4, 5, 6)[:, ::2], "narrow": base.astype("f").reshape(4, 5, 6),
                 "row": base[:6],
         "unit": base[:24].reshape(4, 1, 6), "f unit": base[:24].reshape(6, 1, 4).T,
                 "column": base[:4].reshape(4, 1, 1),
         "ones": base[:1].reshape(1, 1, 1), "f narrow": base.astype("f").reshape(6, 5, 4).T,
                 "reversed": base.reshape(4, 5, 6)[::-1]}
for order in "CFAK":
    for x in views:
        for f in [np.negative, np.modf, np.isnan]:
            attempt("%s %s %s" % (f.__name__, x, order), f, views[x], order=order)
        for y in views:
            try:
                np.broadcast(views[x], views[y])
            except ValueError:
                continue
            for f in [np.add, np.less, np.divmod]:
                attempt("%s %s %s %s" % (f.__name__, x, y, order), f, views[x], views[y],
                        order=order)
            attempt("clip %s %s %s" % (x, y, order), CLIP, views[x], views[y], 50.0, order=order)
    out = on_device(np.zeros(120)).reshape(6, 5, 4).T
    attempt("divmod half given %s" % order, np.divmod, views["c"], 7, out=(out, None), order=order)
""")


class TestOuter(shim_runner.TestCase):
    def test_outer(self):
        self.assert_same(PRELUDE + """
class Plain(np.ndarray):
    pass


a, b = array("d"), array("l", seed=1)
operands = {"a": a, "b": b, "2-d": a.reshape(4, 6), "f": a.reshape(4, 6).T, "strided": a[::-3],
        "0-d": np.array(2.0), "scalar": 3,
            "list": [1, 2, 3], "empty": a[:0], "subclass": a.view(Plain), "half": a.astype("e"),
                    "float": 2.5,
            "matrix": np.matrix([[1.0, 2.0]]), "many": np.zeros((1,) * 20), "bool": a > 0}
for x, y in itertools.product(operands, repeat=2):
    for f in [np.add, np.less, np.divmod, np.arctan2]:
        attempt("%s %s %s" % (f.__name__, x, y), f.outer, operands[x], operands[y])
out = zeros("d", 576).reshape(24, 24)
for i, keywords in enumerate([dict(out=out), dict(out=(out,)), dict(dtype="f"), dict(order="F"),
        dict(casting="no"),
                              dict(out=out, where=out > 100), dict(out=out.T), dict(subok=False),
                                      dict(nonsense=1)]):
    r = attempt("keywords %d" % i, np.multiply.outer, a, b, **keywords)
    print(i, r is out)
    dump("keywords %d out" % i, out)
attempt("none", np.add.outer)
attempt("one", np.add.outer, a)
attempt("three", np.add.outer, a, b, out)
attempt("unary", np.negative.outer, a)
attempt("three inputs", CLIP.outer, a, b)
expect_device("outer", lambda: np.add.outer(a, b))
expect_device("outer with 0-d", lambda: np.add.outer(a, np.array(3)))
""", rtol={"arctan2": 1e-5})


if __name__ == "__main__":
    unittest.main()
