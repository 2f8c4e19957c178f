/* SPDX-License-Identifier: Apache-2.0
 *
 * base/mapped_files.c: the file of an address, against dladdr and against a file that is mapped here.
 */
#include "check.h"
#include "mapped_files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char path[PATH_MAX];

static void test_libraries(void)
{
    char real[PATH_MAX];
    Dl_info info;
    CHECK(dladdr((void *)(uintptr_t)getenv, &info) != 0);
    CHECK(realpath(info.dli_fname, real) != NULL);
    CHECK(gsh_mapped_files_find_sigsafe((uintptr_t)info.dli_saddr, path, sizeof path));
    CHECK_STR(path, real);
    CHECK(gsh_mapped_files_find_sigsafe((uintptr_t)test_libraries, path, sizeof path));
    CHECK_STR(strrchr(path, '/'), "/test_mapped_files");
}

static void test_edges(void)
{
    char name[] = "/tmp/gpushim mapped XXXXXX";
    int file = mkstemp(name);
    CHECK_INT(ftruncate(file, 8192), 0);
    char *bytes = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, file, 0);
    CHECK(gsh_mapped_files_find_sigsafe((uintptr_t)bytes, path, sizeof path));
    CHECK_STR(path, name);
    CHECK(gsh_mapped_files_find_sigsafe((uintptr_t)bytes + 8191, path, sizeof path));
    CHECK_STR(path, name);
    CHECK(!gsh_mapped_files_find_sigsafe((uintptr_t)bytes, path, strlen(name)));
    CHECK(gsh_mapped_files_find_sigsafe((uintptr_t)bytes, path, strlen(name) + 1));
    munmap(bytes, 8192);
    CHECK(!gsh_mapped_files_find_sigsafe((uintptr_t)bytes, path, sizeof path));
    close(file);
    unlink(name);
}

static void test_no_file(void)
{
    void *anonymous = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(!gsh_mapped_files_find_sigsafe((uintptr_t)anonymous, path, sizeof path));
    CHECK(!gsh_mapped_files_find_sigsafe(0, path, sizeof path));
    CHECK(!gsh_mapped_files_find_sigsafe(UINTPTR_MAX, path, sizeof path));
    munmap(anonymous, 4096);
}

/* More text than the reader's buffer holds. */
static void test_many_mappings(void)
{
    enum { PAGES = 1000 };
    char *pages = mmap(NULL, PAGES * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < PAGES; i += 2)
        CHECK_INT(mprotect(pages + i * 4096, 4096, PROT_NONE), 0);
    test_libraries();
    test_edges();
    munmap(pages, PAGES * 4096);
}

int main(void)
{
    test_libraries();
    test_edges();
    test_no_file();
    test_many_mappings();
    return check_result();
}
