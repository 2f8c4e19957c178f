/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory of values: under the DISPATCH lock.
 */
#include "value.h"

#include "arena_internal.h"
#include "backend.h"
#include "dispatch_lock.h"
#include "eviction.h"
#include "mapped_scalar.h"
#include "nvtx.h"
#include "snapshot.h"
#include "stats.h"
#include "trace.h"
#include "transfer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_TRIES 8           /* attempts of a request */
#define FIRST_PAUSE_NS 500000L /* between attempts, doubled each time: 64 ms in all */

static struct gsh_value *free_structures;
static uint64_t last_version;
static size_t promised_bytes; /* of values without memory */

void gsh_value_note_written_locked(struct gsh_value *value)
{
    value->version = ++last_version;
}

void gsh_value_reap_locked(void)
{
    if (gsh_dispatch_lock_is_launching()) /* the launch has the backend; a later call frees them */
        return;
    gsh_snapshot_collect_locked();
    struct gsh_value *value = gsh_value_release_take_locked();
    while (value != NULL) {
        struct gsh_value *next = value->next_dead;
        gsh_eviction_remove_locked(value);
        if (value->word != NULL)
            gsh_mapped_scalar_give_locked(value->word);
        else if (value->address != 0)
            gsh_backend_get()->release(value->address, value->size);
        else
            promised_bytes -= value->size;
        free(value->spill);
        value->next_dead = free_structures;
        free_structures = value;
        value = next;
    }
}

static struct gsh_value *new_structure(void)
{
    struct gsh_value *value = free_structures;
    if (value == NULL)
        return malloc(sizeof *value);
    free_structures = value->next_dead;
    return value;
}

static bool could_fit(size_t size)
{
    size_t free_bytes = 0, total_bytes = 0;
    gsh_backend_get()->memory(&free_bytes, &total_bytes);
    return size <= total_bytes;
}

static bool has_room_now(size_t size)
{
    size_t free_bytes = 0, total_bytes = 0;
    gsh_value_reap_locked();
    gsh_backend_get()->memory(&free_bytes, &total_bytes);
    return promised_bytes + gsh_round_up(size, 256) <= free_bytes;
}

bool gsh_value_has_room_locked(size_t size)
{
    if (has_room_now(size))
        return true;
    if (!gsh_dispatch_lock_is_launching())
        return false;
    gsh_dispatch_lock_wait_launch();
    return has_room_now(size);
}

enum gsh_status gsh_value_create_locked(size_t size, uint32_t block, struct gsh_value **result)
{
    size = gsh_round_up(size, 256);
    while (!gsh_value_has_room_locked(size))
        if (!could_fit(size) || gsh_eviction_evict_one_locked() == 0)
            return GSH_FAILED;
    struct gsh_value *value = new_structure();
    if (value == NULL)
        return GSH_FAILED;
    *value = (struct gsh_value){.references = 1, .size = size, .block = block};
    promised_bytes += size;
    gsh_eviction_add_locked(value);
    *result = value;
    return GSH_OK;
}

enum gsh_status gsh_value_make_resident_locked(struct gsh_value *value)
{
    uint64_t address = 0;
    if (value->address != 0)
        return GSH_OK;
    gsh_dispatch_lock_wait_launch();
    gsh_value_reap_locked();
    bool fits_word = value->is_read_next && value->spill == NULL; /* a spill copy is padded */
    bool has_word = fits_word && gsh_mapped_scalar_take_locked(&address, &value->word);
    while (!has_word && gsh_backend_get()->allocate(value->size, &address) != GSH_OK)
        if (!could_fit(value->size) || gsh_eviction_evict_one_locked() == 0)
            return GSH_FAILED;
    if (value->spill != NULL &&
        gsh_transfer_upload(address, value->spill, value->size, false) != GSH_OK) {
        gsh_backend_get()->release(address, value->size);
        return GSH_FAILED;
    }
    promised_bytes -= value->size;
    value->address = address;
    return GSH_OK;
}

void gsh_value_drop_spill_locked(struct gsh_value *value)
{
    free(value->spill);
    value->spill = NULL;
}

void gsh_value_move_locked(struct gsh_value *from, struct gsh_value *to)
{
    to->address = from->address;
    from->address = 0;
}

