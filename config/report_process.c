/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line is the kernel's copy: the program may change its own.
 */
#include "report_process.h"

#include "fmt.h"
#include "report_sections.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static struct {
    struct utsname system;
    pid_t parent;
    bool is_forked;
    uint64_t start_ms; /* since 1970 */
    char command[512]; /* its words, separated by spaces; cut */
} process;

static uint64_t now_ms_sigsafe(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void read_command(void)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, process.command, sizeof process.command - 1) : 0;
    if (fd >= 0)
        close(fd);
    length = GSH_MAX(length, (ssize_t)0);
    while (length > 0 && process.command[length - 1] == '\0')
        length--;
    process.command[length] = '\0';
    for (ssize_t i = 0; i < length; i++)
        if (process.command[i] == '\0')
            process.command[i] = ' ';
}

static void append_json(struct gsh_fmt *fmt)
{
    gsh_fmt_text(fmt, "{\"host\": ");
    gsh_fmt_json_string(fmt, process.system.nodename);
    gsh_fmt_printf(fmt, ", \"parent\": %lld, \"forked\": %s, \"start_ms\": %llu, \"command\": ",
                   (long long)process.parent, process.is_forked ? "true" : "false",
                   (unsigned long long)process.start_ms);
    gsh_fmt_json_string(fmt, process.command);
    gsh_fmt_text(fmt, "}");
}

void gsh_report_process_init(void)
{
    static const struct gsh_report_section section = {.key = "process", .append_json = append_json};
    (void)uname(&process.system);
    process.parent = getppid();
    process.start_ms = now_ms_sigsafe();
    read_command();
    gsh_report_sections_add(&section);
}

void gsh_report_process_begin_after_fork(void)
{
    process.is_forked = true;
    process.parent = getppid();
    process.start_ms = now_ms_sigsafe();
}

bool gsh_report_process_file_sigsafe(const char *folder, char *path, size_t size)
{
    struct gsh_fmt fmt;
    gsh_fmt_init_sigsafe(&fmt, path, size);
    gsh_fmt_text_sigsafe(&fmt, folder);
    gsh_fmt_text_sigsafe(&fmt, "/");
    for (const char *c = process.system.nodename; *c != '\0'; c++)
        gsh_fmt_text_sigsafe(&fmt, *c == '/' ? "_" : (const char[]){*c, '\0'});
    gsh_fmt_text_sigsafe(&fmt, "-");
    gsh_fmt_decimal_sigsafe(&fmt, (uint64_t)getpid());
    gsh_fmt_text_sigsafe(&fmt, "-");
    gsh_fmt_decimal_sigsafe(&fmt, process.start_ms);
    gsh_fmt_text_sigsafe(&fmt, ".json");
    return fmt.required == fmt.length;
}
