/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/cuda/compile/cuda_cache.c and cuda_compile.c, which need no GPU: what is stored is found, damage
 * is not believed, a bad folder is no error, processes may share it, a limit is kept; and, where NVRTC
 * is installed, kernels are compiled once and taken from the cache afterwards.
 */
#include "check.h"
#include "cuda_cache.h"
#include "cuda_cache_trim.h"
#include "cuda_compile.h"
#include "cuda_libs.h"
#include "options.h"
#include "stats.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HEADER_BYTES 64

static char root[] = "/tmp/gsh_cache_XXXXXX";
static char folder[64];

static struct gsh_cuda_cache_key key_of(const char *first, const char *second)
{
    struct gsh_cuda_cache_key key;
    gsh_cuda_cache_key_init(&key);
    gsh_cuda_cache_key_add(&key, first);
    gsh_cuda_cache_key_add(&key, second);
    return key;
}

static void path_of(const struct gsh_cuda_cache_key *key, char *path, size_t size)
{
    snprintf(path, size, "%s/%016llx%016llx", folder, (unsigned long long)(key->hash >> 64),
             (unsigned long long)key->hash);
}

/* Whether the cache gives these bytes, and a NUL behind them. */
static bool holds(const struct gsh_cuda_cache_key *key, const void *expected, size_t expected_size)
{
    void *image;
    size_t size;
    if (!gsh_cuda_cache_find(key, &image, &size))
        return false;
    bool same = size == expected_size && memcmp(image, expected, size) == 0 &&
                ((char *)image)[size] == '\0';
    free(image);
    return same;
}

