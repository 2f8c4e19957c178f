/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions and methods that numpy_composed_*.py compute as a whole. Others ask it where their own hook declines.
 */
#include "numpy_composed.h"

#define WRITES_NONE 0
#define WRITES_SELF GSH_METHOD_WRITES_SELF

/* X(id, table, name, whether it is a method, operand that decides whether it is asked, operands that the original writes in
 * place, self-test or NULL) */
#define COMPOSITIONS(X)                                                                            \
    X(byteswap, NDARRAY, "byteswap", true, SELF, SELF, "a.byteswap()")                             \
    X(choose, NDARRAY, "choose", true, SELF, NONE, NULL)                                           \
    X(put, NDARRAY, "put", true, SELF, SELF, "a.put(0, 0.0)")                                      \
    X(setfield, NDARRAY, "setfield", true, SELF, SELF, NULL)                                       \
    X(correlate, MODULE, "correlate", false, FIRST, NONE, "m.correlate(a, b, 0)")                  \
    X(correlate2, MODULE, "correlate2", false, FIRST, NONE, "m.correlate2(a, b, 0)")               \
    X(interp, MODULE, "interp", false, FIRST, NONE, "m.interp(a, a, a)")                           \
    X(interp_complex, MODULE, "interp_complex", false, FIRST, NONE, "m.interp_complex(a, a, a)")   \
    X(monotonicity, MODULE, "_monotonicity", false, FIRST, NONE, "m._monotonicity(a)")             \
    X(packbits, MODULE, "packbits", false, FIRST, NONE, NULL)                                      \
    X(ravel_multi_index, MODULE, "ravel_multi_index", false, ITEMS, NONE, NULL)                    \
    X(unpackbits, MODULE, "unpackbits", false, FIRST, NONE, NULL)                                  \
    X(unravel_index, MODULE, "unravel_index", false, FIRST, NONE, NULL)

#define X(id, kind, method, is_method, asked, written, test)                                       \
    static PyObject *try_##id(const struct gsh_method_call *call, enum gsh_reason *why,            \
                              unsigned *row)                                                       \
    {                                                                                              \
        return is_method ? gsh_numpy_composed_call(method, call, true, why)                        \
                         : gsh_numpy_composed_call_priced(method, call, false, 0, why, row);       \
    }                                                                                              \
    GSH_METHOD_HOOK(id##_hook, .table = GSH_METHOD_##kind, .name = method, .handler = try_##id,    \
                    .subject = GSH_METHOD_ASK_BY_##asked, .writes = WRITES_##written,              \
                    .self_test = test);
COMPOSITIONS(X)
#undef X

void gsh_numpy_compositions_install(void)
{
#define X(id, ...) gsh_numpy_method_patch_install(&id##_hook);
    COMPOSITIONS(X)
#undef X
}
