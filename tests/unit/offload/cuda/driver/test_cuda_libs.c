/* SPDX-License-Identifier: Apache-2.0
 *
 * offload/cuda/driver/cuda_libs.c: search order, version limits and their messages, each in a process of
 * its own (a library is loaded once); what is compiled for which GPU; and that the backend without a driver or with no
 * visible GPU fails softly.
 */
#include "backend.h"
#include "capture.h"
#include "check.h"
#include "cuda_libs.h"
#include "options.h"
#include "page_cache.h"
#include "search_roots.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/gsh_libs_XXXXXX";
static char nvrtc[PATH_MAX]; /* the machine's NVRTC, "" where there is none */

/* Runs `body` in a child, its last line of standard error in `line`. */
static const char *in_child(void (*body)(void))
{
    static char text[4096];
    CHECK_INT(capture_stderr(body, text, sizeof text), 0);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Loads NVRTC and prints where it came from, or why not. */
static void load(int max_major, int arch)
{
    char why[256] = "";
    if (gsh_cuda_libs_load(GSH_CUDA_LIBRARY_NVRTC, max_major, arch, why, sizeof why) == GSH_OK)
        fprintf(stderr, "%s\n", gsh_cuda_libs_path(GSH_CUDA_LIBRARY_NVRTC));
    else
        fprintf(stderr, "%s\n", why);
}

static void load_any(void)
{
    load(0, 0);
}

static void load_for_old_driver(void)
{
    load(10, 0);
}

static void load_for_old_gpu(void)
{
    load(0, 12);
}

/* The same file under an older version's name, where pip would have put it. */
static void load_from_pip(void)
{
    gsh_search_roots_add("/nonexistent");
    gsh_search_roots_add(root);
    gsh_search_roots_add(root);
    load(12, 0);
}

static void load_loaded(void)
{
    char file[PATH_MAX + 64];
    snprintf(file, sizeof file, "%s/elsewhere/libnvrtc.so.12", root);
    if (!dlopen(file, RTLD_NOW | RTLD_LOCAL))
        fprintf(stderr, "%s\n", dlerror());
    gsh_search_roots_add(root);
    load(0, 0);
}

static void load_from_home(void)
{
    setenv("CUDA_HOME", root, 1);
    load(11, 0);
}

static void load_from_conda(void)
{
    char folder[PATH_MAX + 64];
    snprintf(folder, sizeof folder, "%s/conda", root);
    setenv("CONDA_PREFIX", folder, 1);
    load(11, 0);
}

/* What cuSOLVER needs lies in other packages' folders there, and is opened first: the second name is a stub. */
static void load_solver_from_pip(void)
{
    char file[PATH_MAX + 64], why[256] = "";
    snprintf(file, sizeof file, "%s/nvidia/nvjitlink/lib/libnvJitLink.so.12", root);
    gsh_search_roots_add(root);
    if (gsh_cuda_libs_load(GSH_CUDA_LIBRARY_CUSOLVER, 12, 0, why, sizeof why) != GSH_OK)
        fprintf(stderr, "%s\n", why);
    else if (!dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))
        fprintf(stderr, "%s was not opened\n", file);
    else
        fprintf(stderr, "%s\n", gsh_cuda_libs_path(GSH_CUDA_LIBRARY_CUSOLVER));
}

static void targets(void)
{
    bool is_ptx[3];
    char why[256];
    gsh_cuda_libs_load(GSH_CUDA_LIBRARY_NVRTC, 0, 0, why, sizeof why);
    int future = gsh_cuda_libs_nvrtc_target(990, &is_ptx[0]);
    int hopper = gsh_cuda_libs_nvrtc_target(90, &is_ptx[1]);
    int between = gsh_cuda_libs_nvrtc_target(81, &is_ptx[2]);
    fprintf(stderr, "%d %d %d %d %d %d %d\n", future >= 90, is_ptx[0], hopper, is_ptx[1], between,
            is_ptx[2], gsh_cuda_libs_nvrtc_target(12, &is_ptx[0]));
}

/* ---- an NVRTC of this file ---- */

static const int *known_archs;
static int known_count;

static gsh_cuda_enum count_archs(int *count)
{
    *count = known_count;
    return GSH_NVRTC_SUCCESS;
}

static gsh_cuda_enum list_archs(int *archs)
{
    for (int i = 0; i < known_count; i++)
        archs[i] = known_archs[i];
    return GSH_NVRTC_SUCCESS;
}

/* What such an NVRTC compiles for, to run on `arch`: negative where it is PTX. */
static int target_of(const int *archs, int count, int arch)
{
    bool is_ptx = false;
    known_archs = archs;
    known_count = count;
    int target = gsh_cuda_libs_nvrtc_target(arch, &is_ptx);
    return is_ptx ? -target : target;
}

