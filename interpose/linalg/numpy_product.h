/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of two arrays, summed over what both have and the result has not: matmul, dot, inner, einsum and the like. A
 * caller says which dimension of which operand is which (a label); here they become one GEMM launch, its batch, or an
 * elementwise multiplication where nothing is summed. GIL; no Python error is left behind.
 */
#pragma once

#include "numpy_output.h"

#define GSH_PRODUCT_LABELS 32
enum { GSH_PRODUCT_A = 1, GSH_PRODUCT_B = 2, GSH_PRODUCT_C = 4 };

/* One index of the sum of products. */
struct gsh_product_label {
    unsigned members; /* GSH_PRODUCT_*: the operands that it steps through */
    int64_t extent;
    int64_t strides[3]; /* bytes; 0 for operands that it does not step through */
    int out_dim;        /* the dimension of the result, where it is one */
};

struct gsh_product {
    PyObject *inputs[2];
    PyObject *out;   /* NULL: a fresh array */
    bool conjugates; /* the first operand, where it is complex */
    bool reports;    /* NumPy tells of floating-point errors, which the device does not look for */
    struct gsh_view views[2]; /* of the inputs, or of what they were cast to */
    enum gsh_dtype loop;
    struct gsh_product_label labels[GSH_PRODUCT_LABELS];
    int count;
    struct gsh_layout layout;       /* of a fresh result */
    const struct gsh_layout *order; /* whose strides are to be the layout's; NULL: any */
};

/* Fills labels (but for the strides of the result), count and layout from views and loop. `what` is the caller's. */
typedef enum gsh_reason gsh_product_describe(struct gsh_product *product, const void *what);

/* Computes the product on the device: a new reference (a scalar for a fresh result without dimensions), or NULL and *why:
 * declined, nothing touched. `name` and the dtypes are its row in the report. */
PyObject *gsh_numpy_product_try(const char *name, struct gsh_product *product,
                                gsh_product_describe *describe, const void *what,
                                enum gsh_reason *why, unsigned *row);
/* Whether a product may be worth anything to the device. False and a reason in *why for one that
 * NumPy might hand to BLAS, and that to the device, though the errstate asks for NumPy's own report
 * of errors. */
bool gsh_numpy_product_is_worth(PyObject *a, PyObject *b, enum gsh_reason *why);
/* A label more; false: no room. */
bool gsh_numpy_product_add(struct gsh_product *product, const struct gsh_product_label *label);
/* Finds the loops of the matmul ufunc, which say what dtype a product of two others has. */
void gsh_numpy_product_init(void);
