/* SPDX-License-Identifier: Apache-2.0
 *
 * A table, guarded by a lock. No function is called while the lock is held.
 */
#include "cuda_registry.h"

#include "lock.h"

#include <stdint.h>

#define MOST_REGISTERED 1024

static struct gsh_lock table_lock = GSH_LOCK_INITIALIZER(GSH_RANK_BACKEND);
static struct gsh_cuda_registration table[MOST_REGISTERED];
static unsigned table_count;

bool gsh_cuda_registry_has(const void *address)
{
    GSH_LOCKED(&table_lock);
    for (unsigned i = 0; i < table_count; i++)
        if ((uintptr_t)address - (uintptr_t)table[i].address < table[i].size)
            return true;
    return false;
}

static bool overlaps_locked(const char *address, size_t size)
{
    for (unsigned i = 0; i < table_count; i++)
        if (address < table[i].address + table[i].size && table[i].address < address + size)
            return true;
    return false;
}

bool gsh_cuda_registry_note(const char *address, size_t size, bool is_ours)
{
    GSH_LOCKED(&table_lock);
    if (table_count == MOST_REGISTERED || overlaps_locked(address, size))
        return false;
    table[table_count++] = (struct gsh_cuda_registration){address, size, is_ours};
    return true;
}

bool gsh_cuda_registry_forget(const char *address, struct gsh_cuda_registration *registration)
{
    GSH_LOCKED(&table_lock);
    for (unsigned i = 0; i < table_count; i++)
        if (table[i].address == address) {
            *registration = table[i];
            table[i] = table[--table_count];
            return true;
        }
    return false;
}
