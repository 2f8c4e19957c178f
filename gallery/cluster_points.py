# SPDX-License-Identifier: Apache-2.0
"""Lloyd's algorithm (k-means): points of 16 coordinates in 24 clusters."""
import numpy as np

POINTS, COORDINATES, CLUSTERS, STEPS = 400_000, 16, 24, 12

rng = np.random.default_rng(6)
points = rng.normal(size=(POINTS, COORDINATES)) + 3.0 * rng.integers(0, 3, size=(POINTS, 1))
centres = points[:: POINTS // CLUSTERS][:CLUSTERS].copy()
squares = np.sum(points * points, axis=1)[:, None]
for _ in range(STEPS):
    distance = squares - 2.0 * (points @ centres.T) + np.sum(centres * centres, axis=1)
    member = (np.argmin(distance, axis=1)[:, None] == np.arange(CLUSTERS)).astype(float)
    centres = (member.T @ points) / np.maximum(member.sum(axis=0), 1.0)[:, None]
print("mean squared distance %.6f, largest cluster %d" % (distance.min(axis=1).mean(), member.sum(axis=0).max()))
