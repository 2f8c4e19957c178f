# SPDX-License-Identifier: Apache-2.0
#
# Libraries that emulate CUDA's where there is no GPU, in <build>/tests/emulation, and what runs on them: the
# programs of tests/gpu, and one of tests/unit, as CTest tests emulated.<name>. Tests of Python use them too (tests/run.py). They need a C++
# compiler to be built and to run, LAPACK, BLAS and FFTW.
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "no C++ compiler: nothing runs on emulated CUDA libraries")
  return()
endif()
enable_language(CXX)
set(gsh_emulation ${CMAKE_CURRENT_BINARY_DIR}/emulation)
set(gsh_emulation_cache ${gsh_emulation}/cache) # of kernels that were compiled

# gsh_emulated(name version): lib<name>.so.<version> of emulated_<name>.cpp.
function(gsh_emulated name version)
  add_library(emulated_${name} SHARED emulation/emulated_${name}.cpp)
  set_target_properties(emulated_${name} PROPERTIES OUTPUT_NAME ${name} SUFFIX .so.${version} BUILD_RPATH "\$ORIGIN"
                        LIBRARY_OUTPUT_DIRECTORY ${gsh_emulation} CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
  target_include_directories(emulated_${name} PRIVATE ${PROJECT_SOURCE_DIR}/offload/cuda/driver ${PROJECT_SOURCE_DIR}/offload/device)
  target_compile_options(emulated_${name} PRIVATE -O2 -Wall -Wextra -Wshadow $<$<BOOL:${GSH_WERROR}>:-Werror>)
  target_link_options(emulated_${name} PRIVATE -Wl,-soname,lib${name}.so.${version})
  target_link_libraries(emulated_${name} PRIVATE ${gsh_system_libraries} ${ARGN})
  # Its kernels, or what they are compiled with, may be others now.
  add_custom_command(TARGET emulated_${name} POST_BUILD COMMAND ${CMAKE_COMMAND} -E rm -rf ${gsh_emulation_cache})
endfunction()

gsh_emulated(cuda 1)
target_sources(emulated_cuda PRIVATE emulation/emulated_faults.cpp)
gsh_emulated(nvrtc 13 emulated_cuda)
gsh_emulated(cublas 13 emulated_cuda)
gsh_emulated(cusolver 12 emulated_cuda)
gsh_emulated(cufft 12 emulated_cuda)
foreach(file cuda_threads.h ptx.txt)
  configure_file(emulation/${file} ${gsh_emulation}/${file} COPYONLY)
  set_property(SOURCE emulation/emulated_nvrtc.cpp APPEND PROPERTY OBJECT_DEPENDS ${gsh_emulation}/${file})
endforeach()

# What kernels are compiled with. Most of a small one's time is cuda_threads.h, so that is precompiled with the same.
set(gsh_kernel_options -std=c++17 -O1 -w -fPIC -mf16c -mfma -fwrapv -ffp-contract=off -fno-strict-aliasing
    -fvisibility=hidden -fno-gnu-unique)
list(JOIN gsh_kernel_options "\",\"" gsh_kernel_strings)
target_compile_definitions(emulated_nvrtc PRIVATE "KERNEL_OPTIONS=\"${gsh_kernel_strings}\"")
add_custom_command(OUTPUT ${gsh_emulation}/cuda_threads.h.gch DEPENDS ${gsh_emulation}/cuda_threads.h
                   COMMAND c++ ${gsh_kernel_options} -x c++-header -o cuda_threads.h.gch cuda_threads.h
                   WORKING_DIRECTORY ${gsh_emulation} VERBATIM)
add_custom_target(emulated_header ALL DEPENDS ${gsh_emulation}/cuda_threads.h.gch)

# gsh_run_emulated_of(kind name [arguments...]): the program of <kind>.<name>, as emulated.<name>.
function(gsh_run_emulated_of kind name)
  add_test(NAME emulated.${name} COMMAND ${kind}_${name} ${ARGN})
  set_tests_properties(emulated.${name} PROPERTIES LABELS emulated TIMEOUT 900 ENVIRONMENT
    "${gsh_test_environment};GPUSHIM_DEVICE=cuda;LD_LIBRARY_PATH=${gsh_emulation};GPUSHIM_CACHE_DIR=${gsh_emulation_cache}")
endfunction()

# gsh_run_emulated(program [arguments...]): a program of tests/gpu; with "--shard K/N" a share of its cases.
function(gsh_run_emulated name)
  gsh_run_emulated_of(gpu ${name} ${ARGN})
endfunction()

gsh_run_emulated(cuda_backend --shard 7/80)
gsh_run_emulated(cuda_scan --shard 7/80)
gsh_run_emulated(cuda_interpreter --shard 7/40)
gsh_run_emulated(cuda_draw --shard 3/6)
gsh_run_emulated(cuda_sort --shard 23/42)
gsh_run_emulated(cuda_search --shard 11/21)
gsh_run_emulated(cuda_spmv)
gsh_run_emulated(cuda_select --shard 5/26)
foreach(name cuda_blas_forms cuda_fft cuda_lapack cuda_lapack_condition cuda_lapack_systems cuda_product)
  gsh_run_emulated(${name})
endforeach()
gsh_run_emulated_of(unit memory_yield)
