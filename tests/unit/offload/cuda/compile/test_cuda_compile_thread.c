/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/cuda/compile/cuda_module.c and cuda_compile_thread.c without CUDA: a context, a driver and an NVRTC of this file, whose
 * compilations by another thread than the caller's pass a gate. Which thread compiles, when and how often; forks and
 * ends of the process meanwhile. A kernel of this driver is the number of the image it was loaded from.
 */
#include "capture.h"
#include "check.h"
#include "clock.h"
#include "cuda_cache.h"
#include "cuda_compile_thread.h"
#include "cuda_context.h"
#include "cuda_loader.h"
#include "cuda_module.h"
#include "options.h"
#include "stats.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define SOON_MS 50

static char root[] = "/tmp/gsh_builder_XXXXXX";

/* ---- the device ---- */

static pthread_t caller;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int gate_passes = -1; /* so many more compilations may go through the gate; negative: all */
static _Atomic unsigned inside; /* compilations of other threads */
static _Atomic unsigned compiled_here, compiled_beside, launched;
static _Atomic bool compiling_fails, registers; /* exit functions, when it compiles first */
static _Atomic bool memory_is_short, trimming_helps;
static _Thread_local bool has_context;
static unsigned asked;
static bool split_answer;

struct gsh_cuda_context gsh_cuda = {.arch = 90};

enum gsh_status gsh_cuda_context_check(gsh_cuda_enum result, const char *call, bool *said)
{
    (void)call;
    (void)said;
    return result == GSH_CUDA_SUCCESS ? GSH_OK : GSH_FAILED;
}

enum gsh_status gsh_cuda_context_check_library(const char *library, gsh_cuda_enum result,
                                               const char *call, bool *said)
{
    (void)library;
    return gsh_cuda_context_check(result, call, said);
}

enum gsh_status gsh_cuda_context_drain(CUstream stream)
{
    (void)stream;
    return GSH_OK;
}

enum gsh_status gsh_cuda_context_check_blas(gsh_cuda_enum result, const char *call, bool *said)
{
    return gsh_cuda_context_check(result, call, said);
}

bool gsh_cuda_context_is_lost(void)
{
    return false;
}

enum gsh_status gsh_cuda_context_enter(void)
{
    has_context = true;
    return GSH_OK;
}

void gsh_cuda_context_leave(void)
{
    has_context = false;
}

enum gsh_status gsh_cuda_context_wait(CUevent event)
{
    (void)event;
    return GSH_OK;
}

static bool is_caller(void)
{
    return pthread_equal(pthread_self(), caller);
}

static gsh_cuda_enum load_data(CUmodule *module, const void *image)
{
    if (memory_is_short)
        return GSH_CUDA_OUT_OF_MEMORY;
    *module = (CUmodule)(uintptr_t) * (const unsigned char *)image;
    return is_caller() || has_context ? GSH_CUDA_SUCCESS : GSH_CUDA_UNKNOWN;
}

