/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/cuda/cuda_cache.c and cuda_compile.c, which need no GPU: what is stored is found, damage
 * is not believed, a bad folder is no error, processes may share it; and, where NVRTC is installed,
 * kernels are compiled once and taken from the cache afterwards.
 */
#include "check.h"
#include "cuda_cache.h"
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
#include <unistd.h>

#define HEADER_BYTES 40

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
        gsh_cuda_cache_open(bad[i]);
        gsh_cuda_cache_store(&key, "x", 1);
        CHECK(!holds(&key, "x", 1));
    }
    gsh_cuda_cache_open(folder);
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

static void test_compile(void)
{
    static const char source[] = "extern \"C\" __global__ void gsh_kernel(double *p) { *p *= 3; }";
    const struct gsh_cuda_target targets[] = {{90, false}, {80, false}, {80, true}};
    uint64_t compiles = gsh_stats_get(GSH_COUNTER_COMPILES);
    for (size_t i = 0; i < GSH_COUNT(targets); i++) {
        void *first = NULL, *second = NULL;
        size_t first_size = 0, second_size = 0;
        uint64_t hits = gsh_stats_get(GSH_COUNTER_CACHE_HITS);
        CHECK_INT(gsh_cuda_compile(source, &targets[i], &first, &first_size), GSH_OK);
        CHECK_INT(gsh_stats_get(GSH_COUNTER_COMPILES), compiles + i + 1);
        CHECK_INT(gsh_cuda_compile(source, &targets[i], &second, &second_size), GSH_OK);
        CHECK_INT(gsh_stats_get(GSH_COUNTER_COMPILES), compiles + i + 1);
        CHECK_INT(gsh_stats_get(GSH_COUNTER_CACHE_HITS), hits + 1);
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
    CHECK_INT(gsh_cuda_compile("this is no CUDA", &targets[0], &image, &size), GSH_FAILED);
    CHECK(image == NULL);
}

int main(void)
{
    char why[256];
    gsh_options_init();
    CHECK(mkdtemp(root) != NULL);
    snprintf(folder, sizeof folder, "%s/parent/cache", root);
    gsh_cuda_cache_open(folder);
    CHECK_STR(gsh_cuda_cache_folder(), folder);
    test_store_and_find();
    test_damage();
    test_bad_folders();
    test_full_disk();
    test_processes();
    if (gsh_cuda_libs_load(GSH_CUDA_LIBRARY_NVRTC, 0, 90, why, sizeof why) == GSH_OK)
        test_compile();
    else
        printf("compiling was not tested: %s\n", why);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_INT(system(command), 0);
    return check_result();
}
