/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kernel text compiles: each op x loop dtype x layout, casts between all dtypes, each
 * reduction x loop dtype x layout, with NVRTC, which needs no GPU. The whole set for sm_90, a
 * sample for sm_80 and sm_100. Skipped where libnvrtc is not installed. Arguments: an architecture
 * and `all` compile the whole set for that alone.
 */
#include "check.h"
#include "source.h"

#include <dlfcn.h>
#include <stdlib.h>

#define TEXT_SIZE 65536

typedef struct program *program_t;
static struct {
    int (*create)(program_t *, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(program_t, int, const char *const *);
    int (*log_size)(program_t, size_t *);
    int (*log)(program_t, char *);
    int (*destroy)(program_t *);
} nvrtc;

static bool load_nvrtc(void)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                        "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"};
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < GSH_COUNT(names); i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    *(void **)&nvrtc.create = dlsym(library, "nvrtcCreateProgram");
    *(void **)&nvrtc.compile = dlsym(library, "nvrtcCompileProgram");
    *(void **)&nvrtc.log_size = dlsym(library, "nvrtcGetProgramLogSize");
    *(void **)&nvrtc.log = dlsym(library, "nvrtcGetProgramLog");
    *(void **)&nvrtc.destroy = dlsym(library, "nvrtcDestroyProgram");
    return nvrtc.create && nvrtc.compile && nvrtc.log_size && nvrtc.log && nvrtc.destroy;
}

/* Several kernels are compiled as one program, each in its own namespace and under its own name:
 * that is several times faster than one program each. */
struct batch {
    char *text;
    struct gsh_fmt fmt;
    unsigned kernels, programs, seen, every; /* every n-th kernel is taken */
    const char *arch;
};

static void batch_flush(struct batch *batch)
{
    const char *options[] = {batch->arch, "--std=c++17", "--fmad=false", "-w"};
    program_t program = NULL;
    char log[4096] = "";
    size_t size = 0;
    if (batch->fmt.length == 0)
        return;
    CHECK(batch->fmt.required < TEXT_SIZE * 16);
    CHECK_INT(nvrtc.create(&program, batch->text, "kernels.cu", 0, NULL, NULL), 0);
    if (!CHECK_INT(nvrtc.compile(program, GSH_COUNT(options), options), 0) &&
        nvrtc.log_size(program, &size) == 0 && size <= sizeof(log)) {
        nvrtc.log(program, log);
        fprintf(stderr, "%s\n", log);
    }
    nvrtc.destroy(&program);
    batch->programs++;
    gsh_fmt_init(&batch->fmt, batch->text, TEXT_SIZE * 16);
}

static void batch_add(struct batch *batch, const struct gsh_launch *launch, unsigned stage)
{
    static char text[TEXT_SIZE];
    struct gsh_fmt fmt;
    if (batch->seen++ % batch->every != 0)
        return;
    gsh_fmt_init(&fmt, text, sizeof(text));
    gsh_source_text(launch, stage, &fmt);
    CHECK(fmt.required < sizeof(text));
    unsigned id = batch->kernels++;
    gsh_fmt_printf(&batch->fmt,
                   "#undef FN\n#undef INFINITE\n#undef NEUTRAL\n#define gsh_kernel gsh_kernel_%u\n",
                   id);
    gsh_fmt_printf(&batch->fmt, "namespace k%u {\n%s\n}\n#undef gsh_kernel\n", id, text);
    if (batch->kernels % 16 == 0)
        batch_flush(batch);
}

static void add_launch(struct batch *batch, const struct gsh_launch *launch)
{
    static struct gsh_source_plan plan;
    if (!CHECK_INT(gsh_source_plan(launch, 256, &plan), GSH_OK))
        return;
    for (unsigned stage = 0; stage < plan.stage_count; stage++)
        batch_add(batch, launch, stage);
}

static struct gsh_launch elementwise(enum gsh_op op, enum gsh_dtype loop)
{
    struct gsh_launch launch = {
        .kind = GSH_LAUNCH_ELEMENTWISE, .op = op, .loop = loop, .ndim = 1, .shape = {1000}};
    launch.nin = gsh_op_info(op)->nin;
    for (unsigned k = 0; k <= launch.nin; k++)
        launch.operands[k] = (struct gsh_operand){.dtype = loop, .address = 4096};
    launch.operands[launch.nin].dtype = gsh_launch_result_dtype(&launch);
    return launch;
}

static void set_strides(struct gsh_launch *launch, int ndim, int64_t step)
{
    launch->ndim = ndim;
    for (int d = 0; d < ndim; d++) {
        launch->shape[d] = 10;
        for (unsigned k = 0; k <= launch->nin; k++)
            launch->strides[k][d] =
                step * (d + 1) * (int64_t)gsh_dtype_size(launch->operands[k].dtype);
    }
}

