/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded text; see fmt.h.
 */
#include "fmt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void gsh_fmt_init_sigsafe(struct gsh_fmt *fmt, char *buffer, size_t size)
{
    *fmt = (struct gsh_fmt){.text = buffer, .size = size};
    if (size > 0)
        buffer[0] = '\0';
}

static void append_char_sigsafe(struct gsh_fmt *fmt, char character)
{
    fmt->required++;
    if (fmt->length + 1 >= fmt->size)
        return;
    fmt->text[fmt->length++] = character;
    fmt->text[fmt->length] = '\0';
}

void gsh_fmt_text_sigsafe(struct gsh_fmt *fmt, const char *text)
{
    for (; *text != '\0'; text++)
        append_char_sigsafe(fmt, *text);
}

void gsh_fmt_text(struct gsh_fmt *fmt, const char *text)
{
    size_t bytes = strlen(text), room = fmt->size > 0 ? fmt->size - 1 - fmt->length : 0;
    fmt->required += bytes;
    if (fmt->size == 0)
        return;
    memcpy(fmt->text + fmt->length, text, GSH_MIN(bytes, room));
    fmt->length += GSH_MIN(bytes, room);
    fmt->text[fmt->length] = '\0';
}

static void append_number_sigsafe(struct gsh_fmt *fmt, uint64_t value, unsigned base)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0)
        append_char_sigsafe(fmt, digits[--count]);
}

void gsh_fmt_decimal_sigsafe(struct gsh_fmt *fmt, uint64_t value)
{
    append_number_sigsafe(fmt, value, 10);
}

void gsh_fmt_hex_sigsafe(struct gsh_fmt *fmt, uint64_t value)
{
    gsh_fmt_text_sigsafe(fmt, "0x");
    append_number_sigsafe(fmt, value, 16);
}

void gsh_fmt_printf(struct gsh_fmt *fmt, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = fmt->size - fmt->length;
    int written = vsnprintf(fmt->size > 0 ? fmt->text + fmt->length : NULL,
                            fmt->size > 0 ? room : 0, format, arguments);
    va_end(arguments);
    if (written < 0)
        return;
    fmt->required += (size_t)written;
    if (fmt->size > 0)
        fmt->length += GSH_MIN((size_t)written, room - 1);
}

/* Bytes of the character of UTF-8 that begins there (RFC 3629); 0: none does. */
static size_t character_bytes(const char *text)
{
    static const struct {
        unsigned char first, last, bytes, least, most; /* of the first byte; of the second one */
    } rows[] = {
        {0x01, 0x7f, 1, 0, 0},       {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
        {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
        {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f}};
    const unsigned char *at = (const unsigned char *)text;
    size_t row = 0, bytes = 1;
    while (row < GSH_COUNT(rows) && !(at[0] >= rows[row].first && at[0] <= rows[row].last))
        row++;
    if (row == GSH_COUNT(rows) || rows[row].bytes == 1)
        return row == 0;
    if (at[1] < rows[row].least || at[1] > rows[row].most)
        return 0;
    for (bytes = 2; bytes < rows[row].bytes; bytes++)
        if ((at[bytes] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

static void append_json_character(struct gsh_fmt *fmt, const char *text, size_t bytes)
{
    if (*text == '"' || *text == '\\')
        append_char_sigsafe(fmt, '\\');
    if (bytes == 0)
        gsh_fmt_text(fmt, "\\ufffd");
    else if (bytes == 1 && *text < 0x20)
        gsh_fmt_printf(fmt, "\\u%04x", (unsigned)*text);
    else
        for (size_t i = 0; i < bytes; i++)
            append_char_sigsafe(fmt, text[i]);
}

void gsh_fmt_json_string(struct gsh_fmt *fmt, const char *text)
{
    append_char_sigsafe(fmt, '"');
    while (*text != '\0') {
        size_t bytes = character_bytes(text);
        append_json_character(fmt, text, bytes);
        text += GSH_MAX(bytes, (size_t)1);
    }
    append_char_sigsafe(fmt, '"');
}

void gsh_fmt_count(struct gsh_fmt *fmt, uint64_t count, const char *one, const char *many)
{
    gsh_fmt_printf(fmt, "%llu %s", (unsigned long long)count, count == 1 ? one : many);
}

void gsh_fmt_bytes(struct gsh_fmt *fmt, double bytes, const char *byte_unit)
{
    const char *const units[] = {byte_unit, "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1023.5 && unit + 1 < GSH_COUNT(units); unit++)
        bytes /= 1024;
    gsh_fmt_printf(fmt, "%.*f %s", unit == 0 || bytes >= 99.95 ? 0 : 1, bytes, units[unit]);
}