static unsigned count_files(void)
{
    unsigned count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

static void test_store_and_find(void)
{
    struct gsh_cuda_cache_key one = key_of("a", "bc"), other = key_of("ab", "c");
    CHECK(one.hash != other.hash);
    CHECK(!holds(&one, "x", 1));
    gsh_cuda_cache_store(&one, "one\0two", 7);
    CHECK(holds(&one, "one\0two", 7));
    CHECK(!holds(&other, "one\0two", 7));
    gsh_cuda_cache_store(&one, "three", 5);
    CHECK(holds(&one, "three", 5));
    CHECK_INT(count_files(), 1);
    struct stat stat_folder;
    CHECK(stat(folder, &stat_folder) == 0 && (stat_folder.st_mode & 0777) == 0700);
}

/* Every file that is not as it was written is refused, and replaced by the next store. */
static void test_damage(void)
{
    struct gsh_cuda_cache_key key = key_of("damage", "");
    unsigned char image[100];
    char path[128];
    memset(image, 7, sizeof image);
    path_of(&key, path, sizeof path);
    for (off_t length = 0; length < HEADER_BYTES + (off_t)sizeof image; length += 13) {
        gsh_cuda_cache_store(&key, image, sizeof image);
        CHECK(holds(&key, image, sizeof image));
        CHECK_INT(truncate(path, length), 0);
        CHECK(!holds(&key, image, sizeof image));
    }
    for (off_t place = 0; place < HEADER_BYTES + (off_t)sizeof image; place++) {
        gsh_cuda_cache_store(&key, image, sizeof image);
        unsigned char byte;
        int fd = open(path, O_RDWR);
        CHECK(pread(fd, &byte, 1, place) == 1);
        byte ^= 0x10;
        CHECK(pwrite(fd, &byte, 1, place) == 1);
        close(fd);
        CHECK(!holds(&key, image, sizeof image));
    }
    gsh_cuda_cache_store(&key, image, sizeof image);
    CHECK_INT(truncate(path, HEADER_BYTES + 200), 0);
    CHECK(!holds(&key, image, sizeof image));
    gsh_cuda_cache_store(&key, image, sizeof image);
    CHECK(holds(&key, image, sizeof image));
}

static void test_bad_folders(void)
{
    char file[80], below[96], longest[4000];
    struct gsh_cuda_cache_key key = key_of("nowhere", "");
    snprintf(file, sizeof file, "%s/file", root);
    snprintf(below, sizeof below, "%s/cache", file);
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    fclose(fopen(file, "w"));
    const char *bad[] = {"", below, "/proc/nowhere", longest};
    for (size_t i = 0; i < GSH_COUNT(bad); i++) {
        gsh_cuda_cache_open(bad[i], 0);
        gsh_cuda_cache_store(&key, "x", 1);
        CHECK(!holds(&key, "x", 1));
    }
    gsh_cuda_cache_open(folder, 0);
}

static void run_in_folder(const char *command)
{
    char text[256];
    snprintf(text, sizeof text, "cd %s && %s", folder, command);
    CHECK_INT(system(text), 0);
}

/* Files and folders that others may write, secrets that they may read, and codes under another secret are not believed. */
static void test_trust(void)
{
    struct gsh_cuda_cache_key key = key_of("trust", "");
    static const struct {
        const char *spoil, *mend;
    } cases[] = {{"chmod 777 .", "chmod 700 ."},
                 {"chmod 720 .", "chmod 700 ."},
                 {"chmod 666 [0-9a-f]*", "chmod 600 *"},
                 {"chmod 644 .key", "chmod 600 .key"},
                 {"mv .key k && ln -s k .key", "rm .key && mv k .key"},
                 {"mv .key k", "mv k .key"}};
    gsh_cuda_cache_store(&key, "kernel", 6);
    for (size_t i = 0; i < GSH_COUNT(cases); i++) {
        CHECK(holds(&key, "kernel", 6));
        run_in_folder(cases[i].spoil);
        CHECK(!holds(&key, "kernel", 6));
        run_in_folder(cases[i].mend);
    }
    CHECK(holds(&key, "kernel", 6));
    run_in_folder("rm .key"); /* the next store makes another */
    struct gsh_cuda_cache_key other = key_of("another", "");
    gsh_cuda_cache_store(&other, "x", 1);
    CHECK(holds(&other, "x", 1));
    CHECK(!holds(&key, "kernel", 6));
    gsh_cuda_cache_store(&key, "kernel", 6);
    CHECK(holds(&key, "kernel", 6));
}

/* Nothing is stored where others may write, and a secret that others could read is made anew. */
static void test_trust_of_stores(void)
{
    struct gsh_cuda_cache_key key = key_of("stored", "");
    unsigned before = count_files();
    run_in_folder("chmod 777 .");
    gsh_cuda_cache_store(&key, "x", 1);
    CHECK_INT(count_files(), before);
    gsh_cuda_cache_open(folder, 0);
    CHECK_STR(gsh_cuda_cache_folder(), "");
    run_in_folder("chmod 700 .");
    gsh_cuda_cache_open(folder, 0);
    run_in_folder("cp .key k && chmod 644 .key");
    gsh_cuda_cache_store(&key, "x", 1);
    CHECK(holds(&key, "x", 1));
    run_in_folder("! cmp -s .key k && rm k && test $(stat -c %a .key) = 600");
}

/* Another user's folder, and his file. */
static void test_other_owner(void)
{
    struct gsh_cuda_cache_key key = key_of("owner", "");
    if (geteuid() != 0) {
        puts("another user's files were not tested: only root can make them");
        return;
    }
    gsh_cuda_cache_store(&key, "x", 1);
    run_in_folder("chown 1234 [0-9a-f]*");
    CHECK(!holds(&key, "x", 1));
    run_in_folder("chown 0 * && chown 1234 .");
    CHECK(!holds(&key, "x", 1));
    run_in_folder("chown 0 .");
    CHECK(holds(&key, "x", 1));
}

/* A write that fails half way (as on a full disk) leaves neither an entry nor a temporary file. */
static void test_full_disk(void)
{
    static char image[1 << 16];
    struct gsh_cuda_cache_key key = key_of("full", "");
    unsigned before = count_files();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {5000, 5000};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        gsh_cuda_cache_store(&key, image, sizeof image);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    CHECK(!holds(&key, image, sizeof image));
    CHECK_INT(count_files(), before);
}

/* Writers of one key in several processes: a reader sees one of their images, whole, or none. */
static void test_processes(void)
{
    enum { WRITERS = 3, ROUNDS = 150 };
    static unsigned char image[20000];
    struct gsh_cuda_cache_key key = key_of("shared", "");
    pid_t children[WRITERS];
    fflush(NULL);
    for (int w = 0; w < WRITERS; w++) {
        children[w] = fork();
        if (children[w] != 0)
            continue;
        memset(image, w + 1, sizeof image);
        for (int i = 0; i < ROUNDS; i++)
            gsh_cuda_cache_store(&key, image, sizeof image / (size_t)(w + 1));
        _exit(0);
    }
    unsigned found = 0, torn = 0;
    for (int alive = WRITERS; alive > 0;) {
        void *seen;
        size_t size;
        if (gsh_cuda_cache_find(&key, &seen, &size)) {
            unsigned char writer = *(unsigned char *)seen;
            memset(image, writer, sizeof image);
            torn += writer < 1 || writer > WRITERS || size != sizeof image / writer ||
                    memcmp(seen, image, size) != 0;
            found++;
            free(seen);
        }
        alive -= waitpid(-1, NULL, WNOHANG) > 0;
    }
    printf("processes: read %u times\n", found);
    CHECK(found > 0);
    CHECK_INT(torn, 0);
}

/* ---- the limit ---- */

#define KERNEL_BYTES UINT64_C(1000)
#define FILE_BYTES (HEADER_BYTES + KERNEL_BYTES)
#define DAY 86400

static struct gsh_cuda_cache_key numbered(unsigned number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    return key_of("limit", text);
}

static bool is_there(unsigned number)
{
    struct gsh_cuda_cache_key key = numbered(number);
    char path[128];
    path_of(&key, path, sizeof path);
    return access(path, F_OK) == 0;
}

static void set_age(const char *path, time_t seconds)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - seconds}};
    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* An empty folder, then `count` kernels, number 0 the oldest: used `count` days ago. */
