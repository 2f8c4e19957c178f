/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "host_draw.h"

#include "host_random.h"
#include "twister.h"

bool gsh_host_draw_supports(const struct gsh_launch *launch)
{
    struct gsh_host_random_recipe recipe;
    return launch->nin == 0 && launch->nout == 1 && !launch->has_mask &&
           launch->operands[0].dtype == launch->loop && gsh_launch_is_packed(launch, 0) &&
           gsh_random_draw_is_valid(&launch->draw, launch->loop) &&
           gsh_host_random_values_find(&launch->draw, launch->loop, &recipe);
}

bool gsh_host_draw_twist(const struct gsh_launch *launch)
{
    const struct gsh_random_stream *stream = &launch->draw.stream;
    if (stream->generator != GSH_RANDOM_MT19937)
        return false;
    gsh_twister_fill(stream->twister.key, stream->twister.at,
                     (uint32_t *)launch->operands[0].address, gsh_launch_elements(launch));
    return true;
}

void gsh_host_draw_run(const struct gsh_launch *launch)
{
    struct gsh_host_random random;
    void *out = (void *)launch->operands[0].address;
    if (gsh_host_draw_twist(launch))
        return;
    if (!gsh_host_random_begin(&random, &launch->draw, launch->loop, out,
                               gsh_launch_elements(launch), 1))
        return;
    for (int64_t part = 0; part < random.parts; part++)
        gsh_host_random_part(&random, part);
    if (gsh_host_random_end(&random) && launch->draw.end != NULL)
        *launch->draw.end = random.draw.stream;
}
