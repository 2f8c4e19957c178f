/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that other libraries page-lock (cuMemHostRegister) stay on the host until they are
 * unregistered. Queries about arrays' memory: to other libraries it is ordinary memory unless they
 * page-locked it themselves, even if gpushim has page-locked it. Only CuPy is told that arrays on
 * the device are page-locked: it then asks CUDA to copy from them, instead of first making a copy
 * on the host.
 */
#include "arena_internal.h"
#include "block.h"
#include "coherence.h"
#include "cuda_caller.h"
#include "cuda_entry.h"
#include "cuda_hold.h"
#include "cuda_interop.h"
#include "cuda_registry.h"

/* Memory that is never page-locked, for queries to CUDA. */
static char ordinary[64];

static bool is_registered_by_us(const char *address, size_t size)
{
    const struct gsh_block *block = gsh_arena_find_block(address);
    size_t begin = block != NULL ? (uintptr_t)address - block->base : 0;
    return block != NULL && size <= block->capacity - begin &&
           gsh_arena_is_registered(block, begin, size);
}

/* `real` is one of the two versions of cuMemHostRegister. */
static gsh_cuda_enum register_range(gsh_cuda_enum (*real)(void *, size_t, unsigned), void *address,
                                    size_t size, unsigned flags)
{
    if (!gsh_arena_overlaps(address, size))
        return real(address, size, flags);
    gsh_cuda_hold_keep(address, size);
    gsh_cuda_enum result = real(address, size, flags);
    bool is_ours = result == GSH_CUDA_ALREADY_REGISTERED && is_registered_by_us(address, size);
    if ((result == GSH_CUDA_SUCCESS || is_ours) && gsh_cuda_registry_note(address, size, is_ours))
        return GSH_CUDA_SUCCESS;
    if (result != GSH_CUDA_SUCCESS)
        gsh_cuda_hold_release(address, size);
    return result;
}

gsh_cuda_enum gsh_cuda_entry_cuMemHostRegister(void *address, size_t size, unsigned flags)
{
    return register_range(gsh_cuda_entry_real.cuMemHostRegister, address, size, flags);
}

gsh_cuda_enum gsh_cuda_entry_cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
    return register_range(gsh_cuda_entry_real.cuMemHostRegister_v2, address, size, flags);
}

gsh_cuda_enum gsh_cuda_entry_cuMemHostUnregister(void *address)
{
    struct gsh_cuda_registration entry;
    if (!gsh_arena_contains(address))
        return gsh_cuda_entry_real.cuMemHostUnregister(address);
    if (!gsh_cuda_registry_forget(address, &entry))
        return GSH_CUDA_INVALID_VALUE;
    gsh_cuda_enum result =
        entry.is_ours ? GSH_CUDA_SUCCESS : gsh_cuda_entry_real.cuMemHostUnregister(address);
    gsh_cuda_hold_release(entry.address, entry.size);
    return result;
}

/* Whether CUDA may be queried about the address itself. */
static bool is_answered_by_cuda(const void *address)
{
    return !gsh_arena_contains(address) || gsh_cuda_registry_has(address);
}

gsh_cuda_enum gsh_cuda_entry_cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *address,
                                                          unsigned flags)
{
    return gsh_cuda_entry_real.cuMemHostGetDevicePointer_v2(
        device, is_answered_by_cuda(address) ? address : ordinary, flags);
}

gsh_cuda_enum gsh_cuda_entry_cuMemHostGetFlags(unsigned *flags, void *address)
{
    return gsh_cuda_entry_real.cuMemHostGetFlags(flags,
                                                 is_answered_by_cuda(address) ? address : ordinary);
}

/* The address that CUDA is queried about instead of an array. */
static CUdeviceptr substitute_for(const void *address, bool *is_page_locked)
{
    enum gsh_residency residency = gsh_coherence_residency(address);
    const void *page = gsh_cuda_snapshot_interop.page_locked();
    *is_page_locked = (residency == GSH_RESIDENT_SHARED || residency == GSH_RESIDENT_DEVICE) &&
                      page != NULL && gsh_cuda_caller_is_cupy();
    return (CUdeviceptr)(uintptr_t)(*is_page_locked ? page : ordinary);
}

/* Replaces the substitute's address in an answer by the array's. */
static void set_address(gsh_cuda_enum attribute, void *value, CUdeviceptr address)
{
    if (attribute == GSH_CUDA_POINTER_DEVICE || attribute == GSH_CUDA_POINTER_HOST)
        *(CUdeviceptr *)value = address;
}

gsh_cuda_enum gsh_cuda_entry_cuPointerGetAttribute(void *value, gsh_cuda_enum attribute,
                                                   CUdeviceptr address)
{
    const void *place = (const void *)(uintptr_t)address;
    if (is_answered_by_cuda(place))
        return gsh_cuda_entry_real.cuPointerGetAttribute(value, attribute, address);
    bool is_page_locked;
    CUdeviceptr other = substitute_for(place, &is_page_locked);
    gsh_cuda_enum result = gsh_cuda_entry_real.cuPointerGetAttribute(value, attribute, other);
    if (result == GSH_CUDA_SUCCESS && is_page_locked)
        set_address(attribute, value, address);
    return result;
}

gsh_cuda_enum gsh_cuda_entry_cuPointerGetAttributes(unsigned count, gsh_cuda_enum *attributes,
                                                    void **values, CUdeviceptr address)
{
    const void *place = (const void *)(uintptr_t)address;
    if (is_answered_by_cuda(place))
        return gsh_cuda_entry_real.cuPointerGetAttributes(count, attributes, values, address);
    bool is_page_locked;
    CUdeviceptr other = substitute_for(place, &is_page_locked);
    gsh_cuda_enum result =
        gsh_cuda_entry_real.cuPointerGetAttributes(count, attributes, values, other);
    for (unsigned i = 0; i < count && result == GSH_CUDA_SUCCESS && is_page_locked; i++)
        set_address(attributes[i], values[i], address);
    return result;
}
