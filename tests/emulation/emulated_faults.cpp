/* SPDX-License-Identifier: Apache-2.0
 *
 * Part of the emulated libcuda.so.1: counts the calls of all emulated libraries and makes one fail (faults.h).
 */
#include "emulation.h"

#include "faults.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

namespace
{

enum class Kind { none, oom, error, sticky, late, hang, stuck };

struct Fault {
    Kind kind = Kind::none;
    std::string function = "*";
    unsigned long first = 0, count = 1;
};

/* Never destroyed: calls come until the process ends. */
struct State {
    std::mutex mutex;
    Fault fault;
    unsigned long calls = 0;
    int trace = -1;
};
State &state = *new State;
std::atomic<bool> is_counted, is_dead, is_stuck;
thread_local Kind late_kind = Kind::none; /* of the present call's work */

constexpr struct {
    const char *name;
    Kind kind;
} kinds[] = {{"oom", Kind::oom},   {"error", Kind::error}, {"sticky", Kind::sticky},
             {"late", Kind::late}, {"hang", Kind::hang},   {"stuck", Kind::stuck}};

/* What each library answers: without memory, at another error, and where the context is lost. Prefixes that are not
 * another's stand first. */
constexpr struct {
    const char *prefix;
    gsh_cuda_enum oom, error, lost;
} answers[] = {
    {"nvrtc", 1, 11, 0}, {"cublas", 3, 14, 13}, {"cusolver", 2, 7, 6},
    {"cufft", 2, 5, 6},  {"cu", 2, 304, 700},
};

/* What answers in a lost context as before: it asks neither for work nor for memory. */
const char *const untouched[] = {"cuInit",
                                 "cuDriverGetVersion",
                                 "cuGetError*",
                                 "cuDevice*",
                                 "cuCtx*",
                                 "cuThreadExchange*",
                                 "*GetProperty",
                                 "cublasSetMathMode",
                                 "cublasSetPointerMode*",
                                 "cusolverDn*Params",
                                 "cusolverDnCreate*Info",
                                 "*_bufferSize"};

/* Its answer is no status. */
bool cannot_fail(const char *name)
{
    return strcmp(name, "nvrtcGetErrorString") == 0;
}

bool is_untouched(const char *name)
{
    for (const char *pattern : untouched)
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    return false;
}

Fault parse(const char *text)
{
    Fault fault;
    if (text == nullptr || text[0] == '\0')
        return fault;
    std::vector<std::string> words(1);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == ':')
            words.emplace_back();
        else
            words.back() += *c;
    }
    for (const auto &known : kinds)
        if (words[0] == known.name)
            fault.kind = known.kind;
    size_t next = 1;
    if (words.size() > next && strspn(words[next].c_str(), "0123456789") != words[next].size())
        fault.function = words[next++];
    fault.first = words.size() > next ? strtoul(words[next++].c_str(), nullptr, 10) : 0;
    fault.count = words.size() > next ? strtoul(words[next++].c_str(), nullptr, 10) : 1;
    if (fault.kind == Kind::none || fault.first == 0 || fault.count == 0 || next != words.size())
        refuse("EMULATED_CUDA_FAULT", "not KIND:[FUNCTION:]FIRST[:COUNT]");
    return fault;
}

/* ---- first calls that take long ---- */

struct Delay {
    std::string function;
    unsigned milliseconds;
    std::atomic<bool> is_due;
};
std::mutex driver_lock;
std::vector<std::unique_ptr<Delay>> &delays = *new std::vector<std::unique_ptr<Delay>>;
std::atomic<bool> is_delaying; /* a delay holds the driver's lock */

void read_delays()
{
    const char *text = getenv("EMULATED_FIRST_MS");
    for (std::string left = text != nullptr ? text : ""; !left.empty();) {
        const size_t end = std::min(left.find(','), left.size()), colon = left.find(':');
        if (colon >= end)
            refuse("EMULATED_FIRST_MS", "not FUNCTION:MS[,FUNCTION:MS...]");
        delays.emplace_back(
            new Delay{left.substr(0, colon), unsigned(atoi(left.c_str() + colon + 1)), {true}});
        left.erase(0, end + 1);
    }
}