static void fill(unsigned count)
{
    static const char image[KERNEL_BYTES];
    char path[128], command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK_INT(system(command), 0);
    gsh_cuda_cache_open(folder, 0);
    for (unsigned number = 0; number < count; number++) {
        struct gsh_cuda_cache_key key = numbered(number);
        gsh_cuda_cache_store(&key, image, sizeof image);
        path_of(&key, path, sizeof path);
        set_age(path, (time_t)(count - number) * DAY);
    }
}

static void test_oldest_go(void)
{
    struct gsh_cuda_cache_key first = numbered(0), third = numbered(2);
    char image[KERNEL_BYTES] = "";
    fill(10);
    CHECK(holds(&first, image, sizeof image)); /* which is a use */
    CHECK(holds(&third, image, sizeof image));
    gsh_cuda_cache_trim(folder, 10 * FILE_BYTES);
    CHECK_INT(count_files(), 10);
    gsh_cuda_cache_trim(folder, 10 * FILE_BYTES - 1);
    CHECK(!is_there(1));
    CHECK_INT(count_files(), 9);
    gsh_cuda_cache_trim(folder, 4 * FILE_BYTES);
    CHECK_INT(count_files(), 4);
    CHECK(is_there(0) && is_there(2) && is_there(8) && is_there(9));
    gsh_cuda_cache_trim(folder, 0);
    CHECK_INT(count_files(), 0);
    gsh_cuda_cache_trim("/proc/nowhere", 0);
}

/* What is not ours stays and is not counted, whatever its name; nor does a kernel that is being written go. */
static void test_unknown_files(void)
{
    enum { UNKNOWN = 6, WRITTEN = 4, LEFTOVER = 5 };
    static const char *const names[UNKNOWN + 1] = {
        "0123456789abcdef0123456789abcdef",         /* no magic in it */
        "0123456789abcdef0123456789abcdef.txt",     /* magic in it from here on */
        "0123456789abcdef0123456789abcde",          /* 31 digits */
        "0123456789ABCDEF0123456789abcdef",         /* no digits of ours */
        "fedcba9876543210fedcba9876543210.1.0.tmp", /* being written */
        "fedcba9876543210fedcba9876543210.1.1.tmp", /* left unfinished long ago: the one to go */
        "notes.tmp"};
    static const char text[20 * FILE_BYTES];
    char path[256];
    fill(3);
    for (unsigned i = 0; i < GSH_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "w");
        CHECK(file != NULL && fputs(i > 0 ? GSH_CUDA_CACHE_MAGIC : "foreign!", file) >= 0 &&
              fwrite(text, sizeof text, 1, file) == 1);
        fclose(file);
        set_age(path, i == WRITTEN ? 60 : 100 * DAY);
    }
    gsh_cuda_cache_trim(folder, 2 * FILE_BYTES);
    for (unsigned i = 0; i < GSH_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK_INT(access(path, F_OK) == 0, i != LEFTOVER);
    }
    CHECK(!is_there(0) && is_there(1) && is_there(2));
    CHECK_INT(count_files(), UNKNOWN + 2);
}

