/* SPDX-License-Identifier: Apache-2.0
 *
 * Every row of interpose/libc/io_calls.def on memory whose newest copy is on the device. The kernel
 * gets the device's data; the host and the device see what it writes; errno and results are the
 * real call's; no pin is left, not even by a cancelled thread. The file under test is included, so
 * that its entry points can be called by name.
 */
#include "coherence.h"
#include "unseen.h"

#include <pthread.h>
#include <sys/syscall.h>

static size_t largest_pin;

/* For what only tests/preload/test_unseen_access.py is about. */
void gsh_unseen_note_syscall(long number)
{
    (void)number;
}

bool gsh_unseen_opens_file(long number)
{
    return number == SYS_open;
}

void gsh_unseen_note_file(int opened, const char *path)
{
    (void)opened, (void)path;
}

/* A pin that is a cancellation point, as one that waits or writes a message may be. */
static void observed_pin(const void *address, size_t size, bool write)
{
    gsh_coherence_pin(address, size, write);
    largest_pin = size > largest_pin ? size : largest_pin;
    pthread_testcancel();
}

#define gsh_coherence_pin observed_pin
#include "libc_io.c"        // NOLINT(bugprone-suspicious-include)
#include "libc_io_ranges.c" // NOLINT(bugprone-suspicious-include)
#include "libc_real.c"      // NOLINT(bugprone-suspicious-include)
#undef gsh_coherence_pin

#include "block.h"
#include "check.h"
#include "live.h"

#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The entry points have libc's names: what this program calls by those are they. */
extern __typeof__(read) __read;
extern __typeof__(write) __write;
extern __typeof__(pread64) __pread64;
extern __typeof__(pwrite64) __pwrite64;
extern __typeof__(send) __send;
extern __typeof__(fcntl) __fcntl;
extern __typeof__(fread) _IO_fread;
extern __typeof__(fwrite) _IO_fwrite;
ssize_t __read_chk(int fd, void *data, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t size, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *data, size_t size, off_t at, size_t room);
ssize_t __recv_chk(int fd, void *data, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *data, size_t size, size_t room, int flags,
                       struct sockaddr *from, socklen_t *length);
size_t __fread_chk(void *data, size_t room, size_t size, size_t items, FILE *stream);
size_t __fread_unlocked_chk(void *data, size_t room, size_t size, size_t items, FILE *stream);

#define COUNT 4096 /* doubles: 32 KiB, less than a pipe or a socket holds */
#define BYTES (COUNT * sizeof(double))

static double *memory; /* the block under test */
static int file;       /* an empty file opened for both, deleted already */

static double expected_at(size_t i)
{
    return (double)i * 0.5 + 3;
}

/* memory = expected, on the device alone. */
static void offload_memory(void)
{
    static double *ramp;
    if (ramp == NULL)
        ramp = live_doubles(COUNT, GSH_ARENA_HOST);
    for (size_t i = 0; i < COUNT; i++)
        ramp[i] = expected_at(i) - 1;
    if (live_add(ramp, NULL, 1, memory, COUNT) != GSH_REASON_NONE ||
        gsh_coherence_residency(memory) != GSH_RESIDENT_DEVICE)
        CHECK(!"the data went to the device");
}

static bool is_expected(const void *bytes)
{
    const double *values = bytes;
    for (size_t i = 0; i < COUNT; i++)
        if (values[i] != expected_at(i))
            return false;
    return true;
}

static bool is_pinned(void)
{
    const struct gsh_block *block = gsh_arena_find_block(memory);
    return block->read_pins != 0 || block->write_pins != 0;
}

static void fill_plain(double *plain)
{
    for (size_t i = 0; i < COUNT; i++)
        plain[i] = expected_at(i);
}

/* ---- the kernel reads ---- */

static struct iovec halves[2];

static void set_halves(void)
{
    halves[0] = (struct iovec){memory, BYTES / 2};
    halves[1] = (struct iovec){(char *)memory + BYTES / 2, BYTES / 2};
}

