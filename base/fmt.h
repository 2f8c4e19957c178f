/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded text: appends to a caller's buffer, never allocates, never takes a lock, keeps the text
 * terminated and remembers that it was cut. All but gsh_fmt_printf, which uses vsnprintf, may be called before main().
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
void gsh_fmt_init_sigsafe(struct gsh_fmt *fmt, char *buffer, size_t size);
void gsh_fmt_text_sigsafe(struct gsh_fmt *fmt, const char *text);
void gsh_fmt_decimal_sigsafe(struct gsh_fmt *fmt, uint64_t value);
void gsh_fmt_hex_sigsafe(struct gsh_fmt *fmt, uint64_t value);

/* The same for those that never run in a signal handler. */
static inline void gsh_fmt_init(struct gsh_fmt *fmt, char *buffer, size_t size)
{
    gsh_fmt_init_sigsafe(fmt, buffer, size);
}
static inline void gsh_fmt_decimal(struct gsh_fmt *fmt, uint64_t value)
{
    gsh_fmt_decimal_sigsafe(fmt, value);
}
static inline void gsh_fmt_hex(struct gsh_fmt *fmt, uint64_t value)
{
    gsh_fmt_hex_sigsafe(fmt, value);
}

/* Several times faster for long texts. */
void gsh_fmt_text(struct gsh_fmt *fmt, const char *text);
void gsh_fmt_printf(struct gsh_fmt *fmt, const char *format, ...) GSH_PRINTF(2, 3);
/* Three digits and the unit: "22.9 MiB"; below 1 KiB the unit is `byte_unit`, "B" or "bytes". */
void gsh_fmt_bytes(struct gsh_fmt *fmt, double bytes, const char *byte_unit);
/* A number of things: "1 transfer", "3 transfers". */
void gsh_fmt_count(struct gsh_fmt *fmt, uint64_t count, const char *one, const char *many);
/* `text` as a JSON string, quotes included; what is not UTF-8 becomes U+FFFD. */
void gsh_fmt_json_string(struct gsh_fmt *fmt, const char *text);
