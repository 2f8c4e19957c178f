/* SPDX-License-Identifier: Apache-2.0
 *
 * Seconds: what a call costs on the CPU, on the device, and to move its data. Pure arithmetic on
 * numbers handed in: no clock, no device, no lock. The default rates are conservative: they flatter
 * the CPU.
 */
#pragma once

#include "base.h"

/* Rates of one machine and one device. */
struct gsh_rates {
    double host_call;        /* s per NumPy call beyond its elements */
    double host_cached;      /* bytes/s of a CPU loop whose operands fit in cache */
    double host_memory;      /* bytes/s of one that does not */
    double host_cache_bytes; /* where one becomes the other */
    double host_flops[2];    /* matrix product, float32 and float64, flop/s */
    double device_call;      /* s per launch, as the calling thread sees it */
    double device_memory;    /* bytes/s */
    double device_cores;     /* CPU cores that compute an elementwise loop as fast */
    double device_flops[2];
    double transfer_call;      /* s per transfer */
    double transfer_pinned;    /* bytes/s from and to page-locked memory */
    double transfer_pageable;  /* bytes/s from and to other memory of the arena */
    double transfer_unmanaged; /* bytes/s from and to memory that a call brings for its results */
    double pin;                /* bytes/s of page-locking memory that is in place */
    double start;              /* s to start the device */
    double compile;            /* s to compile a kernel */
};

/* Nanoseconds of a CPU core for an element, beyond moving its bytes, of what is no elementwise operation: those have their own
 * in kernels/ops.def. */
#define GSH_COST_REDUCE_NS 0.2
#define GSH_COST_INDEXED_NS 1.0 /* scans, and elements that move by index or mask */

/* The work of one call, in numbers. A struct of zeros is a loop over nothing. */
enum gsh_work_kind {
    GSH_WORK_LOOP,
    GSH_WORK_PRODUCT,       /* of matrices by BLAS, and routines of linear algebra */
    GSH_WORK_PLAIN_PRODUCT, /* of matrices that BLAS has no product for: integers, bools, float16 */
    GSH_WORK_TRANSFORM,
    GSH_WORK_DRAW /* of random numbers: a LOOP on the CPU */
};
struct gsh_work {
    enum gsh_work_kind kind;
    double bytes; /* read and written; LOOP: on the device */
    double near;  /* LOOP: bytes that the CPU reads and writes one after another, or in its cache */
    double far;   /* LOOP: bytes of cache lines that it moves for elements that lie apart */
    double
        rows; /* LOOP: beyond the first, that the CPU's iterator steps through, each in an inner loop */
    double elements; /* LOOP */
    double host_ns;  /* LOOP: for each of them */
    double flops;    /* the others */
    bool is_double;  /* PRODUCT: which rate */
    double host_share,
        device_share; /* PRODUCT: of the rate of matrix products; 1 for a product itself */
    double
        columns; /* PRODUCT: that the device computes one after another; DRAW: waits for the device; LOOP: sorts, steps of filters and of rows */
    double device_column; /* s for each of them at least */
};

/* An operand of a LOOP. Bytes between neighbours cost too: the CPU moves cache lines of 64 bytes, the device sectors of 32. */
struct gsh_loop_operand {
    double elements; /* of the loop */
    double distinct; /* of the operand: fewer where it is broadcast */
    double itemsize;
    double
        step; /* bytes between neighbours in the dimension of the smallest step; 0: it never steps */
    double span; /* bytes from the lowest to the highest */
    bool is_written;
};
/* Adds the operand's bytes to the work of a LOOP. On the CPU, lines are charged if the operand spans more than the cache, and
 * twice if they are written, because they are fetched first. bench/host_model.py compares the model with NumPy. It is mostly within
 * a factor of 1.8. Left out are: lines that an earlier call left in the cache, and the prefetcher, which is best at steps of some 16
 * bytes (the CPU is up to 2.7 times faster than this); pages that are missing in the TLB, and operands that are each other's
 * transpose (up to 3 times slower). */
void gsh_cost_model_add_operand(const struct gsh_rates *rates,
                                const struct gsh_loop_operand *operand, struct gsh_work *work);

/* Seconds that the call takes on either side, its operands being there. */
double gsh_cost_model_host_work(const struct gsh_rates *rates, const struct gsh_work *work);
double gsh_cost_model_device_work(const struct gsh_rates *rates, const struct gsh_work *work);

/* Elementwise and reductions: `bytes` read and written, `elements` at `host_ns` nanoseconds each
 * beyond moving bytes. */
double gsh_cost_model_host(const struct gsh_rates *rates, double bytes, double elements,
                           double host_ns);
double gsh_cost_model_device(const struct gsh_rates *rates, double bytes);
/* Matrix product of 2*m*n*k = `flops`; `is_double` picks the rate. */
double gsh_cost_model_host_product(const struct gsh_rates *rates, double flops, double bytes,
                                   bool is_double);
/* The share of the rate of matrix products that NumPy's einsum reaches, which does not use BLAS. */
double gsh_cost_model_einsum_share(const struct gsh_rates *rates, bool is_double);
/* The share that a routine of LAPACK reaches on a small matrix, whose smaller extent is `extent`, at most `share`, that of a large
 * one: blocks and threads begin to help at some hundred rows. */
double gsh_cost_model_small_share(const struct gsh_rates *rates, double extent, double share,
                                  bool is_double);
double gsh_cost_model_device_product(const struct gsh_rates *rates, double flops, double bytes,
                                     bool is_double);
/* One transfer either way. `pinned`: page-locked already; `pinnable`: will be page-locked first. 0
 * bytes cost nothing. */
double gsh_cost_model_transfer(const struct gsh_rates *rates, double bytes, bool pinned,
                               bool pinnable);
/* The same of memory that a call brings. */
double gsh_cost_model_unmanaged_transfer(const struct gsh_rates *rates, double bytes);
/* The device moves bytes inside its memory, and computes what takes a CPU core so many nanoseconds. */
double gsh_cost_model_moving(const struct gsh_rates *rates, double bytes);
double gsh_cost_model_computing(const struct gsh_rates *rates, double host_ns);
/* What calls must have been able to gain before the device is started: `wanted_ms` of option START_MS, or what the start takes
 * where that is negative. */
double gsh_cost_model_start(const struct gsh_rates *rates, int64_t wanted_ms);
