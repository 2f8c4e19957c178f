/* SPDX-License-Identifier: Apache-2.0
 *
 * The report's verdict: whether the device was used, and if not why, how much faster the program was for it, and where the wall time
 * of its main thread went (wall_time.h).
 */
#pragma once

#include "base.h"
#include "fmt.h"
#include "wall_time.h"

enum gsh_report_state {
    GSH_REPORT_INACTIVE,    /* the library left NumPy as it is */
    GSH_REPORT_CORES,       /* it is to compute on the CPU's cores */
    GSH_REPORT_NOT_STARTED, /* a device is there */
    GSH_REPORT_STARTED,
    GSH_REPORT_RETIRED /* started, and given up since */
};

/* Why calls stayed on the CPU. All texts live as long as the process. */
struct gsh_report_reason {
    const char *code, *text, *advice; /* code NULL: there is none; advice "": nothing to change */
    double seconds;                   /* of these calls, in all threads */
    uint64_t calls;
};
enum { GSH_REPORT_REASONS = 3 };

struct gsh_report_device {
    enum gsh_report_state state;
    double gain,
        price; /* of NOT_STARTED: seconds that calls would have gained; what starting the device must gain */
    /* Of INACTIVE and RETIRED, and of NOT_STARTED where there are no signs of a device. Lives as long as the process. NULL: not known. */
    const char *why_not;
    bool is_switched_off;                                 /* an option has asked for no device */
    struct gsh_report_reason reasons[GSH_REPORT_REASONS]; /* the most expensive first */
};

/* s that NumPy takes without the library for hooked calls of all threads: for those that the device computed (estimated), and for
 * those that the CPU computed. */
struct gsh_report_work {
    double device, cpu;
};

struct gsh_report_verdict {
    struct gsh_report_device device;
    const char *name;             /* of the device */
    double parts[GSH_WALL_PARTS]; /* s of the main thread */
    double
        device_work; /* s that NumPy would have taken for what the main thread gave to the device (estimated) */
    double parallel_saved; /* s that loops on several cores would have taken longer on one */
    double
        reused; /* s that new pages of large arrays would have taken, which had those of earlier ones (estimated) */
    struct gsh_report_work
        work; /* zeros where times were not measured (gsh_stats_report_is_wanted) */
};

/* s: the sum of the parts. */
double gsh_report_verdict_wall(const struct gsh_report_verdict *verdict);
/* s that the program would have taken without the library (estimated). */
double gsh_report_verdict_plain(const struct gsh_report_verdict *verdict);
/* The share: which part of `work` was the device's; 0 to 1, 0 without work. Whatever speaks of a share on the device means this. */
double gsh_report_verdict_share(const struct gsh_report_verdict *verdict);

/* What the program or its user may change so that more runs on the device; NULL: nothing is known. */
const char *gsh_report_verdict_advice(const struct gsh_report_verdict *verdict);

/* What was measured so far. `name` is kept. */
void gsh_report_verdict_take(struct gsh_report_verdict *verdict, const char *name);
/* Two lines: the verdict, and the parts; one on a device that was started, one of reasons for the CPU, one of what to change, where
 * there are such. */
void gsh_report_verdict_text(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict);
/* A JSON object; docs/user/report.md has its keys. */
void gsh_report_verdict_json(struct gsh_fmt *fmt, const struct gsh_report_verdict *verdict);

/* Called where a report is written, also in a signal handler that ends the process: fills in what is known of the device. */
void gsh_report_verdict_set_source(void (*describe)(struct gsh_report_device *device));
/* The library has left NumPy as it is. `why` is kept. */
void gsh_report_verdict_set_inactive(const char *why);
