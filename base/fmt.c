/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded text; see fmt.h.
 */
#include "fmt.h"

#include <stdarg.h>
#include <stdio.h>

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

void gsh_fmt_json_string(struct gsh_fmt *fmt, const char *text)
{
    append_char_sigsafe(fmt, '"');
    for (; *text != '\0'; text++) {
        unsigned char character = (unsigned char)*text;
        if (character == '"' || character == '\\')
            append_char_sigsafe(fmt, '\\');
        if (character < 0x20)
            gsh_fmt_printf(fmt, "\\u%04x", character);
        else
            append_char_sigsafe(fmt, *text);
    }
    append_char_sigsafe(fmt, '"');
}
