/* SPDX-License-Identifier: Apache-2.0
 *
 * One unit of work with all its numbers: the input of a backend. The same structure with host addresses describes a
 * call before its operands are placed (offload/device/call.h).
 */
#pragma once

#include "lapack.h"
#include "random_draw.h"
#include "reductions.h"

#include <stddef.h>
#include <string.h>

#define GSH_MAX_DIMS 16
#define GSH_MAX_INPUTS 3 /* of an op */
#define GSH_OP_OUTPUTS 2 /* of an op */
#define GSH_MAX_OUTPUTS 3
#define GSH_MAX_OPERANDS 6 /* inputs, then outputs, then the mask */
#define GSH_CORE_DIMS 3

enum gsh_launch_kind {
#define X(name, ...) GSH_LAUNCH_##name,
#include "launch_kinds.def"
#undef X
};
enum {
    GSH_LAUNCH_KINDS = 0 /* how many */
#define X(...) +1
#include "launch_kinds.def"
#undef X
};
/* What is true of a kind, bit set. */
enum gsh_launch_trait {
    GSH_TRAIT_BATCH = 1 << 0, /* its shape is a batch of something larger than an element */
    /* It may be part of a group (group.h), which also needs more: a step where it MAPS, a sink where it REDUCES. */
    GSH_TRAIT_FUSES = 1 << 1,
    GSH_TRAIT_MAPS = 1 << 2,           /* each output element is `op` of the inputs' at its place */
    GSH_TRAIT_JOINS = 1 << 3,          /* `reduction` says what is computed, not `op` */
    GSH_TRAIT_REDUCES = 1 << 4,        /* the last `nreduce` dimensions are not the output's */
    GSH_TRAIT_SCANS = 1 << 5,          /* the last dimension is kept as it is, even of extent 1 */
    GSH_TRAIT_IN_PLACE = 1 << 6,       /* an output may be exactly an input */
    GSH_TRAIT_HAS_INDEX = 1 << 7,      /* the second input is an index; it is not cast */
    GSH_TRAIT_INDEXES_INPUT = 1 << 8,  /* `indexed` addresses the first input */
    GSH_TRAIT_INDEXES_OUTPUT = 1 << 9, /* `indexed` addresses the output */
    GSH_TRAIT_COUNTS = 1 << 10,  /* what `indexed` addresses is stepped by the trues of the mask */
    GSH_TRAIT_ORDERED = 1 << 11, /* the order of the dimensions has a meaning */
    GSH_TRAIT_UPDATES = 1 << 12, /* old bytes of the output are read */
    /* An output may be in unmanaged memory: the work outweighs its copy to the host. */
    GSH_TRAIT_UNMANAGED = 1 << 13,
    /* The backend may decline it after it has written outputs; the caller waits to know. */
    GSH_TRAIT_REFUSES_LATE = 1 << 14,
    /* Though a batch, it is recorded. A later launch may join a transform (offload/graph/node_transform.h). */
    GSH_TRAIT_MERGES = 1 << 15,
    GSH_TRAIT_DRAWS = 1 << 16,     /* `draw` says what is computed, not `op` */
    GSH_TRAIT_HAS_NO_OP = 1 << 17, /* neither `op` nor `reduction` is used */
    GSH_TRAIT_SELECTS =
        1 << 18 /* `selection` says what is computed; the index is read as a whole */
};

struct gsh_operand {
    enum gsh_dtype dtype;
    bool is_constant; /* inputs only: `constant` holds the value, of `dtype` */
    uint64_t address; /* first element: a device address (a host address in a call) */
    union gsh_scalar constant;
};

/* Floating-point errors of a launch, one element for each kind. POLE: an exact infinity of finite inputs, or an
 * integer division by zero. OVERFLOW: any other infinity of finite inputs, or an integer quotient that does not
 * fit. INVALID: a NaN of inputs that are not NaN, a cast to an integer that cannot hold the value, or an index of
 * a TAKE that is out of bounds. */