/* Runs `call`, which must pass BYTES bytes on to `from`, and compares what arrived. */
#define SENDS(from, call)                                                                          \
    do {                                                                                           \
        offload_memory();                                                                          \
        set_halves();                                                                              \
        lseek(file, 0, SEEK_SET);                                                                  \
        CHECK_INT(call, BYTES);                                                                    \
        static double arrived[COUNT];                                                              \
        memset(arrived, 0, BYTES);                                                                 \
        if ((from) == file)                                                                        \
            lseek(file, 0, SEEK_SET);                                                              \
        CHECK_INT(syscall(SYS_read, from, arrived, BYTES), BYTES);                                 \
        CHECK(is_expected(arrived));                                                               \
        CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_SHARED);                           \
        CHECK(!is_pinned());                                                                       \
        CHECK_INT(ftruncate(file, 0), 0);                                                          \
    } while (0)

static void test_file_writes(void)
{
    SENDS(file, write(file, memory, BYTES));
    SENDS(file, __write(file, memory, BYTES));
    SENDS(file, pwrite(file, memory, BYTES, 0));
    SENDS(file, pwrite64(file, memory, BYTES, 0));
    SENDS(file, __pwrite64(file, memory, BYTES, 0));
    SENDS(file, writev(file, halves, 2));
    SENDS(file, pwritev(file, halves, 2, 0));
    SENDS(file, pwritev64(file, halves, 2, 0));
    SENDS(file, pwritev2(file, halves, 2, 0, 0));
    SENDS(file, pwritev64v2(file, halves, 2, 0, 0));
}

static void test_stdio_writes(void)
{
    FILE *stream = fdopen(dup(file), "r+");
    setvbuf(stream, NULL, _IONBF, 0);
#define DOUBLES(call) (rewind(stream), (long long)(call) * (long long)sizeof(double))
    SENDS(file, DOUBLES(fwrite(memory, sizeof(double), COUNT, stream)));
    SENDS(file, DOUBLES(_IO_fwrite(memory, sizeof(double), COUNT, stream)));
    SENDS(file, DOUBLES(fwrite_unlocked(memory, sizeof(double), COUNT, stream)));
    fclose(stream);
}

static void test_sends(int kind)
{
    int pair[2];
    CHECK_INT(socketpair(AF_UNIX, kind, 0, pair), 0);
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};
    struct mmsghdr messages[1] = {{.msg_hdr = message}};
    SENDS(pair[1], send(pair[0], memory, BYTES, 0));
    SENDS(pair[1], __send(pair[0], memory, BYTES, 0));
    SENDS(pair[1], sendto(pair[0], memory, BYTES, 0, NULL, 0));
    SENDS(pair[1], sendmsg(pair[0], &message, 0));
    SENDS(pair[1], sendmmsg(pair[0], messages, 1, 0) == 1 ? messages[0].msg_len : 0);
    close(pair[0]);
    close(pair[1]);
}

static void test_pipe_writes(void)
{
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    SENDS(ends[0], write(ends[1], memory, BYTES));
    SENDS(ends[0], vmsplice(ends[1], halves, 2, 0));
    close(ends[0]);
    close(ends[1]);
    static double plain[COUNT];
    offload_memory();
    set_halves();
    struct iovec target = {plain, BYTES};
    CHECK_INT(process_vm_writev(getpid(), halves, 2, &target, 1, 0), BYTES);
    CHECK(is_expected(plain));
    CHECK(!is_pinned());
}

/* ---- the kernel writes ---- */

/* Runs `call`, which must put the expected bytes into memory; `prepare` provides them. */
#define RECEIVES(prepare, call)                                                                    \
    do {                                                                                           \
        CHECK_INT(prepare, BYTES);                                                                 \
        clear_on_device();                                                                         \
        set_halves();                                                                              \
        lseek(file, 0, SEEK_SET);                                                                  \
        CHECK_INT(call, BYTES);                                                                    \
        CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_HOST);                             \
        CHECK(is_expected(memory));                                                                \
        CHECK(!is_pinned());                                                                       \
    } while (0)

static void clear_on_device(void)
{
    static double *zeros;
    if (zeros == NULL)
        zeros = live_doubles(COUNT, GSH_ARENA_ZERO);
    if (live_add(zeros, NULL, 0, memory, COUNT) != GSH_REASON_NONE)
        CHECK(!"the data went to the device");
}

