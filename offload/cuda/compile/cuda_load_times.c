/* SPDX-License-Identifier: Apache-2.0
 *
 * A file is valid if it has the bytes that would be written for the times found in it, in the present boot.
 */
#include "cuda_load_times.h"

#include "cache_folder.h"
#include "fmt.h"
#include "stack_pool.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "library_times"
enum { TEXT_BYTES = 512, BOOT_BYTES = 40 };

static const char *const labels[GSH_CUDA_LOAD_TIMES] = {"", "cublas", "cusolver", "cufft"};

static _Atomic uint64_t times_ns[GSH_CUDA_LOAD_TIMES]; /* 0: not known */
static atomic_bool is_read; /* threads that find it unset may all read the file */

/* The kernel's name of this boot; "": there is none. */
static void read_boot(char boot[BOOT_BYTES])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, boot, BOOT_BYTES - 1) : 0;
    boot[length > 0 ? length : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

static void write_text(struct gsh_fmt *fmt, const uint64_t *ns)
{
    char boot[BOOT_BYTES];
    read_boot(boot);
    gsh_fmt_printf(fmt, "gpushim library times 1\nboot %s\n", boot);
    for (unsigned k = GSH_CUDA_LOAD_TIME_NONE + 1; k < GSH_CUDA_LOAD_TIMES; k++)
        if (ns[k] != 0)
            gsh_fmt_printf(fmt, "%s %llu\n", labels[k], (unsigned long long)ns[k]);
    gsh_fmt_text(fmt, "end\n");
}

static void parse(const char *text, uint64_t *ns)
{
    for (unsigned k = GSH_CUDA_LOAD_TIME_NONE + 1; k < GSH_CUDA_LOAD_TIMES; k++) {
        char word[16];
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, word, sizeof word);
        gsh_fmt_printf(&fmt, "\n%s ", labels[k]);
        const char *place = strstr(text, word);
        ns[k] = place != NULL ? strtoull(place + strlen(word), NULL, 10) : 0;
    }
}

static void take_valid(const char *text)
{
    char expected[TEXT_BYTES];
    uint64_t found[GSH_CUDA_LOAD_TIMES] = {0};
    struct gsh_fmt fmt;
    parse(text, found);
    gsh_fmt_init(&fmt, expected, sizeof expected);
    write_text(&fmt, found);
    for (unsigned k = 0; strcmp(text, expected) == 0 && k < GSH_CUDA_LOAD_TIMES; k++) {
        uint64_t unknown = 0;
        atomic_compare_exchange_strong(&times_ns[k], &unknown, found[k]);
    }
}

static void read_file(void *unused)
{
    char text[TEXT_BYTES];
    (void)unused;
    int folder = gsh_cache_folder_enter("", false);
    if (folder < 0)
        return;
    if (gsh_cache_folder_read_text(folder, NAME, text, sizeof text))
        take_valid(text);
    close(folder);
}

static void write_file(void *unused)
{
    char text[TEXT_BYTES];
    uint64_t ns[GSH_CUDA_LOAD_TIMES];
    struct gsh_fmt fmt;
    (void)unused;
    int folder = gsh_cache_folder_enter("", true);
    if (folder < 0)
        return;
    gsh_fmt_init(&fmt, text, sizeof text);
    for (unsigned k = 0; k < GSH_CUDA_LOAD_TIMES; k++)
        ns[k] = atomic_load(&times_ns[k]);
    write_text(&fmt, ns);
    (void)gsh_cache_folder_write_text(folder, NAME, text, fmt.length);
    close(folder);
}

double gsh_cuda_load_times_get(enum gsh_cuda_load_time library)
{
    if (GSH_UNLIKELY(!atomic_load_explicit(&is_read, memory_order_relaxed))) {
        gsh_stack_pool_run(read_file, NULL);
        atomic_store(&is_read, true);
    }
    return (double)atomic_load_explicit(&times_ns[library], memory_order_relaxed) * 1e-9;
}

void gsh_cuda_load_times_note(enum gsh_cuda_load_time library, double seconds)
{
    if (library == GSH_CUDA_LOAD_TIME_NONE)
        return;
    (void)gsh_cuda_load_times_get(library); /* what the file says of the others stays */
    atomic_store(&times_ns[library], (uint64_t)(seconds * 1e9) + 1);
    gsh_stack_pool_run(write_file, NULL);
}

void gsh_cuda_load_times_forget(void)
{
    for (unsigned k = 0; k < GSH_CUDA_LOAD_TIMES; k++)
        atomic_store(&times_ns[k], 0);
    atomic_store(&is_read, false);
}
