/* SPDX-License-Identifier: Apache-2.0
 *
 * One file per kernel.
 */
#include "cuda_dump.h"

#include "fmt.h"
#include "log.h"
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void gsh_cuda_dump(const char *key, unsigned long long hash, const char *text)
{
    const char *folder = gsh_option_text(GSH_OPTION_DUMP);
    char path[PATH_MAX];
    struct gsh_fmt fmt;
    if (folder[0] == '\0')
        return;
    gsh_fmt_init(&fmt, path, sizeof path);
    gsh_fmt_printf(&fmt, "%s/%016llx.cu", folder, hash);
    FILE *file = fopen(path, "we");
    if (file != NULL) {
        fprintf(file, "// %s\n%s", key, text);
        if (fclose(file) == 0)
            return;
    }
    gsh_log_once("GPUSHIM_DUMP: cannot write %s: %s", path, strerror(errno));
}
