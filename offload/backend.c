/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of backends and the choice among them.
 */
#include "backend.h"

#include "options.h"

static const struct gsh_backend *chosen;

const struct gsh_backend *gsh_backend_get(void)
{
    return chosen;
}

void gsh_backend_replace(const struct gsh_backend *backend)
{
    chosen = backend;
}

static bool is_present(const struct gsh_backend *backend)
{
    return backend->is_present == NULL || backend->is_present();
}

void gsh_backend_choose(void)
{
    switch ((enum gsh_device_choice)gsh_option_number(GSH_OPTION_DEVICE)) {
    case GSH_DEVICE_AUTO:
        chosen = is_present(&gsh_cuda_backend) ? &gsh_cuda_backend : NULL;
        break;
    case GSH_DEVICE_CUDA:
        chosen = &gsh_cuda_backend;
        break;
    case GSH_DEVICE_HOST:
        chosen = &gsh_hostemu_backend;
        break;
    case GSH_DEVICE_NONE:
        chosen = NULL;
        break;
    }
}
