/* SPDX-License-Identifier: Apache-2.0
 *
 * The name manglings of BLAS routines. interpose/exports.map.in reads this too, so nothing but macros may stand here.
 */
#pragma once

/* X(prefix, suffix, integer_bits, ...): name = prefix routine suffix, where a Fortran routine ends in "_"; what follows
 * X is handed on to each row. PyPI's NumPy 2 uses scipy_..64_, NumPy 1 ..64_, SciPy scipy_.. or plain names;
 * distributions and conda use plain names. */
#define GSH_MANGLING_SCHEMES(X, ...)                                                               \
    X(scipy_, 64_, 64, __VA_ARGS__)                                                                \
    X(, 64_, 64, __VA_ARGS__)                                                                      \
    X(scipy_, , 32, __VA_ARGS__)                                                                   \
    X(, , 32, __VA_ARGS__)
