/* SPDX-License-Identifier: Apache-2.0
 *
 * What has just been written is in memory; what the kernel was told to drop is not, where its file system can drop it.
 */
#include "page_cache.h"

#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static int write_file(const char *path)
{
    static char text[BYTES];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    memset(text, 1, sizeof text);
    CHECK_INT(write(fd, text, sizeof text), BYTES);
    CHECK_INT(fsync(fd), 0);
    return fd;
}

int main(void)
{
    char path[] = "page_cache_XXXXXX";
    close(mkstemp(path));
    CHECK(gsh_page_cache_share(path, BYTES) < 0); /* it is empty */
    int fd = write_file(path);
    CHECK(gsh_page_cache_share(path, BYTES) == 1);
    CHECK(gsh_page_cache_share(path, (size_t)2 * BYTES) == 1);
    CHECK(gsh_page_cache_share(path, 100) == 1);
    CHECK_INT(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    double rest = gsh_page_cache_share(path, BYTES);
    printf("%.0f %% in memory after the kernel was told to drop it\n", 100 * rest);
    CHECK(rest >= 0 && rest <= 1);
    char byte;
    CHECK_INT(pread(fd, &byte, 1, 0), 1);
    CHECK(gsh_page_cache_share(path, 1) == 1);
    close(fd);
    unlink(path);
    CHECK(gsh_page_cache_share(path, BYTES) < 0);
    return check_result();
}
