/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of CUDA that fail after work was submitted, on a driver of this file: what that work reads or writes is not used
 * before it has ended, and never where nobody can tell.
 */
#include "cuda_context.h"
#include "cuda_lapack_call.h"
#include "cuda_mem.h"

#include "check.h"
#include "cuda_fakes.h"
#include "options.h"

#include <string.h>

#define FAULT 304U

static bool records_fail, waits_fail;
static unsigned stream_waits;

static gsh_cuda_enum record_event(CUevent event, CUstream stream)
{
    (void)event, (void)stream;
    return records_fail ? FAULT : GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum wait_for_event(CUstream stream, CUevent event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum wait_for_stream(CUstream stream)
{
    (void)stream;
    stream_waits++;
    return waits_fail ? FAULT : GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum copy_in(CUdeviceptr dst, const void *src, size_t size, CUstream stream)
{
    (void)dst, (void)src, (void)size, (void)stream;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum copy_out(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
    (void)src, (void)stream;
    memset(dst, 1, size);
    return GSH_CUDA_SUCCESS;
}

static void open_memory(void)
{
    gsh_cu = fake_driver();
    gsh_cu.cuEventRecord = record_event;
    gsh_cu.cuStreamWaitEvent = wait_for_event;
    gsh_cu.cuStreamSynchronize = wait_for_stream;
    gsh_cu.cuMemcpyHtoDAsync_v2 = copy_in;
    gsh_cu.cuMemcpyDtoHAsync_v2 = copy_out;
    fake_open_memory();
}

/* The slot of the ring, or the caller's memory, is still being read or written when no event could be recorded. */
static void test_transfers(void)
{
    static char bytes[100000];
    const size_t sizes[] = {100, sizeof bytes};
    records_fail = true;
    for (int k = 0; k < 2; k++)
        for (int registered = 0; registered < 2; registered++) {
            stream_waits = 0;
            CHECK_INT(gsh_cuda_mem_upload(1, bytes, sizes[k], registered != 0), GSH_FAILED);
            CHECK_INT(stream_waits, 1);
            CHECK_INT(gsh_cuda_mem_download(bytes, 1, sizes[k], registered != 0), GSH_FAILED);
            CHECK_INT(stream_waits, 2);
        }
    records_fail = false;
    stream_waits = 0;
    CHECK_INT(gsh_cuda_mem_upload(1, bytes, sizeof bytes, false), GSH_OK);
    CHECK_INT(gsh_cuda_mem_download(bytes, 1, sizeof bytes, false), GSH_OK);
    CHECK_INT(stream_waits, 0);
}

static void test_finish(void)
{
    records_fail = true;
    stream_waits = 0;
    CHECK_INT(gsh_cuda_mem_finish(), GSH_OK);
    CHECK_INT(stream_waits, 1);
    CHECK(!gsh_cuda_context_is_lost());
}

/* Work memory on the host that is none of malloc's: to free it ends the process. */
static void test_work_memory(void)
{
    static char work[256];
    struct gsh_cuda_lapack_call call = {.host = work, .host_bytes = sizeof work};
    records_fail = waits_fail = true;
    CHECK_INT(gsh_cuda_lapack_call_reserve(&call, 0, 2 * sizeof work), GSH_FAILED);
    CHECK(call.host == work);
    gsh_cuda_lapack_call_end(&call);
    CHECK(gsh_cuda_context_is_lost());
    call = (struct gsh_cuda_lapack_call){.host = work, .host_bytes = sizeof work};
    gsh_cuda_lapack_call_end(&call);
}

int main(void)
{
    gsh_options_init();
    open_memory();
    test_transfers();
    test_finish();
    test_work_memory();
    return check_result();
}