enum gsh_error_kind { GSH_ERROR_POLE, GSH_ERROR_OVERFLOW, GSH_ERROR_INVALID, GSH_ERROR_KINDS };
/* Where a launch reports them. found[kind].inputs are the inputs of one element that met the kind, after their
 * cast to the op's input dtypes (for REDUCE and SCAN the two joined values). found[kind].sequence is then the
 * launch's. Host memory that the device can write. */
struct gsh_errors_found {
    struct {
        uint64_t sequence;
        union gsh_scalar inputs[GSH_MAX_INPUTS];
    } found[GSH_ERROR_KINDS];
};
struct gsh_error_sink {
    uint64_t
        claims; /* device address of a uint64_t for each kind: the last sequence that reported; 0: do not look for
                          errors */
    uint64_t found;    /* device address of a struct gsh_errors_found */
    uint64_t sequence; /* of this launch, > 0, rising */
};

/* TAKE and PUT: the operand that is addressed by an index. One step of the index is `stride` bytes. Valid indices
 * are -extent .. extent - 1; negative ones count from the end. The caller ensures that all are valid, or looks for
 * INVALID (TAKE only). */
struct gsh_indexed {
    int64_t stride, extent;
};

/* SORT: whether the output is the order, or the elements in it. */
struct gsh_sort {
    bool gives_order;
    /* Of UINT64 on a CUDA device: the elements are sorted by `bytes` of their bytes, from first_byte on (0 is the lowest). The caller
     * ensures that they come in the order of the bytes below, and that the bytes above are the same in all of them. 0: by all bytes. */
    unsigned char first_byte, bytes;
};

/* SEARCH: the sorted elements, which begin as `indexed` does, and whether those that are equal are counted, too. */
struct gsh_search {
    struct gsh_indexed line;
    bool is_right;
};

/* SPMV: a sparse matrix in CSR form times a vector. The inputs, in order: */
enum {
    GSH_SPMV_STARTS,  /* of the rows, one more than rows */
    GSH_SPMV_COLUMNS, /* of the numbers */
    GSH_SPMV_NUMBERS, /* that the matrix stores */
    GSH_SPMV_VECTOR,
    GSH_SPMV_INITIAL, /* what each row's sum begins with */
    GSH_SPMV_INPUTS
};
/* A row reaches more of these inputs than its own element: `extent` elements, from that one on. `lines` begins as `indexed` does. */
struct gsh_spmv {
    struct gsh_indexed lines[GSH_SPMV_INITIAL];
};
/* SELECT: where a window's elements lie, how many there are, and the wanted one's rank among them; 0: the least. */
struct gsh_selection {
    struct gsh_indexed window;
    int count, rank;
};
#define GSH_SELECTION_MOST 81 /* elements of a window */

/* Of a window's elements, as many are held at once at most: those that may still be the wanted one. */
static inline int gsh_selection_held(const struct gsh_selection *selection)
{
    int below = selection->rank, above = selection->count - 1 - below;
    int held = (below < above ? below : above) + 2;
    return held < selection->count ? held : selection->count;
}
/* Pairs that are put in order until the wanted one is left, of many elements (kernels/cuda/selection.cuh): while unequally many are
 * to be dropped below it and above it, the end of one side, then both ends. */
static inline double gsh_selection_exchanges(const struct gsh_selection *selection)
{
    int below = selection->rank, above = selection->count - 1 - below;
    double least = below < above ? below : above, more = selection->count - 1 - 2 * least;
    return more * (least + 1) + 0.75 * least * (least + 5);
}

/* The form of a product, by BLAS's names. Forms other than GE: float32 and wider dtypes; no batch; C is stored by
 * columns, A and B have step 1 along one dimension. Only the elements that BLAS reads are read, and only those
 * that it writes are written. ' marks the transpose, for HERK and HER2K the conjugate one.
 *   SYRK, HERK: B is A'; one triangle of C is read and written.
 *   SYR2K, HER2K: C = alpha A B + (alpha A B)' + beta C; one triangle of C is read and written.
 *   SYMM, HEMM: A, or with RIGHT B, is symmetric (Hermitian); one triangle of it is read. It is stored by columns.
 *   TRMM: A, or with RIGHT B, is triangular; the triangle is that of the matrix as its strides describe it, and only it is
 *   read. UNIT: its diagonal counts as ones and is not read. beta is 0. */
