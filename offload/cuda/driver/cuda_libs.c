/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds CUDA's libraries and fills their tables. The table `libraries` gives the names and folders of each; every
 * (folder, version) pair is tried in that order until one opens, has all required functions and suits the driver and
 * the GPU. None is loaded from a relative folder. May allocate (dlopen does); takes no lock of ours. Checked against
 * NVIDIA's headers by tests/unit/offload/cuda/driver/test_cuda_tables.c.
 */
#include "cuda_libs.h"

#include "fmt.h"
#include "lock.h"
#include "log.h"
#include "options.h"
#include "page_cache.h"
#include "search_roots.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAMES 4
#define MAX_HELPERS 4
#define MAX_ARCHS 64

struct gsh_cuda_driver gsh_cu;
struct gsh_cuda_nvrtc gsh_nvrtc;
struct gsh_cuda_cublas gsh_cublas;
struct gsh_cuda_cusolver gsh_cusolver;
struct gsh_cuda_cufft gsh_cufft;

struct symbol {
    const char *name;
    bool required;
};

#define X(function, required) {#function, required},
static const struct symbol driver_symbols[] = {
#include "driver.def"
};
static const struct symbol nvrtc_symbols[] = {
#include "nvrtc.def"
};
static const struct symbol cublas_symbols[] = {
#include "cublas.def"
};
static const struct symbol cusolver_symbols[] = {
#include "cusolver.def"
};
static const struct symbol cufft_symbols[] = {
#include "cufft.def"
};
#undef X

_Static_assert(sizeof gsh_cu == GSH_COUNT(driver_symbols) * sizeof(void *), "one pointer a row");
_Static_assert(sizeof gsh_nvrtc == GSH_COUNT(nvrtc_symbols) * sizeof(void *), "one pointer a row");
_Static_assert(sizeof gsh_cublas == GSH_COUNT(cublas_symbols) * sizeof(void *),
               "one pointer a row");
_Static_assert(sizeof gsh_cusolver == GSH_COUNT(cusolver_symbols) * sizeof(void *),
               "one pointer a row");
_Static_assert(sizeof gsh_cufft == GSH_COUNT(cufft_symbols) * sizeof(void *), "one pointer a row");

struct library {
    const char *stem;      /* file name up to the version */
    const char *companion; /* stem of a library to open first, from the same folder; or NULL */
    const char *helpers
        [MAX_HELPERS]; /* files to open first, if they exist; a last '.': CUDA's major version follows */
    struct {
        const char *suffix;
        int major;                      /* of CUDA; 0 for the driver itself */
    } versions[MAX_NAMES];              /* newest first */
    const char *folders[MAX_NAMES];     /* "$NAME/..." begins with an environment variable */
    const char *pip_folders[MAX_NAMES]; /* below each search root */
    const struct symbol *symbols;
    size_t symbol_count;
    void *table; /* symbol_count pointers */
};

