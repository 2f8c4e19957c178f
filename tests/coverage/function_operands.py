# SPDX-License-Identifier: Apache-2.0
"""The calls of function_cases.txt and their operands, which are made of exact operations only: two processes that make
them have the same bits. Results are compared as trees of plain arrays and numbers."""
import ast
import importlib
import io
import os
import pickle
import re
import sys

import numpy as np

N = 2_000_000
CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "function_cases.txt")


def noise(factor, count=N):
    """Numbers of [0, 1)."""
    return (np.arange(count) * factor) % 2097143 * 2.0 ** -21


def diagonal(rows, columns):
    """At least as many rows as columns, 40, 40.1, ... on the diagonal: noise, whose rank is low, becomes well-conditioned by it, and
    its eigenvalues distinct."""
    place = np.arange(rows * columns)
    is_on_it = (place % (columns + 1) == 0) & (place < columns * columns)
    return np.where(is_on_it, 40 + place / (columns + 1) / 10, 0.0).reshape(rows, columns)


def eye(size):
    return (np.arange(size * size) % (size + 1) == 0).reshape(size, size) * 1.0


def sparse_matrix(kind):
    """20,000 x 20,000, 50 numbers a row; its arrays are computed ones."""
    rows = 20000
    indices = ((np.arange(rows * 50) * 7919) % rows).astype("i4")
    starts = (np.arange(rows + 1) * 50).astype("i4")
    matrix = importlib.import_module("scipy.sparse").csr_matrix((noise(7919, rows * 50), indices, starts), shape=(rows, rows))
    matrix = matrix.asformat(kind)
    for part in ("data", "indices", "indptr", "row", "col"):
        if isinstance(getattr(matrix, part, None), np.ndarray):
            setattr(matrix, part, getattr(matrix, part) * 1)
    return matrix


def positive_definite(size):
    matrix = noise(7919, size * size).reshape(size, size)
    return matrix @ matrix.T + eye(size) * 9


def masked(factor, every, shape=N):
    return np.ma.MaskedArray(noise(factor).reshape(shape), mask=((np.arange(N) % every) == 0).reshape(shape))


