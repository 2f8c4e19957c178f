/* SPDX-License-Identifier: Apache-2.0
 *
 * Which script a command line of Python runs, over the forms of its options.
 */
#include "script_identity.h"

#include "check.h"

#include <stdlib.h>

/* `line`: arguments, each ended by a space. `expected`: the text that is found. */
static void check_line(const char *line, enum gsh_script_form form, const char *expected)
{
    char command[256];
    const char *text = NULL;
    size_t size = strlen(line);
    memcpy(command, line, size);
    for (size_t k = 0; k < size; k++)
        if (command[k] == ' ')
            command[k] = '\0';
    if (!CHECK_INT(gsh_script_identity_find(command, size, &text), form))
        fprintf(stderr, "command line: %s\n", line);
    else if (form != GSH_SCRIPT_NONE)
        CHECK_STR(text, expected);
}

static void check_files(void)
{
    static const char *const lines[] = {
        "python a.py ",          "python a.py -i -c ",
        "python -u a.py ",       "python -bBdEIOOqsSvvx a.py x y ",
        "python -W error a.py ", "python -Werror a.py ",
        "python -X dev a.py ",   "python -Xdev -uW ignore a.py ",
        "python -- a.py ",       "python --check-hash-based-pycs always a.py ",
    };
    for (unsigned k = 0; k < GSH_COUNT(lines); k++)
        check_line(lines[k], GSH_SCRIPT_FILE, "a.py");
    check_line("python -- -c ", GSH_SCRIPT_FILE, "-c");
}

static void check_texts(void)
{
    check_line("python -c pass x ", GSH_SCRIPT_TEXT, "-c");
    check_line("python -cpass ", GSH_SCRIPT_TEXT, "-cpass");
    check_line("python -W error -um mod x ", GSH_SCRIPT_TEXT, "-um");
}

static void check_none(void)
{
    static const char *const lines[] = {
        "",
        "python",
        "python ",
        "python - ",
        "python -- ",
        "python -i a.py ",
        "python -ui a.py ",
        "python -V ",
        "python --version ",
        "python --help-all ",
        "python -W ",
        "python -X dev ",
        "python --check-hash-based-pycs ",
        "python -c spawn_main() --multiprocessing-fork ",
    };
    for (unsigned k = 0; k < GSH_COUNT(lines); k++)
        check_line(lines[k], GSH_SCRIPT_NONE, "");
}

int main(void)
{
    check_files();
    check_texts();
    check_none();
    return check_result();
}
