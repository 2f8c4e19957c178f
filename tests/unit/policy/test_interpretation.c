/* SPDX-License-Identifier: Apache-2.0
 *
 * When a group that is interpreted gets a kernel of its own, and when an interpreter is compiled.
 */
#include "check.h"
#include "interpretation.h"

int main(void)
{
    CHECK(!gsh_interpretation_ends(1, 1e6));
    CHECK(!gsh_interpretation_ends(2, 1e9));
    CHECK(gsh_interpretation_ends(3, 1e6));
    CHECK(gsh_interpretation_ends(1, 1e12));
    CHECK(!gsh_interpretation_pays_compiling(0));
    CHECK(gsh_interpretation_pays_compiling(1000));
    return check_result();
}
