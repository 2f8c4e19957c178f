# SPDX-License-Identifier: Apache-2.0
"""What the programs beside it hand back: show(name, value) keeps a result, finish() writes all to the file of argv[1]."""
import pickle
import sys

import numpy as np

kept = []


def show(name, value, exact=True):
    """exact: NumPy's own bits are promised; else they agree to rounding (numerics.md)."""
    array = np.asarray(value)
    kept.append((name, exact, array.dtype.str, array.shape, array.tobytes()))


def finish():
    with open(sys.argv[1], "wb") as file:
        pickle.dump(kept, file)