static void add_op(struct batch *batch, enum gsh_op op, enum gsh_dtype loop)
{
    struct gsh_launch launch = elementwise(op, loop);
    set_strides(&launch, 1, 1);
    add_launch(batch, &launch); /* packs */
    launch.operands[0].is_constant = true;
    add_launch(batch, &launch);
    launch.operands[0].is_constant = false;
    launch.strides[0][0] = 0;
    add_launch(batch, &launch); /* scalar in memory */
    set_strides(&launch, 1, 1);
    launch.operands[launch.nin].address = 4097;
    add_launch(batch, &launch); /* unaligned: no packs */
    set_strides(&launch, 3, -2);
    add_launch(batch, &launch); /* strided */
    launch.shape[0] = INT64_C(1) << 32;
    if (op == GSH_OP_ADD || gsh_op_info(op)->uses_index)
        add_launch(batch, &launch); /* the same, 64-bit indices */
}

static void add_casts(struct batch *batch)
{
    for (int from = 0; from < GSH_DTYPE_COUNT; from++)
        for (int to = 0; to < GSH_DTYPE_COUNT; to++) {
            struct gsh_launch launch = elementwise(GSH_OP_COPY, (enum gsh_dtype)to);
            launch.operands[0].dtype = (enum gsh_dtype)from;
            set_strides(&launch, 1, 1);
            add_launch(batch, &launch);
            launch.operands[0].is_constant = true;
            add_launch(batch, &launch);
            launch.operands[0].is_constant = false;
            set_strides(&launch, 16, 3);
            for (int d = 0; d < 15; d++)
                launch.shape[d] = 1;
            add_launch(batch, &launch);
        }
}

static void add_reduction(struct batch *batch, enum gsh_reduction reduction, enum gsh_dtype loop,
                          enum gsh_dtype in)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_REDUCE,
                                .reduction = reduction,
                                .loop = loop,
                                .nin = 1,
                                .ndim = 2,
                                .nreduce = 1,
                                .shape = {30, 100000}};
    int64_t size = (int64_t)gsh_dtype_size(in);
    launch.operands[0] = (struct gsh_operand){.dtype = in, .address = 4096};
    launch.operands[1] =
        (struct gsh_operand){.dtype = gsh_launch_result_dtype(&launch), .address = 4096};
    launch.strides[1][0] = (int64_t)gsh_dtype_size(launch.operands[1].dtype);
    launch.strides[0][0] = 100000 * size;
    launch.strides[0][1] = size;
    add_launch(batch, &launch); /* rows, two stages */
    launch.strides[0][0] = size;
    launch.strides[0][1] = 30 * size;
    add_launch(batch, &launch); /* columns */
    launch.ndim = launch.nreduce = 3;
    launch.shape[0] = 5;
    launch.shape[2] = INT64_C(1) << 32;
    add_launch(batch, &launch); /* everything, three dimensions, 64-bit indices */
}

static void compile_all(const char *arch, unsigned every)
{
    struct batch batch = {.text = malloc(TEXT_SIZE * 16), .arch = arch, .every = every};
    if (!CHECK(batch.text != NULL))
        return;
    gsh_fmt_init(&batch.fmt, batch.text, TEXT_SIZE * 16);
    for (int op = 0; op < GSH_OP_COUNT; op++)
        for (int dtype = 0; dtype < GSH_DTYPE_COUNT; dtype++)
            if (gsh_op_has_loop((enum gsh_op)op, (enum gsh_dtype)dtype))
                add_op(&batch, (enum gsh_op)op, (enum gsh_dtype)dtype);
    add_casts(&batch);
    for (int r = 0; r < GSH_REDUCTION_COUNT; r++)
        for (int loop = 0; loop < GSH_DTYPE_COUNT; loop++)
            for (int in = 0; in < GSH_DTYPE_COUNT; in++)
                if (gsh_reduction_has_loop((enum gsh_reduction)r, (enum gsh_dtype)loop) &&
                    (in == loop ||
                     gsh_reduction_info((enum gsh_reduction)r)->neutral == GSH_NEUTRAL_ZERO))
                    add_reduction(&batch, (enum gsh_reduction)r, (enum gsh_dtype)loop,
                                  (enum gsh_dtype)in);
    batch_flush(&batch);
    printf("%s: %u kernels of %u in %u programs\n", arch, batch.kernels, batch.seen,
           batch.programs);
    free(batch.text);
}

int main(int argc, char **argv)
{
    if (!load_nvrtc()) {
        printf("skipped: no libnvrtc here\n");
        return CHECK_SKIP;
    }
    if (argc > 1) {
        compile_all(argv[1], argc > 2 && strcmp(argv[2], "all") == 0 ? 1 : 17);
        return check_result();
    }
    compile_all("--gpu-architecture=sm_90", 1);
    compile_all("--gpu-architecture=sm_80", 17);
    compile_all("--gpu-architecture=sm_100", 17);
    return check_result();
}
