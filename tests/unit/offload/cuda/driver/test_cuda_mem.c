/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/cuda/driver/cuda_mem.c on a driver of this file, where memory is short: what is unused is given for what is wanted. Its
 * pool gives a piece of its own as a whole to whoever wants no more, else it maps a new one; it can be trimmed of what was
 * freed and has been waited for, as CUDA's (cuMemPoolTrimTo).
 */
#include "cuda_mem.h"

#include "check.h"
#include "cuda_context.h"
#include "cuda_fakes.h"
#include "options.h"

#define MIB ((size_t)1 << 20)
#define CAPACITY (100 * MIB)
#define MAX_PIECES 32

enum state { UNMAPPED, USED, FREED, IDLE };
static struct {
    size_t size;
    enum state state;
} pieces[MAX_PIECES]; /* the address of a piece is its number + 1 */
static unsigned waits;

struct gsh_cuda_driver gsh_cu;

enum gsh_status gsh_cuda_libs_load(enum gsh_cuda_library library, int max_major, int arch,
                                   char *why, size_t why_size)
{
    (void)library, (void)max_major, (void)arch, (void)why, (void)why_size;
    return GSH_FAILED;
}

static size_t mapped_bytes(void)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < MAX_PIECES; i++)
        bytes += pieces[i].state != UNMAPPED ? pieces[i].size : 0;
    return bytes;
}