static double plain_data[COUNT];

static long put_file(void)
{
    fill_plain(plain_data);
    return syscall(SYS_pwrite64, file, plain_data, BYTES, 0L);
}

static void test_file_reads(void)
{
    RECEIVES(put_file(), read(file, memory, BYTES));
    RECEIVES(put_file(), __read(file, memory, BYTES));
    RECEIVES(put_file(), __read_chk(file, memory, BYTES, BYTES));
    RECEIVES(put_file(), pread(file, memory, BYTES, 0));
    RECEIVES(put_file(), pread64(file, memory, BYTES, 0));
    RECEIVES(put_file(), __pread64(file, memory, BYTES, 0));
    RECEIVES(put_file(), __pread_chk(file, memory, BYTES, 0, BYTES));
    RECEIVES(put_file(), __pread64_chk(file, memory, BYTES, 0, BYTES));
    RECEIVES(put_file(), readv(file, halves, 2));
    RECEIVES(put_file(), preadv(file, halves, 2, 0));
    RECEIVES(put_file(), preadv64(file, halves, 2, 0));
    RECEIVES(put_file(), preadv2(file, halves, 2, 0, 0));
    RECEIVES(put_file(), preadv64v2(file, halves, 2, 0, 0));
}

static void test_stdio_reads(void)
{
    FILE *stream = fdopen(dup(file), "r+");
    RECEIVES(put_file(), DOUBLES(fread(memory, sizeof(double), COUNT, stream)));
    RECEIVES(put_file(), DOUBLES(_IO_fread(memory, sizeof(double), COUNT, stream)));
    RECEIVES(put_file(), DOUBLES(fread_unlocked(memory, sizeof(double), COUNT, stream)));
    RECEIVES(put_file(), DOUBLES(__fread_chk(memory, BYTES, sizeof(double), COUNT, stream)));
    RECEIVES(put_file(),
             DOUBLES(__fread_unlocked_chk(memory, BYTES, sizeof(double), COUNT, stream)));
    fclose(stream);
}

static long put_socket(int socket)
{
    fill_plain(plain_data);
    return syscall(SYS_sendto, socket, plain_data, BYTES, 0L, NULL, 0L);
}

static void test_receives(int kind)
{
    int pair[2];
    CHECK_INT(socketpair(AF_UNIX, kind, 0, pair), 0);
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};
    struct mmsghdr messages[1] = {{.msg_hdr = message}};
    int in = pair[0], out = pair[1];
    RECEIVES(put_socket(in), recv(out, memory, BYTES, MSG_WAITALL));
    RECEIVES(put_socket(in), __recv_chk(out, memory, BYTES, BYTES, MSG_WAITALL));
    RECEIVES(put_socket(in), recvfrom(out, memory, BYTES, MSG_WAITALL, NULL, NULL));
    RECEIVES(put_socket(in), __recvfrom_chk(out, memory, BYTES, BYTES, MSG_WAITALL, NULL, NULL));
    RECEIVES(put_socket(in), recvmsg(out, &message, MSG_WAITALL));
    RECEIVES(put_socket(in),
             recvmmsg(out, messages, 1, MSG_WAITALL, NULL) == 1 ? messages[0].msg_len : 0);
    close(in);
    close(out);
    struct iovec source = {plain_data, BYTES};
    RECEIVES((long)BYTES, process_vm_readv(getpid(), halves, 2, &source, 1, 0));
}

/* A message's name and control data in device memory: their lengths change between pin and unpin.
 */
static void test_message_parts(void)
{
    int one = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    CHECK_INT(bind(one, (struct sockaddr *)&address, length), 0);
    CHECK_INT(getsockname(one, (struct sockaddr *)&address, &length), 0);
    CHECK_INT(sendto(one, "abc", 3, 0, (struct sockaddr *)&address, length), 3);
    offload_memory();
    char data[8];
    struct iovec vector = {data, sizeof data};
    struct msghdr message = {.msg_name = memory,
                             .msg_namelen = 1024,
                             .msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = memory + 256,
                             .msg_controllen = 1024};
    CHECK_INT(recvmsg(one, &message, 0), 3);
    CHECK_INT(message.msg_namelen, sizeof address);
    CHECK(((struct sockaddr_in *)memory)->sin_port == address.sin_port);
    CHECK(!is_pinned());
    close(one);
}