static gsh_cuda_enum trim_pool(CUmemoryPool pool, size_t keep)
{
    (void)pool, (void)keep;
    memory_is_short = memory_is_short && !trimming_helps;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum get_function(CUfunction *function, CUmodule module, const char *name)
{
    *function = (CUfunction)module;
    return strcmp(name, "gsh_kernel") == 0 ? GSH_CUDA_SUCCESS : GSH_CUDA_UNKNOWN;
}

static gsh_cuda_enum launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void **parameters, void **extra)
{
    (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z;
    (void)shared, (void)stream, (void)parameters, (void)extra;
    launched++;
    return function != NULL ? GSH_CUDA_SUCCESS : GSH_CUDA_UNKNOWN;
}

static gsh_cuda_enum version(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return GSH_NVRTC_SUCCESS;
}

static const char *error_string(gsh_cuda_enum result)
{
    return result == GSH_NVRTC_SUCCESS ? "none" : "some";
}

static gsh_cuda_enum arch_count(int *count)
{
    *count = 1;
    return GSH_NVRTC_SUCCESS;
}

static gsh_cuda_enum archs(int *list)
{
    list[0] = 90;
    return GSH_NVRTC_SUCCESS;
}

static gsh_cuda_enum create_program(nvrtcProgram *program, const char *source, const char *name,
                                    int count, const char *const *headers, const char *const *names)
{
    (void)source, (void)name, (void)count, (void)headers, (void)names;
    *program = NULL;
    return GSH_NVRTC_SUCCESS;
}

static gsh_cuda_enum destroy_program(nvrtcProgram *program)
{
    (void)program;
    return GSH_NVRTC_SUCCESS;
}

/* What NVRTC's exit functions would come to grief about. */
static void look_inside(void)
{
    if (inside != 0)
        _exit(3);
}

static gsh_cuda_enum compile_program(nvrtcProgram program, int count, const char *const *options)
{
    (void)program, (void)count, (void)options;
    if (is_caller()) {
        compiled_here++;
    } else {
        if (registers && compiled_beside == 0)
            atexit(look_inside);
        inside++;
        pthread_mutex_lock(&mutex);
        while (gate_passes == 0)
            pthread_cond_wait(&opened, &mutex);
        gate_passes -= gate_passes > 0;
        pthread_mutex_unlock(&mutex);
        compiled_beside++;
        inside--;
    }
    return compiling_fails ? GSH_NVRTC_SUCCESS + 1 : GSH_NVRTC_SUCCESS;
}

static gsh_cuda_enum log_size(nvrtcProgram program, size_t *size)
{
    (void)program;
    *size = 0;
    return GSH_NVRTC_SUCCESS;
}

static gsh_cuda_enum image_size(nvrtcProgram program, size_t *size)
{
    (void)program;
    *size = 8;
    return GSH_NVRTC_SUCCESS;
}

static gsh_cuda_enum image(nvrtcProgram program, char *bytes)
{
    (void)program;
    memset(bytes, 7, 8);
    return GSH_NVRTC_SUCCESS;
}

static void open_device(void)
{
    caller = pthread_self();
    gsh_cu.cuModuleLoadData = load_data;
    gsh_cu.cuModuleGetFunction = get_function;
    gsh_cu.cuMemPoolTrimTo = trim_pool;
    gsh_cu.cuLaunchKernel = launch_kernel;
    gsh_nvrtc.nvrtcVersion = version;
    gsh_nvrtc.nvrtcGetErrorString = error_string;
    gsh_nvrtc.nvrtcGetNumSupportedArchs = arch_count;
    gsh_nvrtc.nvrtcGetSupportedArchs = archs;
    gsh_nvrtc.nvrtcCreateProgram = create_program;
    gsh_nvrtc.nvrtcDestroyProgram = destroy_program;
    gsh_nvrtc.nvrtcCompileProgram = compile_program;
    gsh_nvrtc.nvrtcGetProgramLogSize = log_size;
    gsh_nvrtc.nvrtcGetCUBINSize = image_size;
    gsh_nvrtc.nvrtcGetCUBIN = image;
    gsh_cuda_cache_open(root, 0);
    CHECK_INT(gsh_cuda_module_open(), GSH_OK);
}

/* ---- the gate ---- */

static void set_gate(int passes)
{
    pthread_mutex_lock(&mutex);
    gate_passes = passes;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&mutex);
}

static void close_gate(void)
{
    set_gate(0);
}

static void open_gate(void)
{
    set_gate(-1);
}

static void *let_one_pass_soon(void *unused)
{
    usleep(SOON_MS * 1000);
    set_gate(1);
    return unused;
}

static pthread_t start_opener(void)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, let_one_pass_soon, NULL), 0);
    return thread;
}

static void wait_until_inside(void)
{
    while (inside == 0)
        usleep(100);
}

/* ---- processes and files ---- */

static pid_t fork_flushed(void)
{
    fflush(NULL);
    return fork();
}

static int status_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

/* What is compiled next is not found in the cache. */
static void empty_cache(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_INT(system(command), 0);
}

/* ---- the work ---- */

static bool answer(const void *item)
{
    CHECK_STR((const char *)item, "item");
    asked++;
    return split_answer;
}

