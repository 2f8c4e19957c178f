/* SPDX-License-Identifier: Apache-2.0
 *
 * A device that cannot be started is retired, and says so.
 */
#include "live.h"

static enum gsh_status refuse(char *why, size_t size)
{
    snprintf(why, size, "no card");
    return GSH_FAILED;
}

int main(void)
{
    const char *why;
    setenv("GPUSHIM_DEVICE", "host", 1);
    gsh_options_init();
    CHECK_INT(gsh_startup(&why), GSH_OK);
    CHECK(gsh_device_why_retired() == NULL);
    struct gsh_backend refusing = *gsh_backend_get();
    refusing.open = refuse;
    gsh_backend_replace(&refusing);
    gsh_device_start(true);
    CHECK_INT(gsh_device_get_state(), GSH_DEVICE_RETIRED);
    CHECK_STR(gsh_device_why_retired(), "it could not be started");
    return check_result();
}
