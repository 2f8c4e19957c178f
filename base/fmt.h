/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded text: appends to a caller's buffer, never allocates, never takes a lock, keeps the text
 * terminated and remembers that it was cut. gsh_fmt_text, _decimal and _hex are safe in a signal
 * handler and before main(); gsh_fmt_printf uses vsnprintf and is not.
 */
#pragma once

#include "base.h"

struct gsh_fmt {
    char *text;      /* caller's buffer, always NUL-terminated once size > 0 */
    size_t size;     /* its size in bytes */
    size_t length;   /* bytes written, without the NUL; at most size - 1 */
    size_t required; /* bytes the whole text would have needed, without the NUL */
};

/* An empty text in `buffer`; size may be 0 (then only `required` is counted). */
void gsh_fmt_init(struct gsh_fmt *fmt, char *buffer, size_t size);
void gsh_fmt_text(struct gsh_fmt *fmt, const char *text);
void gsh_fmt_decimal(struct gsh_fmt *fmt, uint64_t value);
void gsh_fmt_hex(struct gsh_fmt *fmt, uint64_t value);
void gsh_fmt_printf(struct gsh_fmt *fmt, const char *format, ...) GSH_PRINTF(2, 3);
/* `text` as a JSON string, quotes included. */
void gsh_fmt_json_string(struct gsh_fmt *fmt, const char *text);
