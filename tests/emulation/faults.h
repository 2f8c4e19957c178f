/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults in the emulated libraries: each call of a function of theirs is counted, and the one that the environment names
 * fails. Include after emulation.h, before the definitions of what EMULATED_CALL names.
 *
 *     EMULATED_CUDA_FAULT=KIND:[FUNCTION:]FIRST[:COUNT]
 *
 * FUNCTION: a pattern as of fnmatch(3); calls of others are not counted. FIRST: number of the call, from 1. COUNT: of calls
 * that fail in a row, 1 without it. KIND:
 *     oom     the call answers that there is no memory
 *     error   the call answers another error of its library; it has done nothing
 *     sticky  the call answers an illegal address of earlier work, and so does every later one that has to do with the
 *             context: work that was queued is not done, the memory of the device is lost
 *     late    the call succeeds; as soon as its work would run, the context is lost as with "sticky"
 *     hang    the call never returns
 *     stuck   the call succeeds; its work never ends, nor does what follows it
 *
 *     EMULATED_CUDA_TRACE=FILE    appends the name of each call that is counted, a line each; "# never returns" where
 *                                 a call or work begins to hang
 *
 *     EMULATED_FIRST_MS=FUNCTION:MS[,FUNCTION:MS...]
 *
 * The first call of a function that fits the pattern takes so much longer, as code that is loaded then does. Meanwhile launches,
 * copies, allocations and the loading of modules wait, as for the driver's lock.
 *
 * The number of calls of a program is the same in every run where the program's own order is: with either variable, an event
 * is asked for only after its work has come to an end.
 */
#pragma once

extern "C" {
/* Sets what EMULATED_CUDA_FAULT sets, from now on: the next call is number 1. NULL or "": none. For tests, through dlsym. */
void emulated_cuda_fault(const char *spec);

/* What the call is to answer; 0: it is to be made. Called by EMULATED_CALL. */
gsh_cuda_enum emulated_fault_of_call(const char *name);
}

/* True where calls are counted. */
bool faults_counted();

/* Whether the context is lost, or its work never ends. */
bool context_is_dead();
bool context_is_stuck();

/* What calls answer that waited for work: an error where the context was lost meanwhile. */
gsh_cuda_enum outcome_of_wait();

/* Work that the thread's present call asks for is not to be done, but what "late" or "stuck" says. */
bool take_late_fault(std::function<void()> *instead);

/* `name` becomes a stub that asks first; the definition that follows in this file gets another symbol. */
#define EMULATED_CALL(name)                                                                        \
    extern "C" decltype(name) name __asm__("emulated_" #name);                                     \
    __asm__(".pushsection .rodata\n"                                                               \
            "name_of_" #name ": .string \"" #name "\"\n"                                           \
            ".popsection\n"                                                                        \
            ".pushsection .text\n"                                                                 \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n" #name ":\n"                                             \
            "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\n"                     \
            "sub $72, %rsp\n"                                                                      \
            "movups %xmm0, (%rsp)\nmovups %xmm1, 16(%rsp)\n"                                       \
            "movups %xmm2, 32(%rsp)\nmovups %xmm3, 48(%rsp)\n"                                     \
            "lea name_of_" #name "(%rip), %rdi\n"                                                  \
            "call emulated_fault_of_call@PLT\n"                                                    \
            "movups (%rsp), %xmm0\nmovups 16(%rsp), %xmm1\n"                                       \
            "movups 32(%rsp), %xmm2\nmovups 48(%rsp), %xmm3\n"                                     \
            "add $72, %rsp\n"                                                                      \
            "pop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n"                           \
            "test %eax, %eax\n"                                                                    \
            "jz emulated_" #name "@PLT\n"                                                          \
            "ret\n"                                                                                \
            ".popsection\n");