/* Stores keep the folder near the limit: what 16 of them bring beyond it. */
static void test_stores_trim(void)
{
    static const char image[KERNEL_BYTES];
    unsigned most = 0;
    fill(0);
    gsh_cuda_cache_open(folder, 8 * FILE_BYTES);
    for (unsigned number = 0; number < 100; number++) {
        struct gsh_cuda_cache_key key = numbered(number);
        gsh_cuda_cache_store(&key, image, sizeof image);
        unsigned count = count_files();
        most = GSH_MAX(most, count);
    }
    gsh_cuda_cache_open(folder, 0);
    printf("most files at a limit of 8: %u\n", most);
    CHECK(most >= 8 && most <= 8 + 16);
}

/* Processes that trim at once remove no more than one would, nor what another is using. */
static void test_trim_together(void)
{
    enum { KERNELS = 1000, LEFT = 150, TRIMMERS = 4 };
    int ends[2];
    char byte;
    fill(KERNELS);
    CHECK_INT(pipe(ends), 0);
    fflush(NULL);
    for (int i = 0; i < TRIMMERS; i++) {
        if (fork() != 0)
            continue;
        close(ends[1]);
        (void)!read(ends[0], &byte, 1); /* until all are there */
        gsh_cuda_cache_trim(folder, LEFT * FILE_BYTES);
        _exit(0);
    }
    close(ends[0]);
    close(ends[1]);
    unsigned missing = 0;
    char image[KERNEL_BYTES] = "";
    for (int alive = TRIMMERS; alive > 0; alive -= waitpid(-1, NULL, WNOHANG) > 0)
        for (unsigned number = KERNELS - LEFT; number < KERNELS; number += 10) {
            struct gsh_cuda_cache_key key = numbered(number);
            missing += !holds(&key, image, sizeof image);
        }
    CHECK_INT(missing, 0);
    CHECK_INT(count_files(), LEFT);
    CHECK(!is_there(KERNELS - LEFT - 1) && is_there(KERNELS - LEFT));
}

static void test_compile(void)
{
    static const char source[] = "extern \"C\" __global__ void gsh_kernel(double *p) { *p *= 3; }";
    const struct gsh_cuda_target targets[] = {{90, false}, {80, false}, {80, true}};
    uint64_t compiles = gsh_stats_get(GSH_COUNTER_COMPILES);
    for (size_t i = 0; i < GSH_COUNT(targets); i++) {
        void *first = NULL, *second = NULL;
        size_t first_size = 0, second_size = 0;
        uint64_t hits = gsh_stats_get(GSH_COUNTER_CACHE_HITS);
        CHECK(!gsh_cuda_compile_find(source, &targets[i], &first, &first_size) && first == NULL);
        CHECK_INT(gsh_cuda_compile("test", source, &targets[i], &first, &first_size), GSH_OK);
        CHECK_INT(gsh_stats_get(GSH_COUNTER_COMPILES), compiles + i + 1);
        CHECK(gsh_cuda_compile_find(source, &targets[i], &second, &second_size));
        free(second);
        CHECK_INT(gsh_cuda_compile("test", source, &targets[i], &second, &second_size), GSH_OK);
        CHECK_INT(gsh_stats_get(GSH_COUNTER_COMPILES), compiles + i + 1);
        CHECK_INT(gsh_stats_get(GSH_COUNTER_CACHE_HITS), hits + 2);
        CHECK(first_size > 0 && first_size == second_size &&
              memcmp(first, second, first_size) == 0);
        if (targets[i].is_ptx)
            CHECK(strstr(first, ".target sm_80") != NULL);
        else
            CHECK(memcmp(first, "\177ELF", 4) == 0);
        free(first);
        free(second);
    }
    void *image = NULL;
    size_t size = 0;
    CHECK_INT(gsh_cuda_compile("test", "this is no CUDA", &targets[0], &image, &size), GSH_FAILED);
    CHECK(image == NULL);
}

int main(void)
{
    char why[256];
    gsh_options_init();
    CHECK(mkdtemp(root) != NULL);
    snprintf(folder, sizeof folder, "%s/parent/cache", root);
    gsh_cuda_cache_open(folder, 0);
    CHECK_STR(gsh_cuda_cache_folder(), folder);
    test_store_and_find();
    test_damage();
    test_bad_folders();
    test_trust();
    test_trust_of_stores();
    test_other_owner();
    test_full_disk();
    test_processes();
    test_oldest_go();
    test_unknown_files();
    test_stores_trim();
    test_trim_together();
    if (gsh_cuda_libs_load(GSH_CUDA_LIBRARY_NVRTC, 0, 90, why, sizeof why) == GSH_OK)
        test_compile();
    else
        printf("compiling was not tested: %s\n", why);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_INT(system(command), 0);
    return check_result();
}
