/* SPDX-License-Identifier: Apache-2.0
 *
 * Levelled one-line messages on stderr, "gpushim: ..." each, one write(2) a line. A message written
 * while another is being written by the same thread is dropped. Never touches errno, takes no lock,
 * allocates nothing, never raises SIGPIPE. Not for signal handlers, which have gsh_log_sigsafe.
 */
#pragma once

#include "base.h"

/* In the order of GPUSHIM_LOG's words. */
enum gsh_log_level { GSH_LOG_WARN, GSH_LOG_INFO, GSH_LOG_DEBUG, GSH_LOG_GRAPH, GSH_LOG_DECIDE };

/* Messages up to this level are written; WARN until the options are parsed. Any thread. */
void gsh_log_set_level(enum gsh_log_level level);
bool gsh_log_enabled(enum gsh_log_level level);
/* Lines over 1 KiB are cut and end in "...". */
void gsh_log(enum gsh_log_level level, const char *format, ...) GSH_PRINTF(2, 3);
/* Like a WARN, but printed only the first time this call site is reached. */
#define gsh_log_once(...)                                                                          \
    do {                                                                                           \
        static bool gsh_log_said;                                                                  \
        if (!__atomic_exchange_n(&gsh_log_said, true, __ATOMIC_RELAXED))                           \
            gsh_log(GSH_LOG_WARN, __VA_ARGS__);                                                    \
    } while (0)
/* One raw write(2) of "gpushim: " text "\n"; safe in a signal handler. */
void gsh_log_sigsafe(const char *text);
/* `length` bytes on stderr as they are, whatever the level: reports and help. Safe in a signal
 * handler. */
void gsh_log_raw_sigsafe(const char *text, size_t length);