/* A chain of `steps` additions; each length is a kernel of its own. */
static enum gsh_status run_group(unsigned steps, bool can_split)
{
    const struct gsh_group_input array = {GSH_FROM_ARRAY, 0, 0};
    struct gsh_group group = {.ndim = 1,
                              .shape = {1000},
                              .array_count = 2,
                              .step_count = steps,
                              .store_count = 1,
                              .stores = {{{GSH_FROM_STEP, (uint8_t)(steps - 1), 0}, 1}}};
    for (unsigned k = 0; k < 2; k++)
        group.arrays[k] = (struct gsh_group_array){
            .dtype = GSH_FLOAT64, .address = UINT64_C(4096) * (k + 1), .strides = {8}};
    for (unsigned step = 0; step < steps; step++)
        group.steps[step] = (struct gsh_group_step){
            .op = GSH_OP_ADD,
            .loop = GSH_FLOAT64,
            .in = {array, step == 0
                              ? array
                              : (struct gsh_group_input){GSH_FROM_STEP, (uint8_t)(step - 1), 0}},
            .out = {GSH_FLOAT64}};
    split_answer = can_split;
    return gsh_cuda_module_launch_group(&group, 0, answer, "item");
}

/* Behind the closed gate the group's kernel is being compiled; what is asked for next waits for it. */
static bool begin_to_build(unsigned steps)
{
    close_gate();
    if (run_group(steps, true) != GSH_DECLINED)
        return false;
    wait_until_inside();
    return true;
}

/* What it becomes once nothing is being compiled any more. */
static enum gsh_status run_until_built(unsigned steps)
{
    enum gsh_status status;
    while ((status = run_group(steps, true)) == GSH_DECLINED)
        usleep(100);
    return status;
}

static struct gsh_launch add_launch(enum gsh_op op)
{
    struct gsh_launch launch = {.kind = GSH_LAUNCH_ELEMENTWISE,
                                .op = op,
                                .loop = GSH_FLOAT64,
                                .nin = 2,
                                .nout = 1,
                                .ndim = 1,
                                .shape = {1000}};
    for (unsigned k = 0; k < 3; k++) {
        launch.operands[k] = (struct gsh_operand){.dtype = GSH_FLOAT64,
                                                  .address = k < 2 ? UINT64_C(4096) * (k + 1) : 0};
        launch.strides[k][0] = 8;
    }
    return launch;
}

/* ---- the checks ---- */

static void fill_cache(void)
{
    struct gsh_launch launch = add_launch(GSH_OP_ADD);
    CHECK(!gsh_cuda_module_is_built(&launch));
    CHECK_INT(gsh_cuda_module_launch(&launch, 0), GSH_OK);
    CHECK(gsh_cuda_module_is_built(&launch));
    fprintf(stderr, "%u failed, %u here, %u beside", check_failed, compiled_here, compiled_beside);
}

/* What another process compiled counts as there; nothing is compiled for the question. */
static void check_is_built(void)
{
    char text[256];
    struct gsh_launch launch = add_launch(GSH_OP_ADD), other = add_launch(GSH_OP_MULTIPLY);
    CHECK_INT(capture_stderr(fill_cache, text, sizeof text), 0);
    CHECK_STR(text, "0 failed, 1 here, 0 beside");
    CHECK(gsh_cuda_module_is_built(&launch));
    CHECK(!gsh_cuda_module_is_built(&other));
    CHECK_INT(compiled_here, 0);
}

static void check_in_caller(void)
{
    CHECK_INT(run_group(1, false), GSH_OK);
    CHECK(compiled_here == 1 && compiled_beside == 0 && asked == 1 && launched == 1);
    CHECK_INT(run_group(1, true), GSH_OK);
    CHECK(compiled_here == 1 && compiled_beside == 0 && asked == 1 && launched == 2);
}

static void check_in_background(void)
{
    unsigned launches = launched;
    CHECK(begin_to_build(2));
    CHECK_INT(run_group(2, true), GSH_DECLINED);
    CHECK_INT(run_group(3, true), GSH_DECLINED);
    CHECK_INT(launched, launches);
    open_gate();
    CHECK_INT(run_until_built(2), GSH_OK);
    CHECK_INT(run_until_built(3), GSH_OK);
    CHECK_INT(compiled_here, 1);
    CHECK_INT(compiled_beside, 2);
    CHECK_INT(launched, launches + 2);
    asked = 0;
    CHECK_INT(run_group(2, true), GSH_OK);
    CHECK_INT(asked, 0);
}

