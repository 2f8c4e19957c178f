/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints docs/user/numerics.md from the tables of operations and reductions.
 */
#include "reductions.h"

#include <stdio.h>
#include <string.h>

static const char *const intro =
    "# Numerical contract\n"
    "\n"
    "This page says how far a result of the device may be from NumPy's, for each "
    "operation and dtype. `make docs` makes it from `kernels/ops.def`\n"
    "and `kernels/reductions.def`; do not edit it. tests/conformance compares every "
    "entry with the running NumPy over ordinary, extreme, subnormal,\n"
    "NaN, infinite and signed-zero inputs.\n"
    "\n"
    "* `=`: the same bits as NumPy on x86-64. A NaN is a NaN; its bits may differ.\n"
    "* a number: the largest distance from NumPy's result, in units in the last place. "
    "For complex dtypes the unit is that of the larger part.\n"
    "* `-`: NumPy has no such loop, and the call is NumPy's.\n"
    "\n"
    "## Exactness\n"
    "- Casts, copies and integer arithmetic have NumPy's bits, also integer division by "
    "zero, NaN, and floats out of an integer's range (what x86-64\n"
    "  gives).\n"
    "- float16 is computed in float32 and rounded once for each operation.\n"
    "- TF32 is used only with `GPUSHIM_TF32=1`. Fast-math is never used. Products are "
    "contracted only in complex products, where NumPy's own loops\n"
    "  contract.\n"
    "- Every result is the same on every run: reductions and scans join in a tree that "
    "depends on shape and strides alone.\n"
    "\n"
    "## Matrix products\n"
    "Products of integers, bools and float16 (summed in float32, in order) have NumPy's "
    "bits. Products of other dtypes are sums in another order than\n"
    "NumPy's. They are no further from the exact result than k eps |A| |B|, where k is "
    "the number of terms. The product of a matrix with its transpose is\n"
    "symmetric to the bit.\n"
    "\n"
    "## Fourier transforms\n"
    "A transform differs from NumPy's by no more than eps log2(2 n) of its norm, where n "
    "is the number of points of the transform. The norm is the root\n"
    "of the sum of squares of a line. Single-precision arrays are transformed in single "
    "precision, also where NumPy 2 takes double. On the `host` device a NaN among the\n"
    "frequencies of a transform to real numbers may leave some of them finite, because "
    "FFTW does not multiply by 0.\n"
    "\n"
    "## Random numbers\n"
    "Draws of an exact `numpy.random.Generator` over PCG64, PCG64DXSM or Philox have NumPy's bits, "
    "and leave "
    "the state that NumPy leaves: `random`, `uniform`,\n"
    "`standard_normal`, `normal`, `lognormal`, `standard_exponential` (by the ziggurat), "
    "`exponential` and "
    "`integers`. Neither depends on the number of threads.\n"
    "On a device that holds also for `rayleigh`, `standard_cauchy`, `triangular`, `gumbel`, "
    "`laplace`, `logistic`, `geometric`, "
    "`poisson` (below 10) and `binomial` (at most 40 trials, or 8 expected ones), which are made "
    "of these,\n"
    "for `standard_gamma`, `gamma`, `chisquare`, `beta`, `f`, `standard_t`, "
    "`noncentral_chisquare`, `noncentral_f` (gamma numbers of shapes from 1 on) and `wald`, which "
    "are made of its words,\n"
    "for `weibull`, `logseries` (p up to 0.99), `zipf` (a from 2.75 to 100), `dirichlet` (a list "
    "of "
    "2 to 16 numbers from 1 on), `multinomial` (at most 40 trials, a list of 2 to 16 "
    "probabilities), `hypergeometric` (samples below 10, and as many of each kind),\n"
    "and for `normal`, `uniform` and `exponential` of arrays of parameters that are there.\n"
    "Before a kind of draw is first made, a small one from a new generator is compared with "
    "NumPy's; where they "
    "differ that kind is left to NumPy. Other arrays of\n"
    "parameters, other generators and subclasses are left to NumPy, too. Of the gamma family, "
    "`wald`, `logseries`, `zipf`, `dirichlet`, `multinomial` and `hypergeometric`, calls run on a "
    "device that take "
    "5e5 to 3e7 of these words "
    "(2e5 to 1e7 gamma "
    "numbers).\n\n"
    "Draws of an exact `numpy.random.RandomState` over MT19937 on a device, and the "
    "functions of `np.random` that are those "
    "of one, have NumPy's bits and leave NumPy's state, too: `random_sample`, `rand`,\n"
    "`uniform`, `standard_normal`, `randn`, `normal`, `standard_exponential`, `exponential`, "
    "`gumbel`, `laplace`, `logistic`, "
    "`standard_cauchy`, `triangular`,\n"
    "`randint`, `choice` without `p`, `tomaxint`, `lognormal`, `pareto`, `weibull`, `power`, "
    "`geometric` (p from 1e-4 on),\n"
    "and `poisson`, `binomial`, `hypergeometric`, the "
    "gamma family, `wald`, `logseries`, `zipf`, `dirichlet` and `multinomial` of the same "
    "parameters.\n"
    "The stream is made in order, by one multiprocessor of the GPU.\n\n"
    "Logarithms, exponentials and powers in these numbers have the bits of the C library: where it "
    "is not certain how that rounds (1 number of 85 or 40; `certain_log`, `certain_exp` and\n"
    "`certain_power` in the table are the exact parts), it computes the number itself. Its log1p "
    "and expm1 round in no certain way: `rayleigh` of a RandomState, `pareto` and `power` of\n"
    "a Generator are left to NumPy.\n\n"
    "`choice` with probabilities that are on the device and with replacement takes NumPy's "
    "numbers; its running sums of the "
    "probabilities are those of `cumsum` there.\n\n"
    "`shuffle`, `permutation` and `permuted` of an array on the device, along its first axis or of "
    "one axis, have NumPy's order and leave NumPy's "
    "state, for these generators and `RandomState`.\n"
    "\n"
    "## Floating-point errors\n"
    "Errors are found by values: a NaN of inputs that are none, an infinity of finite "
    "inputs. What NumPy's formula meets on inputs that are NaN already is not\n"
    "reported (of logaddexp, or of one part of a complex number), nor is an overflow where an "
    "input is infinite (nextafter from the largest "
    "number to infinity).\n"
    "\n"
    "Errors are not looked for in Fourier transforms and products (matmul and its kin, "
    "dot, inner, vdot, tensordot, einsum). Under `np.errstate(...='warn')`, NumPy's\n"
    "default, no RuntimeWarning tells of an overflow there. Under the other settings "
    "NumPy computes.\n"
    "\n"
    "## np.vectorize\n"
    "A Python function that is [computed on whole arrays](troubleshooting.md#operations) takes the "
    "functions of `math` from NumPy, on the GPU and on the CPU: the "
    "bounds are those of `exp`,\n"
    "`log` and their like in the table below. Sums, differences, products, quotients, square roots "
    "and comparisons are Python's to the bit.\n\n"
    "## Known differences\n"
    "- The bound of logaddexp and logaddexp2 counts in units of the larger input where "
    "the result is smaller.\n"
    "- Complex powers of large exponents multiply an ulp of the logarithm, here as in "
    "the C library.\n"
    "- float to uint32 out of range follows NumPy's contiguous loop, but for its last "
    "elements (the number of all modulo 4). NumPy's strided loop differs.\n"
    "- Of several complex NaN, a maximum or minimum may be another than NumPy's.\n"
    "\n";

