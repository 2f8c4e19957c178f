# SPDX-License-Identifier: Apache-2.0
"""Files that a program writes, found by patterns of names. A file counts for a run that made or changed it: one that an earlier run
has left does not pass for this run's."""
import glob
import os
import shutil


def named_by(pattern):
    return set(glob.glob(pattern, recursive=True))


def state_of(patterns):
    """{path: what changes when it is written} of the regular files that fit a pattern."""
    state = {}
    for path in {path for pattern in patterns for path in named_by(pattern)}:
        if os.path.isfile(path):
            status = os.stat(path)
            state[path] = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return state


def keep_written(patterns, before, folder):
    """{path: path of its copy in `folder`} of the files that were written since state_of(patterns) was `before`."""
    kept = {}
    for number, (path, state) in enumerate(sorted(state_of(patterns).items())):
        if before.get(path) != state:
            kept[path] = os.path.join(folder, "%d%s" % (number, os.path.splitext(path)[1]))
            shutil.copyfile(path, kept[path])
    return kept


def not_written(patterns, files):
    """The patterns that none of the written files fits."""
    return [pattern for pattern in patterns if not named_by(pattern) & set(files)]