/* ---- queues, attributes, options and the rest ---- */

static void test_queues(void)
{
    int queue = msgget(IPC_PRIVATE, 0600);
    CHECK(queue >= 0);
    offload_memory();
    long sent[129] = {0}; /* the type, which must be positive, and the text */
    memcpy(&sent[0], &(double){expected_at(0)}, sizeof sent[0]);
    CHECK_INT(msgsnd(queue, memory, 1024, 0), 0);
    CHECK(!is_pinned());
    CHECK_INT(syscall(SYS_msgrcv, queue, sent, 1024L, 0L, 0L), 1024);
    CHECK(sent[128] == ((long *)memory)[128]);
    CHECK_INT(syscall(SYS_msgsnd, queue, sent, 1024L, 0L), 0);
    clear_on_device();
    CHECK_INT(msgrcv(queue, memory, 1024, 0, 0), 1024);
    CHECK(memory[128] == expected_at(128));
    CHECK(!is_pinned());
    msgctl(queue, IPC_RMID, NULL);
}

static void test_posix_queues(void)
{
    char name[64];
    snprintf(name, sizeof name, "/gpushim-test-%d", (int)getpid());
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 1024};
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    if (queue == (mqd_t)-1) {
        printf("no POSIX message queues here: %s\n", strerror(errno));
        return;
    }
    mq_unlink(name);
    struct timespec until = {.tv_sec = 1};
    for (int timed = 0; timed < 2; timed++) {
        offload_memory();
        CHECK_INT(timed ? mq_timedsend(queue, (char *)memory, 1024, 0, &until)
                        : mq_send(queue, (char *)memory, 1024, 0),
                  0);
        CHECK(!is_pinned());
        clear_on_device();
        CHECK_INT(timed ? mq_timedreceive(queue, (char *)memory, 1024, NULL, &until)
                        : mq_receive(queue, (char *)memory, 1024, NULL),
                  1024);
        CHECK(memory[127] == expected_at(127));
        CHECK(!is_pinned());
    }
    mq_close(queue);
}

static void test_attributes(void)
{
    char path[] = "/tmp/gpushim-test-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    const char *name = "user.gpushim";
    offload_memory();
    if (fsetxattr(fd, name, memory, 64, 0) != 0 && errno == ENOTSUP) {
        printf("no extended attributes in /tmp\n");
    } else {
        CHECK_INT(setxattr(path, name, memory, 64, 0), 0);
        CHECK_INT(lsetxattr(path, name, memory, 64, 0), 0);
        for (int kind = 0; kind < 3; kind++) {
            clear_on_device();
            CHECK_INT(kind == 0   ? fgetxattr(fd, name, memory, 64)
                      : kind == 1 ? getxattr(path, name, memory, 64)
                                  : lgetxattr(path, name, memory, 64),
                      64);
            CHECK(memory[7] == expected_at(7));
            clear_on_device();
            char *list = (char *)memory;
            CHECK((kind == 0   ? flistxattr(fd, list, 1024)
                   : kind == 1 ? listxattr(path, list, 1024)
                               : llistxattr(path, list, 1024)) >= (ssize_t)strlen(name));
            CHECK(memmem(list, 1024, name, strlen(name) + 1) != NULL);
        }
    }
    CHECK(!is_pinned());
    close(fd);
    unlink(path);
}

static void test_options(void)
{
    int pair[2];
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    int *value = (int *)memory;
    clear_on_device();
    socklen_t length = sizeof *value;
    CHECK_INT(getsockopt(pair[0], SOL_SOCKET, SO_TYPE, value, &length), 0);
    CHECK_INT(*value, SOCK_STREAM);
    clear_on_device();
    CHECK_INT(setsockopt(pair[0], SOL_SOCKET, SO_KEEPALIVE, value, sizeof *value), 0);
    CHECK_INT(put_socket(pair[0]), BYTES);
    clear_on_device();
    CHECK_INT(ioctl(pair[1], FIONREAD, value), 0);
    CHECK_INT(*value, BYTES);
    struct flock *lock = (struct flock *)memory;
    int (*const controls[])(int, int, ...) = {fcntl, __fcntl, fcntl64};
    for (size_t i = 0; i < GSH_COUNT(controls); i++) {
        *lock = (struct flock){.l_type = F_WRLCK};
        CHECK(live_add(memory, NULL, 0, memory, COUNT) == GSH_REASON_NONE);
        CHECK_INT(controls[i](file, F_GETLK, lock), 0);
        CHECK_INT(lock->l_type, F_UNLCK);
        CHECK_INT(controls[i](file, F_GETFD, NULL), 0);
    }
    CHECK(!is_pinned());
    close(pair[0]);
    close(pair[1]);
}

