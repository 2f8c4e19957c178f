/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of the interpreter: a function for each operation, as in the texts of groups (source_group_steps.c), and a
 * switch over all of them.
 */
#include "source_interpreter_table.h"

#include "source_parts.h"
#include "source_texts.h"

#define EXPRESSIONS 8192
#define RESIDENT 4 /* blocks of a multiprocessor, which bound a thread's registers */
#define INLINE_NS                                                                                  \
    1.0 /* NumPy's time per element below which a function is copied into the switch */

/* The operations in the order of their codes. */
typedef void op_visit(enum gsh_op op, unsigned j, enum gsh_dtype loop, struct gsh_fmt *fmt);
static void visit_ops(op_visit *visit, struct gsh_fmt *fmt)
{
    for (unsigned j = 0; j < GSH_OP_OUTPUTS; j++)
        for (int op = 0; op < GSH_OP_COUNT; op++)
            for (int i = 0; i < GSH_INTERPRETER_LOOPS; i++) {
                enum gsh_dtype loop = gsh_source_interpreter_table_loops[i];
                if (gsh_source_interpreter_table_has((enum gsh_op)op, j, loop))
                    visit((enum gsh_op)op, j, loop, fmt);
            }
}

static void write_expression(enum gsh_op op, unsigned j, enum gsh_dtype loop, struct gsh_fmt *fmt)
{
    if (loop == GSH_FLOAT64 || !gsh_op_has_loop(op, GSH_FLOAT64))
        gsh_fmt_printf(fmt, "%s ", gsh_op_info(op)->expressions[j]);
}

/* E.g. FN u64 op63(u64 in0, u64 in1, u64 in2). */
static void write_function(enum gsh_op op, unsigned j, enum gsh_dtype loop, struct gsh_fmt *fmt)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    gsh_fmt_printf(fmt, "%s u64 op%u(u64 in0, u64 in1, u64 in2)\n{\n    typedef %s T;\n",
                   info->host_ns < INLINE_NS ? "FN" : "__device__ __noinline__",
                   gsh_source_interpreter_table_op_code(op, j, loop), gsh_dtype_cuda_type(loop));
    for (unsigned k = 0; k < info->nin; k++)
        gsh_fmt_printf(fmt, "    const auto %c = value(Word_as<%s>::of(in%u));\n", "abc"[k],
                       gsh_dtype_cuda_stored(gsh_op_input_dtype(op, loop, k)), k);
    if ((info->flags & GSH_USES_INDEX) != 0)
        gsh_fmt_text(fmt, "    const i64 i = (i64)in2;\n");
    gsh_fmt_printf(fmt, "    return to_word(Cast<%s>::of(%s));\n}\n",
                   gsh_dtype_cuda_stored(gsh_op_output_dtype(op, loop, j)), info->expressions[j]);
}

static void write_case(enum gsh_op op, unsigned j, enum gsh_dtype loop, struct gsh_fmt *fmt)
{
    unsigned code = gsh_source_interpreter_table_op_code(op, j, loop);
    gsh_fmt_printf(fmt, "    case %u: EACH y[v] = op%u(a[v], b[v], c[v]); return;\n", code, code);
}

static void write_casts(struct gsh_fmt *fmt)
{
    for (int i = 0; i < GSH_INTERPRETER_CASTS_FROM; i++)
        for (int to = 0; to < GSH_DTYPE_COUNT; to++) {
            enum gsh_dtype from = gsh_source_interpreter_table_casts[i];
            if (gsh_source_interpreter_table_holds((enum gsh_dtype)to))
                gsh_fmt_printf(
                    fmt, "    case %u: EACH y[v] = cast_word<%s, %s>(a[v], v, special); return;\n",
                    gsh_source_interpreter_table_cast_code(from, (enum gsh_dtype)to),
                    gsh_dtype_cuda_stored((enum gsh_dtype)to), gsh_dtype_cuda_stored(from));
        }
}

static void write_compute(struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "FN void compute(u32 code, const u64 (&a)[ELEMENTS], const u64 "
                      "(&b)[ELEMENTS], const u64 (&c)[ELEMENTS], u64 (&y)[ELEMENTS], u32 "
                      "&special)\n{\n    switch (code) {\n");
    write_casts(fmt);
    gsh_fmt_printf(fmt, "    case %u: EACH y[v] = a[v] != 0 ? b[v] : c[v]; return;\n",
                   gsh_source_interpreter_table_select_code());
    visit_ops(write_case, fmt);
    gsh_fmt_text(fmt, "    }\n}\n");
}

static unsigned held_dtypes(void)
{
    unsigned dtypes = 0;
    for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
        if (gsh_source_interpreter_table_holds((enum gsh_dtype)dtype))
            dtypes |= 1u << dtype;
    return dtypes;
}

void gsh_source_interpreter_text(struct gsh_fmt *fmt)
{
    char expressions[EXPRESSIONS];
    struct gsh_fmt named;
    gsh_fmt_init(&named, expressions, sizeof(expressions));
    visit_ops(write_expression, &named);
    struct gsh_source_prelude prelude = {.dtypes = held_dtypes(),
                                         .expressions = {expressions},
                                         .propagates_nan = true,
                                         .errors = true};
    gsh_source_text_write_prelude(fmt, &prelude);
    gsh_fmt_printf(fmt, "constexpr int BLOCK = %d, RESIDENT = %d;\n", GSH_SOURCE_BLOCK, RESIDENT);
    gsh_fmt_text(fmt, gsh_cuda_text_group_interpreter_program);
    visit_ops(write_function, fmt);
    write_compute(fmt);
    gsh_fmt_text(fmt, gsh_cuda_text_group_interpreter);
}
