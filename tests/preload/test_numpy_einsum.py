# SPDX-License-Identifier: Apache-2.0
"""einsum against plain NumPy: contractions, batches, diagonals, broadcasting, ellipses, and what stays with NumPy."""
import shim_runner
from test_numpy_products import PRELUDE


class TestEinsum(shim_runner.TestCase):
    def test_subscripts(self):
        self.assert_same(PRELUDE + '''
sizes = dict(i=4, j=5, k=6, l=3, b=2, A=7)
ways = ["ij,jk->ik", "ij,jk", "ij,jk->ki", "ji,jk->ik", "ij,kj->ik", "bij,bjk->bik", "bij,bkj->kbi", "bij,jk->bik", "bij,bj->bi",
        "i,i", "i,i->", "i,i->i", "i,j->ij", "i,j->ji", "ij,ij->ij", "ij,ji->ij", "ij,ij", "ij,ij->i", "ij,ij->j", "ij,i->ij", "ij,j->i",
        "ijk,kl->ijl", "ijk,jkl->il", "ijk,kjl->il", "bijk,bkl->bijl", "iij,jk->ik", "ii,ij->j", "ii,ij->ij", "ij,k->ik", "ij,k->i",
        "ij,kl->ijkl", "ijk,l->lkji", "Aj,jA->A", " i j , j k -> i k ", "...ij,...jk->...ik", "...j,j->...", "i...,...->i...", "...,...",
        "b...j,bj->b...", "ij,jk->ijk", "bi,bj->bij", "ijkl,klij->", "ij,->ij", ",ij"]
for turn, subscripts in enumerate(ways * 3):
    dtype = "dfDliB?FhI"[turn % 10]
    terms = subscripts.replace(" ", "").split("->")[0].split(",")
    arrays = [view(make(tuple(sizes[c] for c in term.replace("...", "lb")), dtype)) for term in terms]
    attempt("%s %s %d" % (subscripts, dtype, turn), np.einsum, subscripts, *arrays)
    attempt("optimal %s %s %d" % (subscripts, dtype, turn), np.einsum, subscripts, *arrays, optimize=True)
''', rtol=0, device="einsum")

    def test_broadcast(self):
        self.assert_same(PRELUDE + '''
a, b, c = on_device(make((4, 1), "d")), on_device(make((5, 6), "d")), on_device(make((1, 6), "d"))
attempt("summed", np.einsum, "ij,jk->ik", a, b); attempt("kept", np.einsum, "ij,jk->ijk", a, b)
attempt("first", np.einsum, "ij,ij->ij", c, b); attempt("all", np.einsum, "...i,...i->...", c, b)
attempt("ranks", np.einsum, "...i,...i->...i", on_device(make((3, 5, 6), "d")), b)
attempt("mixed", np.einsum, "ij,jk", on_device(make((4, 5), "i")), b)
attempt("wraps", np.einsum, "ij,kj->ik", on_device(np.full((4, 300), 100, "b")), on_device(np.full((4, 300), 77, "b")))
''', rtol=0, device="einsum")

    def test_small_operand_of_another_dtype(self):
        """In mode auto a matrix that is too small for a cast on the device does not bring the other operand home."""
        result = self.shim_run("""
import time
import numpy as np
from shim_script import residency
x, turn = np.random.default_rng(7).random(1 << 20), np.array([[1.0, 1], [1, -1]])
for attempt in range(1000):
    z = np.exp(np.sin(x) * 1j)
    if residency(z) in ("plain", "device"):
        break
    time.sleep(0.01)
assert residency(z) in ("plain", "device"), residency(z)
y = np.einsum("ij,ajb->aib", turn, z.reshape(512, 2, -1))
assert residency(y) in ("plain", "device"), residency(y)
a = z.reshape(512, 2, -1)
expected = np.stack([a[:, 0] + a[:, 1], a[:, 0] - a[:, 1]], axis=1)
assert y.dtype == "D" and np.array_equal(y, expected)
""", env={"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "GPUSHIM_FPERR": "off"})
        self.assertEqual(result.returncode, 0, result)

    def test_dtypes_of_three_operands(self):
        report = shim_runner.run("""
import numpy as np
x, a = np.random.default_rng(1).random((700, 700)) * 2, np.arange(700)
print(np.einsum("ij,i,j->", x, a, a))
""").report
        self.assertLess(shim_runner.counter(report, "download_bytes"), 10000)

    def test_zeros(self):
        self.assert_same(PRELUDE + '''
for dtype in "fdFDhb":
    a, b = (on_device(np.array(values).astype(dtype)) for values in ([[-1, 2, 0], [0, -3, 5]], [0, -2, 1]))
    for subscripts in "ij,j->ij", "ij,k->kij", "...j,j", "ij,ij->ji":
        dump("%s %s" % (subscripts, dtype), np.einsum(subscripts, a, a if subscripts == "ij,ij->ji" else b * 0))
    attempt("none " + dtype, np.einsum, ",->", np.array(-1, dtype), np.array(0, dtype))
    out = np.ones((2, 3), dtype); attempt("out " + dtype, lambda: (np.einsum("ij,j->ij", a, b * 0, out=out) is out, out))
    attempt("itself " + dtype, lambda: (np.einsum("ij,j->ij", a, b * 0, out=a) is a, a))
''', device="einsum")

    def test_value(self):
        self.assert_same(PRELUDE + '''
for first in "bhlfdFD":
    for second in "bhlfdFD":
        a = on_device(make((4, 5), first))
        attempt("product %s %s" % (first, second), np.einsum, "ij,->ij", a, np.array(3, second))
        attempt("sum %s %s" % (first, second), np.einsum, ",ij->i", np.array(2, second), a)
''', rtol=0, device="einsum")

    def test_sums(self):
        self.assert_same(PRELUDE + '''
ways = ["ij->i", "ij->j", "ij->", "ii", "ii->", "iij->j", "iji->j", "ijk->k", "ijk->ki", "...j->...", "j...->...", "i...->", "ijk->kj", "ij->ji",
        "ii->i", "ij", "ji", "ij->ij", "iii->i", "bii"]
for turn, subscripts in enumerate(ways * 4):
    dtype = "dfDliB?FhIbe"[turn % 12]
    sizes = dict(i=4, j=5, k=6, b=3)
    array = view(make(tuple(sizes[c] for c in subscripts.split("->")[0].replace("...", "kb")), dtype))
    attempt("%s %s %d" % (subscripts, dtype, turn), np.einsum, subscripts, array)
attempt("empty", np.einsum, "ij->i", np.zeros((3, 0))); attempt("none", np.einsum, "ij->i", np.zeros((0, 3)))
attempt("out", np.einsum, "ij->i", on_device(make((3, 4), "d")), out=np.zeros(3))
attempt("wraps", np.einsum, "ij->i", on_device(np.full((3, 400), 100, "b")))
with np.errstate(all="raise"):
    attempt("infinite", np.einsum, "ij->i", on_device(np.full((3, 4), np.finfo("d").max)))
square = on_device(make((50, 50), "d")); dump("a view", np.shares_memory(np.einsum("ii->i", square), square))
''', rtol=0, device="einsum")

    def test_others(self):
        self.assert_same(PRELUDE + '''
a, b = on_device(make((4, 5), "d")), on_device(make((5, 6), "d"))
out = np.zeros((4, 6))
attempt("out", lambda: (np.einsum("ij,jk->ik", a, b, out=out) is out, out))
attempt("out f4", np.einsum, "ij,jk->ik", a, b, out=np.zeros((4, 6), "f"))
attempt("out optimal", np.einsum, "ij,jk->ik", a, b, out=np.zeros((4, 6)), optimize=True)
square = on_device(make((5, 5), "d")); attempt("overlap", lambda: (np.einsum("ij,jk->ik", square, square, out=square), square))
attempt("order", np.einsum, "ij,jk->ik", a, b, order="F"); attempt("dtype", np.einsum, "ij,jk->ik", a, b, dtype="D")
attempt("casting", np.einsum, "ij,jk->ik", a, b, dtype="f", casting="same_kind")
attempt("lists", np.einsum, a, [0, 1], b, [1, 2], [0, 2]); attempt("sequence", np.einsum, "ij,jk", a.tolist(), b)
attempt("one", np.einsum, "ij->ji", a); attempt("trace", np.einsum, "ii", square); attempt("sum", np.einsum, "ij->j", a)
attempt("three", np.einsum, "ij,jk,kl->il", a, b, b.T); attempt("three optimal", np.einsum, "ij,jk,kl->il", a, b, b.T, optimize=True)
whole = on_device(np.arange(5)), on_device(np.arange(4, dtype="i1"))
attempt("three of three dtypes", np.einsum, "ij,i,j->", a, whole[1], whole[0])
attempt("two, no product of matrices", np.einsum, "ij,ij->i", a.astype("f"), a.astype("l"))
attempt("three, one number", np.einsum, "ij,j,->i", a, whole[0], on_device(np.array(2.5, "f")))
attempt("half", np.einsum, "ij,jk", on_device(make((4, 5), "e")), on_device(make((5, 6), "e")))
for wrong in ("ij,jk->il", "ij,jk->ii", "ij,j", "ijk,jk", "ij,ik", "ij,jk-ik", "ij.,jk", "i.j,jk", "ij,jk->i...", "....ij,jk", "i1,jk", "",
              "ij", "ij,jk,"):
    attempt("wrong " + wrong, np.einsum, wrong, a, b)
attempt("empty", np.einsum, "ij,jk", a[:, :0], b[:0]); attempt("no rows", np.einsum, "ij,jk", a[:0], b)
row = np.einsum("ij->ji", a); dump("a view", np.shares_memory(row, a))
''', rtol=0, device="einsum")


if __name__ == "__main__":
    shim_runner.main()
