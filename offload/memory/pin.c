/* SPDX-License-Identifier: Apache-2.0
 *
 * The budget of page-locked memory.
 */
#include "pin.h"

#include "backend.h"
#include "device.h"

#include <stdatomic.h>

static _Atomic size_t pinned_bytes;
static size_t pin_limit;
static _Atomic size_t refusals;

void gsh_pin_set_limit(size_t bytes)
{
    pin_limit = bytes;
}

static const struct gsh_backend *registering_backend(void)
{
    const struct gsh_backend *backend = gsh_backend_get();
    if (backend == NULL || backend->register_host == NULL ||
        gsh_device_get_state() != GSH_DEVICE_READY)
        return NULL;
    return backend;
}

bool gsh_pin_is_possible(void)
{
    return registering_backend() != NULL;
}

static bool take_budget(size_t size)
{
    size_t before = atomic_fetch_add_explicit(&pinned_bytes, size, memory_order_relaxed);
    if (before + size <= pin_limit)
        return true;
    atomic_fetch_sub_explicit(&pinned_bytes, size, memory_order_relaxed);
    return false;
}

bool gsh_pin_try(uintptr_t base, size_t size)
{
    const struct gsh_backend *backend = registering_backend();
    if (backend == NULL || !take_budget(size))
        return false;
    if (backend->register_host((void *)base, size) == GSH_OK)
        return true;
    atomic_fetch_sub_explicit(&pinned_bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
    return false;
}

struct gsh_pin_state gsh_pin_get_state(void)
{
    return (struct gsh_pin_state){
        .bytes = atomic_load_explicit(&pinned_bytes, memory_order_relaxed),
        .limit = pin_limit,
        .refusals = atomic_load_explicit(&refusals, memory_order_relaxed)};
}

void gsh_pin_release(uintptr_t base, size_t size)
{
    gsh_backend_get()->unregister_host((void *)base, size);
    atomic_fetch_sub_explicit(&pinned_bytes, size, memory_order_relaxed);
}
