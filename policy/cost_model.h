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
    double transfer_call;     /* s per transfer */
    double transfer_pinned;   /* bytes/s from and to page-locked memory */
    double transfer_pageable; /* bytes/s from and to other memory of the arena */
    double transfer_foreign;  /* bytes/s from and to memory that a call brings for its results */
    double pin;               /* bytes/s of page-locking memory that is in place */
    double start;             /* s to start the device */
    double compile;           /* s to compile a kernel */
    double first_run; /* s of the first run of a library's routine beyond its work; 0: none */
};

/* Elementwise and reductions: `bytes` read and written, `elements` at `host_ns` nanoseconds each
 * beyond moving bytes. */
double gsh_cost_host(const struct gsh_rates *rates, double bytes, double elements, double host_ns);
double gsh_cost_device(const struct gsh_rates *rates, double bytes);
/* Matrix product of 2*m*n*k = `flops`; `is_double` picks the rate. */
double gsh_cost_host_product(const struct gsh_rates *rates, double flops, double bytes,
                             bool is_double);
double gsh_cost_device_product(const struct gsh_rates *rates, double flops, double bytes,
                               bool is_double);
/* One transfer either way. `pinned`: page-locked already; `pinnable`: will be page-locked first. 0
 * bytes cost nothing. */
double gsh_cost_transfer(const struct gsh_rates *rates, double bytes, bool pinned, bool pinnable);
/* The same of memory that a call brings. */
double gsh_cost_foreign_transfer(const struct gsh_rates *rates, double bytes);