/* What CUDA's driver does not do while code is loaded into its context. */
bool waits_for_loading(const char *name)
{
    static const char *const patterns[] = {"cuLaunch*", "cuMemcpy*", "cuModule*", "cuMemAlloc*"};
    for (const char *pattern : patterns)
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    return false;
}

void take_time(const char *name)
{
    for (auto &delay : delays)
        if (delay->is_due && fnmatch(delay->function.c_str(), name, 0) == 0 &&
            delay->is_due.exchange(false)) {
            std::lock_guard<std::mutex> lock(driver_lock);
            is_delaying = true;
            usleep(delay->milliseconds * 1000);
            is_delaying = false;
            return;
        }
    if (is_delaying && waits_for_loading(name)) {
        std::lock_guard<std::mutex> lock(driver_lock);
    }
}

void read_environment()
{
    const char *trace = getenv("EMULATED_CUDA_TRACE"), *spec = getenv("EMULATED_CUDA_FAULT");
    state.fault = parse(spec);
    if (trace != nullptr && trace[0] != '\0')
        state.trace = open(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    read_delays();
    is_counted = state.trace >= 0 || state.fault.kind != Kind::none;
}

void note(const std::string &line)
{
    if (state.trace >= 0 && write(state.trace, line.data(), line.size()) < 0)
        refuse("EMULATED_CUDA_TRACE", "cannot be written");
}

/* Whether this call is one of those that fail. */
Kind count_call(const char *name)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    if (fnmatch(state.fault.function.c_str(), name, 0) != 0)
        return Kind::none;
    note(std::string(name) + "\n");
    const unsigned long number = ++state.calls;
    const Fault &fault = state.fault;
    return number >= fault.first && number - fault.first < fault.count ? fault.kind : Kind::none;
}

gsh_cuda_enum answer(const char *name, Kind kind)
{
    for (const auto &library : answers)
        if (strncmp(name, library.prefix, strlen(library.prefix)) == 0)
            return kind == Kind::oom     ? library.oom
                   : kind == Kind::error ? library.error
                                         : library.lost;
    return 1;
}

[[noreturn]] void never_return()
{
    note("# never returns\n");
    for (;;)
        pause();
}

} // namespace

__attribute__((visibility("default"))) bool faults_counted()
{
    return is_counted;
}

bool context_is_dead()
{
    return is_dead;
}

bool context_is_stuck()
{
    return is_stuck;
}

gsh_cuda_enum outcome_of_wait()
{
    return is_dead ? GSH_CUDA_ILLEGAL_ADDRESS : GSH_CUDA_SUCCESS;
}

bool take_late_fault(std::function<void()> *instead)
{
    if (late_kind == Kind::none)
        return false;
    if (late_kind == Kind::late)
        *instead = [] { is_dead = true; };
    else
        *instead = [] {
            is_stuck = true;
            never_return();
        };
    late_kind = Kind::none;
    return true;
}

API void emulated_cuda_fault(const char *spec)
{
    std::lock_guard<std::mutex> lock(state.mutex);
    state.fault = parse(spec);
    state.calls = 0;
    is_counted = true;
}

API gsh_cuda_enum emulated_fault_of_call(const char *name)
{
    static std::once_flag once;
    std::call_once(once, read_environment);
    const bool counts = is_counted && !cannot_fail(name);
    const Kind kind = counts ? count_call(name) : Kind::none;
    if (!delays.empty())
        take_time(name);
    if (!counts)
        return 0;
    if (kind == Kind::hang)
        never_return();
    if (kind == Kind::oom || kind == Kind::error)
        return answer(name, kind);
    if (kind == Kind::late || kind == Kind::stuck)
        late_kind = kind;
    if (kind == Kind::sticky)
        is_dead = true;
    return is_dead && !is_untouched(name) ? answer(name, Kind::sticky) : 0;
}
