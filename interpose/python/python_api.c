/* SPDX-License-Identifier: Apache-2.0
 *
 * Resolves python_api.def in the running process and gates the version. Called once, with the GIL.
 */
#include "python_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct gsh_python_api gsh_py;

/* Fills the table. Returns the name of the first missing symbol, or NULL. */
static const char *resolve(struct gsh_python_api *api)
{
    static const char *const names[] = {
#define F(type, name, parameters) #name,
#define D(name) #name,
#include "python_api.def"
#undef F
#undef D
    };
    void *addresses[GSH_COUNT(names)];
    _Static_assert(sizeof(addresses) == sizeof(*api), "one pointer per row");
    for (size_t i = 0; i < GSH_COUNT(names); i++) {
        addresses[i] = dlsym(RTLD_DEFAULT, names[i]);
        if (!addresses[i])
            return names[i];
    }
    memcpy(api, addresses, sizeof(addresses));
    return NULL;
}

/* "3.12.1 (main, ...)": the number after "3.", or -1. */
static int minor_version(const char *version)
{
    return strncmp(version, "3.", 2) == 0 ? atoi(version + 2) : -1;
}

bool gsh_python_api_is_loaded(void)
{
    bool is_loaded = dlsym(RTLD_DEFAULT, "Py_IsInitialized") != NULL;
    dlerror(); /* failed lookups are not the caller's errors */
    return is_loaded;
}

enum gsh_status gsh_python_api_init(const char **why)
{
    struct gsh_python_api api;
    *why = resolve(&api);
    if (*why)
        return GSH_DECLINED;
    const char *version = api.Py_GetVersion();
    int minor = minor_version(version);
    if (minor < 9 || minor > 14) {
        *why = "the Python version is not 3.9-3.14";
        return GSH_DECLINED;
    }
    if (strstr(version, "free-threading")) {
        *why = "this Python has no GIL";
        return GSH_DECLINED;
    }
    gsh_py = api;
    return GSH_OK;
}
