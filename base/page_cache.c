/* SPDX-License-Identifier: Apache-2.0
 *
 * See page_cache.h.
 */
#include "page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_PAGES = 1024 };

static double share_of(int fd, size_t bytes)
{
    struct stat status;
    unsigned char pages[MOST_PAGES];
    if (fstat(fd, &status) != 0 || status.st_size <= 0)
        return -1;
    size_t size = GSH_MIN(GSH_MIN(bytes, (size_t)status.st_size), sizeof pages * PAGE);
    size_t count = (size + PAGE - 1) / PAGE, resident = 0;
    void *mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED)
        return -1;
    bool is_known = mincore(mapping, size, pages) == 0;
    munmap(mapping, size);
    for (size_t i = 0; is_known && i < count; i++)
        resident += pages[i] & 1;
    return is_known ? (double)resident / (double)count : -1;
}

double gsh_page_cache_share(const char *path, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    double share = fd >= 0 ? share_of(fd, bytes) : -1;
    if (fd >= 0)
        close(fd);
    return share;
}
