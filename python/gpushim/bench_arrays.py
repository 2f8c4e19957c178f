# SPDX-License-Identifier: Apache-2.0
"""Differences between NumPy's files (.npy, .npz). NumPy is imported only when such files are compared."""
import importlib.util
import os

ENDINGS = (".npy", ".npz")


def is_available():
    return importlib.util.find_spec("numpy") is not None


def load(path):
    """{name: array}; of an .npy the name is empty. ValueError: the file cannot be read, or holds objects."""
    import numpy as np
    loaded = np.load(path, allow_pickle=False)
    if os.path.splitext(path)[1] == ".npy":
        return {"": loaded}
    with loaded:
        return {name: loaded[name] for name in loaded.files}


def equal_elements(value, expected, tolerance):
    """An array of bools; floating-point numbers by tolerance, all others exactly."""
    import numpy as np
    if value.dtype.kind not in "fc":
        return np.asarray(value == expected)
    with np.errstate(all="ignore"):
        return np.isclose(value, expected, rtol=tolerance.rtol, atol=tolerance.atol, equal_nan=True)


def largest_difference(value, expected):
    """Text; empty where there is no number for it."""
    import numpy as np
    if value.dtype.kind not in "fciu":
        return ""
    kind = complex if value.dtype.kind == "c" else np.longdouble
    with np.errstate(all="ignore"):
        apart = np.abs(value.astype(kind) - expected.astype(kind))
    return ", by %.3g at most" % np.nanmax(apart) if not np.isnan(apart).all() else ""


def array_differences(value, expected, tolerance):
    if (value.dtype, value.shape) != (expected.dtype, expected.shape):
        return ["%s%s instead of %s%s" % (value.dtype, list(value.shape), expected.dtype, list(expected.shape))]
    wrong = ~equal_elements(value, expected, tolerance)
    if not wrong.any():
        return []
    return ["%d of %d elements differ%s" % (wrong.sum(), wrong.size, largest_difference(value[wrong], expected[wrong]))]


def differences(path, expected, tolerance):
    """Of two files."""
    try:
        ours, theirs = load(path), load(expected)
    except (ValueError, OSError) as error:
        return ["cannot be compared: %s" % error]
    found = ["%s is %s" % (name, "missing" if name in theirs else "new") for name in sorted(set(ours) ^ set(theirs))]
    for name in sorted(set(ours) & set(theirs)):
        told = array_differences(ours[name], theirs[name], tolerance)
        found += ["%s%s" % (name + ": " if name else "", text) for text in told]
    return found