enum gsh_status gsh_value_make_writable_locked(struct gsh_value *value)
{
    if (value->spill != NULL || gsh_value_make_resident_locked(value) == GSH_OK)
        return GSH_OK;
    value->spill = malloc(value->size);
    return value->spill != NULL ? GSH_OK : GSH_FAILED;
}

/* A request to the device: a transfer from it or to it, or to finish the submitted work. */
struct request {
    enum { FINISH, DOWNLOAD, UPLOAD } kind;
    void *to;         /* of DOWNLOAD */
    const void *from; /* of UPLOAD */
    uint64_t address; /* on the device */
    size_t size;
    bool registered;
};

static enum gsh_status attempt(const struct request *request)
{
    switch (request->kind) {
    case DOWNLOAD:
        return gsh_transfer_download(request->to, request->address, request->size,
                                     request->registered);
    case UPLOAD:
        return gsh_transfer_upload(request->address, request->from, request->size,
                                   request->registered);
    default:
        return gsh_transfer_finish();
    }
}

/* Whether to repeat a request that has failed: the failure may be transient, and the bytes to be read exist nowhere
 * else. `tries`: attempts so far. */
static bool try_again(unsigned tries)
{
    const struct gsh_backend *backend = gsh_backend_get();
    if (tries == MOST_TRIES || (backend->is_lost != NULL && backend->is_lost()))
        return false;
    nanosleep(&(struct timespec){.tv_nsec = FIRST_PAUSE_NS << tries}, NULL);
    return true;
}

static enum gsh_status ask(const struct request *request)
{
    for (unsigned tries = 1; attempt(request) != GSH_OK; tries++)
        if (!try_again(tries))
            return GSH_FAILED;
    return GSH_OK;
}

static enum gsh_status read_word(const struct gsh_value *value, void *to, size_t offset,
                                 size_t size)
{
    GSH_NVTX_RANGE("transfer", size);
    uint64_t begin = gsh_trace_begin();
    GSH_TRY(ask(&(struct request){.kind = FINISH}));
    memcpy(to, value->word + offset, size);
    gsh_stats_add(GSH_COUNTER_DOWNLOADS, 1);
    gsh_stats_add(GSH_COUNTER_DOWNLOAD_BYTES, size);
    GSH_TRACE_TRANSFER(begin, DOWNLOADS, size);
    return GSH_OK;
}

enum gsh_status gsh_value_read(const struct gsh_value *value, void *to, size_t offset, size_t size,
                               bool registered)
{
    if (value->is_poisoned)
        return GSH_FAILED;
    if (value->spill != NULL)
        memcpy(to, value->spill + offset, size);
    if (!gsh_value_is_waited_for(value))
        return GSH_OK;
    if (value->word != NULL)
        return read_word(value, to, offset, size);
    return ask(&(struct request){.kind = DOWNLOAD,
                                 .to = to,
                                 .address = value->address + offset,
                                 .size = size,
                                 .registered = registered});
}

/* Releases the device memory and keeps the contents, written as a whole, in a spill copy. */
static enum gsh_status write_spill(struct gsh_value *value, const void *from, size_t size)
{
    value->spill = malloc(value->size);
    if (value->spill == NULL)
        return GSH_FAILED;
    memcpy(value->spill, from, size);
    if (value->word != NULL)
        gsh_mapped_scalar_give_locked(value->word);
    else
        gsh_backend_get()->release(value->address, value->size);
    value->word = NULL;
    value->address = 0;
    promised_bytes += value->size;
    return GSH_OK;
}

/* Whether the bytes are the whole contents of the value's block. */
static bool is_whole(const struct gsh_value *value, size_t offset, size_t size)
{
    return value->block != 0 && offset == 0 && size == gsh_block_at(value->block)->size;
}

enum gsh_status gsh_value_write_locked(struct gsh_value *value, const void *from, size_t offset,
                                       size_t size)
{
    if (value->address != 0) {
        gsh_value_drop_spill_locked(value);
        const struct request upload = {
            .kind = UPLOAD, .from = from, .address = value->address + offset, .size = size};
        if (ask(&upload) == GSH_OK)
            return GSH_OK;
        return is_whole(value, offset, size) ? write_spill(value, from, size) : GSH_FAILED;
    }
    memcpy(value->spill + offset, from, size);
    return GSH_OK;
}
