/* SPDX-License-Identifier: Apache-2.0
 *
 * libcufft.so.12 without a GPU: cuFFT's routines that offload/cuda/driver/cufft.def names, run by FFTW when the stream gets
 * there. What cuFFT's manual (docs.nvidia.com/cuda/cufft) lets a transform destroy is destroyed: the work area, and the
 * input of a C2R transform of several dimensions into other memory.
 */
#include "mathematics.h"

#include "faults.h"

#define X(function, required) EMULATED_CALL(function)
#include "cufft.def"
#undef X

#include <map>
#include <mutex>

namespace
{

constexpr gsh_cuda_enum SUCCESS = GSH_CUFFT_SUCCESS, INVALID_PLAN = 1, INVALID_TYPE = 3,
                        INVALID_VALUE = 4, INVALID_SIZE = 8, NO_WORKSPACE = 13;
constexpr int MOST_DIMENSIONS = 3;

/* Where a transform's input or output lies: its numbers are `stride` apart in an array of these extents, the next
 * transform's `distance` from there. Strides and distances count numbers. */
struct Side {
    bool is_real, is_half; /* half: the complex side of a real transform */
    long long extent[MOST_DIMENSIONS], stride, distance;
};

struct Plan {
    CUstream stream;
    bool is_made, is_single, is_packed;
    bool has_own_area; /* the user's: to be set before the plan is used */
    void *area;
    size_t area_bytes;
    int rank;
    long long length[MOST_DIMENSIONS], batch;
    Side in, out;
};

/* Never destroyed: streams run until the process ends. */
std::mutex &plan_mutex = *new std::mutex, &planner_mutex = *new std::mutex;
std::map<cufftHandle, Plan> &plans = *new std::map<cufftHandle, Plan>;

/* ---- layouts ---- */

long long count_of(const Plan &plan, const Side &side, int dimension)
{
    const long long length = plan.length[dimension];
    return side.is_half && dimension == plan.rank - 1 ? length / 2 + 1 : length;
}

long long step_of(const Plan &plan, const Side &side, int dimension)
{
    long long step = side.stride;
    for (int d = plan.rank - 1; d > dimension; d--)
        step *= side.extent[d];
    return step;
}

/* In place, a line of real numbers is as long as one of the complex ones. */
void pack(const Plan &plan, Side *side, bool is_in_place)
{
    const int last = plan.rank - 1;
    for (int d = 0; d <= last; d++)
        side->extent[d] = count_of(plan, *side, d);
    if (is_in_place && side->is_real)
        side->extent[last] = 2 * (plan.length[last] / 2 + 1);
    side->stride = 1;
    side->distance = side->extent[0] * step_of(plan, *side, 0);
}

size_t size_of_number(const Plan &plan, const Side &side)
{
    return (plan.is_single ? sizeof(float) : sizeof(double)) * (side.is_real ? 1 : 2);
}

void scribble_side(const Plan &plan, const Side &side, char *first)
{
    const auto size = (long long)size_of_number(plan, side);
    long long numbers = plan.batch;
    for (int d = 0; d < plan.rank; d++)
        numbers *= count_of(plan, side, d);
    for (long long i = 0; i < numbers; i++) {
        long long rest = i, offset = 0;
        for (int d = plan.rank; d-- > 0; rest /= count_of(plan, side, d))
            offset += rest % count_of(plan, side, d) * step_of(plan, side, d);
        scribble(first + (offset + rest * side.distance) * size, size_t(size));
    }
}

/* ---- FFTW, of which no header is needed ---- */

struct Dimension {
    ptrdiff_t count, in, out;
};
using FftwPlan = struct fftw_plan_s *;
constexpr unsigned ESTIMATE = 1U << 6;

/* The functions for one precision, whose numbers the pointers point to. */
struct Fftw {
    FftwPlan (*complex)(int, const Dimension *, int, const Dimension *, void *, void *,
                        int direction, unsigned);
    FftwPlan (*from_real)(int, const Dimension *, int, const Dimension *, void *, void *, unsigned);
    FftwPlan (*to_real)(int, const Dimension *, int, const Dimension *, void *, void *, unsigned);
    void (*execute)(FftwPlan);
    void (*destroy)(FftwPlan);
};

Fftw load_fftw(const char *file, const std::string &prefix)
{
    void *library = open_library(file);
    const auto find = [=](auto *&function, const char *name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
            find_function(library, prefix + name));
    };
    Fftw fftw;
    find(fftw.complex, "plan_guru64_dft");
    find(fftw.from_real, "plan_guru64_dft_r2c");
    find(fftw.to_real, "plan_guru64_dft_c2r");
    find(fftw.execute, "execute");
    find(fftw.destroy, "destroy_plan");
    return fftw;
}

