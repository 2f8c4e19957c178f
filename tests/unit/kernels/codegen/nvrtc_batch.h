/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles kernel texts with NVRTC, which needs no GPU: load_nvrtc, then add_launch for each launch,
 * then batch_flush. A struct batch begins with its text (BATCH_SIZE bytes), `arch`, `every`, and its
 * fmt initialised to the text.
 */
#pragma once

#include "check.h"
#include "source.h"

#include <dlfcn.h>
#include <stdlib.h>

#define TEXT_SIZE (1 << 18)
#define BATCH_KERNELS 16
#define BATCH_SIZE ((size_t)TEXT_SIZE * BATCH_KERNELS)

typedef struct program *program_t;
static struct {
    int (*create)(program_t *, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(program_t, int, const char *const *);
    int (*log_size)(program_t, size_t *);
    int (*log)(program_t, char *);
    int (*destroy)(program_t *);
    int (*version)(int *, int *);
    int (*arch_count)(int *);
    int (*archs)(int *);
} nvrtc;

static inline bool load_nvrtc(void)
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
    *(void **)&nvrtc.version = dlsym(library, "nvrtcVersion");
    *(void **)&nvrtc.arch_count = dlsym(library, "nvrtcGetNumSupportedArchs");
    *(void **)&nvrtc.archs = dlsym(library, "nvrtcGetSupportedArchs");
    return nvrtc.create && nvrtc.compile && nvrtc.log_size && nvrtc.log && nvrtc.destroy &&
           nvrtc.version && nvrtc.arch_count && nvrtc.archs;
}

/* Whether it compiles for GPUs so old: CUDA 12's was the last for those before Turing. */
static inline bool nvrtc_knows(int arch)
{
    int archs[64], count = 0;
    if (nvrtc.arch_count(&count) != 0 || count > (int)GSH_COUNT(archs) || nvrtc.archs(archs) != 0)
        return false;
    for (int i = 0; i < count; i++)
        if (archs[i] == arch)
            return true;
    return false;
}

/* Several kernels are compiled as one program, each in its own namespace and under its own name:
 * that is several times faster than one program each. */
struct batch {
    char *text;
    struct gsh_fmt fmt;
    unsigned kernels, programs, seen, every; /* every n-th kernel is taken */
    bool every_layout;
    const char *arch;
};

/* --minimal, as cuda_compile.c has it, from NVRTC 12.8 on. */
static inline int batch_option_count(int all)
{
    int major = 0, minor = 0;
    nvrtc.version(&major, &minor);
    return all - (major * 100 + minor < 1208);
}

static inline void batch_flush(struct batch *batch)
{
    const char *options[] = {batch->arch, "--std=c++17", "--fmad=false", "-w", "--minimal"};
    program_t program = NULL;
    char log[4096] = "";
    size_t size = 0;
    if (batch->fmt.length == 0)
        return;
    CHECK(batch->fmt.required < BATCH_SIZE);
    CHECK_INT(nvrtc.create(&program, batch->text, "kernels.cu", 0, NULL, NULL), 0);
    if (!CHECK_INT(nvrtc.compile(program, batch_option_count(GSH_COUNT(options)), options), 0) &&
        nvrtc.log_size(program, &size) == 0 && size <= sizeof(log)) {
        nvrtc.log(program, log);
        fprintf(stderr, "%s\n", log);
    }
    nvrtc.destroy(&program);
    batch->programs++;
    gsh_fmt_init(&batch->fmt, batch->text, BATCH_SIZE);
}

/* Adds the text that `text` holds. */
static inline void batch_add_text(struct batch *batch, const struct gsh_fmt *text)
{
    CHECK(text->required < TEXT_SIZE);
    unsigned id = batch->kernels++;
    gsh_fmt_printf(&batch->fmt, "#undef ERRORS\n#define gsh_kernel gsh_kernel_%u\n", id);
    gsh_fmt_printf(&batch->fmt, "namespace k%u {\n%s\n}\n#undef gsh_kernel\n", id, text->text);
    if (batch->kernels % BATCH_KERNELS == 0)
        batch_flush(batch);
}

static inline void batch_add(struct batch *batch, const struct gsh_launch *launch, unsigned stage)
{
    static char text[TEXT_SIZE];
    struct gsh_fmt fmt;
    if (batch->seen++ % batch->every != 0)
        return;
    gsh_fmt_init(&fmt, text, sizeof(text));
    gsh_source_text(launch, stage, &fmt);
    batch_add_text(batch, &fmt);
}

static inline void add_launch(struct batch *batch, const struct gsh_launch *launch)
{
    static struct gsh_source_plan plan;
    if (!CHECK_INT(gsh_source_plan(launch, 256, &plan), GSH_OK))
        return;
    for (unsigned stage = 0; stage < plan.stage_count; stage++)
        batch_add(batch, launch, stage);
}

/* false: no memory. */
static inline bool batch_open(struct batch *batch, const char *arch, unsigned every)
{
    *batch = (struct batch){.text = malloc(BATCH_SIZE), .arch = arch, .every = every};
    if (!CHECK(batch->text != NULL))
        return false;
    gsh_fmt_init(&batch->fmt, batch->text, BATCH_SIZE);
    return true;
}

/* Compiles what is left, and tells how much there was. */
static inline void batch_close(struct batch *batch)
{
    batch_flush(batch);
    printf("%s: %u kernels of %u in %u programs\n", batch->arch, batch->kernels, batch->seen,
           batch->programs);
    free(batch->text);
}

static inline void batch_run(void (*add)(struct batch *batch), const char *arch, unsigned every)
{
    struct batch batch;
    if (!batch_open(&batch, arch, every))
        return;
    add(&batch);
    batch_close(&batch);
    CHECK(batch.kernels > 0);
}

/* A whole test: of what `add` adds every `texts`th kernel to PTX, and every `codes`th to machine code of three GPUs. */
static inline int batch_main(void (*add)(struct batch *batch), unsigned texts, unsigned codes)
{
    if (!load_nvrtc()) {
        printf("skipped: no libnvrtc here\n");
        return CHECK_SKIP;
    }
    batch_run(add, "--gpu-architecture=compute_90", texts);
    batch_run(add, "--gpu-architecture=sm_80", codes);
    batch_run(add, "--gpu-architecture=sm_90", codes);
    batch_run(add, "--gpu-architecture=sm_120", codes);
    return check_result();
}