static const struct library libraries[GSH_CUDA_LIBRARY_COUNT] = {
    [GSH_CUDA_LIBRARY_DRIVER] = {.stem = "libcuda.so",
                                 .versions = {{".1", 0}},
                                 .folders = {"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"},
                                 .symbols = driver_symbols,
                                 .symbol_count = GSH_COUNT(driver_symbols),
                                 .table = &gsh_cu},
    [GSH_CUDA_LIBRARY_NVRTC] = {.stem = "libnvrtc.so",
                                .versions = {{".13", 13}, {".12", 12}, {".11.2", 11}},
                                .folders = {"$CUDA_HOME/lib64", "$CUDA_PATH/lib64",
                                            "$CONDA_PREFIX/lib", "/usr/local/cuda/lib64"},
                                .pip_folders = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"},
                                .symbols = nvrtc_symbols,
                                .symbol_count = GSH_COUNT(nvrtc_symbols),
                                .table = &gsh_nvrtc},
    [GSH_CUDA_LIBRARY_CUBLAS] = {.stem = "libcublas.so",
                                 .companion = "libcublasLt.so",
                                 .versions = {{".13", 13}, {".12", 12}, {".11", 11}},
                                 .folders = {"$CUDA_HOME/lib64", "$CUDA_PATH/lib64",
                                             "$CONDA_PREFIX/lib", "/usr/local/cuda/lib64"},
                                 .pip_folders = {"nvidia/cu13/lib", "nvidia/cublas/lib"},
                                 .symbols = cublas_symbols,
                                 .symbol_count = GSH_COUNT(cublas_symbols),
                                 .table = &gsh_cublas},
    /* Needs cuBLAS too, which is loaded before it. */
    [GSH_CUDA_LIBRARY_CUSOLVER] = {.stem = "libcusolver.so",
                                   .helpers = {"libnvJitLink.so.",
                                               "../../nvjitlink/lib/libnvJitLink.so.",
                                               "libcusparse.so.12",
                                               "../../cusparse/lib/libcusparse.so.12"},
                                   .versions = {{".12", 13}, {".11", 12}},
                                   .folders = {"$CUDA_HOME/lib64", "$CUDA_PATH/lib64",
                                               "$CONDA_PREFIX/lib", "/usr/local/cuda/lib64"},
                                   .pip_folders = {"nvidia/cu13/lib", "nvidia/cusolver/lib"},
                                   .symbols = cusolver_symbols,
                                   .symbol_count = GSH_COUNT(cusolver_symbols),
                                   .table = &gsh_cusolver},
    [GSH_CUDA_LIBRARY_CUFFT] = {.stem = "libcufft.so",
                                .versions = {{".12", 13}, {".11", 12}, {".10", 11}},
                                .folders = {"$CUDA_HOME/lib64", "$CUDA_PATH/lib64",
                                            "$CONDA_PREFIX/lib", "/usr/local/cuda/lib64"},
                                .pip_folders = {"nvidia/cu13/lib", "nvidia/cufft/lib"},
                                .symbols = cufft_symbols,
                                .symbol_count = GSH_COUNT(cufft_symbols),
                                .table = &gsh_cufft},
};

/* Of a library's file, what every opening reads, and how much of it lies in memory behind one: the read-ahead of the kernel leaves
 * little out. */
#define READ_BYTES ((size_t)256 << 10)
#define READ_SHARE 0.75

/* Places in search order: already loaded, the loader's paths, `folders`, `pip_folders` of each root. */
enum { PLACE_LOADED, PLACE_DEFAULT, PLACE_FOLDERS, PLACE_PIP = PLACE_FOLDERS + MAX_NAMES };
#define PLACE_COUNT (PLACE_PIP + GSH_SEARCH_ROOTS_MAX * MAX_NAMES)

static struct gsh_lock loading_lock = GSH_LOCK_INITIALIZER(GSH_RANK_BACKEND);
static char paths[GSH_CUDA_LIBRARY_COUNT][PATH_MAX];
static int majors[GSH_CUDA_LIBRARY_COUNT]; /* of CUDA, of what was loaded */
static char missing[GSH_CUDA_LIBRARY_COUNT][GSH_CUDA_LIBS_WHY_SIZE];

/* The folder of a place, with a slash behind it; "" for the loader's own. False: there is none. */
static bool place_folder(const struct library *library, unsigned place, struct gsh_fmt *fmt)
{
    if (place < PLACE_FOLDERS)
        return true;
    if (place >= PLACE_PIP) {
        const char *root = gsh_search_roots_get((place - PLACE_PIP) / MAX_NAMES);
        const char *below = library->pip_folders[(place - PLACE_PIP) % MAX_NAMES];
        if (!root || !below)
            return false;
        gsh_fmt_printf(fmt, "%s/%s/", root, below);
        return true;
    }
    const char *folder = library->folders[place - PLACE_FOLDERS];
    if (!folder)
        return false;
    if (folder[0] != '$') {
        gsh_fmt_printf(fmt, "%s/", folder);
        return true;
    }
    char variable[32];
    size_t length = strcspn(folder + 1, "/");
    memcpy(variable, folder + 1, length);
    variable[length] = '\0';
    const char *value = getenv(variable);
    if (!value || value[0] != '/')
        return false;
    gsh_fmt_printf(fmt, "%s%s/", value, folder + 1 + length);
    return true;
}

/* Opens the helpers. The library itself may find those that are missing. */
static void open_helpers(const struct library *library, const char *folder, int major)
{
    for (size_t i = 0; i < MAX_HELPERS && library->helpers[i] != NULL; i++) {
        const char *name = library->helpers[i];
        char file[PATH_MAX];
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, file, sizeof file);
        gsh_fmt_printf(&fmt, "%s%s", folder, name);
        if (name[strlen(name) - 1] == '.')
            gsh_fmt_printf(&fmt, "%d", major);
        (void)dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
}