const Fftw &fftw_for(const Plan &plan)
{
    if (plan.is_single) {
        static const Fftw single = load_fftw("libfftw3f.so.3", "fftwf_");
        return single;
    }
    static const Fftw twofold = load_fftw("libfftw3.so.3", "fftw_");
    return twofold;
}

FftwPlan plan_fftw(const Fftw &fftw, const Plan &plan, void *in, void *out, int direction)
{
    std::lock_guard<std::mutex> lock(planner_mutex);
    const Dimension batch = {plan.batch, plan.in.distance, plan.out.distance};
    Dimension dimensions[MOST_DIMENSIONS];
    for (int d = 0; d < plan.rank; d++)
        dimensions[d] = {plan.length[d], step_of(plan, plan.in, d), step_of(plan, plan.out, d)};
    FftwPlan made =
        plan.in.is_real ? fftw.from_real(plan.rank, dimensions, 1, &batch, in, out, ESTIMATE)
        : plan.out.is_real
            ? fftw.to_real(plan.rank, dimensions, 1, &batch, in, out, ESTIMATE)
            : fftw.complex(plan.rank, dimensions, 1, &batch, in, out, direction, ESTIMATE);
    if (made == nullptr)
        refuse("cufftXtExec", "a layout that FFTW does not transform");
    return made;
}

void transform(const Plan &plan, void *in, void *out, int direction)
{
    const Fftw &fftw = fftw_for(plan);
    if (plan.area != nullptr)
        scribble(plan.area, plan.area_bytes);
    FftwPlan fftw_plan = plan_fftw(fftw, plan, in, out, direction);
    fftw.execute(fftw_plan);
    if (plan.out.is_real && plan.rank > 1 && in != out)
        scribble_side(plan, plan.in, static_cast<char *>(in));
    std::lock_guard<std::mutex> lock(planner_mutex);
    fftw.destroy(fftw_plan);
}

/* ---- what a plan is made of ---- */

bool is_real_type(gsh_cuda_enum type)
{
    return type == GSH_CUDA_R_32F || type == GSH_CUDA_R_64F;
}

/* Those of one precision; what computes is complex, and so is one side at least. */
bool are_types(gsh_cuda_enum in, gsh_cuda_enum out, gsh_cuda_enum type)
{
    const gsh_cuda_enum real = type == GSH_CUDA_C_32F ? GSH_CUDA_R_32F : GSH_CUDA_R_64F;
    return (type == GSH_CUDA_C_32F || type == GSH_CUDA_C_64F) && (in == type || in == real) &&
           (out == type || out == real) && (in == type || out == type);
}

bool are_positive(const long long *numbers, int count)
{
    return std::all_of(numbers, numbers + count, [](long long number) { return number > 0; });
}

Side describe_side(int rank, const long long *extent, long long stride, long long distance)
{
    Side side{};
    std::copy_n(extent, rank, side.extent);
    side.stride = stride;
    side.distance = distance;
    return side;
}

bool is_side(const Side &side, int rank)
{
    return are_positive(side.extent, rank) && side.stride > 0 && side.distance >= 0;
}

/* NULL: there is none. */
Plan *find_plan(cufftHandle handle)
{
    auto found = plans.find(handle);
    return found != plans.end() ? &found->second : nullptr;
}

} // namespace

/* ---- plans ---- */

API gsh_cuda_enum cufftCreate(cufftHandle *handle)
{
    static cufftHandle last;
    std::lock_guard<std::mutex> lock(plan_mutex);
    *handle = ++last;
    plans[*handle] = Plan{};
    return SUCCESS;
}