enum gsh_gemm_form {
    GSH_GEMM_GE,
    GSH_GEMM_SYRK,
    GSH_GEMM_HERK,
    GSH_GEMM_SYR2K,
    GSH_GEMM_HER2K,
    GSH_GEMM_SYMM,
    GSH_GEMM_HEMM,
    GSH_GEMM_TRMM,
    GSH_GEMM_FORMS
};
/* UPPER: the upper triangle; without it the lower one. */
enum gsh_gemm_option { GSH_GEMM_UPPER = 1, GSH_GEMM_UNIT = 2, GSH_GEMM_RIGHT = 4 };

/* C = alpha * A @ B + beta * C. Strides are in elements, any; C's elements are distinct. m, n > 0; k >= 0.
 * Integers wrap. For bools the product is an or of ands. float16 sums in float32, in order, and rounds once. alpha
 * and beta are 1 and 0 except for float32, float64, complex64 and complex128; they are real for the first two. */
struct gsh_gemm {
    int64_t m, n, k;
    int64_t a_row, a_col, b_row, b_col, c_row, c_col;
    double _Complex alpha, beta;         /* beta 0: C is not read (its NaNs do not spread) */
    bool a_is_conjugate, b_is_conjugate; /* complex: the conjugate of A, B is used */
    enum gsh_gemm_form form;
    unsigned options; /* of enum gsh_gemm_option */
};

/* SYRK, HERK, SYR2K, HER2K. */
static inline bool gsh_gemm_writes_triangle(const struct gsh_gemm *gemm)
{
    return gemm->form >= GSH_GEMM_SYRK && gemm->form <= GSH_GEMM_HER2K;
}
/* HERK, HER2K, HEMM. */
static inline bool gsh_gemm_is_hermitian(const struct gsh_gemm *gemm)
{
    return gemm->form == GSH_GEMM_HERK || gemm->form == GSH_GEMM_HER2K ||
           gemm->form == GSH_GEMM_HEMM;
}

/* One matrix, or one line of an FFT, of an operand: the dimensions beyond the launch's shape, which is the batch.
 * Strides are in bytes, any sign. Dimensions that an operand lacks have extent 1. */
struct gsh_core {
    int64_t extent[GSH_CORE_DIMS], stride[GSH_CORE_DIMS];
};

/* One routine of lapack.def for each matrix of the batch. cores[k] has the extents of operand k (rows, columns) by
 * the routine's row. */
struct gsh_lapack {
    enum gsh_lapack_routine routine;
    unsigned options; /* of enum gsh_lapack_option */
    double tolerance; /* LSTSQ: ?gelsd's rcond, see gsh_lapack_tolerance */
    struct gsh_core cores[GSH_LAPACK_OPERANDS];
};

/* C2C: complex to complex. R2C: real to complex, the first length / 2 + 1 points of the last transformed
 * dimension. C2R: the inverse of R2C; the imaginary parts of the first point, and of the last for an even length,
 * are ignored. */
enum gsh_fft_type { GSH_FFT_C2C, GSH_FFT_R2C, GSH_FFT_C2R };

/* out = factor * DFT of in over `rank` dimensions of `length` points (the exponent's sign is minus, plus where
 * is_inverse). cores[0] is the input. Where its extents are less than the transform needs, zeros are appended;
 * where they are more, the rest is not read. cores[1] is the output, with the transform's extents. */
struct gsh_fft {
    enum gsh_fft_type type;
    bool is_inverse;
    int rank; /* 1 .. GSH_CORE_DIMS */
    int64_t length[GSH_CORE_DIMS];
    double factor;
    struct gsh_core cores[2];
};

/* A recursive filter's structure, both direct form II transposed, in SciPy's order of operations (SciPy 1.17).
 *   DIRECT: `order` states z. The table has b[0 .. order], then a[0 .. order], where a[0] counts as 1 and is not read:
 *     y = z[0] + b[0] x;  z[n] = (z[n + 1] + x b[n + 1]) - y a[n + 1];  z[order - 1] = x b[order] - y a[order].
 *     Complex: the table has b conj(a[0]) and a conj(a[0]), and then |a[0]|^2 as its last number's real part, by which each
 *     product is divided.
 *   SECTIONS: `order` sections one after the other, each with two states and six numbers in the table, b[0 .. 2] and a[0 .. 2]:
 *     y = b[0] x + z[0];  z[0] = (b[1] x - a[1] y) + z[1];  z[1] = b[2] x - a[2] y.
 *     A complex x counts as {re - 0 im, im + 0 re}, as SciPy reads it. */
