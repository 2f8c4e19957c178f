/* SPDX-License-Identifier: Apache-2.0
 *
 * The real functions behind the exported ones: the next definition in the process's search order,
 * in libc or another preloaded library (a sanitizer, for instance).
 */
#pragma once

/* The next definition of `name` after this library's, or its replacement. Never NULL. Leaves dlerror() clear. */
void *gsh_libc_real_find(const char *name);
/* What stands for a function that this libc does not have: the same function made of a system call where this library calls
 * it itself, else one that sets ENOSYS and returns -1. Never NULL. */
void *gsh_libc_real_replacement(const char *name);

/* Defines a file's table `real` of real functions. Each entry starts as a function that looks up
 * the real one and calls it. CALLS(X) lists X(result, name, (parameters), (arguments), ...). */
#define GSH_LIBC_REAL_TABLE(CALLS)                                                                 \
    CALLS(GSH_LIBC_REAL_DECLARE)                                                                   \
    static struct {                                                                                \
        CALLS(GSH_LIBC_REAL_MEMBER)                                                                \
    } real = {CALLS(GSH_LIBC_REAL_INITIAL)};                                                       \
    CALLS(GSH_LIBC_REAL_DEFINE)
#define GSH_LIBC_REAL_DECLARE(result, name, parameters, ...) static result first_##name parameters;
#define GSH_LIBC_REAL_MEMBER(result, name, parameters, ...) result(*name) parameters;
#define GSH_LIBC_REAL_INITIAL(result, name, ...) .name = first_##name,
#define GSH_LIBC_REAL_DEFINE(result, name, parameters, arguments, ...)                             \
    static result first_##name parameters                                                          \
    {                                                                                              \
        FIND(name);                                                                                \
        return REAL(name) arguments;                                                               \
    }
#define REAL(name) __atomic_load_n(&real.name, __ATOMIC_RELAXED)
#define FIND(name)                                                                                 \
    __atomic_store_n(&real.name, (__typeof__(real.name))gsh_libc_real_find(#name), __ATOMIC_RELAXED)
/* Defines the exported function `name`: runs `first`, then the real function. The name is set by an
 * assembler label. */
#define GSH_LIBC_REAL_ENTRY(result, name, parameters, arguments, first)                            \
    GSH_EXPORT result entry_##name parameters __asm__(#name);                                      \
    result entry_##name parameters                                                                 \
    {                                                                                              \
        first;                                                                                     \
        return REAL(name) arguments;                                                               \
    }