/* A caller that cannot do without the kernel waits for one that is being compiled, and compiles one that is not. */
static void check_impatient_caller(void)
{
    CHECK(begin_to_build(4));
    CHECK_INT(run_group(5, true), GSH_DECLINED);
    CHECK_INT(run_group(5, false), GSH_OK);
    CHECK(compiled_here == 2 && compiled_beside == 2 && inside == 1);
    pthread_t opener = start_opener();
    CHECK_INT(run_group(4, false), GSH_OK);
    CHECK(compiled_here == 2 && compiled_beside == 3 && inside == 0);
    pthread_join(opener, NULL);
    open_gate();
}

/* A kernel that is asked for before it is needed is compiled beside the caller, once. */
static void check_ahead(void)
{
    struct gsh_launch launch = add_launch(GSH_OP_SUBTRACT);
    unsigned here = compiled_here, beside = compiled_beside, launches = launched;
    close_gate();
    CHECK(!gsh_cuda_module_build(&launch));
    wait_until_inside();
    CHECK(!gsh_cuda_module_build(&launch));
    open_gate();
    while (!gsh_cuda_module_build(&launch))
        usleep(100);
    CHECK_INT(launched, launches);
    CHECK_INT(gsh_cuda_module_launch(&launch, 0), GSH_OK);
    CHECK(compiled_here == here && compiled_beside == beside + 1);
}

/* ---- libraries of routines ---- */

static _Atomic unsigned opened_here, opened_beside;

static enum gsh_status open_handles(void)
{
    if (is_caller())
        opened_here++;
    else if (has_context)
        opened_beside++;
    return opened_here + opened_beside < 3 ? GSH_OK : GSH_FAILED;
}

static atomic_bool may_open;

static enum gsh_status wait_for_gate(void)
{
    while (!may_open)
        usleep(100);
    return GSH_OK;
}

static gsh_cuda_enum get_property(gsh_cuda_enum type, int *value)
{
    *value = (int)type + 1;
    return GSH_CUDA_SUCCESS;
}
static gsh_cuda_enum (*const property)(gsh_cuda_enum type, int *value) = get_property;

static struct gsh_cuda_loader new_loader(void)
{
    return (struct gsh_cuda_loader){.work = "nothing stays",
                                    .seconds = 10,
                                    .get_property =
                                        (gsh_cuda_enum(**)(gsh_cuda_enum, int *)) & property,
                                    .open_handles = open_handles};
}

/* Opened by the thread behind what it is at, while the caller goes on; by a caller that cannot do without it; once. */
static void check_loader(void)
{
    static struct gsh_cuda_loader beside, here, broken;
    beside = here = broken = new_loader();
    CHECK(begin_to_build(20));
    gsh_cuda_loader_begin(&beside);
    gsh_cuda_loader_begin(&beside);
    CHECK_INT(gsh_cuda_loader_state(&beside), GSH_CUDA_LOADING);
    CHECK(gsh_cuda_loader_left(&here) == here.seconds);
    CHECK(gsh_cuda_loader_left(&beside) == beside.seconds); /* it waits for the thread */
    CHECK(gsh_cuda_loader_is_ready(&here) && opened_here == 1);
    gsh_cuda_loader_begin(&here);
    open_gate();
    while (gsh_cuda_loader_state(&beside) == GSH_CUDA_LOADING)
        usleep(100);
    CHECK(gsh_cuda_loader_is_ready(&beside) && opened_beside == 1);
    CHECK(gsh_cuda_loader_left(&beside) == 0);
    CHECK_STR(beside.version, "1.2.3");
    CHECK(begin_to_build(21));
    gsh_cuda_loader_begin(&broken);
    CHECK(!gsh_cuda_loader_is_ready(&broken)); /* not begun: the caller's */
    CHECK(opened_here == 2 && !gsh_cuda_loader_is_ready(&broken));
    open_gate();
    CHECK_INT(run_until_built(21), GSH_OK);
    CHECK(opened_here == 2 && opened_beside == 1);
}

/* A library opens before the kernels that wait for the thread. */
static void check_libraries_first(void)
{
    static struct gsh_cuda_loader loader;
    loader = new_loader();
    loader.open_handles = NULL;
    CHECK(begin_to_build(23));
    CHECK_INT(run_group(24, true), GSH_DECLINED);
    gsh_cuda_loader_begin(&loader);
    set_gate(1); /* for the kernel that is being compiled */
    for (int turn = 0; turn < 10000 && gsh_cuda_loader_state(&loader) == GSH_CUDA_LOADING; turn++)
        usleep(100);
    CHECK_INT(gsh_cuda_loader_state(&loader), GSH_CUDA_READY);
    open_gate();
    CHECK_INT(run_until_built(24), GSH_OK);
}