/* Machine code for a GPU that is part of a system on a chip runs on that alone. */
static void test_targets(void)
{
    static const int of_11_7[] = {35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87},
                     of_12_8[] = {50, 52, 53, 60, 61, 62,  70,  72, 75,
                                  80, 86, 87, 89, 90, 100, 101, 120};
    struct gsh_cuda_nvrtc before = gsh_nvrtc;
    gsh_nvrtc.nvrtcGetNumSupportedArchs = count_archs;
    gsh_nvrtc.nvrtcGetSupportedArchs = list_archs;
    CHECK_INT(target_of(of_11_7, GSH_COUNT(of_11_7), 89), 86);
    CHECK_INT(target_of(of_11_7, GSH_COUNT(of_11_7), 87), 87);
    CHECK_INT(target_of(of_11_7, GSH_COUNT(of_11_7), 90), -86);
    CHECK_INT(target_of(of_12_8, GSH_COUNT(of_12_8), 103), 100);
    CHECK_INT(target_of(of_12_8, GSH_COUNT(of_12_8), 101), 101);
    CHECK_INT(target_of(of_12_8, GSH_COUNT(of_12_8), 121), 120);
    CHECK_INT(target_of(of_12_8, GSH_COUNT(of_12_8), 75), 75);
    gsh_nvrtc = before;
}

/* Puts a link to the machine's NVRTC at root/folder/name. */
static void place(const char *folder, const char *name)
{
    char command[2 * PATH_MAX + 256];
    snprintf(command, sizeof command, "mkdir -p %s/%s && ln -s %s %s/%s/%s", root, folder, nvrtc,
             root, folder, name);
    CHECK_INT(system(command), 0);
}

/* The machine's cuSOLVER, beside its NVRTC, under the name that CUDA 12 gives it. */
static void place_solver(void)
{
    char command[2 * PATH_MAX + 256];
    place("nvidia/nvjitlink/lib", "libnvJitLink.so.12");
    snprintf(command, sizeof command,
             "cd $(dirname %s) && mkdir -p %s/nvidia/cusolver/lib && test -e libcusolver.so.12 && "
             "ln -s $PWD/libcusolver.so.12 %s/nvidia/cusolver/lib/libcusolver.so.11",
             nvrtc, root, root);
    if (system(command) != 0)
        puts("no libcusolver beside libnvrtc: its search was not tested");
}

static void check_path(void (*body)(void), const char *below_root)
{
    char expected[PATH_MAX];
    snprintf(expected, sizeof expected, "%s/%s", root, below_root);
    CHECK_STR(in_child(body), expected);
}

/* Copies rather than links would be 100 MB each; links open as what they point to, so the loader
 * calls two names of one file the same only within one process. */
