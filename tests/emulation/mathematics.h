/* SPDX-License-Identifier: Apache-2.0
 *
 * What the emulated libraries of mathematics share: types of numbers, and the CPU's libraries that do the arithmetic.
 */
#pragma once

#include "emulation.h"

#include <algorithm>
#include <climits>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include <dlfcn.h>

/* ---- libraries of the CPU ---- */

/* Bound among themselves, whatever is preloaded into this process. */
inline void *open_library(const char *file)
{
    /* Past the dlopen that gpushim stands in front of, which has a word to say of such a flag. */
    void *library = dlmopen(LM_ID_BASE, file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr)
        refuse(file, dlerror());
    return library;
}

inline void *find_function(void *library, const std::string &name)
{
    void *function = dlsym(library, name.c_str());
    if (function == nullptr)
        refuse(name.c_str(), "no library has it");
    return function;
}

/* ---- properties ---- */

/* Of the first version of a major one; success is 0 for every library. False: there is no such property. */
inline bool give_property(gsh_cuda_enum type, int major, int *value)
{
    if (type > GSH_CUBLAS_PATCH_LEVEL)
        return false;
    *value = type == GSH_CUBLAS_MAJOR_VERSION ? major : 0;
    return true;
}

/* ---- types of numbers ---- */

template <class Number> struct Traits;
template <> struct Traits<float> {
    using Real = float;
    static constexpr char letter = 's';
    static constexpr gsh_cuda_enum type = GSH_CUDA_R_32F;
};
template <> struct Traits<double> {
    using Real = double;
    static constexpr char letter = 'd';
    static constexpr gsh_cuda_enum type = GSH_CUDA_R_64F;
};
template <> struct Traits<std::complex<float>> {
    using Real = float;
    static constexpr char letter = 'c';
    static constexpr gsh_cuda_enum type = GSH_CUDA_C_32F;
};
template <> struct Traits<std::complex<double>> {
    using Real = double;
    static constexpr char letter = 'z';
    static constexpr gsh_cuda_enum type = GSH_CUDA_C_64F;
};

template <class Number> using Real = typename Traits<Number>::Real;
template <class Number> constexpr bool is_complex = !std::is_same_v<Number, Real<Number>>;

template <class Number> Number conjugate(Number number)
{
    if constexpr (is_complex<Number>)
        return std::conj(number);
    else
        return number;
}

/* What the function returns for a number of that type; `otherwise`, where the type is none of ours. */
template <class Function>
gsh_cuda_enum by_type(gsh_cuda_enum type, gsh_cuda_enum otherwise, Function function)
{
    switch (type) {
    case GSH_CUDA_R_32F:
        return function(float{});
    case GSH_CUDA_R_64F:
        return function(double{});
    case GSH_CUDA_C_32F:
        return function(std::complex<float>{});
    case GSH_CUDA_C_64F:
        return function(std::complex<double>{});
    default:
        return otherwise;
    }
}

/* ---- matrices, column by column ---- */

inline bool is_matrix(int64_t rows, int64_t columns, int64_t leading)
{
    return rows >= 0 && columns >= 0 && leading >= std::max<int64_t>(1, rows);
}

/* The same before `op`, behind which it is `rows` x `columns`. */
inline bool is_operand(gsh_cuda_enum op, int64_t rows, int64_t columns, int64_t leading)
{
    return op <= GSH_CUBLAS_OP_C && (op == GSH_CUBLAS_OP_N ? is_matrix(rows, columns, leading)
                                                           : is_matrix(columns, rows, leading));
}

template <class Number>
void copy_matrix(int64_t rows, int64_t columns, const Number *from, int64_t from_leading,
                 Number *to, int64_t to_leading)
{
    for (int64_t j = 0; j < columns; j++)
        std::copy_n(from + j * from_leading, rows, to + j * to_leading);
}

template <class Number>
void scribble_matrix(int64_t rows, int64_t columns, Number *a, int64_t leading)
{
    for (int64_t j = 0; j < columns; j++)
        scribble(a + j * leading, size_t(rows) * sizeof(Number));
}

inline bool is_triangle(gsh_cuda_enum triangle)
{
    return triangle <= GSH_CUBLAS_UPPER;
}

/* CUDA's enumerators as BLAS's letters. */
inline char op_letter(gsh_cuda_enum op)
{
    return "NTC"[op];
}
inline char side_letter(gsh_cuda_enum side)
{
    return "LR"[side];
}
inline char triangle_letter(gsh_cuda_enum triangle)
{
    return "LU"[triangle];
}
inline char diagonal_letter(gsh_cuda_enum diagonal)
{
    return "NU"[diagonal];
}

/* ---- BLAS and LAPACK ---- */

/* The routine of the CPU's libraries, whatever else this process has of its name. */
inline void *find_routine(const std::string &name)
{
    static void *const library = open_library("liblapack.so.3"); /* which needs libblas.so.3 */
    return find_function(library, name);
}

/* The routine that this thread is in. LAPACK ends a process whose arguments it does not take as if all were well. */
inline thread_local const char *running_routine;

inline void report_at_exit()
{
    static const int is_registered = atexit([] {
        if (running_routine != nullptr)
            refuse(running_routine, "arguments that it does not take");
    });
    (void)is_registered;
}

/* An argument as Fortran takes it: pointers are addresses already. */
template <class Value> struct Argument {
    Value value;
    const void *address() const
    {
        if constexpr (std::is_pointer_v<Value>)
            return value;
        else
            return &value;
    }
};
template <> struct Argument<int64_t> {
    int value;
    explicit Argument(int64_t wide) : value(int(wide))
    {
        if (wide != value)
            refuse("LAPACK", "more than its integers hold");
    }
    const void *address() const
    {
        return &value;
    }
};

/* The routine for that type of numbers, named without its first letter. Behind its arguments come the lengths of those
 * that are letters: four are enough for all. */
template <class Number, class... Values> void fortran(const std::string &name, Values... values)
{
    static_assert(((std::is_pointer_v<Values> || std::is_same_v<Values, char> ||
                    std::is_same_v<Values, int64_t> || std::is_same_v<Values, Number> ||
                    std::is_same_v<Values, Real<Number>>)&&...));
    using Routine =
        void(decltype(Argument<Values>{values}.address())..., size_t, size_t, size_t, size_t);
    auto *routine = reinterpret_cast<Routine *>(find_routine(Traits<Number>::letter + name + "_"));
    report_at_exit();
    running_routine = name.c_str();
    routine(Argument<Values>{values}.address()..., 1, 1, 1, 1);
    running_routine = nullptr;
}

/* Numbers of work space: more than the best that any routine asks for. */
inline size_t work_length(int64_t rows, int64_t columns)
{
    return size_t(64 * (rows + columns) + 4200);
}
