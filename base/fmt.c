/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded text; see fmt.h.
 */
#include "fmt.h"

#include <stdarg.h>
#include <stdio.h>

void gsh_fmt_init(struct gsh_fmt *fmt, char *buffer, size_t size)
{
    *fmt = (struct gsh_fmt){.text = buffer, .size = size};
    if (size > 0)
        buffer[0] = '\0';
}

static void append_char(struct gsh_fmt *fmt, char character)
{
    fmt->required++;
    if (fmt->length + 1 >= fmt->size)
        return;
    fmt->text[fmt->length++] = character;
    fmt->text[fmt->length] = '\0';
}

void gsh_fmt_text(struct gsh_fmt *fmt, const char *text)
{
    for (; *text != '\0'; text++)
        append_char(fmt, *text);
}

static void append_number(struct gsh_fmt *fmt, uint64_t value, unsigned base)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0)
        append_char(fmt, digits[--count]);
}

void gsh_fmt_decimal(struct gsh_fmt *fmt, uint64_t value)
{
    append_number(fmt, value, 10);
}

void gsh_fmt_hex(struct gsh_fmt *fmt, uint64_t value)
{
    gsh_fmt_text(fmt, "0x");
    append_number(fmt, value, 16);
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

void gsh_fmt_json_string(struct gsh_fmt *fmt, const char *text)
{
    append_char(fmt, '"');
    for (; *text != '\0'; text++) {
        unsigned char character = (unsigned char)*text;
        if (character == '"' || character == '\\')
            append_char(fmt, '\\');
        if (character < 0x20)
            gsh_fmt_printf(fmt, "\\u%04x", character);
        else
            append_char(fmt, *text);
    }
    append_char(fmt, '"');
}
