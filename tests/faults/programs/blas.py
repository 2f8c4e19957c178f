# SPDX-License-Identifier: Apache-2.0
"""SciPy's calls of BLAS and LAPACK."""
import numpy as np
import scipy.linalg
import scipy.linalg.blas as blas

from results import finish, show

rng = np.random.default_rng(3)
n = 80
a = np.asfortranarray(rng.random((n, n)) + n * np.eye(n))
b = np.asfortranarray(rng.random((n, n)))
x = rng.random(n * n)
show("dgemm", blas.dgemm(1.5, a, b), exact=False)
show("dsyrk", np.tril(blas.dsyrk(1.0, a, lower=1)), exact=False)
show("dsymm", blas.dsymm(1.0, a, b), exact=False)
show("dtrsm", blas.dtrsm(1.0, a, b, lower=1), exact=False)
show("dtrmm", blas.dtrmm(1.0, a, b), exact=False)
show("dgemv", blas.dgemv(1.0, a, x[:n]), exact=False)
show("ddot", blas.ddot(x, x), exact=False)
show("daxpy", blas.daxpy(x, x.copy(), a=2.0), exact=False)
show("dnrm2", blas.dnrm2(x), exact=False)
show("lu_solve", scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b), exact=False)
s = a @ a.T
show("cho_solve", scipy.linalg.cho_solve(scipy.linalg.cho_factor(s), b), exact=False)
show("eigh", scipy.linalg.eigh(s, eigvals_only=True), exact=False)
show("svdvals", scipy.linalg.svdvals(a), exact=False)
q, r = scipy.linalg.qr(a)
show("qr", q @ r, exact=False)
show("solve", scipy.linalg.solve(a, b), exact=False)
show("symmetric", scipy.linalg.solve(s, b, assume_a="sym"), exact=False)
show("triangle", scipy.linalg.solve_triangular(a, b, lower=True), exact=False)
show("lstsq", scipy.linalg.lstsq(a[:, :20], b)[0], exact=False)
show("zgemm", blas.zgemm(1.0, a + 1j, b), exact=False)
show("inverse", scipy.linalg.inv(a), exact=False)
finish()