/* Whether the loader would find the file in a relative folder of LD_LIBRARY_PATH, that is below the current
 * directory, where others may have put it. An empty entry is the current directory. */
static bool is_in_relative_folder(const char *file)
{
    const char *entry = getenv("LD_LIBRARY_PATH");
    bool is_found = false;
    while (entry != NULL && !is_found) {
        size_t length = strcspn(entry, ":;");
        char path[PATH_MAX];
        struct gsh_fmt fmt;
        gsh_fmt_init(&fmt, path, sizeof path);
        gsh_fmt_printf(&fmt, "./%.*s/%s", (int)length, entry, file);
        is_found = entry[0] != '/' && access(path, F_OK) == 0;
        entry = entry[length] != '\0' ? entry + length + 1 : NULL;
    }
    return is_found;
}

static void *open_at(const struct library *library, unsigned place, unsigned version)
{
    char folder[PATH_MAX], file[PATH_MAX];
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, folder, sizeof folder);
    if (!place_folder(library, place, &fmt) || fmt.required > fmt.length)
        return NULL;
    const char *suffix = library->versions[version].suffix;
    if (library->companion && place >= PLACE_FOLDERS) {
        gsh_fmt_init(&fmt, file, sizeof file);
        gsh_fmt_printf(&fmt, "%s%s%s", folder, library->companion, suffix);
        if (!dlopen(file, RTLD_NOW | RTLD_LOCAL))
            return NULL;
    }
    if (place >= PLACE_FOLDERS)
        open_helpers(library, folder, library->versions[version].major);
    gsh_fmt_init(&fmt, file, sizeof file);
    gsh_fmt_printf(&fmt, "%s%s%s", folder, library->stem, suffix);
    if (place == PLACE_DEFAULT && is_in_relative_folder(file)) {
        gsh_log(GSH_LOG_INFO, "%s is not taken from a relative folder of LD_LIBRARY_PATH", file);
        return NULL;
    }
    return dlopen(file, RTLD_NOW | RTLD_LOCAL | (place == PLACE_LOADED ? RTLD_NOLOAD : 0));
}

static bool fill_table(const struct library *library, void *handle)
{
    void **table = library->table;
    for (size_t i = 0; i < library->symbol_count; i++) {
        table[i] = dlsym(handle, library->symbols[i].name);
        if (!table[i] && library->symbols[i].required) {
            gsh_log(GSH_LOG_INFO, "%s lacks %s", library->stem, library->symbols[i].name);
            return false;
        }
    }
    return true;
}

/* GPUs of systems on a chip. Other GPUs of the same major revision do not run machine code built for them (CUDA's
 * programming guide, "Binary Compatibility"). */
static bool is_embedded(int arch)
{
    static const int embedded[] = {53, 62, 72, 87, 101, 110};
    for (size_t i = 0; i < GSH_COUNT(embedded); i++)
        if (embedded[i] == arch)
            return true;
    return false;
}

bool gsh_cuda_libs_runs_on(int code, int arch)
{
    return code == arch || (code / 10 == arch / 10 && code < arch && !is_embedded(code));
}

int gsh_cuda_libs_nvrtc_target(int arch, bool *is_ptx)
{
    int count = 0, archs[MAX_ARCHS], newest = 0;
    if (gsh_nvrtc.nvrtcGetNumSupportedArchs(&count) != GSH_NVRTC_SUCCESS || count > MAX_ARCHS ||
        gsh_nvrtc.nvrtcGetSupportedArchs(archs) != GSH_NVRTC_SUCCESS)
        return 0;
    for (int i = 0; i < count; i++)
        if (archs[i] <= arch && archs[i] > newest && (archs[i] == arch || !is_embedded(archs[i])))
            newest = archs[i];
    /* Machine code runs on later minor revisions of its major one, PTX on every later revision. */
    *is_ptx = newest / 10 != arch / 10;
    return newest;
}

