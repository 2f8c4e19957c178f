/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a group with sinks give the bytes that the group gives: random groups, on the CPU.
 */
#include "check.h"
#include "group_random.h"
#include "group_split.h"
#include "host_group.h"
#include "host_ops.h"
#include "options.h"

#define GROUPS 100
#define CONTENTS 2

static struct random_group works[2];
static char *pools[2];

/* Whether a step's result lies in scratch memory. */
static bool run_parts(const struct gsh_group *group)
{
    static struct gsh_group rest;
    struct gsh_launch launches[GSH_GROUP_SINKS];
    size_t bytes = gsh_group_split_scratch(group);
    char *scratch = malloc(bytes + 1);
    gsh_group_split_make(group, (uintptr_t)scratch, &rest, launches);
    CHECK_INT(rest.sink_count, 0);
    CHECK_INT(gsh_host_group_run(&rest), GSH_OK);
    for (unsigned k = 0; k < group->sink_count; k++) {
        gsh_launch_collapse(&launches[k]);
        CHECK_INT(gsh_host_ops_run(&launches[k]), GSH_OK);
    }
    free(scratch);
    return bytes > 0;
}

static bool is_same_errors(void)
{
    bool is_same = true;
    for (unsigned place = 0; place < GSH_GROUP_STEPS + GSH_GROUP_SINKS; place++)
        for (int kind = 0; kind < GSH_ERROR_KINDS; kind++)
            is_same = is_same && works[0].found[place].found[kind].sequence ==
                                     works[1].found[place].found[kind].sequence;
    return is_same;
}

static void check_random(void)
{
    unsigned in_scratch = 0, in_place = 0, declined = 0;
    for (uint64_t structure = 0; structure < GROUPS; structure++)
        for (uint64_t contents = 0; contents < CONTENTS; contents++) {
            for (int side = 0; side < 2; side++)
                random_group_make(&works[side], pools[side], structure, contents, true);
            if (!gsh_host_group_supports(&works[0].group))
                continue;
            if (gsh_group_split_scratch(&works[1].group) == SIZE_MAX) {
                declined++;
                continue;
            }
            CHECK_INT(gsh_host_group_run(&works[0].group), GSH_OK);
            bool has_scratch = run_parts(&works[1].group);
            in_scratch += has_scratch;
            in_place += !has_scratch;
            if (!CHECK(memcmp(pools[0], pools[1], POOL_BYTES) == 0 && is_same_errors()))
                fprintf(stderr, "  structure %d, contents %d\n", (int)structure, (int)contents);
        }
    printf("%u in scratch memory, %u in arrays, %u declined\n", in_scratch, in_place, declined);
    CHECK(in_scratch > 0 && in_place > 0 && declined > 0);
}

static void check_without_sinks(void)
{
    struct gsh_launch launches[GSH_GROUP_SINKS];
    struct gsh_group rest;
    random_group_make(&works[0], pools[0], 3, 0, false);
    CHECK_INT(gsh_group_split_scratch(&works[0].group), 0);
    gsh_group_split_make(&works[0].group, 0, &rest, launches);
    CHECK_INT(rest.store_count, works[0].group.store_count);
}

int main(void)
{
    gsh_options_init();
    for (int side = 0; side < 2; side++)
        if (!CHECK((pools[side] = aligned_alloc(64, POOL_BYTES)) != NULL))
            return check_result();
    check_random();
    check_without_sinks();
    return check_result();
}
