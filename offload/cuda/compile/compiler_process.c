/* SPDX-License-Identifier: Apache-2.0
 *
 * The process is started by a double fork. Both children share our memory until the second executes the program (clone(2) with
 * CLONE_VM and CLONE_VFORK, as posix_spawn does), and make system calls only. The first sends no signal when it ends, and wait(2)
 * does not find it without __WCLONE.
 */
#include "compiler_process.h"

#include "beside.h"
#include "clock.h"
#include "compiler_message.h"
#include "cuda_cache.h"
#include "cuda_libs.h"
#include "fmt.h"
#include "log.h"
#include "options.h"
#include "raw_syscall.h"
#include "stats.h"
#include "trace.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "gpushim_compiler"
#define STACK_BYTES ((size_t)32 << 10)
#define MOST_FILES 4096
#define SYS_CLOSE_RANGE 436 /* older headers lack its name */

static char program[PATH_MAX];
static int connection = -1; /* to the process; -1: none runs */
static dev_t connection_device;
static ino_t connection_inode;

static void find_program(void)
{
    (void)gsh_beside_find(PROGRAM, X_OK, program, sizeof program);
}

const char *gsh_compiler_process_path(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_program);
    return program;
}

/* ---- starting ---- */

enum { ARGUMENTS = 4, VARIABLES = 5 };

/* What the two children read of ours. */
struct children {
    const char *arguments[ARGUMENTS + 1];
    const char *variables[VARIABLES + 1];
    char *stack; /* the second child's, its upper end */
    int socket;
};

/* Leaves standard input, output and error, which lead nowhere, and the socket, whatever their numbers are with us. */
static void arrange_files(int socket)
{
    long own = gsh_raw_syscall3(SYS_fcntl, socket, F_DUPFD, GSH_COMPILER_SOCKET + 1);
    long nowhere = gsh_raw_syscall3(SYS_open, (long)"/dev/null", O_RDWR, 0);
    for (int fd = 0; fd < GSH_COMPILER_SOCKET; fd++)
        gsh_raw_syscall3(SYS_dup2, nowhere, fd, 0);
    gsh_raw_syscall3(SYS_dup2, own, GSH_COMPILER_SOCKET, 0);
    if (gsh_raw_syscall3(SYS_CLOSE_RANGE, GSH_COMPILER_SOCKET + 1, ~0U, 0) <
        0) /* older than Linux 5.9 */
        for (int fd = GSH_COMPILER_SOCKET + 1; fd < MOST_FILES; fd++)
            gsh_raw_syscall3(SYS_close, fd, 0, 0);
}

static int run_second_child(void *argument)
{
    const struct children *children = argument;
    uint64_t none = 0;
    gsh_raw_syscall3(SYS_setsid, 0, 0, 0);
    arrange_files(children->socket);
    gsh_raw_syscall5(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none, 0);
    gsh_raw_syscall3(SYS_execve, (long)children->arguments[0], (long)children->arguments,
                     (long)children->variables);
    gsh_raw_syscall3(SYS_exit, 1, 0, 0);
    return 1;
}

static int run_first_child(void *argument)
{
    const struct children *children = argument;
    int process = clone(run_second_child, children->stack, CLONE_VM | CLONE_VFORK, argument);
    gsh_raw_syscall3(SYS_exit, process < 0, 0, 0);
    return 1;
}

static bool fork_twice(struct children *children)
{
    int status = -1;
    char *stacks = malloc(2 * STACK_BYTES);
    if (stacks == NULL)
        return false;
    children->stack = stacks + 2 * STACK_BYTES;
    int process = clone(run_first_child, stacks + STACK_BYTES, CLONE_VM | CLONE_VFORK, children);
    if (process > 0)
        (void)waitpid(process, &status, __WCLONE);
    free(stacks);
    return process > 0 && status == 0;
}

/* The variables that NVRTC's search for its parts, and a compiler of ours, depend on. */
static void choose_variables(const char **variables, char texts[VARIABLES][PATH_MAX])
{
    static const char *const names[VARIABLES] = {"PATH", "LD_LIBRARY_PATH", "TMPDIR", "HOME",
                                                 "LANG"};
    size_t count = 0;
    for (size_t i = 0; i < VARIABLES; i++) {
        const char *value = getenv(names[i]);
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, texts[count], PATH_MAX);
        gsh_fmt_printf(&fmt, "%s=%s", names[i], value != NULL ? value : "");
        if (value != NULL && fmt.required == fmt.length) {
            variables[count] = texts[count];
            count++;
        }
    }
    variables[count] = NULL;
}