/* Takes the opened library if it suits; `translated`: also an NVRTC whose PTX the driver must translate. */
static bool accept(enum gsh_cuda_library which, void *handle, int arch, bool translated)
{
    const struct library *library = &libraries[which];
    Dl_info info;
    bool is_ptx = false, suits = fill_table(library, handle);
    if (suits && which == GSH_CUDA_LIBRARY_NVRTC && arch)
        suits = gsh_cuda_libs_nvrtc_target(arch, &is_ptx) != 0 && (translated || !is_ptx);
    if (!suits) {
        memset(library->table, 0, library->symbol_count * sizeof(void *));
        dlclose(handle);
        return false;
    }
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, paths[which], sizeof paths[which]);
    gsh_fmt_text(&fmt, dladdr(*(void **)library->table, &info) ? info.dli_fname : library->stem);
    gsh_log(GSH_LOG_DEBUG, "loaded %s", paths[which]);
    return true;
}

static bool search(enum gsh_cuda_library which, int max_major, int arch, bool translated)
{
    const struct library *library = &libraries[which];
    for (unsigned place = 0; place < PLACE_COUNT; place++)
        for (unsigned v = 0; v < MAX_NAMES && library->versions[v].suffix; v++) {
            if (max_major && library->versions[v].major > max_major)
                continue;
            void *handle = open_at(library, place, v);
            if (handle && accept(which, handle, arch, translated)) {
                majors[which] = library->versions[v].major;
                return true;
            }
        }
    return false;
}

/* Writes which library there is of a newer CUDA than `max_major`. Opens it for that, so only the doctor asks. */
static void append_newer(enum gsh_cuda_library which, int max_major, struct gsh_fmt *fmt)
{
    const struct library *library = &libraries[which];
    for (unsigned place = PLACE_DEFAULT; place < PLACE_COUNT; place++)
        for (unsigned v = 0; v < MAX_NAMES && library->versions[v].major > max_major; v++) {
            struct link_map *map;
            void *handle = open_at(library, place, v);
            if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
                gsh_fmt_printf(fmt, "; there is one of CUDA %d: %s", library->versions[v].major,
                               map->l_name);
            if (handle) {
                dlclose(handle);
                return;
            }
        }
}

enum gsh_status gsh_cuda_libs_load(enum gsh_cuda_library library, int max_major, int arch,
                                   char *why, size_t why_size)
{
    GSH_LOCKED(&loading_lock);
    if (paths[library][0])
        return GSH_OK;
    if (search(library, max_major, arch, false) ||
        (library == GSH_CUDA_LIBRARY_NVRTC && arch && search(library, max_major, arch, true)))
        return GSH_OK;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, missing[library], sizeof missing[library]);
    gsh_fmt_printf(&fmt, "no usable %s found", libraries[library].stem);
    if (max_major)
        gsh_fmt_printf(&fmt, " for a driver of CUDA %d", max_major);
    if (arch)
        gsh_fmt_printf(&fmt, "%s a GPU of compute capability %d.%d", max_major ? " and" : " for",
                       arch / 10, arch % 10);
    if (max_major && gsh_option_number(GSH_OPTION_DOCTOR))
        append_newer(library, max_major, &fmt);
    gsh_fmt_init(&fmt, why, why_size);
    gsh_fmt_text(&fmt, missing[library]);
    return GSH_FAILED;
}

bool gsh_cuda_libs_is_at_hand(enum gsh_cuda_library which)
{
    const struct library *library = &libraries[which];
    for (unsigned place = PLACE_FOLDERS; place < PLACE_COUNT; place++)
        for (unsigned v = 0; v < MAX_NAMES && library->versions[v].suffix; v++) {
            char file[PATH_MAX];
            struct gsh_fmt fmt;
            gsh_fmt_init(&fmt, file, sizeof file);
            if (!place_folder(library, place, &fmt))
                break;
            gsh_fmt_printf(&fmt, "%s%s", library->stem, library->versions[v].suffix);
            double share = gsh_page_cache_share(file, READ_BYTES);
            if (share >= 0)
                return share >= READ_SHARE;
        }
    return false;
}

const char *gsh_cuda_libs_why_missing(enum gsh_cuda_library library)
{
    return missing[library];
}

int gsh_cuda_libs_major(enum gsh_cuda_library library)
{
    return majors[library];
}

const char *gsh_cuda_libs_path(enum gsh_cuda_library library)
{
    return paths[library];
}