static const char special[] =
    "\n## scipy.special\n"
    "The bounds count from SciPy's result, and not from the exact one, from which SciPy's "
    "own may be farther. The functions are computed in float64 by SciPy's formulas in its "
    "order of\n"
    "operations (Cephes' coefficients, as SciPy 1.17 uses them). On `host` the results of "
    "float64 are those of SciPy 1.17.1 to the bit, but for cbrt (1 ulp) and "
    "erfinv, erfcx, log_ndtr, dawsn and erfi, which are of Cephes' kind here. A GPU's exp, "
    "log, pow, sin,\n"
    "cos and tan are an ulp or two from the C library's. The bounds are at least 1.7 times the "
    "largest distance that was found when these functions were changed by such errors at "
    "random,\n"
    "for arguments of all magnitudes. NaN, infinities, poles and their signs are SciPy's.\n"
    "\n"
    "Some functions add terms that are larger than the result, or take the exponential of such a "
    "sum: so does SciPy, whose results are then as far from the exact ones.\n"
    "- The bound of kl_div counts in units of x log(x / y), x and y, whose sum it is.\n"
    "- Those of beta and betaln hold where a, b and a + b are at most 171 in size, that of binom "
    "where 1 + n - k, 1 + k and 2 + n are, and that of poch where a and m are at most 20 in size. "
    "Beyond, betaln counts in units of the largest log |gamma| that it adds, and the others in "
    "units of that times the result.\n"
    "- That of zeta holds where q is positive. Else it counts in units of the largest of the "
    "terms, also on `host` where q is below -100000: SciPy adds as many terms, and the sum is "
    "that of a formula here.\n"
    "\n"
    "Before the first call of a function, SciPy's loops and ours are compared on some hundred "
    "numbers; "
    "a version of SciPy whose results differ by more than the bound keeps the function, and "
    "that one alone. "
    "SciPy 1.18 computes j0, j1 and y0 of large arguments by other formulas than 1.17, and so does "
    "the GPU "
    "for it; it keeps sindg, which has the sign of zero in float32. SciPy also computes complex "
    "numbers, "
    "calls under `scipy.special.errstate`\n"
    "or `seterr` with another action than `ignore`, and calls whose result NumPy narrows for "
    "`out=`. "
    "zeta(x) is the row riemann_zeta; zeta(x, q) and polygamma are zeta. The order of expn "
    "is an integer: of another SciPy\n"
    "warns, and computes.\n\n";

