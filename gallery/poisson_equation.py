# SPDX-License-Identifier: Apache-2.0
"""Poisson's equation on a torus, by Fourier transforms, for several densities of charge."""
import numpy as np

SIDE, DENSITIES = 2048, 12

rng = np.random.default_rng(3)
wave = np.fft.fftfreq(SIDE, 1.0 / SIDE)
laplacian = -(wave[:, None] ** 2 + wave[: SIDE // 2 + 1] ** 2)
laplacian[0, 0] = 1.0
density = rng.normal(size=(SIDE, SIDE))
for _ in range(DENSITIES):
    spectrum = np.fft.rfft2(density - density.mean()) / laplacian
    spectrum[0, 0] = 0.0
    potential = np.fft.irfft2(spectrum, s=(SIDE, SIDE))
    density = potential / np.abs(potential).max() + 0.1 * density
print("deviation of the potential %.9f" % potential.std(), "of the density %.9f" % density.std())