enum gsh_filter_form { GSH_FILTER_DIRECT, GSH_FILTER_SECTIONS };
#define GSH_FILTER_MOST_ORDER 32
#define GSH_FILTER_MOST_SECTIONS 16
enum {
    GSH_FILTER_TABLE,
    GSH_FILTER_SIGNAL,
    GSH_FILTER_INITIAL
}; /* inputs; the last one may be absent: zeros */
#define GSH_FILTER_OPERANDS 5

/* Operand k of a line: the table's numbers, which have no gaps; the signal, and the filtered one; the states before the first element
 * and, the second output, which may be absent, after the last one. A dimension of extent 1 follows a DIRECT filter's states. */
struct gsh_filter {
    enum gsh_filter_form form;
    int order; /* > 0, at most GSH_FILTER_MOST_... */
    struct gsh_core cores[GSH_FILTER_OPERANDS];
};

/* ELEMENTWISE: out0[x](, out1[x]) = op(in0[x], in1[x], in2[x]) over shape, where the mask, if there is one, is
 * true. Other output elements keep their bytes. Inputs are cast to gsh_op_input_dtype, results from
 * gsh_op_output_dtype to the output's dtype. Casts are NumPy's on x86-64 (float to integer out of range or NaN:
 * cvttsd2si's result; to bool: != 0; complex to real: the real part). Elements of one output are distinct. An
 * output may be exactly an input (same address, strides and dtype size); otherwise it overlaps no input, no mask
 * and no other output.
 * 
 * REDUCE: dimensions ndim - nreduce .. ndim - 1 are reduced; the output has stride 0 there. Elements whose mask is
 * false are left out. Elements are cast to `loop` and joined. The beginning is `initial` (of dtype `loop`) if
 * has_initial, else the row's neutral value. The result is cast to the output's dtype. A float16 loop joins in
 * float32 and rounds once. An empty reduction yields the beginning. NaN wins in maximum and minimum. INDEX rows
 * yield the C-order index of the first winner among the reduced elements (the first NaN, if there is one); their
 * reduced dimensions keep their order. The summation tree depends on shape and strides only, so a repeated run
 * gives the same bits.
 * 
 * SCAN: out[x] = join of in[.., 0] .. in[x] along the last dimension, in the input's order, by the reduction's
 * combine. Every run gives the same bits. The output may be exactly the input.
 * 
 * TAKE: out[x] = in0[x + indexed.stride * in1[x]]; in1 is the index (any integer dtype); op COPY. PUT: out[x +
 * indexed.stride * in1[x]] = op(its old value, in0[x]), or in0[x] for op COPY, where the mask is true. Elements
 * are computed in C order, or in any order that gives the same bits.
 * 
 * COMPRESS: out[count(x)] = in0[x] where mask[x]. EXPAND: out[x] = in0[count(x)] where mask[x]. count(x) is the
 * number of true mask elements before x in C order; op COPY. The counted operand (COMPRESS: the output, EXPAND:
 * in0) has stride 0 in all dimensions and is stepped by indexed.stride. Nothing at or beyond indexed.extent steps
 * is touched.
 * 
 * DRAW: out[x] = the next value of `draw`, in C order; no inputs. The output has no gaps.
 * 
 * SORT: along the last dimension, out = the input's elements in NumPy's order (NaN last; complex numbers by which parts
 * are NaN, then by real and imaginary part), equal ones as they came; with sort.gives_order their places in the input,
 * as INT64. Elements keep their bits. The input is not cast. The output may be exactly the input.
 *
 * SEARCH: out[x] = how many of the line.extent elements in0[i * line.stride], which are sorted, go before in1[x] in
 * SORT's order; with is_right, how many do not go after it. INT64. Inputs are not cast; in1 may be a constant. in0 has
 * stride 0 in all dimensions. Of elements that are not sorted, some number of them.
 *
 * SPMV: out[i] = initial[i] + numbers[j] * vector[columns[j]] for j = starts[i] .. starts[i + 1] - 1, added one after the other; each
 * product and each sum is rounded. The shape is the rows. Starts and columns are of one dtype, INT32 or INT64, the others of dtype
 * `loop`: a number, but no float16; integers wrap. No operand has gaps. Columns, numbers and vector have stride 0. Starts are taken
 * to the nearest of 0 .. numbers, and a number whose column is outside of the vector is left out. The output may be exactly
 * `initial`.
 * SELECT: out[x] = the element of rank selection.rank among in0[x + selection.window.stride * in1[k]], k = 0 .. selection.count - 1:
 * a rank filter. in1 has that many INT64 without gaps, all of 0 .. window.extent - 1, and stride 0 in all dimensions. in0 and out have
 * the dtype `loop`: bool, an integer, float32 or float64. Of elements among which are NaN, or zeros of both signs, some element.
 *
 * GEMM, LAPACK, FFT, FILTER: shape and strides are the batch's; `gemm`, `lapack`, `fft` or `filter` describes one element of the
 * batch. GEMM: operands a, b, c of dtype `loop`. LAPACK: operands of the dtypes in the routine's row for `loop`;
 * outputs overlap nothing, but QR_R_RAW's first output may be exactly its input. FFT: `loop` is the complex dtype.
 *
 * FILTER: out0 = in1 filtered, line by line; operands of dtype `loop`, float32, float64 or their complex dtypes. The table has stride 0
 * in the batch. An output may be exactly the input that it follows. */
