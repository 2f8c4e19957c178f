/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of a driver that offload/cuda/driver/cuda_mem.c cannot be opened without, for tests that bring their own: all
 * succeed at once and do nothing. A test replaces what it is about.
 */
#pragma once

#include "check.h"
#include "cuda_context.h"
#include "cuda_mem.h"

#include <stdlib.h>

static inline gsh_cuda_enum fake_error_string(gsh_cuda_enum error, const char **text)
{
    *text = error == GSH_CUDA_OUT_OF_MEMORY ? "out of memory" : "another error";
    return GSH_CUDA_SUCCESS;
}

static inline gsh_cuda_enum fake_create_pool(CUmemoryPool *pool,
                                             const struct CUmemPoolProps_st *props)
{
    (void)props;
    *pool = NULL;
    return GSH_CUDA_SUCCESS;
}

static inline gsh_cuda_enum fake_set_attribute(CUmemoryPool pool, gsh_cuda_enum attribute,
                                               void *value)
{
    (void)pool, (void)attribute, (void)value;
    return GSH_CUDA_SUCCESS;
}

static inline gsh_cuda_enum fake_get_info(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = *total_bytes = (size_t)1 << 30;
    return GSH_CUDA_SUCCESS;
}

static inline gsh_cuda_enum fake_allocate_host(void **address, size_t size, unsigned flags)
{
    (void)flags;
    *address = malloc(size);
    return *address != NULL ? GSH_CUDA_SUCCESS : GSH_CUDA_OUT_OF_MEMORY;
}

static inline gsh_cuda_enum fake_register_host(void *address, size_t size, unsigned flags)
{
    (void)address, (void)size, (void)flags;
    return GSH_CUDA_SUCCESS;
}

static inline gsh_cuda_enum fake_create_event(CUevent *event, unsigned flags)
{
    (void)flags;
    *event = NULL;
    return GSH_CUDA_SUCCESS;
}

static inline gsh_cuda_enum fake_record_event(CUevent event, CUstream stream)
{
    (void)event, (void)stream;
    return GSH_CUDA_SUCCESS;
}

/* What was recorded has happened. */
static inline gsh_cuda_enum fake_query_event(CUevent event)
{
    (void)event;
    return GSH_CUDA_SUCCESS;
}

/* A driver of these functions alone; the others are NULL. */
static inline struct gsh_cuda_driver fake_driver(void)
{
    return (struct gsh_cuda_driver){.cuGetErrorString = fake_error_string,
                                    .cuMemPoolCreate = fake_create_pool,
                                    .cuMemPoolSetAttribute = fake_set_attribute,
                                    .cuMemGetInfo_v2 = fake_get_info,
                                    .cuMemHostAlloc = fake_allocate_host,
                                    .cuMemHostRegister_v2 = fake_register_host,
                                    .cuEventCreate = fake_create_event,
                                    .cuEventRecord = fake_record_event,
                                    .cuEventQuery = fake_query_event,
                                    .cuEventSynchronize = fake_query_event};
}

/* Opens cuda_mem.c on the driver in gsh_cu. */
static inline void fake_open_memory(void)
{
    char why[256];
    CHECK_INT(gsh_cuda_mem_open(why, sizeof why), GSH_OK);
}
