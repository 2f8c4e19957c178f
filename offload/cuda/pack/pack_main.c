/* SPDX-License-Identifier: Apache-2.0
 *
 * pack_kernels: compiles the kernels of pack_families.def and writes the file that libgpushim.so looks into
 * (cuda_pack.h). Needs NVRTC, no GPU.
 */
#include "clock.h"
#include "cuda_libs.h"
#include "cuda_pack.h"
#include "options.h"
#include "pack_write.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TARGETS 32

static const char usage[] =
    "usage: pack_kernels [--arch N]... [--ptx N]... [--output FILE] [--only PREFIX]... [--jobs N] "
    "[--list]\n"
    "  --arch N       machine code for compute capability N (90: sm_90); several allowed\n"
    "  --ptx N        PTX for compute capability N\n"
    "  --output FILE  default: gpushim_kernels.bin\n"
    "  --only PREFIX  only kernels whose names begin so\n"
    "  --jobs N       processes that compile; default: one a processor\n"
    "  --list         print the keys and names of the kernels, and compile nothing\n";

struct request {
    struct gsh_cuda_target targets[MAX_TARGETS];
    size_t target_count;
    const char *output;
    unsigned workers;
    bool lists;
    struct gsh_pack_set set;
};

static bool add_target(struct request *request, bool is_ptx)
{
    int arch = atoi(optarg);
    if (arch <= 0 || request->target_count == MAX_TARGETS)
        return false;
    request->targets[request->target_count++] = (struct gsh_cuda_target){arch, is_ptx};
    return true;
}

static bool parse(int argc, char **argv, struct request *request)
{
    static const struct option options[] = {{"arch", required_argument, NULL, 'a'},
                                            {"ptx", required_argument, NULL, 'p'},
                                            {"output", required_argument, NULL, 'o'},
                                            {"only", required_argument, NULL, 'n'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"list", no_argument, NULL, 'l'},
                                            {NULL, 0, NULL, 0}};
    bool is_good = true;
    for (int option; is_good && (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case 'a':
        case 'p':
            is_good = add_target(request, option == 'p');
            break;
        case 'o':
            request->output = optarg;
            break;
        case 'n':
            is_good = request->set.prefix_count < GSH_PACK_PREFIXES;
            if (is_good)
                request->set.prefixes[request->set.prefix_count++] = optarg;
            break;
        case 'j':
            request->workers = (unsigned)GSH_MAX(atoi(optarg), 1);
            break;
        case 'l':
            request->lists = true;
            break;
        default:
            is_good = false;
        }
    return is_good && optind == argc && (request->lists || request->target_count > 0);
}

static int list_names(const struct gsh_pack_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        printf("%016llx%016llx %s\n", (unsigned long long)(set->kernels[i].key.hash >> 64),
               (unsigned long long)set->kernels[i].key.hash, set->kernels[i].name);
    return 0;
}

/* Opens the file as the library does, and prints what is there. The exit status: 0 where all kernels compiled. */
static int summarise(const struct request *request, size_t jobs, uint64_t begun)
{
    struct stat file = {.st_size = 0};
    uint64_t written = gsh_clock_ns();
    gsh_cuda_pack_open(request->output, request->targets[0].arch);
    uint64_t opened = gsh_clock_ns();
    size_t count = gsh_cuda_pack_count();
    (void)stat(request->output, &file);
    printf("%s: %zu kernels for %zu targets, %.1f MB, %.1f s in %u processes, opened in %.2f ms",
           request->output, count, request->target_count, (double)file.st_size * 1e-6,
           (double)(written - begun) * 1e-9, request->workers, (double)(opened - written) * 1e-6);
    printf(count < jobs ? "; %zu are missing\n" : "\n", jobs - count);
    return count < jobs;
}

static int build(const struct request *request, const struct gsh_pack_set *set, uint64_t begun)
{
    char why[256];
    size_t jobs = set->count * request->target_count;
    if (gsh_cuda_libs_load(GSH_CUDA_LIBRARY_NVRTC, 0, request->targets[0].arch, why, sizeof why) !=
        GSH_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    struct gsh_pack_image *images = calloc(jobs + 1, sizeof *images);
    if (images == NULL ||
        gsh_pack_compile_run(set, request->targets, request->target_count, request->workers,
                             images) != GSH_OK ||
        gsh_pack_write_file(request->output, set, request->targets, request->target_count,
                            images) != GSH_OK) {
        fprintf(stderr, "%s cannot be made\n", request->output);
        return 1;
    }
    return summarise(request, jobs, begun);
}

int main(int argc, char **argv)
{
    uint64_t begun = gsh_clock_ns();
    struct request request = {.output = "gpushim_kernels.bin"};
    request.workers = (unsigned)GSH_MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
    if (!parse(argc, argv, &request)) {
        fputs(usage, stderr);
        return 2;
    }
    gsh_options_init();
    if (gsh_pack_set_fill(&request.set) != GSH_OK)
        return 1;
    return request.lists ? list_names(&request.set) : build(&request, &request.set, begun);
}
