/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the stream are the threads' pieces of work.
 */
#include "emu_draw.h"

#include "host_draw.h"
#include "host_random.h"
#include "host_threads.h"

/* A thread's share. */
static void make_parts(void *random, unsigned thread, struct gsh_host_pieces *pieces)
{
    for (int64_t part; (part = gsh_host_threads_take(pieces, thread)) >= 0;)
        gsh_host_random_part(random, part);
}

enum gsh_status gsh_emu_draw_run(const struct gsh_launch *launch)
{
    struct gsh_host_random random;
    void *out = (void *)launch->operands[0].address;
    if (gsh_host_draw_twist(launch))
        return GSH_OK;
    if (!gsh_host_random_begin(&random, &launch->draw, launch->loop, out,
                               gsh_launch_elements(launch), gsh_host_threads_count()))
        return GSH_DECLINED;
    gsh_host_threads_run(make_parts, &random, random.parts);
    if (!gsh_host_random_end(&random))
        return GSH_DECLINED;
    if (launch->draw.end != NULL)
        *launch->draw.end = random.draw.stream;
    return GSH_OK;
}