OPERANDS = {
    "x": lambda: noise(7919) * 1024, "y": lambda: noise(104729) * 1024, "u": lambda: noise(7919),
    "s": lambda: noise(104729) * 2 - 1, "f": lambda: (noise(7919) * 1024).astype("f4"),
    "z": lambda: noise(7919) + 1j * noise(104729), "i": lambda: (np.arange(N) * 7919) % N,
    "k": lambda: (np.arange(N) * 7919) % 997, "b": lambda: (np.arange(N) * 7919) % 997 < 400,
    "c": lambda: ((np.arange(N) * 104729) % 251).astype("u1"), "q": lambda: np.arange(N) * 1.0,
    "o": lambda: np.arange(N) * 0.0,
    "xn": lambda: np.where((np.arange(N) % 97) == 5, np.nan, noise(7919) * 1024),
    "A": lambda: (noise(7919) * 1024).reshape(1000, 2000), "B": lambda: noise(104729, 10 ** 6).reshape(2000, 500),
    "An": lambda: np.where((np.arange(N) % 97) == 5, np.nan, noise(7919)).reshape(1000, 2000),
    "Ab": lambda: ((np.arange(N) * 7919) % 997 < 400).reshape(1000, 2000),
    "Ai": lambda: ((np.arange(N) * 7919) % 1000).reshape(1000, 2000),
    "T": lambda: noise(7919).reshape(100, 100, 200), "V": lambda: noise(7919, 1800000).reshape(600000, 3),
    "W": lambda: noise(104729, 1800000).reshape(600000, 3),
    "S": lambda: noise(7919, 360000).reshape(600, 600) + diagonal(600, 600), "P": lambda: positive_definite(400),
    "L": lambda: np.tril(noise(7919, 360000).reshape(600, 600) + diagonal(600, 600)) * 1.0,
    "R": lambda: noise(104729, 240000).reshape(600, 400) + diagonal(600, 400), "r": lambda: noise(104729, 200000),
    "us": lambda: noise(7919, 200000), "vs": lambda: noise(104729, 200000), "js": lambda: (np.arange(200000) * 7) % 5,
    "ws": lambda: noise(1299709, 200000), "zs": lambda: noise(7919, 200000) + 1j * noise(104729, 200000),
    "G": lambda: noise(7919, 512 * 512).reshape(512, 512), "Gb": lambda: noise(7919, 512 * 512).reshape(512, 512) > 0.4,
    "Gi": lambda: (np.arange(512 * 512) // 4096).reshape(512, 512), "D": lambda: noise(7919, 100000).reshape(1000, 100),
    "E": lambda: noise(104729, 100000).reshape(1000, 100), "m1": lambda: noise(7919, 1500),
    "rows": lambda: (np.arange(50000) * 7) % 1000, "cols": lambda: (np.arange(50000) * 11) % 2000,
    "v2": lambda: noise(7919, 20000), "M": lambda: sparse_matrix("csr"), "C": lambda: sparse_matrix("csc"),
    "O": lambda: sparse_matrix("coo"), "mx": lambda: masked(7919, 7) * 1024.0, "my": lambda: masked(104729, 5) * 1024.0,
    "mA": lambda: masked(7919, 7, (1000, 2000))}

# --- cases that follow a rule --------------------------------------------------------------------

UFUNC_OPERANDS = {"ldexp": "x, (k % 5)", "matmul": "A, B", "matvec": "A, A[0]", "vecmat": "A[:, 0], A", "vecdot": "A, A",
                  "float_power": "x, u", "power": "x, u", "nextafter": "x, y", "arccos": "u", "arcsin": "u", "arctanh": "u"}
RANDOM = {"beta": "2.0, 3.0", "binomial": "10, 0.3", "chisquare": "3.0", "exponential": "2.0", "f": "3.0, 4.0",
          "gamma": "2.0, 1.0", "geometric": "0.3", "gumbel": "", "hypergeometric": "10, 20, 5", "laplace": "", "logistic": "",
          "lognormal": "", "logseries": "0.5", "negative_binomial": "5, 0.5", "noncentral_chisquare": "3.0, 1.0",
          "noncentral_f": "3.0, 4.0, 1.0", "normal": "", "pareto": "3.0", "poisson": "3.0", "power": "3.0", "rayleigh": "",
          "standard_cauchy": None, "standard_exponential": None, "standard_gamma": "2.0", "standard_normal": None,
          "standard_t": "3.0", "triangular": "0.0, 0.3, 1.0", "uniform": "", "vonmises": "0.0, 1.0", "wald": "1.0, 1.0",
          "weibull": "2.0", "zipf": "3.0", "random": None}
SPECIAL = """airy bdtr bdtrc bdtri beta betainc betaincinv betaln binom boxcox boxcox1p btdtr btdtri cbrt chdtr chdtrc chdtri
cosdg cosm1 cotdg dawsn digamma ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1 entr erf erfc erfcinv erfcx erfinv exp1
exp10 exp2 expi expit expm1 expn exprel fdtr fdtrc fdtri fresnel gamma gammainc gammaincc gammainccinv gammaincinv gammaln
gammasgn gdtr gdtrc huber hyp1f1 hyp2f1 i0 i0e i1 i1e inv_boxcox inv_boxcox1p iv j0 j1 jv k0 k0e k1 k1e kl_div kv log1p
log_expit log_ndtr loggamma logit lpmv nbdtr nbdtrc nbdtri ndtr ndtri owens_t pdtr pdtrc pdtri poch powm1 pseudo_huber psi
radian rel_entr rgamma round shichi sici sindg spence stdtr struve tandg voigt_profile wofz wright_bessel xlog1py xlogy y0
y1 yn yv zetac"""
# Of these, what CuPy 14.2 has not.
NOT_IN_CUPY = set("""np.matvec np.spacing np.vecdot np.vecmat special.airy special.dawsn special.ellipe special.fresnel
special.hyp1f1 special.hyp2f1 special.iv special.jv special.kv special.owens_t special.powm1 special.spence special.stdtr
special.struve special.voigt_profile special.wofz special.yv Generator.gumbel Generator.laplace Generator.logistic
Generator.lognormal Generator.negative_binomial Generator.noncentral_chisquare Generator.noncentral_f Generator.normal
Generator.pareto Generator.rayleigh Generator.standard_cauchy Generator.standard_t Generator.triangular Generator.vonmises
Generator.wald Generator.weibull Generator.zipf""".split())


class Case:
    def __init__(self, area, name, flags, code):
        self.area, self.name, self.code = area, name, code
        self.signs_are_free = "A" in flags
        self.in_cupy = "C" not in flags and name not in NOT_IN_CUPY


def listed_cases():
    area = ""
    with open(CASES, encoding="utf-8") as stream:
        for line in stream.read().splitlines():
            if line.startswith("["):
                area = line.strip("[]")
            elif line and not line.startswith("#"):
                head, code = line.split(": ", 1)
                name, _, flags = head.partition(" !")
                yield Case(area, name, flags, code)


def ufunc_cases():
    for name in sorted(dir(np)):
        function = getattr(np, name)
        if isinstance(function, np.ufunc) and function.__name__ == name and name != "isnat":
            loops = [loop for loop in function.types if "O" not in loop]
            is_real = any("d" in loop.split("->")[0] for loop in loops)
            code = UFUNC_OPERANDS.get(name, ", ".join((["x", "y"] if is_real else ["i", "k"])[:function.nin]))
            yield Case("NumPy: ufuncs", "np." + name, "", "np.%s(%s)" % (name, code))


def random_cases():
    for name, arguments in RANDOM.items():
        given = "300000" if arguments is None else ", ".join(filter(None, [arguments, "size=300000"]))
        for kind, variable in (("Generator", "rng"), ("RandomState", "rs")):
            if (kind, name) != ("RandomState", "random"):
                yield Case("NumPy: random", "%s.%s" % (kind, name), "", "%s.%s(%s)" % (variable, name, given))


def special_cases():
    special = importlib.import_module("scipy.special")
    for name in SPECIAL.split():
        function = getattr(special, name, None)
        if isinstance(function, np.ufunc):
            types = next(loop for loop in function.types if not set("fF") & set(loop)).split("->")[0]
            doubles = iter(("us", "vs", "ws", "us", "vs"))
            code = ", ".join("js" if kind in "lpq" else next(doubles) for kind in types)
            yield Case("scipy.special", "special." + name, "", "S_special.%s(%s)" % (name, code))


def all_cases():
    """{name: Case}; without SciPy those of NumPy."""
    cases = [*listed_cases(), *ufunc_cases(), *random_cases()]
    try:
        cases += special_cases()
    except ImportError:
        cases = [case for case in cases if "S_" not in case.code and "scipy" not in case.area]
    return {case.name: case for case in cases}


# --- one call ------------------------------------------------------------------------------------

def prepare(code, scratch):
    """(names of the operands, names for the code); `scratch` is a file's path."""
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    names = {"np": np, "n": N, "io": io, "pickle": pickle, "tmp": scratch}
    for name in used:
        if name.startswith("S_"):
            names[name] = importlib.import_module("scipy." + name[2:].replace("_", "."))
    operands = sorted(used & set(OPERANDS))
    names.update((name, OPERANDS[name]()) for name in operands)
    names["rng"], names["rs"] = np.random.default_rng(5), np.random.RandomState(5)
    np.random.seed(5)
    return operands, names


def run(code, names):
    """The value of the last expression, or None."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<case>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<case>", "eval"), names) if last else None


def parts(value):
    """The plain arrays that a value consists of."""
    if isinstance(value, np.ma.MaskedArray):
        yield np.ma.getdata(value)
        if value.mask is not np.ma.nomask:
            yield value.mask
    elif isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)) and len(value) < 100:
        for part in value:
            yield from parts(part)
    elif "scipy" in sys.modules and hasattr(value, "tocoo"):
        for name in ("data", "indices", "indptr", "row", "col"):
            if isinstance(getattr(value, name, None), np.ndarray):
                yield getattr(value, name)


def canonical(value):
    """A tree of plain arrays and numbers that can be pickled and compared."""
    if isinstance(value, np.ma.MaskedArray):
        return [np.ma.getdata(np.ma.filled(value, 0)), np.ma.getmaskarray(value)]
    if isinstance(value, np.ndarray):
        return np.array(value, copy=True, subok=False)
    if isinstance(value, (tuple, list)):
        return [canonical(part) for part in value]
    if hasattr(value, "tocoo"):
        value = value.tocsr()
        value.sort_indices()
        return [np.array(value.data), np.array(value.indices), np.array(value.indptr)]
    if value is None or isinstance(value, (int, float, complex, str, bytes, bool, np.generic)):
        return value
    if hasattr(value, "statistic"):
        return [float(np.asarray(value.statistic).ravel()[0])]
    return type(value).__name__


def differ_in_floats(got, expected):
    """Where they differ by more than rounding; of one dtype and shape."""
    with np.errstate(all="ignore"):
        scale = np.nanmax(np.where(np.isfinite(expected), np.abs(expected), 0)) if expected.size else 0
        narrow = expected.dtype.itemsize <= (8 if expected.dtype.kind == "c" else 4)
        rtol = 1e-4 if narrow else 1e-8
        return ~np.isclose(got, expected, rtol=rtol, atol=rtol * 1e-2 * float(scale), equal_nan=True)


def difference(got, expected, signs_are_free):
    """None where they agree, else words."""
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return "another structure"
        found = (difference(one, other, signs_are_free) for one, other in zip(got, expected))
        return next(filter(None, found), None)
    if isinstance(expected, (bool, str, bytes, type(None))):
        return None if got == expected else "%r, expected %r" % (got, expected)
    got, expected = np.asarray(got), np.asarray(expected)
    if (got.shape, got.dtype) != (expected.shape, expected.dtype):
        return "%s %s, expected %s %s" % (got.shape, got.dtype, expected.shape, expected.dtype)
    if signs_are_free:
        got, expected = np.abs(got), np.abs(expected)
    wrong = differ_in_floats(got, expected) if expected.dtype.kind in "fc" else got != expected
    return "%d of %d differ" % (wrong.sum(), expected.size) if wrong.any() else None


def matches(pattern):
    return {name: case for name, case in all_cases().items() if re.search(pattern, name)}
