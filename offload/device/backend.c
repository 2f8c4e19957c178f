/* SPDX-License-Identifier: Apache-2.0
 *
 * The registry of backends and the choice among them.
 */
#include "backend.h"

#include "options.h"

static const struct gsh_backend *_Atomic chosen; /* tests replace it while threads of ours run */
static struct gsh_rates opened_rates;
static const struct gsh_rates *current_rates; /* atomic; NULL: the backend's own */

const struct gsh_backend *gsh_backend_get(void)
{
    return chosen;
}

void gsh_backend_replace(const struct gsh_backend *backend)
{
    chosen = backend;
    __atomic_store_n(&current_rates, NULL, __ATOMIC_RELEASE);
}

const struct gsh_rates *gsh_backend_rates(void)
{
    const struct gsh_rates *rates = __atomic_load_n(&current_rates, __ATOMIC_ACQUIRE);
    return rates != NULL ? rates : chosen->rates;
}

void gsh_backend_rate(void)
{
    if (chosen->rate == NULL)
        return;
    opened_rates = *chosen->rates;
    chosen->rate(&opened_rates);
    __atomic_store_n(&current_rates, &opened_rates, __ATOMIC_RELEASE);
}

bool gsh_backend_is_present(const struct gsh_backend *backend)
{
    return backend->is_present == NULL || backend->is_present();
}

void gsh_backend_choose(void)
{
    switch ((enum gsh_device_choice)gsh_option_number(GSH_OPTION_DEVICE)) {
    case GSH_DEVICE_AUTO:
        chosen = gsh_backend_is_present(&gsh_cuda_backend) ? &gsh_cuda_backend : NULL;
        break;
    case GSH_DEVICE_CUDA:
        chosen = &gsh_cuda_backend;
        break;
    case GSH_DEVICE_HOST:
        chosen = &gsh_emu_backend;
        break;
    case GSH_DEVICE_NONE:
    case GSH_DEVICE_CPU:
        chosen = NULL;
        break;
    }
}