static void test_random(void)
{
    clear_on_device();
    CHECK_INT(getrandom(memory, 256, 0), 256);
    CHECK(memory[0] != 0 && memory[31] != 0);
    clear_on_device();
    CHECK_INT(getentropy(memory, 256), 0);
    CHECK(memory[0] != 0 && memory[31] != 0);
    CHECK(!is_pinned());
}

/* ---- several ranges, and system calls by number ---- */

/* The address's length, in the block too, changes between pin and unpin. */
static void test_several_ranges(void)
{
    int one = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK_INT(bind(one, (struct sockaddr *)&address, sizeof address), 0);
    clear_on_device();
    *(socklen_t *)memory = 1024;
    CHECK(live_add(memory, NULL, 0, memory, COUNT) == GSH_REASON_NONE);
    CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_DEVICE);
    struct sockaddr_in *out = (struct sockaddr_in *)(memory + 8);
    CHECK_INT(getsockname(one, (struct sockaddr *)out, (socklen_t *)memory), 0);
    CHECK_INT(*(socklen_t *)memory, sizeof address);
    CHECK(out->sin_addr.s_addr == address.sin_addr.s_addr);
    CHECK(!is_pinned());
    offload_memory();
    CHECK_INT(getsockname(-1, (struct sockaddr *)out, (socklen_t *)memory), -1);
    CHECK_INT(errno, EBADF);
    CHECK(!is_pinned());
    close(one);
}

#define NUMBERED(number, p1, p2, p3)                                                               \
    gsh_libc_io_choose(number, p1, p2, p3, NULL, NULL, NULL)(number, p1, p2, p3, NULL, NULL, NULL)

static void test_numbers(void)
{
    const void *fd = (const void *)(intptr_t)file, *bytes = (const void *)BYTES;
    SENDS(file, NUMBERED(SYS_write, fd, memory, bytes));
    RECEIVES(put_file(), NUMBERED(SYS_read, fd, memory, bytes));
    offload_memory();
    CHECK_INT(NUMBERED(SYS_getpid, memory, NULL, NULL), getpid());
    CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_DEVICE);
    CHECK_INT(NUMBERED(-1L, memory, NULL, NULL), -1);
    CHECK_INT(errno, ENOSYS);
    CHECK_INT(ftruncate(file, 0), 0);
}

/* What the kernel goes on using stays pinned until it is freed. */
static void test_kept(void)
{
    double *other = live_doubles(COUNT, GSH_ARENA_DEVICE);
    offload_memory();
    CHECK(live_add(memory, NULL, 0, other, COUNT) == GSH_REASON_NONE);
    struct aiocb request = {.aio_fildes = file, .aio_buf = other, .aio_nbytes = BYTES};
    const struct aiocb *requests[] = {&request};
    CHECK_INT(aio_write(&request), 0);
    while (aio_suspend(requests, 1, NULL) != 0)
        CHECK_INT(errno, EINTR);
    CHECK_INT(aio_return(&request), BYTES);
    static double arrived[COUNT];
    CHECK_INT(syscall(SYS_pread64, file, arrived, BYTES, 0L), BYTES);
    CHECK(is_expected(arrived));
    CHECK(gsh_arena_find_block(other)->write_pins != 0);
    gsh_arena_free(other);
    CHECK_INT(ftruncate(file, 0), 0);
}

