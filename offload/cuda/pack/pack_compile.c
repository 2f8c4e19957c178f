/* SPDX-License-Identifier: Apache-2.0
 *
 * A worker takes the next job from a counter in shared memory and writes its image to a temporary file of its own, which
 * the parent reads in the end.
 */
#include "pack_compile.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORKERS 256

/* The jobs: number k * target_count + t is kernel k for target t. */
struct jobs {
    const struct gsh_pack_set *set;
    const struct gsh_cuda_target *targets;
    size_t target_count, count;
    _Atomic size_t *next; /* shared by all workers */
};

struct record {
    size_t job, size; /* its image follows */
};

struct worker {
    pid_t process;
    FILE *file;
};

static bool do_job(const struct jobs *jobs, size_t job, FILE *file)
{
    void *image;
    struct record record = {.job = job};
    const struct gsh_pack_kernel *kernel = &jobs->set->kernels[job / jobs->target_count];
    if (gsh_cuda_compile(kernel->name, kernel->text, &jobs->targets[job % jobs->target_count],
                         &image, &record.size) != GSH_OK) {
        fprintf(stderr, "%s does not compile\n", kernel->name);
        return true;
    }
    bool is_written = fwrite(&record, sizeof record, 1, file) == 1 &&
                      fwrite(image, 1, record.size, file) == record.size;
    free(image);
    return is_written;
}

/* The worker's exit status. */
static int work(const struct jobs *jobs, FILE *file)
{
    bool is_good = true;
    for (size_t job; is_good && (job = atomic_fetch_add(jobs->next, 1)) < jobs->count;)
        is_good = do_job(jobs, job, file);
    return is_good && fflush(file) == 0 ? 0 : 1;
}

static bool start(const struct jobs *jobs, struct worker *worker)
{
    worker->file = tmpfile();
    worker->process = worker->file != NULL ? fork() : -1;
    if (worker->process == 0)
        _exit(work(jobs, worker->file));
    return worker->process > 0;
}

static bool read_images(FILE *file, struct gsh_pack_image *images)
{
    struct record record;
    rewind(file);
    while (fread(&record, sizeof record, 1, file) == 1) {
        struct gsh_pack_image *image = &images[record.job];
        *image = (struct gsh_pack_image){malloc(record.size + 1), record.size};
        if (image->bytes == NULL || fread(image->bytes, 1, record.size, file) != record.size)
            return false;
    }
    return true;
}

/* Waits for the worker; false: it failed. */
static bool finish(const struct worker *worker, struct gsh_pack_image *images)
{
    int status = -1;
    bool is_good = worker->process > 0 && waitpid(worker->process, &status, 0) == worker->process &&
                   status == 0 && read_images(worker->file, images);
    if (worker->file != NULL)
        fclose(worker->file);
    return is_good;
}

enum gsh_status gsh_pack_compile_run(const struct gsh_pack_set *set,
                                     const struct gsh_cuda_target *targets, size_t target_count,
                                     unsigned workers, struct gsh_pack_image *images)
{
    struct worker all[MAX_WORKERS];
    struct jobs jobs = {.set = set,
                        .targets = targets,
                        .target_count = target_count,
                        .count = set->count * target_count};
    unsigned started = 0;
    bool is_good = true;
    jobs.next =
        mmap(NULL, sizeof *jobs.next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (jobs.next == MAP_FAILED)
        return GSH_FAILED;
    while (is_good && started < GSH_MIN(workers, MAX_WORKERS))
        is_good = start(&jobs, &all[started++]);
    for (unsigned i = 0; i < started; i++)
        is_good = finish(&all[i], images) && is_good;
    munmap(jobs.next, sizeof *jobs.next);
    return is_good ? GSH_OK : GSH_FAILED;
}
