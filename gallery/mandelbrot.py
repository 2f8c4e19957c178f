# SPDX-License-Identifier: Apache-2.0
"""The Mandelbrot set: how many steps until each point of a plane has escaped."""
import numpy as np

SIDE, STEPS = 2000, 60

real, imaginary = np.linspace(-2.0, 0.6, SIDE), np.linspace(-1.3, 1.3, SIDE)
c = real + 1j * imaginary[:, None]
z, steps = np.zeros_like(c), np.zeros(c.shape, dtype=np.int32)
for _ in range(STEPS):
    inside = np.abs(z) <= 2.0
    z = np.where(inside, z * z + c, z)
    steps += inside
print("area %.6f, mean steps %.6f" % (np.mean(steps == STEPS) * 2.6 * 2.6, steps.mean()))
