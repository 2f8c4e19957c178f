/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines of symbols.def as exported functions, each in the four spellings of naming.h, and what a call of one needs:
 * its arguments, its original, the launch that it becomes. Plain names catch every library in the process, so a call that is
 * small, or made while nothing can be taken over, goes on to its original at once, with the registers and the stack that it
 * came with: integers of any width, floating-point numbers, lengths of strings that Fortran compilers append. Never calls
 * Python; any thread.
 */
#pragma once

#include "call.h"

typedef void gsh_blas_entry_function(void);

#define GSH_ENTRY_STACK_WORDS 20 /* arguments on the stack of the longest routine */

/* A call as its entry point found it. */
struct gsh_blas_entry_frame {
    uint64_t registers[6]; /* the first arguments that are integers or addresses */
    double vectors[2];     /* the first ones that are floating-point numbers; of a float its bits */
    uint64_t result;       /* what the entry returns where the original is not called */
    const void *caller;
    uint64_t stack
        [GSH_ENTRY_STACK_WORDS]; /* arguments from the seventh on; what lies behind them is not ours */
};

enum { GSH_ENTRY_SIZES = 3, GSH_ENTRY_MATRICES = 4, GSH_ENTRY_NONE = -1 };

struct gsh_blas_entry_call;

/* What all types of a routine share. Numbers of arguments count from 0 and leave out floating-point numbers given by value. */
struct gsh_blas_entry_shape {
    signed char
        sizes[GSH_ENTRY_SIZES]; /* arguments whose product tells whether a call is worth a look */
    signed char matrices[GSH_ENTRY_MATRICES]; /* arguments that may be on the device */
    unsigned char arguments;                  /* with the lengths of letters */
    signed char info; /* argument of LAPACK's `info`; GSH_ENTRY_NONE: writes no integers */
    bool by_value;    /* integers are given by value, as in C */
    int lends; /* the routine of lapack.def that the original computes for the host device, or GSH_ENTRY_NONE */
    enum gsh_gemm_form
        form; /* the form of product that it computes for the host device; GE: none */
    /* True: it was computed, and everything is as the original leaves it. False: nothing was touched; call->why says why,
     * NONE: the call is not counted (bad arguments, queries, nothing to do). */
    bool (*run)(struct gsh_blas_entry_call *call);
    /* For a caller without an original: by plain loops. False: bad arguments. NULL: it cannot be done. */
    bool (*stand_in)(struct gsh_blas_entry_call *call);
};

#define X(shape, ...) extern const struct gsh_blas_entry_shape gsh_blas_entry_shape_##shape;
#include "symbols.def"
#undef X

/* A row of symbols.def, and its four names. */
struct gsh_blas_entry_routine {
    const char *name;      /* "dgetrf_" */
    const char *signature; /* for the report: "d->d" */
    enum gsh_dtype dtype;
    const struct gsh_blas_entry_shape *shape;
    const struct gsh_symbol *const *spellings; /* in the order of GSH_NAMING_FAMILIES */
};

/* A call that is worth a look. */
struct gsh_blas_entry_call {
    const struct gsh_blas_entry_routine *routine;
    const struct gsh_blas_entry_frame *frame;
    unsigned family;  /* place in GSH_NAMING_FAMILIES */
    int integer_bits; /* of the library that the caller means */
    enum gsh_dtype dtype;
    gsh_blas_entry_function *original; /* NULL: there is none */
    struct gsh_call
        call; /* the launch described last; kind and operands say which memory the call uses */
    enum gsh_reason why;
};

static inline bool gsh_blas_entry_is_complex(const struct gsh_blas_entry_call *call)
{
    return call->dtype == GSH_COMPLEX64 || call->dtype == GSH_COMPLEX128;
}
static inline bool gsh_blas_entry_is_single(const struct gsh_blas_entry_call *call)
{
    return gsh_dtype_is_single(call->dtype);
}
/* Argument number k. */
uint64_t gsh_blas_entry_word(const struct gsh_blas_entry_call *call, unsigned k);
void *gsh_blas_entry_address(const struct gsh_blas_entry_call *call, unsigned k);
/* An integer, given by value or by its address. */
int64_t gsh_blas_entry_integer(const struct gsh_blas_entry_call *call, unsigned k);
/* The letter at an address, in upper case. */
char gsh_blas_entry_letter(const struct gsh_blas_entry_call *call, unsigned k);
/* Writes the integer at an address. */
void gsh_blas_entry_put_integer(const struct gsh_blas_entry_call *call, unsigned k, int64_t value);
/* The number at an address, of the call's dtype or its real one; of a complex one the real part. */
double gsh_blas_entry_number(const struct gsh_blas_entry_call *call, const void *address);

/* Finds now what the library that holds `address` calls of CBLAS, so that its first calls need not. */
void gsh_blas_entry_expect(const void *address);
/* The original of another routine of the same type for the same caller: "getrs_". NULL: there is none. */
gsh_blas_entry_function *gsh_blas_entry_find_other(const struct gsh_blas_entry_call *call,
                                                   const char *name);

/* Calls the original with the arguments of a frame: the call's own, or a copy of it with others in their place. */
uint64_t gsh_blas_entry_call_original(const struct gsh_blas_entry_call *call,
                                      const struct gsh_blas_entry_frame *frame);
void gsh_blas_entry_copy_frame(const struct gsh_blas_entry_call *call,
                               struct gsh_blas_entry_frame *copy);

/* The report's row of a routine ("dgetrs_", or the call's own name), with the call's signature. */
unsigned gsh_blas_entry_row(const struct gsh_blas_entry_call *call, const char *name);
/* Decides and runs call->call, whose row is the call's unless it is set. False: declined, with call->why. */
bool gsh_blas_entry_launch(struct gsh_blas_entry_call *call);
