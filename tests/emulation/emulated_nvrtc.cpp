/* SPDX-License-Identifier: Apache-2.0
 *
 * libnvrtc.so.13 without CUDA: compiles a kernel's text for the CPU, with c++ and cuda_threads.h, to a shared library that
 * emulated_cuda.cpp loads.
 */
#include "emulation.h"

#include "faults.h"

#define X(function, required) EMULATED_CALL(function)
#include "nvrtc.def"
#undef X

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

struct _nvrtcProgram {
    std::string text, image, log;
};

namespace
{

constexpr gsh_cuda_enum COMPILATION_FAILED = 6;
const int archs[] = {75, 80, 90};

/* Where this library lies, with what it reads: a slash at the end. */
std::string folder()
{
    Dl_info info;
    if (dladdr(archs, &info) == 0)
        abort();
    const std::string file = info.dli_fname;
    return file.substr(0, file.rfind('/') + 1);
}

std::string read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/* ptx.txt: a line a replacement, pattern and result with a tab between. */
const std::vector<std::pair<std::regex, std::string>> &replacements()
{
    static const auto *list = [] {
        auto *made = new std::vector<std::pair<std::regex, std::string>>;
        std::istringstream lines(read_file(folder() + "ptx.txt"));
        for (std::string line; std::getline(lines, line);) {
            const size_t tab = line.find('\t');
            made->emplace_back(std::regex(line.substr(0, tab)), line.substr(tab + 1));
        }
        return made;
    }();
    return *list;
}

/* The kernel's arguments are one structure, which it takes by value or by reference. */
const char wrapper[] = R"(
template <class Arguments> constexpr size_t bytes_of(void (*)(Arguments)) { return sizeof(Arguments); }
template <class Arguments> void call(void (*kernel)(Arguments), const void *arguments)
{
    kernel(*static_cast<const Arguments *>(arguments));
}
static void call_kernel(const void *arguments) { call(gsh_kernel, arguments); }
extern "C" __global__ const size_t emulation_argument_bytes;
const size_t emulation_argument_bytes = bytes_of(gsh_kernel);
extern "C" __global__ void emulation_run(const void *arguments, unsigned blocks, unsigned threads)
{
    run_grid(call_kernel, arguments, blocks, threads, HAS_BARRIERS);
}
)";

std::string translate(const std::string &text)
{
    std::string body = text;
    for (const auto &[pattern, result] : replacements())
        body = std::regex_replace(body, pattern, result);
    const bool has_barriers =
        text.find("__syncthreads") != std::string::npos || text.find("_sync(") != std::string::npos;
    return "#include \"cuda_threads.h\"\n#define HAS_BARRIERS " + std::to_string(has_barriers) +
           "\n" + body + wrapper;
}

/* The exit status of a program without this one's LD_PRELOAD and LD_LIBRARY_PATH; -1: none. Writes to `log` what it says. */
int execute(const std::vector<std::string> &words, const std::string &log)
{
    std::vector<char *> argv, envp;
    for (const std::string &word : words)
        argv.push_back(const_cast<char *>(word.c_str()));
    argv.push_back(nullptr);
    for (char **variable = environ; *variable != nullptr; variable++)
        if (strncmp(*variable, "LD_", 3) != 0)
            envp.push_back(*variable);
    envp.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                     O_CREAT | O_WRONLY | O_TRUNC, 0600);
    pid_t child;
    int status = -1;
    if (posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), envp.data()) == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

} // namespace

API gsh_cuda_enum nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return GSH_NVRTC_SUCCESS;
}

API const char *nvrtcGetErrorString(gsh_cuda_enum)
{
    return "compilation failed";
}

API gsh_cuda_enum nvrtcGetNumSupportedArchs(int *count)
{
    *count = sizeof archs / sizeof archs[0];
    return GSH_NVRTC_SUCCESS;
}

API gsh_cuda_enum nvrtcGetSupportedArchs(int *list)
{
    memcpy(list, archs, sizeof archs);
    return GSH_NVRTC_SUCCESS;
}

API gsh_cuda_enum nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *, int,
                                     const char *const *, const char *const *)
{
    *program = new _nvrtcProgram{source, "", ""};
    return GSH_NVRTC_SUCCESS;
}

API gsh_cuda_enum nvrtcDestroyProgram(nvrtcProgram *program)
{
    delete *program;
    *program = nullptr;
    return GSH_NVRTC_SUCCESS;
}

/* The actions that NVRTC sets while it compiles, and those that it leaves. */
static void end_process(int)
{
    exit(4);
}

static void set_actions(void (*handler)(int), void (*other)(int))
{
    signal(SIGINT, handler);
    signal(SIGTERM, handler);
    signal(SIGXFSZ, other);
}

API gsh_cuda_enum nvrtcCompileProgram(nvrtcProgram program, int, const char *const *)
{
    set_actions(end_process, SIG_IGN);
    char place[] = "/tmp/gpushim-emulation-XXXXXX";
    if (mkdtemp(place) == nullptr)
        return COMPILATION_FAILED;
    const std::string base = place, source = base + "/kernel.cpp", image = base + "/kernel.so",
                      log = base + "/log";
    std::ofstream(source) << translate(program->text);
    const int status =
        execute({"c++", KERNEL_OPTIONS, "-shared", "-I" + folder(), "-o", image, source}, log);
    program->image = read_file(image);
    program->log = read_file(log);
    for (const std::string &file : {source, image, log, base})
        remove(file.c_str());
    set_actions(SIG_DFL, SIG_DFL);
    return status == 0 ? GSH_NVRTC_SUCCESS : COMPILATION_FAILED;
}

API gsh_cuda_enum nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size)
{
    *size = program->log.size() + 1;
    return GSH_NVRTC_SUCCESS;
}

API gsh_cuda_enum nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    memcpy(log, program->log.c_str(), program->log.size() + 1);
    return GSH_NVRTC_SUCCESS;
}

API gsh_cuda_enum nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
    *size = program->image.size();
    return GSH_NVRTC_SUCCESS;
}

API gsh_cuda_enum nvrtcGetCUBIN(nvrtcProgram program, char *image)
{
    memcpy(image, program->image.data(), program->image.size());
    return GSH_NVRTC_SUCCESS;
}

API gsh_cuda_enum nvrtcGetPTXSize(nvrtcProgram, size_t *)
{
    return COMPILATION_FAILED; /* machine code is for every GPU that is emulated */
}

API gsh_cuda_enum nvrtcGetPTX(nvrtcProgram, char *)
{
    return COMPILATION_FAILED;
}
