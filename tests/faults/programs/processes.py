# SPDX-License-Identifier: Apache-2.0
"""fork with results on the device, a pool of processes, files, pickles, pipes, and work after each of them."""
import multiprocessing
import os
import pickle
import tempfile

import numpy as np

from results import finish, show

N = 20000
a = np.arange(N) * 0.5
b = a * 3.0 + 1.0


def work(part):
    return float((b[part::4] * 2.0).sum())


def in_child():
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(((a + b) * 2.0).tobytes())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return np.frombuffer(data)


show("in a child", in_child())
c = b - a
show("after a fork", c)
with multiprocessing.get_context("fork").Pool(2) as pool:
    show("in a pool", pool.map(work, range(4)), exact=False)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "numbers")
    (c * 2.0).tofile(path)
    back = np.fromfile(path)
    show("from a file", back + c)
    np.save(path + ".npy", a - c)
    show("saved", np.load(path + ".npy"))
    d = c * 0.25
    with open(path, "wb") as file:
        file.write(d)
    with open(path, "rb") as file:
        file.readinto(d)
    show("read into", d + 1.0)
show("pickled", pickle.loads(pickle.dumps(b * c)))
e = a * 2.0
memoryview(e).cast("B")[:8] = b"\0" * 8
show("written by a view of memory", e + 1.0)
show("again in a child", in_child())
show("to the end", (a + b + c + e).sum(), exact=False)
finish()
