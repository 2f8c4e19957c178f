/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "numpy_random_choice.h"

#include "dispatch.h"
#include "numpy_composed.h"
#include "numpy_generator.h"
#include "numpy_random_state.h"

enum { LEAST = 16384, SIZE_AT = 1 };

#define HOOK(owner, where, composition)                                                            \
    static PyObject *try_##owner(const struct gsh_method_call *call, enum gsh_reason *why,         \
                                 unsigned *row)                                                    \
    {                                                                                              \
        (void)row;                                                                                 \
        if (!gsh_dispatch_is_live() || !gsh_numpy_##owner##_is_known(call->self))                  \
            return NULL;                                                                           \
        PyObject *result = gsh_numpy_composed_call(composition, call, true, why);                  \
        *why = result ? *why : GSH_REASON_NONE; /* NumPy's way moves only what it reads */         \
        return result;                                                                             \
    }                                                                                              \
    GSH_METHOD_HOOK(owner##_hook, .table = (where), .name = "choice", .handler = try_##owner,      \
                    .subject = GSH_METHOD_ASK_BY_LENGTH, .length_at = SIZE_AT, .least = LEAST)
HOOK(generator, GSH_METHOD_GENERATOR, "choice");
HOOK(random_state, GSH_METHOD_RANDOM_STATE, "legacy_choice");

struct gsh_method_hook *const gsh_numpy_random_choice_hooks[GSH_NUMPY_RANDOM_CHOICES] = {
    &generator_hook, &random_state_hook};