struct column {
    const char *title;
    unsigned dtypes;
    enum gsh_dtype sample;
};

static const struct column columns[] = {
    {"bool", GSH_SET_BOOL, GSH_BOOL},
    {"integers", GSH_SET_INTEGERS, GSH_INT32},
    {"float16", 1 << GSH_FLOAT16, GSH_FLOAT16},
    {"float32", 1 << GSH_FLOAT32, GSH_FLOAT32},
    {"float64", 1 << GSH_FLOAT64, GSH_FLOAT64},
    {"complex64", 1 << GSH_COMPLEX64, GSH_COMPLEX64},
    {"complex128", 1 << GSH_COMPLEX128, GSH_COMPLEX128},
};

static void print_header(const char *first)
{
    printf("| %s |", first);
    for (size_t i = 0; i < GSH_COUNT(columns); i++)
        printf(" %s |", columns[i].title);
    printf("\n|---|");
    for (size_t i = 0; i < GSH_COUNT(columns); i++)
        printf("---|");
    printf("\n");
}

static void print_cell(unsigned dtypes, const struct column *column, unsigned ulp)
{
    if (!(dtypes & column->dtypes))
        printf(" - |");
    else if (ulp == 0)
        printf(" = |");
    else
        printf(" %u |", ulp);
}

/* A row of the table of operations. */
static void print_op(enum gsh_op op)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    bool by_truth = info->dtypes == GSH_SET_BOOL; /* every dtype, as truth values */
    printf("| %s |", info->name);
    for (size_t i = 0; i < GSH_COUNT(columns); i++)
        print_cell(by_truth ? GSH_SET_ALL : info->dtypes, &columns[i],
                   gsh_op_max_ulp(op, columns[i].sample));
    printf("\n");
}

/* A row of the table of scipy.special's functions. */
static void print_special(enum gsh_op op)
{
    const struct gsh_op_info *info = gsh_op_info(op);
    unsigned single = gsh_op_max_ulp(op, GSH_FLOAT32), wide = gsh_op_max_ulp(op, GSH_FLOAT64);
    printf("| %s |", strchr(info->name, '_') + 1);
    print_cell(info->dtypes, &columns[3], single);
    print_cell(info->dtypes, &columns[4], wide);
    bool is_of_one = (info->flags & GSH_OF_ONE) != 0, is_open = (info->flags & GSH_OPEN) != 0;
    printf(" %s%s%s |\n", is_of_one ? "of 1, where the result is smaller" : "",
           is_of_one && is_open ? "; " : "", is_open ? "see above" : "");
}

static bool is_special(enum gsh_op op)
{
    return (gsh_op_info(op)->flags & GSH_SPECIAL) != 0 && gsh_op_info(op)->ufunc[0] != '\0';
}

int main(void)
{
    printf("%s## Elementwise\n\n", intro);
    print_header("operation");
    for (int op = 0; op < GSH_OP_COUNT; op++)
        if ((gsh_op_info((enum gsh_op)op)->flags & GSH_SPECIAL) == 0)
            print_op((enum gsh_op)op);
    printf("%s| function | float32 | float64 | units |\n|---|---|---|---|\n", special);
    for (int op = 0; op < GSH_OP_COUNT; op++)
        if (is_special((enum gsh_op)op))
            print_special((enum gsh_op)op);
    printf("\n## Reductions and scans\n\n"
           "A number bounds the error in units in the last place of the sum (product) of the "
           "magnitudes; NumPy's own pairwise\nsum is bounded likewise. float16 is joined in "
           "float32 and "
           "rounded once.\n\n"
           "Products of floats are joined one after the other on `host`, as NumPy does, with one "
           "rounding each. A GPU keeps\npartial products that leave the range of numbers (an "
           "overflow, a subnormal number) with an exponent of their own, and\njoins in NumPy's "
           "order where it finds that the result depends on it. Where NumPy's partial products "
           "alone leave the\nrange, a GPU has the product itself.\n\n");
    print_header("reduction");
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++) {
        const struct gsh_reduction_info *info = gsh_reduction_info((enum gsh_reduction)r);
        printf("| %s |", info->name);
        for (size_t i = 0; i < GSH_COUNT(columns); i++) {
            bool by_truth = info->dtypes == GSH_SET_BOOL;
            char kind = gsh_dtype_kind(columns[i].sample);
            print_cell(by_truth ? GSH_SET_ALL : info->dtypes, &columns[i],
                       kind == 'f' || kind == 'c' ? info->max_ulp : 0);
        }
        printf("\n");
    }
    return 0;
}
