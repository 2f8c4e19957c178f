/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of the libraries' opening times: what is written is read by the next process, of this boot; a damaged file, one of
 * another boot, and one that others may write tell nothing.
 */
#include "check.h"
#include "cuda_load_times.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/gpushim_times_XXXXXX", path[64];

static double read_again(enum gsh_cuda_load_time library)
{
    gsh_cuda_load_times_forget();
    return gsh_cuda_load_times_get(library);
}

static void read_text(char text[512])
{
    FILE *file = fopen(path, "re");
    size_t length = file != NULL ? fread(text, 1, 511, file) : 0;
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "we");
    CHECK(file != NULL && fputs(text, file) >= 0);
    if (file != NULL)
        fclose(file);
}

static bool is_near(double seconds, double expected)
{
    return seconds >= expected && seconds < expected + 1e-6;
}

static void check_kept(void)
{
    CHECK(read_again(GSH_CUDA_LOAD_TIME_CUBLAS) == 0);
    gsh_cuda_load_times_note(GSH_CUDA_LOAD_TIME_NONE, 3);
    CHECK(access(path, F_OK) != 0);
    gsh_cuda_load_times_note(GSH_CUDA_LOAD_TIME_CUBLAS, 0.25);
    gsh_cuda_load_times_forget(); /* another process, which opens another library */
    gsh_cuda_load_times_note(GSH_CUDA_LOAD_TIME_CUFFT, 0.5);
    CHECK(is_near(read_again(GSH_CUDA_LOAD_TIME_CUBLAS), 0.25));
    CHECK(is_near(gsh_cuda_load_times_get(GSH_CUDA_LOAD_TIME_CUFFT), 0.5));
    CHECK(gsh_cuda_load_times_get(GSH_CUDA_LOAD_TIME_CUSOLVER) == 0);
}

static void check_distrust(void)
{
    char text[512], changed[512];
    read_text(text);
    memcpy(changed, text, sizeof text);
    char *boot = strstr(changed, "boot ");
    CHECK(boot != NULL);
    if (boot == NULL)
        return;
    boot[5] = boot[5] == 'a' ? 'b' : 'a';
    write_text(changed);
    CHECK(read_again(GSH_CUDA_LOAD_TIME_CUBLAS) == 0);
    memcpy(changed, text, sizeof text);
    changed[strlen(changed) - 2] = '\0';
    write_text(changed);
    CHECK(read_again(GSH_CUDA_LOAD_TIME_CUBLAS) == 0);
    write_text(text);
    CHECK(is_near(read_again(GSH_CUDA_LOAD_TIME_CUBLAS), 0.25));
    CHECK_INT(chmod(path, 0666), 0);
    CHECK(read_again(GSH_CUDA_LOAD_TIME_CUBLAS) == 0);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    setenv("GPUSHIM_CACHE_DIR", folder, 1);
    snprintf(path, sizeof path, "%s/library_times", folder);
    gsh_options_init();
    check_kept();
    check_distrust();
    unlink(path);
    rmdir(folder);
    return check_result();
}
