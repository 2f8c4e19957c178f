/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. All other gufuncs made through this table entry (numba's, SciPy's) are left
 * unchanged.
 */
#include "numpy_gufunc.h"

#include "numpy_fft.h"
#include "numpy_hooks.h"
#include "numpy_linalg.h"
#include "python_error.h"

#include <dlfcn.h>
#include <string.h>

/* The table behind _UFUNC_API, which is writable. The slots are the same in 1.22-2.5. */
enum { SLOT_UFUNC_TYPE = 0, SLOT_FROM_SIGNATURE = 31 };

/* PyUFunc_FromFuncAndDataAndSignature */
typedef PyObject *from_signature(gsh_ufunc_loop *functions, void **data, const char *types,
                                 int ntypes, int nin, int nout, int identity, const char *name,
                                 const char *doc, int unused, const char *signature);

static const struct {
    const char *library; /* prefix of its file's name */
    gsh_gufunc_offer *offer;
} modules[] = {
    {"_umath_linalg.", gsh_numpy_linalg_offer},
    {"_pocketfft_umath.", gsh_numpy_fft_offer},
};

static from_signature *original;

/* The offer of the module that contains these loops, or NULL. */
static gsh_gufunc_offer *find_offer(const struct gsh_ufunc *ufunc)
{
    Dl_info info;
    if (ufunc->ntypes < 1 || !dladdr((const void *)ufunc->functions[0], &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *file = slash ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < GSH_COUNT(modules); i++)
        if (strncmp(file, modules[i].library, strlen(modules[i].library)) == 0)
            return modules[i].offer;
    return NULL;
}

static PyObject *from_signature_hook(gsh_ufunc_loop *functions, void **data, const char *types,
                                     int ntypes, int nin, int nout, int identity, const char *name,
                                     const char *doc, int unused, const char *signature)
{
    PyObject *object =
        original(functions, data, types, ntypes, nin, nout, identity, name, doc, unused, signature);
    struct gsh_ufunc *ufunc = (struct gsh_ufunc *)object;
    if (!object || !ufunc->core_enabled)
        return object;
    gsh_gufunc_offer *offer = find_offer(ufunc);
    if (offer)
        gsh_numpy_ufunc_adopt(ufunc, offer(ufunc));
    return object;
}

void gsh_numpy_gufunc_install(void)
{
    PyObject *capsule = gsh_py.PyDict_GetItemString(gsh_np.dict, "_UFUNC_API");
    void **table = capsule ? gsh_py.PyCapsule_GetPointer(capsule, NULL) : NULL;
    gsh_python_error_clear();
    if (!table || table[SLOT_UFUNC_TYPE] != gsh_np.ufunc_type || !gsh_np.call_ufunc)
        return;
    original = (from_signature *)table[SLOT_FROM_SIGNATURE];
    table[SLOT_FROM_SIGNATURE] = (void *)from_signature_hook;
}