struct gsh_launch {
    enum gsh_launch_kind kind;
    union {
        enum gsh_op op;
        enum gsh_reduction reduction;
    };
    enum gsh_dtype loop;
    unsigned nin;  /* inputs; operands[nin] is the first output */
    unsigned nout; /* outputs, 1 or 2 */
    bool has_mask; /* operands[nin + nout] is an array of bool */
    bool has_initial;
    union gsh_scalar initial;
    struct gsh_operand operands[GSH_MAX_OPERANDS];
    int ndim;                    /* 0 .. GSH_MAX_DIMS */
    int nreduce;                 /* REDUCE only */
    int64_t shape[GSH_MAX_DIMS]; /* all > 0, except the reduced dimensions of an empty REDUCE */
    int64_t strides[GSH_MAX_OPERANDS][GSH_MAX_DIMS]; /* bytes; 0 for broadcast and constants */
    union {
        struct gsh_indexed indexed;
        struct gsh_sort sort;
        struct gsh_search search;
        struct gsh_spmv spmv;
        struct gsh_selection selection;
        struct gsh_gemm gemm;
        struct gsh_lapack lapack;
        struct gsh_fft fft;
        struct gsh_filter filter;
        struct gsh_random_draw draw;
    };
    struct gsh_error_sink errors;
};

/* *to = *from, but for the shape and the strides of dimensions that there are not: those of *to keep their bytes. */
static inline void gsh_launch_copy(struct gsh_launch *to, const struct gsh_launch *from)
{
    const size_t head = offsetof(struct gsh_launch, shape),
                 tail = offsetof(struct gsh_launch, indexed);
    memcpy(to, from, head);
    memcpy((char *)to + tail, (const char *)from + tail, sizeof *to - tail);
    for (int d = 0; d < from->ndim; d++) {
        to->shape[d] = from->shape[d];
        for (unsigned k = 0; k < GSH_MAX_OPERANDS; k++)
            to->strides[k][d] = from->strides[k][d];
    }
}

/* By kind: bit sets of enum gsh_launch_trait. */
extern const uint32_t gsh_launch_traits[GSH_LAUNCH_KINDS];
/* True where its kind has one of the traits, a bit set. */
static inline bool gsh_launch_has(const struct gsh_launch *launch, unsigned traits)
{
    return (gsh_launch_traits[launch->kind] & traits) != 0;
}
/* True for kinds whose shape is a batch of something larger than an element. */
static inline bool gsh_launch_is_batch(const struct gsh_launch *launch)
{
    return gsh_launch_has(launch, GSH_TRAIT_BATCH);
}