/* The exit status of a child of vfork that becomes `program`. */
static __attribute__((noinline)) int run_program(const char *program)
{
    char *const arguments[] = {"program", NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv(program, arguments);
        _exit(errno == ENOENT ? 9 : 1);
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

/* A child that became another program cannot let go of its parent's memory. */
static void test_exec(void)
{
    for (int kind = 0; kind < 2; kind++) {
        clear_on_device();
        memcpy(memory, "/bin/true", 10);
        CHECK(live_add(memory, NULL, 0, memory, COUNT) == GSH_REASON_NONE);
        CHECK_INT(run_program((char *)memory + kind), kind == 0 ? 0 : 9);
        CHECK(!is_pinned());
    }
}

static void test_stream_buffer(void)
{
    offload_memory();
    FILE *stream = fdopen(dup(file), "r+");
    CHECK_INT(setvbuf(stream, (char *)memory, _IOFBF, BYTES), 0);
    CHECK_INT(fputs("text", stream), 1);
    CHECK_INT(fclose(stream), 0);
    CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_DEVICE);
    CHECK_INT(ftruncate(file, 0), 0);
}

/* ---- errors and threads ---- */

/* The control: without interposition the kernel refuses. */
static void test_kernel_refuses(void)
{
    offload_memory();
    CHECK_INT(syscall(SYS_write, file, memory, BYTES), -1);
    CHECK_INT(errno, EFAULT);
    CHECK_INT(gsh_coherence_residency(memory), GSH_RESIDENT_DEVICE);
}

static void test_errors(void)
{
    offload_memory();
    errno = 0;
    CHECK_INT(write(-1, memory, BYTES), -1);
    CHECK_INT(errno, EBADF);
    struct iovec *volatile nothing = NULL; /* volatile: the compiler knows what is wrong, too */
    volatile int negative = -1;
    CHECK_INT(readv(file, nothing, 3), -1);
    CHECK_INT(errno, EFAULT);
    CHECK_INT(writev(file, (struct iovec *)-16, 2), -1);
    CHECK_INT(writev(file, halves, negative), -1);
    CHECK_INT(errno, EINVAL);
    CHECK_INT(sendmsg(file, (struct msghdr *)nothing, 0), -1);
    CHECK_INT(fwrite(memory, SIZE_MAX / 2, 0, stderr), 0);
    CHECK_INT(gsh_libc_io_ranges_product(SIZE_MAX, 2), SSIZE_MAX);
    errno = ERANGE;
    lseek(file, 0, SEEK_SET);
    CHECK_INT(write(file, memory, BYTES), BYTES);
    CHECK_INT(errno, ERANGE);
    CHECK_INT(ftruncate(file, 0), 0);
    CHECK(!is_pinned());
}

static int blocking[2];

static void *read_pipe(void *unused)
{
    (void)unused;
    return (void *)read(blocking[0], memory, BYTES);
}

static void wait_for_pin(void)
{
    while (!is_pinned())
        usleep(1000);
}

/* A reader that blocks in the kernel does not lose its buffer to the device. */
static void test_blocked_reader(void)
{
    CHECK_INT(pipe(blocking), 0);
    offload_memory();
    pthread_t reader;
    CHECK_INT(pthread_create(&reader, NULL, read_pipe, NULL), 0);
    wait_for_pin();
    double *other = live_doubles(COUNT, GSH_ARENA_HOST);
    live_add(memory, NULL, 0, other, COUNT);
    live_add(other, NULL, 0, memory, COUNT);
    fill_plain(plain_data);
    plain_data[0] = -1;
    CHECK_INT(syscall(SYS_write, blocking[1], plain_data, BYTES), BYTES);
    void *result;
    pthread_join(reader, &result);
    CHECK_INT((long)result, BYTES);
    CHECK(memory[0] == -1 && memory[COUNT - 1] == expected_at(COUNT - 1));
    CHECK(!is_pinned());
    gsh_arena_free(other);
}

static void test_cancelled_reader(void)
{
    offload_memory();
    pthread_t reader;
    CHECK_INT(pthread_create(&reader, NULL, read_pipe, NULL), 0);
    wait_for_pin();
    pthread_cancel(reader);
    void *result;
    pthread_join(reader, &result);
    CHECK(result == PTHREAD_CANCELED);
    CHECK(!is_pinned());
    offload_memory();
    close(blocking[0]);
    close(blocking[1]);
}

/* A thread that is cancelled already, with memory in two pieces. */
static void *write_cancelled(void *unused)
{
    pthread_cancel(pthread_self());
    writev(file, halves, 2);
    return unused;
}

static void test_cancelled_pin(void)
{
    offload_memory();
    set_halves();
    pthread_t writer;
    void *result;
    CHECK_INT(pthread_create(&writer, NULL, write_cancelled, NULL), 0);
    pthread_join(writer, &result);
    CHECK(result == PTHREAD_CANCELED);
    CHECK(!is_pinned());
    CHECK_INT(gsh_arena_find_block(memory)->read_pins, 0);
    SENDS(file, write(file, memory, BYTES));
}

/* Linux sends and receives the first IOV_MAX messages of more. */
static void test_many_messages(void)
{
    enum { MANY = IOV_MAX + 6 };
    static struct mmsghdr messages[MANY];
    static struct iovec vectors[MANY];
    double first = 0;
    int pair[2];
    CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    for (size_t i = 0; i < MANY; i++) {
        vectors[i] = (struct iovec){&memory[i], sizeof *memory};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &vectors[i], .msg_iovlen = 1};
    }
    offload_memory();
    CHECK(sendmmsg(pair[0], messages, MANY, MSG_DONTWAIT) > 0);
    CHECK_INT(syscall(SYS_read, pair[1], &first, sizeof first), sizeof first);
    CHECK(first == expected_at(0));
    CHECK(!is_pinned());
    offload_memory();
    CHECK_INT(send(pair[0], &first, sizeof first, 0), sizeof first);
    while (recv(pair[1], &first, sizeof first, MSG_DONTWAIT | MSG_PEEK) > 0 &&
           first != expected_at(0))
        recv(pair[1], &first, sizeof first, MSG_DONTWAIT);
    CHECK(recvmmsg(pair[1], messages, MANY, MSG_DONTWAIT, NULL) > 0);
    CHECK(memory[0] == expected_at(0));
    CHECK(!is_pinned());
    close(pair[0]);
    close(pair[1]);
}

