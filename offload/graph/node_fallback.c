/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies the operands' bytes to host memory, runs the host's kernel, and writes the outputs' bytes back. The kernel
 * reports the errors that the device's would have reported, and leaves the processor's flags unchanged, since the
 * code that runs next in this thread reads them.
 */
#include "node_fallback.h"

#include "arena_internal.h"
#include "backend.h"
#include "device.h"
#include "errors.h"
#include "fft_host.h"
#include "host_ops.h"
#include "log.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

/* The bytes that an operand touches, in host memory. */
struct copy {
    char *bytes;
    size_t size, offset; /* in the value */
};

/* Copies from the block's pages where the host has a valid copy. False: it has none, or another thread holds the
 * block. */
static bool read_shared(const struct gsh_value *value, const struct copy *copy)
{
    struct gsh_block *block = value->block != 0 ? gsh_block_at(value->block) : NULL;
    if (block == NULL || copy->size == 0 || !gsh_block_try_acquire_sigsafe(block))
        return false;
    bool is_shared = block->value == value && copy->offset + copy->size <= block->size;
    if (is_shared) {
        unsigned last = gsh_block_chunk(block, copy->offset + copy->size - 1);
        for (unsigned chunk = gsh_block_chunk(block, copy->offset); chunk <= last; chunk++)
            is_shared &= block->state[chunk] == GSH_CHUNK_SHARED;
    }
    if (is_shared)
        memcpy(copy->bytes, (const char *)block->base + copy->offset, copy->size);
    gsh_block_release_sigsafe(block);
    return is_shared;
}

/* Whether the launch writes all of the operand's bytes and reads none. */
static bool is_overwritten(const struct gsh_launch *launch, unsigned k, size_t size)
{
    size_t written = gsh_dtype_size(launch->operands[k].dtype);
    bool may_be = gsh_launch_has(launch, GSH_TRAIT_MAPS | GSH_TRAIT_REDUCES);
    if (!may_be || !gsh_launch_is_output(launch, k) || gsh_launch_reads_output(launch))
        return false;
    for (int d = 0; d < launch->ndim; d++)
        if (launch->strides[k][d] != 0)
            written *= (size_t)launch->shape[d];
    return written == size;
}

static enum gsh_status fetch(const struct gsh_node *node, unsigned k, struct copy *copy)
{
    int64_t low = 0, high = 0;
    gsh_launch_extent(&node->launch, k, &low, &high);
    copy->size = (size_t)(high - low);
    copy->bytes = malloc(GSH_MAX(copy->size, 1));
    copy->offset = node->launch.operands[k].address + (size_t)low;
    if (copy->bytes == NULL)
        return GSH_FAILED;
    if (copy->size == 0 || is_overwritten(&node->launch, k, copy->size) ||
        (!node->values[k]->is_poisoned && read_shared(node->values[k], copy)))
        return GSH_OK;
    return gsh_value_read(node->values[k], copy->bytes, copy->offset, copy->size, false);
}

static enum gsh_status run_element(const struct gsh_launch *launch)
{
    return gsh_host_ops_run(launch);
}

/* Draws, products and LAPACK's routines are not recorded: the caller computes what the device refuses. */
static enum gsh_status run_draw(const struct gsh_launch *launch)
{
    (void)launch;
    return GSH_DECLINED;
}

static enum gsh_status run_product(const struct gsh_launch *launch)
{
    (void)launch;
    return GSH_DECLINED;
}

static enum gsh_status run_lapack(const struct gsh_launch *launch)
{
    (void)launch;
    return GSH_DECLINED;
}

static enum gsh_status run_transform(const struct gsh_launch *launch)
{
    return gsh_fft_host_run(launch);
}

static enum gsh_status run_filter(const struct gsh_launch *launch)
{
    return gsh_host_ops_run(launch);
}

static enum gsh_status run_on_host(const struct gsh_launch *launch)
{
    static enum gsh_status (*const run[])(const struct gsh_launch *launch) = {
#define X(kind, dtypes, errors, replay, host, source, unit, ...) [GSH_LAUNCH_##kind] = run_##unit,
#include "launch_kinds.def"
#undef X
    };
    fexcept_t flags;
    fegetexceptflag(&flags, FE_ALL_EXCEPT);
    enum gsh_status status = run[launch->kind](launch);
    fesetexceptflag(&flags, FE_ALL_EXCEPT);
    return status;
}

static enum gsh_status compute(const struct gsh_node *node, struct copy *copies)
{
    struct gsh_launch launch = node->launch;
    unsigned count = gsh_launch_operands(&launch);
    uint64_t claims[GSH_ERROR_KINDS];
    launch.errors = gsh_errors_host_sink_locked(&node->launch.errors, claims);
    for (unsigned k = 0; k < count; k++) {
        if (node->values[k] == NULL)
            continue;
        int64_t low = 0, high = 0;
        GSH_TRY(fetch(node, k, &copies[k]));
        gsh_launch_extent(&launch, k, &low, &high);
        launch.operands[k].address = (uint64_t)(copies[k].bytes - low);
    }
    gsh_launch_collapse(&launch);
    if (run_on_host(&launch) != GSH_OK)
        return GSH_FAILED;
    for (unsigned k = launch.nin; k < launch.nin + launch.nout; k++) {
        GSH_TRY(gsh_value_make_writable_locked(node->values[k]));
        GSH_TRY(gsh_value_write_locked(node->values[k], copies[k].bytes, copies[k].offset,
                                       copies[k].size));
    }
    return GSH_OK;
}

/* Retires a device that is lost. Warns of the first fallback. */
static void tell(bool is_computed)
{
    static bool has_said;
    const struct gsh_backend *backend = gsh_backend_get();
    if (backend->is_lost != NULL && backend->is_lost())
        gsh_device_retire("it does not answer any more");
    else if (is_computed && !has_said)
        gsh_log(GSH_LOG_WARN, "the device refused an operation; the CPU computed it");
    has_said = true;
}

void gsh_node_fallback_run_locked(const struct gsh_node *node)
{
    struct copy copies[GSH_MAX_OPERANDS] = {{0}};
    enum gsh_status status = compute(node, copies);
    for (unsigned k = 0; k < GSH_MAX_OPERANDS; k++)
        free(copies[k].bytes);
    tell(status == GSH_OK);
    if (status == GSH_OK)
        return;
    for (unsigned k = node->launch.nin; k < node->launch.nin + node->launch.nout; k++)
        node->values[k]->is_poisoned = true;
}
