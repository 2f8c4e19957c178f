# SPDX-License-Identifier: Apache-2.0
"""Heat spreads over a plate that is hot along one edge: explicit steps of a five-point stencil."""
import numpy as np

SIDE, STEPS = 3000, 150

plate = np.zeros((SIDE, SIDE))
plate[0] = 100.0
for _ in range(STEPS):
    inner = plate[1:-1, 1:-1]
    inner += 0.2 * (plate[2:, 1:-1] + plate[:-2, 1:-1] + plate[1:-1, 2:] + plate[1:-1, :-2] - 4.0 * inner)
print("mean temperature of the first rows:", np.round(plate[:8].mean(axis=1), 6))
