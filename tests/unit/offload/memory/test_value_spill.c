/* SPDX-License-Identifier: Apache-2.0
 *
 * Contents for which the device has no memory are kept in a spill copy on the host. Readers and copies get them from
 * there. A lost value stays lost, and so does what is computed from it.
 */
#include "backend.h"
#include "block.h"
#include "check.h"
#include "live.h"
#include "node.h"
#include "value.h"

#define COUNT ((int64_t)5000)

static const struct gsh_backend *below;
static bool lacks_memory, refuses_work, refuses_upload, refuses_downloads;
static double *looked_at; /* in the middle of the next upload */
static double seen;

static enum gsh_status allocate(size_t size, uint64_t *address)
{
    return lacks_memory ? GSH_FAILED : below->allocate(size, address);
}

static enum gsh_status run(const struct gsh_launch *launch, unsigned row)
{
    return refuses_work ? GSH_FAILED : below->run(launch, row);
}

static enum gsh_status run_group(const struct gsh_group *group, unsigned row,
                                 gsh_can_split *can_split, const void *item)
{
    return refuses_work ? GSH_FAILED : below->run_group(group, row, can_split, item);
}

static enum gsh_status download(void *dst, uint64_t src, size_t size, bool registered)
{
    return refuses_downloads ? GSH_FAILED : below->download(dst, src, size, registered);
}

static enum gsh_status upload(uint64_t dst, const void *src, size_t size, bool registered)
{
    double *array = looked_at;
    looked_at = NULL;
    if (array != NULL)
        CHECK(gsh_coherence_peek(&seen, array, sizeof seen));
    if (!refuses_upload)
        return below->upload(dst, src, size, registered);
    refuses_upload = false;
    return GSH_FAILED;
}

static double *fresh(void)
{
    return live_doubles(COUNT, GSH_ARENA_DEVICE);
}

static void add_one(const double *a, double *out, int64_t count)
{
    CHECK_INT(live_add(a, NULL, 1, out, count), GSH_REASON_NONE);
}

static struct gsh_value *value_of(const double *array)
{
    return gsh_arena_find_block(array)->value;
}

/* Threes on the host, fours in a spill copy. */
static double *spilled(void)
{
    double *a = live_doubles(COUNT, GSH_ARENA_HOST), *out = fresh();
    for (int64_t i = 0; i < COUNT; i++)
        a[i] = 3;
    add_one(a, out, COUNT);
    lacks_memory = true;
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    lacks_memory = false;
    CHECK(value_of(out)->spill != NULL && value_of(out)->address == 0);
    gsh_arena_free(a);
    return out;
}

static void check_read_meanwhile(void)
{
    double *x = spilled(), *y = fresh();
    add_one(x, y, COUNT);
    seen = 0;
    looked_at = x;
    gsh_node_flush(GSH_FLUSH_IDLE);
    CHECK(looked_at == NULL && seen == 4);
    CHECK(y[0] == 5 && y[COUNT - 1] == 5 && x[1] == 4);
    gsh_arena_free(x);
    gsh_arena_free(y);
}

/* The only copy is not given up for one that did not arrive. */
static void check_refused(void)
{
    double *x = spilled(), *y = fresh();
    add_one(x, y, COUNT);
    refuses_upload = true;
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    CHECK(!refuses_upload && x[0] == 4 && y[0] == 5 && y[COUNT - 1] == 5);
    gsh_arena_free(x);
    gsh_arena_free(y);
}

/* Written in part on the device, where it was brought to be read: the spill copy is no copy any more. */
static void check_written(void)
{
    double *x = spilled(), *y = fresh();
    add_one(x, y, COUNT);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    add_one(y, x, COUNT / 2);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    CHECK(x[0] == 6 && x[COUNT / 2 - 1] == 6 && x[COUNT / 2] == 4 && x[COUNT - 1] == 4);
    gsh_arena_free(x);
    gsh_arena_free(y);
}

/* Input and output overlap, which takes a copy. */
static void check_copied(void)
{
    double *x = spilled();
    add_one(x, x + 1, COUNT - 2);
    CHECK(x[0] == 4 && x[1] == 5 && x[COUNT - 2] == 5 && x[COUNT - 1] == 4);
    gsh_arena_free(x);
}

static void check_lost(bool in_group)
{
    double *a = fresh(), *b = fresh(), *c = fresh(), result = 0;
    CHECK_INT(live_add(NULL, NULL, 3, a, COUNT), GSH_REASON_NONE);
    gsh_dispatch_synchronize();
    add_one(a, a, COUNT);
    refuses_work = refuses_downloads = true;
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    refuses_work = refuses_downloads = false;
    CHECK(value_of(a)->is_poisoned);
    add_one(a, b, COUNT);
    if (in_group)
        add_one(b, c, COUNT);
    gsh_node_flush(GSH_FLUSH_SYNCHRONIZE);
    CHECK(value_of(b)->is_poisoned && value_of(c) == NULL ? !in_group : value_of(c)->is_poisoned);
    CHECK(!gsh_coherence_peek(&result, b, sizeof result));
    CHECK_INT(live_add(NULL, NULL, 3, a, COUNT), GSH_REASON_NONE); /* nothing of it is left */
    CHECK(a[0] == 6 && a[COUNT - 1] == 6);
    gsh_arena_free(a);
    gsh_arena_free(b);
    gsh_arena_free(c);
}

int main(void)
{
    live_defer();
    setenv("GPUSHIM_BACKGROUND", "0", 1);
    if (!live_start())
        return CHECK_SKIP;
    below = gsh_backend_get();
    struct gsh_backend poor = *below;
    poor.allocate = allocate;
    poor.run = run;
    poor.run_group = run_group;
    poor.download = download;
    poor.upload = upload;
    gsh_backend_replace(&poor);
    check_read_meanwhile();
    check_refused();
    check_written();
    check_copied();
    check_lost(false);
    check_lost(true);
    gsh_backend_replace(below);
    return live_end();
}
