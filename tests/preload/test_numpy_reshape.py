# SPDX-License-Identifier: Apache-2.0
"""ndarray.reshape against plain NumPy: what is a view and what a copy, the copy's layout, and errors. A copy of what the device
holds, by reshape, ravel, flatten or ascontiguousarray, is one launch of the device, and moves nothing."""
import shim_runner

PRELUDE = '''
import itertools
import numpy as np
from shim_script import attempt, dump, on_device, report, synchronize
rng = np.random.default_rng(3)

def make(*shape):
    return on_device(rng.integers(-100, 100, shape).astype("f8"))
'''
LAYOUTS = PRELUDE + '''
def layouts():
    a = make(4, 6, 10)
    yield "c", a
    for axes in itertools.permutations(range(3)):
        yield "axes %s" % (axes,), a.transpose(axes)
    yield "step", make(8, 6, 20)[::2, :, ::2]
    yield "back", a[:, ::-1]
    yield "outer", make(4, 12, 10)[:, :6]
    yield "unit", make(4, 1, 60).transpose(2, 1, 0)
    yield "wide", np.broadcast_to(make(6, 10), (4, 6, 10))
    yield "4-d", make(2, 2, 6, 10).transpose(1, 0, 2, 3)
    yield "1-d", make(480)[::2]
SHAPES = [(-1,), (240,), (4, 60), (24, 10), (6, 40), (40, 6), (10, 24), (4, 6, 10), (1, 4, 6, 1, 10), (2, 2, 6, 10), (10, 6, 4),
          (2, -1, 5), (60, 1, 4), (4, 6, 5, 2), (-1, 1), (7, -1), (-1, -1), (241,), (0, -1), (2, 3), (-2, 120)]
def look(name, source, call):
    """The result, whether it is a view, and what its base is."""
    result = attempt(name, call)
    if isinstance(result, np.ndarray):
        base = result.base
        dump(name + " properties", (np.shares_memory(result, source), result.flags.owndata, base is None or base.shape,
                                    result.flags.c_contiguous, result.flags.f_contiguous, result.flags.writeable))
'''


class TestReshape(shim_runner.TestCase):
    def test_views_and_copies(self):
        self.assert_same(LAYOUTS + '''
for (layout, a), shape, order in itertools.product(layouts(), SHAPES, "CFA"):
    look("%s to %s in %s" % (layout, shape, order), a, lambda: a.reshape(shape, order=order))
''', device="reshape")

    def test_forms(self):
        self.assert_same(LAYOUTS + '''
a = make(40, 60).T
class Own(np.ndarray):
    pass
calls = {
    "ints": lambda: a.reshape(50, 48), "list": lambda: a.reshape([50, 48]), "array": lambda: a.reshape(np.array([50, 48])),
    "NumPy ints": lambda: a.reshape(np.int64(50), np.int32(48)), "int": lambda: a.reshape(2400), "nothing": lambda: a.reshape(),
    "empty": lambda: a.reshape(()), "float": lambda: a.reshape(2400.0), "None": lambda: a.reshape(None),
    "bool": lambda: a.reshape(True, -1), "nine": lambda: a.reshape(2, 2, 2, 2, 3, 5, 5, 2, -1), "K": lambda: a.reshape(-1, order="K"),
    "order None": lambda: a.reshape(-1, order=None), "unknown": lambda: a.reshape(-1, other=1), "function": lambda: np.reshape(a, -1),
    "function F": lambda: np.reshape(a, (-1, 50), order="F"), "subclass": lambda: a.view(Own).reshape(-1),
    "no elements": lambda: a[:0].reshape(-1), "integers": lambda: a.astype("i4").T.reshape(-1).T.reshape(3, -1),
    "bytes": lambda: a.astype(">f8").T.reshape(-1), "tensordot": lambda: np.tensordot(make(4, 5, 6), make(6, 5, 4), ([1, 2], [1, 0])),
}
for name, call in calls.items():
    look(name, a, call)
''')

    def test_copy_is_another_array(self):
        self.assert_same(PRELUDE + '''
a = make(300, 400)
flat, view = a.T.reshape(-1), a.reshape(-1)
flat += 1; view *= 2
dump("a", a); dump("flat", flat); dump("view", view)
''', device="reshape")

    def test_empty_arrays(self):
        self.assert_same(PRELUDE + '''
a = make(4, 6)
for name, part in {"rows": a[:0], "columns": a[:, :0], "turned": a.T[:0], "backwards": a[::-1, :0]}.items():
    for shape in (-1, (-1,), (0, -1), (3, 0), (0,), (-1, 6), (2, -1)):
        for order in "CFA":
            attempt("%s %s %s" % (name, shape, order), lambda: part.reshape(shape, order=order))
''', device=None)

    def test_one_launch(self):
        """A view fetches nothing either."""
        self.assert_same(PRELUDE + '''
calls = {
    "reshape": (1, lambda a, y: a.T.reshape(-1)), "function": (1, lambda a, y: np.reshape(a.T, (-1, 50))),
    "Fortran": (1, lambda a, y: a.reshape(-1, order="F")), "axes": (1, lambda a, y: np.transpose(y, (1, 0, 2)).reshape(-1)),
    "rows": (1, lambda a, y: np.transpose(y, (1, 0, 2)).reshape(50, -1)), "ravel": (1, lambda a, y: a.T.ravel()),
    "np.ravel": (1, lambda a, y: np.ravel(np.transpose(y, (1, 0, 2)))), "flatten": (1, lambda a, y: a.T.flatten()),
    "ascontiguousarray": (1, lambda a, y: np.ascontiguousarray(a.T)), "copy": (1, lambda a, y: a.T.copy()),
    "view": (0, lambda a, y: a.reshape(-1)), "view of axes": (0, lambda a, y: a.T.reshape(300, 20, 20)),
}
for name, (launches, call) in calls.items():
    a, y = make(400, 300), make(40, 50, 60)
    synchronize()
    before = (report() or {}).get("counters")
    result = call(a, y)
    synchronize()
    after = (report() or {}).get("counters")
    if after:
        done = {key: after[key] - before[key] for key in ("launches", "uploads", "downloads", "device_copy_bytes")}
        assert done == {"launches": launches, "uploads": 0, "downloads": 0, "device_copy_bytes": 0}, (name, done)
    dump(name, result)
''', device="reshape")


if __name__ == "__main__":
    shim_runner.unittest.main()
