# SPDX-License-Identifier: Apache-2.0
#
# What is installed. In a build for pip (pyproject.toml) the libraries and the kernels compiled ahead go into the Python package,
# else into the prefix's lib/. They lie beside each other, because libgpushim.so looks for the others in its own folder.
include(GNUInstallDirs)
set(GSH_KERNEL_PACK ${PROJECT_BINARY_DIR}/gpushim_kernels.bin CACHE FILEPATH "Kernels compiled ahead; installed where the file exists")
if(SKBUILD)
  set(folder gpushim)
else()
  set(folder ${CMAKE_INSTALL_LIBDIR})
  install(FILES interpose/gpushim.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
set(CMAKE_INSTALL_SO_NO_EXE OFF) # Debian's CMake else takes the right to execute libgpushim.so from it
install(TARGETS gpushim gpushim_cuda gpushim_compiler LIBRARY DESTINATION ${folder} RUNTIME DESTINATION ${folder})
install(FILES ${GSH_KERNEL_PACK} DESTINATION ${folder} RENAME gpushim_kernels.bin OPTIONAL)
