/* SPDX-License-Identifier: Apache-2.0
 *
 * gpushim_compiler: compiles kernels for a process under libgpushim.so, beside it (offload/cuda/compile/compiler_process.h), which
 * starts it. It does one request after another, and ends once there is none. Needs NVRTC, no GPU.
 */
#include "compiler_message.h"
#include "cuda_cache.h"
#include "cuda_compile.h"
#include "cuda_libs.h"
#include "stats.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define IDLE_MS 10000
#define MOST_BYTES ((size_t)64 << 20) /* of a text */

/* False: the process that asked has ended. Its kernel is in the disk cache. */
static bool answer(const char *text, const struct gsh_cuda_target *target)
{
    void *image = NULL;
    struct gsh_compiler_reply reply = {.outcome = GSH_COMPILER_FAILED};
    uint64_t compiled = gsh_stats_get(GSH_COUNTER_COMPILES);
    if (gsh_cuda_compile("of another process", text, target, &image, &reply.size) == GSH_OK)
        reply.outcome = gsh_stats_get(GSH_COUNTER_COMPILES) > compiled ? GSH_COMPILER_COMPILED
                                                                       : GSH_COMPILER_FOUND;
    bool is_sent = gsh_compiler_message_send(GSH_COMPILER_SOCKET, &reply, sizeof reply) &&
                   gsh_compiler_message_send(GSH_COMPILER_SOCKET, image, reply.size);
    free(image);
    return is_sent;
}

static bool serve(const struct gsh_compiler_request *request)
{
    const struct gsh_cuda_target target = {.arch = request->arch, .is_ptx = request->is_ptx};
    char *text = request->size > 0 && request->size <= MOST_BYTES ? malloc(request->size) : NULL;
    bool goes_on = text != NULL &&
                   gsh_compiler_message_receive(GSH_COMPILER_SOCKET, text, request->size) &&
                   text[request->size - 1] == '\0' && answer(text, &target);
    free(text);
    return goes_on;
}

static bool receive(struct gsh_compiler_request *request)
{
    struct pollfd socket = {.fd = GSH_COMPILER_SOCKET, .events = POLLIN};
    return poll(&socket, 1, IDLE_MS) == 1 &&
           gsh_compiler_message_receive(GSH_COMPILER_SOCKET, request, sizeof *request);
}

int main(int argc, char **argv)
{
    char why[GSH_CUDA_LIBS_WHY_SIZE];
    struct gsh_compiler_request request;
    if (argc != 4) {
        fputs("libgpushim.so starts this program to compile kernels; it does nothing by itself\n",
              stderr);
        return 2;
    }
    (void)dlopen(argv[1], RTLD_NOW); /* found as a library that is loaded */
    if (gsh_cuda_libs_load(GSH_CUDA_LIBRARY_NVRTC, 0, 0, why, sizeof why) != GSH_OK)
        return 1;
    gsh_cuda_cache_open(argv[2], strtoull(argv[3], NULL, 10));
    gsh_cuda_cache_make_folder();
    while (receive(&request) && serve(&request))
        ;
    return 0;
}
