/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands for functions that an older C library does not have. The file under test is included.
 */
#include "libc_real.c" // NOLINT(bugprone-suspicious-include)

#include "check.h"

#include <fcntl.h>

typedef long fstat_function(int fd, struct stat *into);
typedef long fstatat_function(int folder, const char *path, struct stat *into, int flags);

static void check_same(const struct stat *found, const struct stat *wanted)
{
    CHECK(found->st_ino == wanted->st_ino && found->st_dev == wanted->st_dev);
    CHECK(found->st_size == wanted->st_size && found->st_mode == wanted->st_mode);
    CHECK(found->st_mtim.tv_sec == wanted->st_mtim.tv_sec && found->st_uid == wanted->st_uid);
}

static void test_fstat(void)
{
    fstat_function *replacement = (fstat_function *)gsh_libc_real_replacement("fstat");
    struct stat found, wanted;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_INT(fstat(fd, &wanted), 0);
    CHECK_INT(replacement(fd, &found), 0);
    check_same(&found, &wanted);
    close(fd);
    errno = 0;
    CHECK_INT(replacement(-1, &found), -1);
    CHECK_INT(errno, EBADF);
}

static void test_fstatat(void)
{
    fstatat_function *replacement = (fstatat_function *)gsh_libc_real_replacement("fstatat");
    struct stat found, wanted;
    CHECK_INT(lstat("/proc/self/exe", &wanted), 0);
    CHECK_INT(replacement(AT_FDCWD, "/proc/self/exe", &found, AT_SYMLINK_NOFOLLOW), 0);
    CHECK(S_ISLNK(found.st_mode));
    CHECK_INT(stat("/proc/self/exe", &wanted), 0);
    CHECK_INT(replacement(AT_FDCWD, "/proc/self/exe", &found, 0), 0);
    check_same(&found, &wanted);
}

static void test_functions_that_are_missing(void)
{
    long (*replacement)(void) = (long (*)(void))gsh_libc_real_find("gsh_no_such_function");
    errno = 0;
    CHECK_INT(replacement(), -1);
    CHECK_INT(errno, ENOSYS);
    CHECK(dlerror() == NULL);
    CHECK(gsh_libc_real_find("fstat") != gsh_libc_real_replacement("fstat"));
}

int main(void)
{
    test_fstat();
    test_fstatat();
    test_functions_that_are_missing();
    return check_result();
}
