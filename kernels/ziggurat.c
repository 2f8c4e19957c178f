/* SPDX-License-Identifier: Apache-2.0
 *
 * The table's columns as arrays.
 */
#include "ziggurat.h"

#define FIRST(a, b, c, d, e, f) a,
#define SECOND(a, b, c, d, e, f) b,
#define THIRD(a, b, c, d, e, f) c,
#define FOURTH(a, b, c, d, e, f) d,
#define FIFTH(a, b, c, d, e, f) e,
#define SIXTH(a, b, c, d, e, f) f,

const struct gsh_ziggurat gsh_ziggurat_normal = {
    {
#define DOUBLE FIRST
#include "ziggurat.def"
#undef DOUBLE
    },
    {
#define DOUBLE SECOND
#include "ziggurat.def"
#undef DOUBLE
    },
    {
#define DOUBLE THIRD
#include "ziggurat.def"
#undef DOUBLE
    },
};

const struct gsh_ziggurat gsh_ziggurat_exponential = {
    {
#define DOUBLE FOURTH
#include "ziggurat.def"
#undef DOUBLE
    },
    {
#define DOUBLE FIFTH
#include "ziggurat.def"
#undef DOUBLE
    },
    {
#define DOUBLE SIXTH
#include "ziggurat.def"
#undef DOUBLE
    },
};

const struct gsh_ziggurat_single gsh_ziggurat_normal_single = {
    {
#define SINGLE FIRST
#include "ziggurat.def"
#undef SINGLE
    },
    {
#define SINGLE SECOND
#include "ziggurat.def"
#undef SINGLE
    },
    {
#define SINGLE THIRD
#include "ziggurat.def"
#undef SINGLE
    },
};

const struct gsh_ziggurat_single gsh_ziggurat_exponential_single = {
    {
#define SINGLE FOURTH
#include "ziggurat.def"
#undef SINGLE
    },
    {
#define SINGLE FIFTH
#include "ziggurat.def"
#undef SINGLE
    },
    {
#define SINGLE SIXTH
#include "ziggurat.def"
#undef SINGLE
    },
};