/* What has begun is expected to end in time; what is overdue, to take the longer, the longer it has taken. */
static void check_left(void)
{
    struct gsh_cuda_loader loader = new_loader();
    CHECK(gsh_cuda_loader_left(&loader) == 10);
    loader.seconds_at_hand = 3;
    loader.place = GSH_CUDA_PLACE_MEMORY;
    CHECK(gsh_cuda_loader_left(&loader) == 3);
    loader.place = GSH_CUDA_PLACE_DISK;
    loader.state = GSH_CUDA_LOADING;
    loader.begun_ns = gsh_clock_ns() - UINT64_C(4000000000);
    double left = gsh_cuda_loader_left(&loader);
    CHECK(left > 5 && left <= 6);
    loader.begun_ns -= UINT64_C(20000000000);
    left = gsh_cuda_loader_left(&loader);
    CHECK(left >= 12 && left < 13);
    loader.state = GSH_CUDA_READY;
    CHECK(gsh_cuda_loader_left(&loader) == 0);
}

/* One that needs another has that opened first where it only waits for the thread, and counts what another still takes. */
static void check_order(void)
{
    static struct gsh_cuda_loader first, second, other;
    opened_here = opened_beside = 0;
    first = second = other = new_loader();
    second.needs = &first;
    second.open_handles = other.open_handles = NULL;
    CHECK(begin_to_build(22));
    gsh_cuda_loader_begin(&second);
    gsh_cuda_loader_begin(&first);
    first.open_handles = wait_for_gate;
    open_gate();
    while (__atomic_load_n(&first.begun_ns, __ATOMIC_RELAXED) == 0)
        usleep(100);
    CHECK_INT(gsh_cuda_loader_state(&second), GSH_CUDA_LOADING);
    double left = gsh_cuda_loader_left(&other);
    CHECK(left > 15 && left <= 20);
    may_open = true;
    while (gsh_cuda_loader_state(&second) == GSH_CUDA_LOADING)
        usleep(100);
    CHECK_INT(gsh_cuda_loader_state(&first), GSH_CUDA_READY);
    CHECK_INT(gsh_cuda_loader_state(&second), GSH_CUDA_READY);
    CHECK(gsh_cuda_loader_left(&other) == other.seconds);
}

static void check_failure(void)
{
    unsigned beside = compiled_beside;
    compiling_fails = true;
    CHECK_INT(run_group(6, true), GSH_DECLINED);
    CHECK_INT(run_until_built(6), GSH_FAILED);
    compiling_fails = false;
    CHECK_INT(run_group(6, true), GSH_FAILED);
    CHECK_INT(run_group(6, false), GSH_FAILED);
    CHECK_INT(compiled_beside, beside + 1);
}

/* Memory for code may be had of the pool, or later. */
static void check_memory(void)
{
    memory_is_short = trimming_helps = true;
    CHECK_INT(run_group(30, false), GSH_OK);
    memory_is_short = true;
    trimming_helps = false;
    CHECK_INT(run_group(31, false), GSH_FAILED);
    CHECK_INT(run_group(31, false), GSH_FAILED);
    CHECK_INT(run_group(32, true), GSH_DECLINED);
    CHECK_INT(run_group(32, false), GSH_FAILED);
    memory_is_short = false;
    CHECK_INT(run_group(31, false), GSH_OK);
    CHECK_INT(run_group(32, false), GSH_OK);
}

/* The child's memory is a moment at which nobody is inside the compiler; it ends by way of the exit functions. */
static void check_fork(void)
{
    CHECK(begin_to_build(7));
    CHECK_INT(run_group(8, true), GSH_DECLINED);
    pthread_t opener = start_opener();
    pid_t child = fork_flushed();
    if (child == 0) {
        struct stat tasks;
        bool good = inside == 0 && run_group(9, true) == GSH_DECLINED &&
                    stat("/proc/self/task", &tasks) == 0 &&
                    tasks.st_nlink == 2 + 1; /* one thread, the caller */
        gsh_cuda_compile_thread_stop();
        exit(good ? 0 : 1);
    }
    CHECK_INT(status_of(child), 0);
    pthread_join(opener, NULL);
    open_gate();
    CHECK_INT(run_until_built(7), GSH_OK);
    CHECK_INT(run_until_built(8), GSH_OK);
}

