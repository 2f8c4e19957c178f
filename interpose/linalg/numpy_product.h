/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two arrays, summed over the indices that both have and the result has not: matmul,
 * dot, inner, einsum and similar. The caller maps each dimension of each operand to a label. The
 * labels become one GEMM launch with a batch, or an elementwise multiplication if nothing is
 * summed. GIL; leaves no Python error.
 */
#pragma once

#include "numpy_output.h"

#define GSH_PRODUCT_LABELS 32
enum { GSH_PRODUCT_A = 1, GSH_PRODUCT_B = 2, GSH_PRODUCT_C = 4 };

/* One index of the sum of products. */
struct gsh_product_label {
    unsigned members; /* GSH_PRODUCT_*: the operands that have it */
    int64_t extent;
    int64_t strides[3]; /* bytes; 0 for operands without it */
    int out_dim;        /* its dimension in the result, if any */
};

struct gsh_product {
    PyObject *inputs[2];
    PyObject *out;            /* NULL: a fresh array */
    bool conjugates;          /* the first operand, where it is complex */
    bool reports;             /* NumPy reports floating-point errors; the device detects none */
    bool is_einsum;           /* the CPU's code is NumPy's einsum, not BLAS */
    struct gsh_view views[2]; /* of the inputs, or of their casts */
    enum gsh_dtype loop;
    struct gsh_product_label labels[GSH_PRODUCT_LABELS];
    int count;
    struct gsh_layout layout;       /* of a fresh result */
    const struct gsh_layout *order; /* fixed strides of the layout; NULL: none */
};

/* Fills labels (except for the strides of the result), count and layout from views and loop. `what`
 * is the caller's data. */
typedef enum gsh_reason gsh_product_describe(struct gsh_product *product, const void *what);

/* Computes the product on the device. Returns a new reference (a scalar for a fresh result without
 * dimensions), or NULL and *why: declined, nothing was changed. `name` and the dtypes form its row
 * in the report. */
PyObject *gsh_numpy_product_try(const char *name, struct gsh_product *product,
                                gsh_product_describe *describe, const void *what,
                                enum gsh_reason *why, unsigned *row);
/* Whether a product is large enough for the device. False with a reason in *why: the errstate asks
 * NumPy to report errors, and the product is one that NumPy could pass to BLAS and BLAS to the
 * device. */
bool gsh_numpy_product_is_worth(PyObject *a, PyObject *b, enum gsh_reason *why);
/* Adds a label. False: no room. */
bool gsh_numpy_product_add(struct gsh_product *product, const struct gsh_product_label *label);
/* Finds the loops of the matmul ufunc, which determine the dtype of a product. */
void gsh_numpy_product_init(void);
