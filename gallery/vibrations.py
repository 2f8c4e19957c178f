# SPDX-License-Identifier: Apache-2.0
"""The lowest frequencies of a structure of many coupled masses: K x = w^2 M x, by a Cholesky factor of M and the eigenvalues of
the symmetric matrix that it makes of K."""
import numpy as np

MASSES, RUNS = 1500, 3

rng = np.random.default_rng(5)
for run in range(RUNS):
    coupling = rng.normal(size=(MASSES, MASSES)) / np.sqrt(MASSES)
    stiffness = coupling @ coupling.T + 50.0 * np.eye(MASSES)
    inertia = rng.normal(size=(MASSES, MASSES)) / MASSES
    inertia = inertia @ inertia.T + np.diag(rng.uniform(1.0, 2.0, MASSES))
    inverse = np.linalg.inv(np.linalg.cholesky(inertia))
    square = np.linalg.eigvalsh(inverse @ stiffness @ inverse.T)
    print("run %d: lowest frequencies %s" % (run, np.round(np.sqrt(square[:4]), 6)))
