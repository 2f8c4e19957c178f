/* SPDX-License-Identifier: Apache-2.0
 *
 * A test program as a row of cases, of which a process may run a share: with the arguments
 * `--shard K/N` (K from 1) every N-th. Each case begins with random numbers of its own, so that it is
 * the same in every share. tests/run.py starts the shares and sees that they add up to all cases.
 */
#pragma once

#include "gpu_launch.h"
#include "open_gpu.h"

#include <stdio.h>

static struct {
    unsigned index, count;      /* this process runs the cases whose number is index modulo count */
    unsigned seen, ran, failed; /* cases */
    unsigned failed_checks;     /* before the case that runs */
    bool is_running;
} shard = {.count = 1};

/* False where the arguments are none of ours or wrong. */
static inline bool shard_parse(int argc, char **argv)
{
    unsigned number = 0, count = 0;
    char rest;
    if (argc != 3 || strcmp(argv[1], "--shard") != 0 ||
        sscanf(argv[2], "%u/%u%c", &number, &count, &rest) != 2)
        return false;
    shard.index = number - 1;
    shard.count = count;
    return number >= 1 && number <= count;
}

static inline void shard_end_case(void)
{
    shard.failed += shard.is_running && check_failed > shard.failed_checks;
    shard.is_running = false;
}

/* Ends the case before and counts the next one; true where this process runs it. */
static inline bool shard_takes_case(void)
{
    shard_end_case();
    unsigned number = shard.seen++;
    random_state = UINT64_C(88172645463325252) + number * UINT64_C(0x9e3779b97f4a7c15);
    shard.is_running = number % shard.count == shard.index;
    shard.ran += shard.is_running;
    shard.failed_checks = check_failed;
    return shard.is_running;
}

/* The line that tests/run.py reads. */
static inline void shard_print(void)
{
    shard_end_case();
    printf("cases: ran %u of %u, %u failed\n", shard.ran, shard.seen, shard.failed);
}

/* main of a program with cases to test, of which it runs a share, or all; with the argument `speed` it compares times instead. */
static inline int shard_main(int argc, char **argv, void (*test)(void), void (*time)(void))
{
    bool is_timed = argc == 2 && strcmp(argv[1], "speed") == 0;
    if (argc > 1 && !is_timed && !shard_parse(argc, argv)) {
        printf("usage: %s [speed | --shard K/N]\n", argv[0]);
        return 2;
    }
    int status = open_gpu();
    if (status != 0)
        return status;
    (is_timed ? time : test)();
    if (!is_timed)
        shard_print();
    return check_result();
}
