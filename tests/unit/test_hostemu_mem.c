/* SPDX-License-Identifier: Apache-2.0
 *
 * Which memory of the device "host" is kept for the next of its size.
 */
#include "check.h"
#include "hostemu_mem.h"

#include <string.h>

#define LARGE ((size_t)8 << 20)

/* What is kept goes after so many looks without a use. */
static void test_age(void)
{
    gsh_hostemu_mem_give(gsh_hostemu_mem_take(LARGE), LARGE);
    CHECK(gsh_hostemu_mem_spare_bytes() >= LARGE);
    for (int look = 0; look < 4; look++)
        CHECK(gsh_hostemu_mem_age(4));
    gsh_hostemu_mem_give(gsh_hostemu_mem_take(LARGE), LARGE);
    for (int look = 0; look < 4; look++)
        CHECK(gsh_hostemu_mem_age(4));
    CHECK(!gsh_hostemu_mem_age(4));
    CHECK_INT(gsh_hostemu_mem_spare_bytes(), 0);
}

int main(void)
{
    char *a = gsh_hostemu_mem_take(LARGE), *b = gsh_hostemu_mem_take(LARGE);
    CHECK(a != NULL && b != NULL && a != b);
    memset(a, 1, LARGE);
    gsh_hostemu_mem_give(a, LARGE);
    char *other = gsh_hostemu_mem_take(2 * LARGE);
    CHECK(other != a);
    CHECK(gsh_hostemu_mem_take(LARGE - 1000) == (void *)a); /* the same after rounding */
    gsh_hostemu_mem_give(a, LARGE - 1000);
    gsh_hostemu_mem_give(b, LARGE);
    CHECK(gsh_hostemu_mem_take(LARGE) == (void *)b); /* the one that was used last */
    CHECK(gsh_hostemu_mem_take(LARGE) == (void *)a);
    gsh_hostemu_mem_give(other, 2 * LARGE);
    char *many[20]; /* more than are kept */
    for (int k = 0; k < 20; k++)
        memset(many[k] = gsh_hostemu_mem_take(LARGE), k, LARGE);
    for (int k = 0; k < 20; k++)
        gsh_hostemu_mem_give(many[k], LARGE);
    other = gsh_hostemu_mem_take(2 * LARGE);
    CHECK(other != NULL);
    gsh_hostemu_mem_give(a, LARGE);
    gsh_hostemu_mem_give(b, LARGE);
    gsh_hostemu_mem_give(other, 2 * LARGE);
    test_age();
    return check_result();
}