API gsh_cuda_enum cufftDestroy(cufftHandle handle)
{
    std::lock_guard<std::mutex> lock(plan_mutex);
    return plans.erase(handle) != 0 ? SUCCESS : INVALID_PLAN;
}

API gsh_cuda_enum cufftGetProperty(gsh_cuda_enum type, int *value)
{
    return give_property(type, 12, value) ? SUCCESS : INVALID_VALUE;
}

API gsh_cuda_enum cufftSetStream(cufftHandle handle, CUstream stream)
{
    std::lock_guard<std::mutex> lock(plan_mutex);
    Plan *plan = find_plan(handle);
    if (plan == nullptr)
        return INVALID_PLAN;
    plan->stream = stream;
    return SUCCESS;
}

API gsh_cuda_enum cufftSetAutoAllocation(cufftHandle handle, int allocates)
{
    std::lock_guard<std::mutex> lock(plan_mutex);
    Plan *plan = find_plan(handle);
    if (plan == nullptr || plan->is_made)
        return INVALID_PLAN;
    plan->has_own_area = allocates == 0;
    return SUCCESS;
}

API gsh_cuda_enum cufftSetWorkArea(cufftHandle handle, void *area)
{
    std::lock_guard<std::mutex> lock(plan_mutex);
    Plan *plan = find_plan(handle);
    if (plan == nullptr || !plan->is_made)
        return INVALID_PLAN;
    plan->area = area;
    return SUCCESS;
}

API gsh_cuda_enum cufftXtMakePlanMany(cufftHandle handle, int rank, long long *n,
                                      long long *in_embed, long long in_stride,
                                      long long in_distance, gsh_cuda_enum in_type,
                                      long long *out_embed, long long out_stride,
                                      long long out_distance, gsh_cuda_enum out_type,
                                      long long batch, size_t *work_bytes, gsh_cuda_enum type)
{
    std::lock_guard<std::mutex> lock(plan_mutex);
    Plan *plan = find_plan(handle);
    if (plan == nullptr || plan->is_made)
        return INVALID_PLAN;
    if (!are_types(in_type, out_type, type))
        return INVALID_TYPE;
    if (rank < 1 || rank > MOST_DIMENSIONS || !are_positive(n, rank) || batch < 1)
        return INVALID_SIZE;
    plan->rank = rank;
    std::copy_n(n, rank, plan->length);
    plan->batch = batch;
    plan->is_single = type == GSH_CUDA_C_32F;
    plan->is_packed =
        in_embed == nullptr || out_embed == nullptr; /* then nothing else of the layout counts */
    if (!plan->is_packed) {
        plan->in = describe_side(rank, in_embed, in_stride, in_distance);
        plan->out = describe_side(rank, out_embed, out_stride, out_distance);
        if (!is_side(plan->in, rank) || !is_side(plan->out, rank))
            return INVALID_VALUE;
    }
    plan->in.is_real = plan->out.is_half = is_real_type(in_type);
    plan->out.is_real = plan->in.is_half = is_real_type(out_type);
    plan->area_bytes = size_of_number(*plan, {}) * size_t(batch);
    for (int d = 0; d < rank; d++)
        plan->area_bytes *= size_t(n[d]);
    plan->is_made = true;
    *work_bytes = plan->area_bytes;
    return SUCCESS;
}

/* The direction of a real transform is that of its plan. */
API gsh_cuda_enum cufftXtExec(cufftHandle handle, void *in, void *out, int direction)
{
    std::lock_guard<std::mutex> lock(plan_mutex);
    const Plan *found = find_plan(handle);
    if (found == nullptr || !found->is_made)
        return INVALID_PLAN;
    Plan plan = *found;
    const bool is_complex = !plan.in.is_real && !plan.out.is_real;
    if (is_complex && direction != GSH_CUFFT_FORWARD && direction != GSH_CUFFT_INVERSE)
        return INVALID_VALUE;
    if (plan.has_own_area && plan.area == nullptr)
        return NO_WORKSPACE;
    if (plan.is_packed) {
        pack(plan, &plan.in, in == out);
        pack(plan, &plan.out, in == out);
    }
    enqueue(plan.stream, [=] { transform(plan, in, out, direction); });
    return SUCCESS;
}
