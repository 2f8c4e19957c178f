# SPDX-License-Identifier: Apache-2.0
"""`gpushim clean`: removes what the library has written into its cache folder. A file is the library's own where both its name
and its first bytes say so; other files, and links, stay."""
import collections
import contextlib
import os
import re

from gpushim import messages

KEY = ".key"
PROFILES = "profiles"
KEYED, TIMES = (re.compile(name + r"(\.[^/]*\.tmp)?") for name in ("[0-9a-f]{32}", "library_times"))
# A kind of files: its name, the folder below the cache folder, their names, what its files begin with
# (offload/cuda/compile/cuda_cache_trim.h, offload/dispatch/profile_file.c, offload/cuda/compile/cuda_load_times.c).
Kind = collections.namedtuple("Kind", "name folder pattern begin")
KINDS = (Kind("kernel", "", KEYED, b"gshkern2"), Kind("profile", PROFILES, KEYED, b"gpushim profile "),
         Kind("file of libraries' times", "", TIMES, b"gpushim library times "))
Removed = collections.namedtuple("Removed", "counts bytes")


def begins_with(path, begin):
    """An unfinished file may be shorter."""
    with open(path, "rb") as file:
        found = file.read(len(begin))
    return found == begin or (path.endswith(".tmp") and begin.startswith(found))


def own_files(folder, kind):
    """The entries of the folder that are the library's; none where it does not exist."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        return [entry for entry in entries if kind.pattern.fullmatch(entry.name) and
                entry.is_file(follow_symlinks=False) and begins_with(entry.path, kind.begin)]
    return []


def remove_emptied(folder):
    """The folders, and the secret of the kernels' codes, where nothing else is left in them."""
    with contextlib.suppress(OSError):
        os.rmdir(os.path.join(folder, PROFILES))
    with contextlib.suppress(OSError):
        if os.listdir(folder) == [KEY]:
            os.remove(os.path.join(folder, KEY))
        os.rmdir(folder)


def remove(entry):
    """Its bytes; a file that somebody else has removed meanwhile has none."""
    with contextlib.suppress(FileNotFoundError):
        size = entry.stat(follow_symlinks=False).st_size
        os.remove(entry.path)
        return size
    return 0


def clean(folder):
    """Removes; returns Removed. OSError: the rest is still there."""
    counts, size = collections.Counter(), 0
    for kind in KINDS:
        for entry in own_files(os.path.join(folder, kind.folder), kind):
            size += remove(entry)
            counts[kind.name] += 1
    if counts:
        remove_emptied(folder)
    return Removed(counts, size)


def describe(removed, folder):
    """One line on what was removed."""
    if not removed.counts:
        return "nothing to remove in %s" % folder
    *first, last = [messages.counted(count, name, name + "s") for name, count in removed.counts.items()]
    what = " and ".join(filter(None, (", ".join(first), last)))
    return "removed %s (%d bytes) from %s" % (what, removed.bytes, folder)