/* All operands: inputs, outputs, mask. */
static inline unsigned gsh_launch_operands(const struct gsh_launch *launch)
{
    return launch->nin + launch->nout + launch->has_mask;
}
static inline bool gsh_launch_is_output(const struct gsh_launch *launch, unsigned k)
{
    return k >= launch->nin && k < launch->nin + launch->nout;
}

/* True for a SELECT as it is described above, of at most GSH_SELECTION_MOST elements. */
bool gsh_launch_is_selection(const struct gsh_launch *launch);
/* Elements of the iteration space (1 where ndim is 0). */
int64_t gsh_launch_elements(const struct gsh_launch *launch);
/* Elements of operand k, an output: for a REDUCE those of the kept dimensions, for a GEMM m * n, or a triangle's,
 * times the batch. */
int64_t gsh_launch_output_elements(const struct gsh_launch *launch, unsigned k);
/* True for a GEMM that writes only one triangle of its output. */
static inline bool gsh_launch_writes_triangle(const struct gsh_launch *launch)
{
    return launch->kind == GSH_LAUNCH_GEMM && gsh_gemm_writes_triangle(&launch->gemm);
}
/* Operand k of one element of the batch, for a GEMM, LAPACK or FFT. */
struct gsh_core gsh_launch_core(const struct gsh_launch *launch, unsigned k);
/* Floating-point operations of a GEMM, LAPACK or FFT, as textbooks count them; complex operations count as real
 * ones. */
double gsh_launch_flops(const struct gsh_launch *launch);
/* The dtype that input k is cast to; an index's own. */
enum gsh_dtype gsh_launch_input_dtype(const struct gsh_launch *launch, unsigned k);
/* The dtype of output k (0 or 1) before it is cast to its operand's. */
enum gsh_dtype gsh_launch_result_dtype(const struct gsh_launch *launch, unsigned k);
/* True where the result depends on an element's linear index. */
bool gsh_launch_uses_index(const struct gsh_launch *launch);
/* The op's name, the reduction's, or, for a batch and where there is no op, the kind's label: for logs. */
const char *gsh_launch_name(const struct gsh_launch *launch);
/* The same work in the fewest dimensions: drops extents of 1, orders dimensions by the output's strides (reduced
 * ones by the inputs'), and merges neighbours that step as one dimension. Kept and reduced dimensions stay apart.
 * The dimensions of a launch whose op uses the index are merged but not reordered. Negative strides stay. */
void gsh_launch_collapse(struct gsh_launch *launch);
/* True where gsh_launch_collapse puts dimension d before dimension e: the first operand in which their steps
 * differ decides, and d steps further. `reduced`: both are reduced dimensions. */
bool gsh_launch_steps_further(const struct gsh_launch *launch, int d, int e, bool reduced);
/* True where old bytes of the outputs are read or kept: a mask, PUT, a GEMM with beta. */
bool gsh_launch_reads_output(const struct gsh_launch *launch);
/* The bytes that a stride steps over, forwards or backwards. */
static inline int64_t gsh_launch_step(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* True where operand k's elements occupy distinct bytes, as far as its strides show. Reduced dimensions are left
 * out. */
bool gsh_launch_is_distinct(const struct gsh_launch *launch, unsigned k);
/* True where operand k's elements lie in C order, without gaps. */
bool gsh_launch_is_packed(const struct gsh_launch *launch, unsigned k);
/* True for a SPMV whose operands are as described above. */
bool gsh_launch_is_spmv(const struct gsh_launch *launch);
/* True where the elements of each output occupy distinct bytes (PUT: true). */
bool gsh_launch_output_is_distinct(const struct gsh_launch *launch);
/* Whether two operands step alike through the same memory, with elements of one size. */
bool gsh_launch_is_same_view(const struct gsh_launch *launch, unsigned a, unsigned b);
/* Lowest and one past the highest byte that operand k touches, relative to its address. */
void gsh_launch_extent(const struct gsh_launch *launch, unsigned k, int64_t *low, int64_t *high);
