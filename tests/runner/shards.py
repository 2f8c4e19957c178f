# SPDX-License-Identifier: Apache-2.0
"""Parts of a long stage. A commit runs one of them; which one, its hash says, so that commits take turns."""
import collections

from runner.built import fingerprint
from runner.process import execute


class Shard(collections.namedtuple("Shard", "number count")):
    """The number-th of count shards, from 1."""

    def of(self, items):
        """The items of this shard; each item is in one shard of that count. Put long items beside each other: neighbours go
        to different shards."""
        return list(items)[self.number - 1::self.count]

    def __str__(self):
        return "%d/%d" % self


WHOLE = Shard(1, 1)


def turn_of_commit():
    """A number that HEAD's hash makes, or the sources' where there is no commit to ask."""
    status, output, _ = execute(["git", "rev-parse", "HEAD"])
    return int((output if status == 0 else fingerprint())[:8], 16)


def shard_of(turn, count):
    return WHOLE if turn is None else Shard(turn % count + 1, count)


def shard_named(text="1/1"):
    """The shard that is written K/N; ValueError where it is none."""
    shard = Shard(*map(int, text.split("/")))
    if not 1 <= shard.number <= shard.count:
        raise ValueError("no shard: " + text)
    return shard
