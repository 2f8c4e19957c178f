/* SPDX-License-Identifier: Apache-2.0
 *
 * The routines of symbols.def as exported functions, each under the four name manglings of mangling.h, and
 * the data of a call: its arguments, its original and its launch. Plain names catch calls from
 * every library in the process. A call that is small, or made while offloading is impossible, goes
 * straight to its original with unchanged registers and stack: integers of any width,
 * floating-point numbers, and the string lengths that Fortran compilers append. Never calls Python;
 * any thread.
 */
#pragma once

#include "call.h"

typedef void gsh_blas_entry_function(void);

#define GSH_BLAS_ENTRY_STACK_WORDS 20 /* the largest number of arguments on the stack */

/* A call as its entry point received it. */
struct gsh_blas_entry_frame {
    uint64_t registers[6]; /* the first arguments that are integers or addresses */
    double vectors[2];     /* the first floating-point arguments; a float's bits */
    uint64_t result;       /* returned by the entry point if the original is not called */
    const void *caller;
    uint64_t stack
        [GSH_BLAS_ENTRY_STACK_WORDS]; /* arguments from the seventh on; beyond them: the caller's */
};

enum { GSH_BLAS_ENTRY_SIZES = 3, GSH_BLAS_ENTRY_MATRICES = 4, GSH_BLAS_ENTRY_NONE = -1 };

struct gsh_blas_entry_call;

/* Properties that all types of a routine share. Argument numbers count from 0 and omit
 * floating-point numbers passed by value. */
struct gsh_blas_entry_shape {
    signed char sizes[GSH_BLAS_ENTRY_SIZES]; /* arguments whose product is the size of the call */
    signed char matrices[GSH_BLAS_ENTRY_MATRICES]; /* arguments that may be on the device */
    unsigned char arguments; /* number of arguments, with the lengths of letters */
    signed char info; /* argument `info` of LAPACK; GSH_BLAS_ENTRY_NONE: writes no integers */
    bool by_value;    /* integers are given by value, as in C */
    int lapack_routine; /* routine of lapack.def, for the host device to call, or GSH_BLAS_ENTRY_NONE */
    enum gsh_gemm_form form; /* the same for a form of product; GE: none */
    /* True: computed; all outputs are as the original leaves them. False: nothing was changed;
     * call->why is the reason. NONE: the call is not counted (bad arguments, queries, nothing to
     * do). */
    bool (*run)(struct gsh_blas_entry_call *call);
    /* Computes a call without an original with plain loops. False: bad arguments. NULL: not
     * supported. */
    bool (*run_reference)(struct gsh_blas_entry_call *call);
};

#define X(shape, ...) extern const struct gsh_blas_entry_shape gsh_blas_entry_shape_##shape;
#include "symbols.def"
#undef X

/* A row of symbols.def and its four names. */
struct gsh_blas_entry_routine {
    const char *name;      /* "dgetrf_" */
    const char *signature; /* for the report: "d->d" */
    enum gsh_dtype dtype;
    const struct gsh_blas_entry_shape *shape;
    const struct gsh_symbol *const *mangled; /* in the order of GSH_MANGLING_SCHEMES */
};

/* A call that is large enough for a decision. */
struct gsh_blas_entry_call {
    const struct gsh_blas_entry_routine *routine;
    const struct gsh_blas_entry_frame *frame;
    unsigned scheme;  /* index in GSH_MANGLING_SCHEMES */
    int integer_bits; /* of the library that the caller would have called */
    enum gsh_dtype dtype;
    gsh_blas_entry_function *original; /* NULL: there is none */
    struct gsh_call
        call; /* the launch described last; kind and operands tell which memory is used */
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
/* An integer argument, passed by value or by address. */
int64_t gsh_blas_entry_integer(const struct gsh_blas_entry_call *call, unsigned k);
/* The letter at the address in argument k, in upper case. */
char gsh_blas_entry_letter(const struct gsh_blas_entry_call *call, unsigned k);
/* Writes the integer at the address in argument k. */
void gsh_blas_entry_put_integer(const struct gsh_blas_entry_call *call, unsigned k, int64_t value);
/* The number at an address, of the call's dtype or the corresponding real one. For a complex
 * number: its real part. */
double gsh_blas_entry_number(const struct gsh_blas_entry_call *call, const void *address);
/* The number of the call's dtype at the address in argument k. */
double _Complex gsh_blas_entry_factor(const struct gsh_blas_entry_call *call, unsigned k);

/* Looks up in advance the CBLAS functions that the library containing `address` calls. */
void gsh_blas_entry_expect(const void *address);
/* The original of another routine ("getrs_") with the same type for the same caller. NULL: there is
 * none. */
gsh_blas_entry_function *gsh_blas_entry_find_other(const struct gsh_blas_entry_call *call,
                                                   const char *name);

/* Calls the original with the arguments of a frame: the call's own, or a modified copy. */
uint64_t gsh_blas_entry_call_original(const struct gsh_blas_entry_call *call,
                                      const struct gsh_blas_entry_frame *frame);
void gsh_blas_entry_copy_frame(const struct gsh_blas_entry_call *call,
                               struct gsh_blas_entry_frame *copy);

/* The report's row of a routine ("dgetrs_", or the call's own name) with the call's signature. */
unsigned gsh_blas_entry_row(const struct gsh_blas_entry_call *call, const char *name);
/* Decides and runs call->call. Its row is the routine's unless already set. False: declined, with
 * call->why. */
bool gsh_blas_entry_launch(struct gsh_blas_entry_call *call);
