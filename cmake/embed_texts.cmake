# SPDX-License-Identifier: Apache-2.0
#
# Turns each file NAME.* of a pattern into the C string gsh_PREFIX_text_NAME, which HEADER declares:
#
#     cmake -DOUT=texts.c -DPATTERN=kernels/*.cuh -DPREFIX=cuda -DHEADER=source_texts.h -P embed_texts.cmake
#
# Lines that are comments only (//) are left out: they would be compiled again for every kernel.
file(GLOB_RECURSE files ${CMAKE_CURRENT_LIST_DIR}/../${PATTERN})
list(SORT files)
set(text "/* Made by cmake/embed_texts.cmake. */\n#include \"${HEADER}\"\n")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} content)
  string(REGEX REPLACE "(^|\n)( *//[^\n]*\n)+" "\\1" content "${content}")
  string(REPLACE "\\" "\\\\" content "${content}")
  string(REPLACE "\"" "\\\"" content "${content}")
  string(REPLACE "\n" "\\n\"\n    \"" content "${content}")
  string(APPEND text "\nconst char gsh_${PREFIX}_text_${name}[] =\n    \"${content}\";\n")
endforeach()
file(WRITE ${OUT} "${text}")
