/* SPDX-License-Identifier: Apache-2.0
 *
 * The secret is written to a temporary file and linked to its name, so that the first of several processes makes it for all.
 */
#include "cuda_cache_trust.h"

#include "fmt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET_NAME ".key"
#define TEMPORARY_NAME                                                                             \
    "00000000000000000000000000000000" /* as a kernel's: leftovers are removed like a kernel's */

static bool is_private(const struct stat *stat)
{
    return S_ISREG(stat->st_mode) && stat->st_uid == geteuid() &&
           (stat->st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

static bool read_secret(int folder, unsigned char *secret)
{
    struct stat stat;
    int fd = openat(folder, SECRET_NAME, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool is_read = fstat(fd, &stat) == 0 && is_private(&stat) &&
                   read(fd, secret, GSH_CUDA_CACHE_SECRET_BYTES) == GSH_CUDA_CACHE_SECRET_BYTES;
    close(fd);
    return is_read;
}

static bool write_secret(int fd)
{
    unsigned char secret[GSH_CUDA_CACHE_SECRET_BYTES];
    return getrandom(secret, sizeof secret, 0) == (ssize_t)sizeof secret &&
           write(fd, secret, sizeof secret) == (ssize_t)sizeof secret;
}

/* Creates the secret, and replaces one that is not trusted. */
static void make_secret(int folder)
{
    char temporary[80];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, temporary, sizeof temporary);
    gsh_fmt_printf(&fmt, "%s.%ld.key.tmp", TEMPORARY_NAME, (long)getpid());
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    bool is_written = write_secret(fd);
    is_written = close(fd) == 0 && is_written;
    unsigned char other[GSH_CUDA_CACHE_SECRET_BYTES];
    if (is_written && linkat(folder, temporary, folder, SECRET_NAME, 0) != 0 &&
        !read_secret(folder, other))
        (void)renameat(folder, temporary, folder, SECRET_NAME);
    (void)unlinkat(folder, temporary, 0);
}

bool gsh_cuda_cache_trust_read(int folder, bool makes,
                               unsigned char secret[GSH_CUDA_CACHE_SECRET_BYTES])
{
    if (read_secret(folder, secret))
        return true;
    if (!makes)
        return false;
    make_secret(folder);
    return read_secret(folder, secret);
}
