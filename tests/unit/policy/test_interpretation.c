/* SPDX-License-Identifier: Apache-2.0
 *
 * When a group that is interpreted gets a kernel of its own.
 */
#include "check.h"
#include "interpretation.h"

int main(void)
{
    CHECK(!gsh_interpretation_ends(1, 1e6));
    CHECK(!gsh_interpretation_ends(2, 1e9));
    CHECK(gsh_interpretation_ends(3, 1e6));
    CHECK(gsh_interpretation_ends(1, 1e12));
    return check_result();
}