/* ---- the first job of a process while it forks ---- */

/* As offload/fork.c's, which is registered before the device is opened. */
static void submit_in_prepare(void)
{
    close_gate();
    if (run_group(2, true) != GSH_DECLINED)
        _exit(4);
    usleep(SOON_MS * 1000); /* time for a thread that would begin */
}

static uint64_t stop_ns(void)
{
    uint64_t start = gsh_clock_ns();
    gsh_cuda_compile_thread_stop();
    return gsh_clock_ns() - start;
}

/* What a prepare handler submits is begun behind the fork, by the parent. */
static void check_first_job_in_fork(void)
{
    pid_t forking = fork_flushed();
    if (forking == 0) {
        pthread_atfork(submit_in_prepare, NULL, NULL);
        open_device();
        pid_t child = fork_flushed();
        if (child == 0)
            _exit(inside == 0 && stop_ns() < UINT64_C(1000000000) ? 0 : 1);
        open_gate();
        _exit(status_of(child) == 0 && run_until_built(2) == GSH_OK && compiled_beside == 1 ? 0
                                                                                            : 1);
    }
    CHECK_INT(status_of(forking), 0);
}

/* A process may end while it compiles, the first time or later, when the compiler has registered exit functions. */
static void check_exit(bool is_first)
{
    pid_t child = fork_flushed();
    if (child == 0) {
        open_device();
        if (is_first)
            atexit(look_inside);
        registers = !is_first;
        if (!is_first && (run_until_built(1) != GSH_OK || compiled_beside != 1))
            exit(1);
        if (!begin_to_build(2))
            exit(1);
        pthread_detach(start_opener());
        exit(0);
    }
    CHECK_INT(status_of(child), 0);
}

static void check_option(void)
{
    pid_t child = fork_flushed();
    if (child == 0) {
        setenv("GPUSHIM_BACKGROUND", "0", 1);
        gsh_options_init();
        open_device();
        _exit(run_group(2, true) == GSH_OK && compiled_here == 1 && asked == 0 ? 0 : 1);
    }
    CHECK_INT(status_of(child), 0);
}

/* From here on nothing is begun in the background, not even what lies in the queue. */
static void check_stop(void)
{
    CHECK(begin_to_build(10));
    CHECK_INT(run_group(11, true), GSH_DECLINED);
    unsigned here = compiled_here, beside = compiled_beside;
    pthread_t opener = start_opener();
    gsh_cuda_compile_thread_stop();
    CHECK_INT(inside, 0);
    pthread_join(opener, NULL);
    CHECK_INT(run_group(12, true), GSH_DECLINED);
    usleep(SOON_MS * 1000);
    CHECK(compiled_here == here && compiled_beside == beside + 1);
    CHECK_INT(run_group(10, true), GSH_OK);
    CHECK_INT(run_group(11, false), GSH_OK);
    CHECK_INT(run_group(12, false), GSH_OK);
    CHECK(compiled_here == here + 2 && compiled_beside == beside + 1);
    gsh_cuda_compile_thread_stop();
}

static int run_checks(void)
{
    alarm(60); /* a job that nobody does would be waited for without end */
    check_option();
    empty_cache();
    gsh_options_init();
    check_first_job_in_fork();
    empty_cache();
    check_exit(true);
    empty_cache();
    check_exit(false);
    empty_cache();
    open_device(); /* a process forked off from here on begins no job */
    check_is_built();
    check_in_caller();
    check_in_background();
    check_impatient_caller();
    check_ahead();
    check_loader();
    check_libraries_first();
    check_left();
    check_order();
    check_failure();
    check_memory();
    check_fork();
    check_stop();
    return check_result();
}

/* The folder goes however the checks end, and with them whatever would fill it again. */
int main(void)
{
    if (mkdtemp(root) == NULL)
        return 1;
    pid_t child = fork_flushed();
    if (child == 0) {
        setpgid(0, 0);
        return run_checks();
    }
    int status = status_of(child);
    kill(-child, SIGKILL);
    empty_cache();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