/* The kernel cuts a size that reaches beyond the block; stdio does not. */
static void test_huge_sizes(void)
{
    RECEIVES(put_file(), (largest_pin = 0, read(file, memory, 2 * GSH_LIBC_IO_KERNEL_LIMIT)));
    CHECK_INT(largest_pin, GSH_LIBC_IO_KERNEL_LIMIT);
    offload_memory();
    struct iovec vector = {memory, 2 * GSH_LIBC_IO_KERNEL_LIMIT};
    largest_pin = 0;
    writev(-1, &vector, 1);
    CHECK_INT(largest_pin, GSH_LIBC_IO_KERNEL_LIMIT);
    CHECK(!is_pinned());
    FILE *stream = fdopen(dup(file), "r+");
    clear_on_device();
    rewind(stream);
    CHECK_INT(fread(memory, 1, 2 * GSH_LIBC_IO_KERNEL_LIMIT, stream), BYTES);
    CHECK_INT(largest_pin, 2 * GSH_LIBC_IO_KERNEL_LIMIT);
    fclose(stream);
}

int main(void)
{
    if (!live_start())
        return CHECK_SKIP;
    char path[] = "/tmp/gpushim-test-XXXXXX";
    file = mkstemp(path);
    unlink(path);
    memory = live_doubles(COUNT, GSH_ARENA_DEVICE);
    test_kernel_refuses();
    test_file_writes();
    test_stdio_writes();
    test_sends(SOCK_STREAM);
    test_sends(SOCK_DGRAM);
    test_pipe_writes();
    test_file_reads();
    test_stdio_reads();
    test_receives(SOCK_STREAM);
    test_receives(SOCK_DGRAM);
    test_message_parts();
    test_queues();
    test_posix_queues();
    test_attributes();
    test_options();
    test_random();
    test_several_ranges();
    test_numbers();
    test_kept();
    test_exec();
    test_stream_buffer();
    test_errors();
    test_blocked_reader();
    test_cancelled_reader();
    test_cancelled_pin();
    test_many_messages();
    test_huge_sizes();
    return check_result();
}