static gsh_cuda_enum give(unsigned i, CUdeviceptr *address)
{
    pieces[i].state = USED;
    *address = i + 1;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum allocate(CUdeviceptr *address, size_t size, CUmemoryPool pool, CUstream stream)
{
    (void)pool, (void)stream;
    for (unsigned i = 0; i < MAX_PIECES; i++)
        if ((pieces[i].state == FREED || pieces[i].state == IDLE) && pieces[i].size >= size)
            return give(i, address);
    for (unsigned i = 0; i < MAX_PIECES && mapped_bytes() + size <= CAPACITY; i++)
        if (pieces[i].state == UNMAPPED) {
            pieces[i].size = size;
            return give(i, address);
        }
    return GSH_CUDA_OUT_OF_MEMORY;
}

static gsh_cuda_enum release(CUdeviceptr address, CUstream stream)
{
    (void)stream;
    CHECK_INT(pieces[address - 1].state, USED);
    pieces[address - 1].state = FREED;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum trim(CUmemoryPool pool, size_t keep)
{
    (void)pool;
    for (unsigned i = 0; i < MAX_PIECES; i++)
        if (pieces[i].state == IDLE && mapped_bytes() - pieces[i].size >= keep)
            pieces[i].state = UNMAPPED;
    return GSH_CUDA_SUCCESS;
}

static gsh_cuda_enum query_event(CUevent event)
{
    (void)event;
    waits++;
    return GSH_CUDA_SUCCESS;
}

/* As the driver's pools, which learn what has been freed from calls that wait. */
static gsh_cuda_enum synchronize_event(CUevent event)
{
    (void)event;
    for (unsigned i = 0; i < MAX_PIECES; i++)
        if (pieces[i].state == FREED)
            pieces[i].state = IDLE;
    return GSH_CUDA_SUCCESS;
}

static void open_memory(void)
{
    gsh_cu = fake_driver();
    gsh_cu.cuMemPoolTrimTo = trim;
    gsh_cu.cuMemAllocFromPoolAsync = allocate;
    gsh_cu.cuMemFreeAsync = release;
    gsh_cu.cuEventQuery = query_event;
    gsh_cu.cuEventSynchronize = synchronize_event;
    fake_open_memory();
}

/* What was released a moment ago, in pieces that are too small. */
static void test_pieces(void)
{
    uint64_t small[2], large = 0;
    for (int i = 0; i < 2; i++)
        CHECK_INT(gsh_cuda_mem_allocate(40 * MIB, &small[i]), GSH_OK);
    for (int i = 0; i < 2; i++)
        gsh_cuda_mem_release(small[i], 40 * MIB);
    CHECK_INT(waits, 0);
    CHECK_INT(gsh_cuda_mem_allocate(90 * MIB, &large), GSH_OK);
    CHECK_INT(gsh_cuda_mem_allocate(20 * MIB, &small[0]), GSH_FAILED);
    gsh_cuda_mem_release(large, 90 * MIB);
}

/* The same without the lock that the scratch and what is kept in front of the pool are under. */
static void test_apart(void)
{
    uint64_t small[2], apart = 0;
    CHECK_INT(gsh_cuda_mem_finish(), GSH_OK);
    gsh_cuda_mem_trim();
    CHECK_INT(gsh_cuda_mem_finish(), GSH_OK);
    gsh_cuda_mem_trim();
    CHECK_INT(mapped_bytes(), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(gsh_cuda_mem_allocate(50 * MIB, &small[i]), GSH_OK);
    for (int i = 0; i < 2; i++)
        gsh_cuda_mem_release(small[i], 50 * MIB);
    CHECK_INT(gsh_cuda_mem_allocate_apart(60 * MIB, &apart), GSH_OK);
    CHECK_INT(gsh_cuda_mem_allocate_apart(60 * MIB, &apart), GSH_FAILED);
}

static void test_scratch(void)
{
    uint64_t scratch = 0, again = 0, array = 0;
    CHECK_INT(gsh_cuda_mem_scratch(60 * MIB, &scratch), GSH_OK);
    CHECK_INT(gsh_cuda_mem_scratch(50 * MIB, &again), GSH_OK);
    CHECK(scratch != 0 && again == scratch);
    CHECK_INT(gsh_cuda_mem_scratch(80 * MIB, &scratch), GSH_OK); /* beside the old one: 140 */
    CHECK_INT(gsh_cuda_mem_allocate(70 * MIB, &array), GSH_OK);  /* nobody uses the scratch now */
    CHECK_INT(gsh_cuda_mem_scratch(10 * MIB, &again), GSH_OK);
    CHECK(again != array);
    CHECK_INT(gsh_cuda_mem_scratch(40 * MIB, &scratch), GSH_FAILED);
    gsh_cuda_mem_release(array, 70 * MIB);
    CHECK_INT(gsh_cuda_mem_scratch(40 * MIB, &scratch), GSH_OK);
    CHECK_INT(gsh_cuda_mem_scratch(0, &scratch), GSH_OK);
    CHECK_INT(scratch, 0);
}

static bool age(unsigned calls)
{
    bool has_more = true;
    for (unsigned k = 0; k < calls; k++)
        has_more = gsh_cuda_mem_age(4);
    return has_more;
}

/* What nobody uses goes after a while, and what is beyond the most of late goes while the rest is in use. */
static void test_age(void)
{
    uint64_t array = 0, small = 0;
    size_t before;
    gsh_cuda_mem_trim();
    CHECK_INT(gsh_cuda_mem_finish(), GSH_OK);
    gsh_cuda_mem_trim();
    before = mapped_bytes();
    CHECK_INT(gsh_cuda_mem_allocate(20 * MIB, &array), GSH_OK);
    gsh_cuda_mem_release(array, 20 * MIB);
    CHECK_INT(gsh_cuda_mem_finish(), GSH_OK);
    CHECK(age(4));
    CHECK_INT(mapped_bytes(), before + 20 * MIB);
    CHECK(!age(
        4)); /* as the 5th without use; what was kept in front of the pool is released only now */
    CHECK_INT(gsh_cuda_mem_finish(), GSH_OK);
    gsh_cuda_mem_trim();
    CHECK_INT(mapped_bytes(), before);
    waits = 0;
    CHECK(!age(10));
    CHECK_INT(waits, 0); /* the driver is not asked any more */
    CHECK_INT(gsh_cuda_mem_allocate(35 * MIB, &array), GSH_OK);
    CHECK_INT(gsh_cuda_mem_allocate(5 * MIB, &small), GSH_OK);
    gsh_cuda_mem_release(array, 35 * MIB);
    for (int k = 0; k < 12; k++) {
        CHECK(age(1));
        gsh_cuda_mem_release(small, 5 * MIB);
        CHECK_INT(gsh_cuda_mem_allocate(5 * MIB, &small), GSH_OK);
        CHECK_INT(gsh_cuda_mem_finish(), GSH_OK);
    }
    CHECK_INT(mapped_bytes(), before + 5 * MIB);
    gsh_cuda_mem_release(small, 5 * MIB);
}

int main(void)
{
    gsh_options_init();
    open_memory();
    test_pieces();
    test_scratch();
    test_apart();
    test_age();
    return check_result();
}
