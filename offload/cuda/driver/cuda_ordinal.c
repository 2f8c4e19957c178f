/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header.
 */
#include "cuda_ordinal.h"

#include "base.h"
#include "fmt.h"
#include "options.h"

#include <limits.h>
#include <stdlib.h>
#include <strings.h>

/* The number of a process among those of its host. */
static const char *const local_ranks[] = {
    "OMPI_COMM_WORLD_LOCAL_RANK", /* Open MPI */
    "MPI_LOCALRANKID",            /* MPICH, Intel MPI */
    "MV2_COMM_WORLD_LOCAL_RANK",  /* MVAPICH */
    "PALS_LOCAL_RANKID",          /* HPE Cray */
    "SLURM_LOCALID",
    "LOCAL_RANK", /* torchrun */
};

/* -1: the text is no number from 0 to INT_MAX. */
static int read_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9' && *end == '\0';
    return is_number && number <= INT_MAX ? (int)number : -1;
}

/* 0 where no launcher tells. */
static int local_rank(void)
{
    for (size_t i = 0; i < GSH_COUNT(local_ranks); i++) {
        const char *text = getenv(local_ranks[i]);
        int rank = text != NULL ? read_number(text) : -1;
        if (rank >= 0)
            return rank;
    }
    return 0;
}

enum gsh_status gsh_cuda_ordinal_choose(int count, int *ordinal, char *why, size_t why_size)
{
    const char *text = gsh_option_text(GSH_OPTION_GPU);
    struct gsh_fmt fmt;
    gsh_fmt_init(&fmt, why, why_size);
    *ordinal = 0;
    if (count == 0 || text[0] == '\0')
        return GSH_OK;
    bool is_automatic = strcasecmp(text, "auto") == 0;
    *ordinal = is_automatic ? local_rank() % count : read_number(text);
    if (*ordinal >= 0 && *ordinal < count)
        return GSH_OK;
    if (*ordinal < 0)
        gsh_fmt_printf(&fmt, "GPUSHIM_GPU=%s: a number from 0, or auto, is expected", text);
    else
        gsh_fmt_printf(&fmt, "GPUSHIM_GPU=%s: no such GPU: this process has %d, from 0 on", text,
                       count);
    return GSH_FAILED;
}