static void test_search(void)
{
    char file[PATH_MAX + 64];
    place("nvidia/cuda_nvrtc/lib", "libnvrtc.so.12");
    place("lib64", "libnvrtc.so.11.2");
    place("elsewhere", "libnvrtc.so.12");
    place("conda/lib", "libnvrtc.so.11.2");
    check_path(load_from_pip, "nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    check_path(load_from_home, "lib64/libnvrtc.so.11.2");
    check_path(load_from_conda, "conda/lib/libnvrtc.so.11.2");
    check_path(load_loaded, "elsewhere/libnvrtc.so.12");
    place_solver();
    snprintf(file, sizeof file, "%s/nvidia/cusolver/lib/libcusolver.so.11", root);
    if (access(file, F_OK) == 0)
        check_path(load_solver_from_pip, "nvidia/cusolver/lib/libcusolver.so.11");
    CHECK_STR(in_child(load_for_old_driver), "no usable libnvrtc.so found for a driver of CUDA 10");
    CHECK_STR(in_child(load_for_old_gpu),
              "no usable libnvrtc.so found for a GPU of compute capability 1.2");
    CHECK_STR(in_child(targets), "1 1 90 0 80 0 0");
}

/* ---- relative folders ---- */

/* The C library under the name of an old NVRTC: opened, and found to lack its functions, which is logged. */
static void place_stub(const char *folder)
{
    Dl_info info;
    char command[2 * PATH_MAX];
    CHECK(dladdr((void *)(uintptr_t)getpid, &info) != 0);
    snprintf(command, sizeof command, "mkdir -p %s/%s && ln -sf %s %s/%s/libnvrtc.so.11.2", root,
             folder, info.dli_fname, root, folder);
    CHECK_INT(system(command), 0);
}

static bool is_absolute;

static void load_from_folders(void)
{
    char why[256];
    const char *here = is_absolute ? root : ".";
    setenv("GPUSHIM_LOG", "info", 1);
    gsh_options_init();
    CHECK_INT(chdir(root), 0);
    setenv("CUDA_HOME", here, 1);
    gsh_search_roots_add(here);
    (void)gsh_cuda_libs_load(GSH_CUDA_LIBRARY_NVRTC, 11, 0, why, sizeof why);
}

static void load_by_loader(void)
{
    setenv("LD_LIBRARY_PATH", is_absolute ? "/nowhere" : "/nowhere:", 1); /* the empty entry */
    load_from_folders();
}

/* Whether a line of `body` has the text. */
static bool says(void (*body)(void), bool absolute, const char *text)
{
    static char lines[8192];
    is_absolute = absolute;
    CHECK_INT(capture_stderr(body, lines, sizeof lines), 0);
    return strstr(lines, text) != NULL;
}

static void test_relative_folders(void)
{
    static const char *const folders[] = {"lib64", "nvidia/cuda_nvrtc/lib"};
    char command[PATH_MAX];
    for (size_t i = 0; i < GSH_COUNT(folders); i++) {
        place_stub(folders[i]);
        CHECK(says(load_from_folders, true, "libnvrtc.so lacks"));
        CHECK(!says(load_from_folders, false, "libnvrtc.so lacks"));
        snprintf(command, sizeof command, "rm -r %s/*", root);
        CHECK_INT(system(command), 0);
    }
    place_stub(".");
    CHECK(says(load_by_loader, false, "libnvrtc.so.11.2 is not taken from a relative folder"));
    CHECK(!says(load_by_loader, true, "is not taken"));
    CHECK_INT(system(command), 0);
}

static void open_without_gpu(void)
{
    const struct gsh_backend *cuda = &gsh_cuda_backend;
    char why[256] = "", bytes[64], text[4096];
    uint64_t address = 1;
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, text, sizeof text);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    bool softly = !cuda->is_present() && cuda->open(why, sizeof why) == GSH_FAILED && why[0] &&
                  cuda->allocate(16, &address) == GSH_FAILED && address == 1 &&
                  cuda->upload(0, bytes, sizeof bytes, false) == GSH_FAILED &&
                  cuda->download(bytes, 0, sizeof bytes, false) == GSH_FAILED &&
                  cuda->copy(0, 0, 1) == GSH_FAILED && cuda->synchronize() == GSH_FAILED &&
                  cuda->register_host(bytes, sizeof bytes) == GSH_FAILED;
    cuda->release(0, 16);
    cuda->unregister_host(bytes, sizeof bytes);
    cuda->describe(&fmt);
    softly = softly && strstr(text, "not started") != NULL;
    printf("open without a GPU: %s\n%s", why, text);
    fflush(stdout);
    fprintf(stderr, "%s\n", softly ? "softly" : "not softly");
}

/* A library's file that has just been written is at hand; one that the kernel has dropped is not. */
static void test_at_hand(void)
{
    static const char zeros[300000];
    char folder[64], file[128];
    snprintf(folder, sizeof folder, "%s/lib64", root);
    snprintf(file, sizeof file, "%s/libcufft.so.11", folder);
    CHECK_INT(mkdir(folder, 0700), 0);
    setenv("CUDA_HOME", root, 1);
    int fd = open(file, O_RDWR | O_CREAT, 0600);
    CHECK_INT(write(fd, zeros, sizeof zeros), (long long)sizeof zeros);
    CHECK(gsh_cuda_libs_is_at_hand(GSH_CUDA_LIBRARY_CUFFT));
    CHECK_INT(fsync(fd), 0);
    CHECK_INT(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    if (gsh_page_cache_share(file, sizeof zeros) < 0.5)
        CHECK(!gsh_cuda_libs_is_at_hand(GSH_CUDA_LIBRARY_CUFFT));
    else
        printf("a file on disk was not tested: this file system keeps all in memory\n");
    close(fd);
    unlink(file);
    rmdir(folder);
    unsetenv("CUDA_HOME");
}

int main(void)
{
    CHECK(mkdtemp(root) != NULL);
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    unsetenv("CONDA_PREFIX");
    test_relative_folders();
    gsh_options_init();
    test_at_hand();
    CHECK_STR(in_child(open_without_gpu), "softly");
    test_targets();
    snprintf(nvrtc, sizeof nvrtc, "%s", in_child(load_any));
    if (nvrtc[0] == '/') {
        test_search();
    } else {
        printf("the search was not tested: %s\n", nvrtc);
        nvrtc[0] = '\0';
    }
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK_INT(system(command), 0);
    return check_result();
}
