/* SPDX-License-Identifier: Apache-2.0
 *
 * ops.def compiled for the CPU: additional loops of float32 and float64 for processors with AVX2. Results have the
 * same bits as those of the other loops, because nothing is contracted. Contains only rows that compile to vectors,
 * whose cost is close to that of moving their operands.
 */
#define GSH_LOOP_TARGET __attribute__((target("avx2")))
#include "host_loops_table.h"

#define CHEAP(dtypes, host_ns) ((host_ns) < 1.5 ? (dtypes) : 0)
#define WIDE_LOOP(loop, op, label, ufunc, nin, dtypes, inputs, result, result2, ulps, host_ns,     \
                  flags, expr, expr2)                                                              \
    GSH_HOST_LOOP(loop, op, label, ufunc, nin, CHEAP(dtypes, host_ns), inputs, result, result2,    \
                  ulps, host_ns, flags, expr, expr2)
#define WIDE_ENTRY(loop, op, label, ufunc, nin, dtypes, inputs, result, result2, ulps, host_ns,    \
                   ...)                                                                            \
    GSH_HOST_ENTRY(loop, op, label, ufunc, nin, CHEAP(dtypes, host_ns), inputs)

#define X(...)                                                                                     \
    WIDE_LOOP(FLOAT32, __VA_ARGS__)                                                                \
    WIDE_LOOP(FLOAT64, __VA_ARGS__)
#include "ops.def"
#undef X

const gsh_host_loops_table gsh_host_loops_wide_FLOAT32 = {
#define X(...) WIDE_ENTRY(FLOAT32, __VA_ARGS__)
#include "ops.def"
#undef X
};
const gsh_host_loops_table gsh_host_loops_wide_FLOAT64 = {
#define X(...) WIDE_ENTRY(FLOAT64, __VA_ARGS__)
#include "ops.def"
#undef X
};
