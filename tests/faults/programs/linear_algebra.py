# SPDX-License-Identifier: Apache-2.0
"""Products and decompositions, of one matrix and of batches; singular matrices; what is computed with the results."""
import numpy as np

from results import finish, show

rng = np.random.default_rng(1)
n = 96
a = rng.random((n, n)) + n * np.eye(n)
b = rng.random((n, 5))
product = a @ a
show("product", product, exact=False)
show("solve", np.linalg.solve(a, b), exact=False)
show("inverse", np.linalg.inv(a), exact=False)
show("determinant", np.linalg.slogdet(a)[1], exact=False)
s = product @ product.T
lower = np.linalg.cholesky(s)
show("cholesky", lower @ lower.T / s, exact=False)
w, v = np.linalg.eigh(s)
show("eigenvalues", w / w.max(), exact=False)
show("eigenvectors", (v * w) @ v.T / s, exact=False)
u, sigma, vt = np.linalg.svd(a[:, :40], full_matrices=False)
show("singular values", sigma, exact=False)
show("svd", (u * sigma) @ vt, exact=False)
q, r = np.linalg.qr(a[:, :40])
show("qr", q @ r, exact=False)
show("least squares", np.linalg.lstsq(a[:, :40], b, rcond=None)[0], exact=False)
batch = rng.random((30, 8, 8)) + 8 * np.eye(8)
show("batch of inverses", np.linalg.inv(batch), exact=False)
show("batch of systems", np.linalg.solve(batch, batch[:, :, :2]), exact=False)
show("batch of svds", np.linalg.svd(batch, compute_uv=False), exact=False)
show("batch of eigenvalues", np.linalg.eigvalsh(batch + batch.swapaxes(1, 2)), exact=False)
show("batch of factors", np.linalg.cholesky(batch @ batch.swapaxes(1, 2)), exact=False)
show("eigenvalues of any", np.sort(np.abs(np.linalg.eigvals(a))), exact=False)
try:
    np.linalg.inv(np.zeros((n, n)))
except np.linalg.LinAlgError as error:
    show("singular", str(error))
show("vector", a @ b[:, 0], exact=False)
show("complex", (a[:40, :40] + 1j) @ (a[:40, :40] - 1j), exact=False)
show("integers", np.arange(2500).reshape(50, 50) @ np.arange(2500).reshape(50, 50))
finish()