static bool start_with(int socket, char (*texts)[PATH_MAX])
{
    char limit[24];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, limit, sizeof limit);
    gsh_fmt_printf(&fmt, "%llu", (unsigned long long)gsh_option_number(GSH_OPTION_CACHE_LIMIT));
    struct children children = {.socket = socket,
                                .arguments = {program, gsh_cuda_libs_path(GSH_CUDA_LIBRARY_NVRTC),
                                              gsh_cuda_cache_folder(), limit, NULL}};
    choose_variables(children.variables, texts);
    return fork_twice(&children);
}

/* The program may have closed files that it did not open (os.closerange), and opened others under their numbers. */
static bool is_open_sigsafe(void)
{
    struct stat file = {0};
    return connection >= 0 && gsh_raw_syscall3(SYS_fstat, connection, (long)&file, 0) == 0 &&
           file.st_dev == connection_device && file.st_ino == connection_inode;
}

static bool connect_to(int socket)
{
    struct stat file;
    if (fstat(socket, &file) != 0)
        return false;
    connection = socket;
    connection_device = file.st_dev;
    connection_inode = file.st_ino;
    return true;
}

static bool start(void)
{
    int ends[2];
    if (gsh_compiler_process_path()[0] == '\0' ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    char(*texts)[PATH_MAX] = malloc(VARIABLES * sizeof *texts);
    bool is_started = texts != NULL && start_with(ends[1], texts);
    free(texts);
    close(ends[1]);
    is_started = is_started && connect_to(ends[0]);
    if (!is_started)
        close(ends[0]);
    gsh_log(GSH_LOG_DEBUG, is_started ? "%s compiles" : "%s cannot be started", program);
    return is_started;
}

void gsh_compiler_process_forget_sigsafe(void)
{
    if (is_open_sigsafe())
        gsh_raw_syscall3(SYS_close, connection, 0, 0);
    connection = -1;
}

/* ---- compiling ---- */

static bool send_all(const void *bytes, size_t size)
{
    return is_open_sigsafe() && gsh_compiler_message_send(connection, bytes, size);
}

static bool receive_all(void *bytes, size_t size)
{
    return is_open_sigsafe() && gsh_compiler_message_receive(connection, bytes, size);
}

static bool receive_image(size_t bytes, void **image)
{
    char *taken = calloc(bytes + 1, 1);
    if (taken == NULL || !receive_all(taken, bytes)) {
        free(taken);
        return false;
    }
    *image = taken;
    return true;
}

/* False: the process has ended. */
static bool ask(const char *source, const struct gsh_cuda_target *target,
                struct gsh_compiler_reply *reply, void **image)
{
    const struct gsh_compiler_request request = {
        .arch = target->arch, .is_ptx = target->is_ptx, .size = strlen(source) + 1};
    return send_all(&request, sizeof request) && send_all(source, request.size) &&
           receive_all(reply, sizeof *reply) &&
           (reply->outcome == GSH_COMPILER_FAILED || receive_image(reply->size, image));
}

/* A process that ran before may have ended because it was idle. */
static bool ask_running(const char *source, const struct gsh_cuda_target *target,
                        struct gsh_compiler_reply *reply, void **image)
{
    if (ask(source, target, reply, image))
        return true;
    gsh_compiler_process_forget_sigsafe();
    return start() && ask(source, target, reply, image);
}

enum gsh_status gsh_compiler_process_compile(const char *name, const char *source,
                                             const struct gsh_cuda_target *target, void **image,
                                             size_t *size)
{
    struct gsh_compiler_reply reply;
    uint64_t start_ns = gsh_clock_ns(), begin = gsh_trace_begin();
    if (!ask_running(source, target, &reply, image)) {
        gsh_compiler_process_forget_sigsafe();
        return GSH_DECLINED;
    }
    if (reply.outcome == GSH_COMPILER_FAILED)
        return GSH_DECLINED;
    *size = reply.size;
    gsh_stats_add(
        reply.outcome == GSH_COMPILER_FOUND ? GSH_COUNTER_CACHE_HITS : GSH_COUNTER_COMPILES, 1);
    GSH_TRACE_END(begin, COMPILES, .name = "compile a kernel", .text = name);
    gsh_log(GSH_LOG_DEBUG, "a process compiled the kernel %s in %.1f ms", name,
            (double)(gsh_clock_ns() - start_ns) * 1e-6);
    return GSH_OK;
}
