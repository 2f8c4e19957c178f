# SPDX-License-Identifier: Apache-2.0
#
# The backend test once more with every launch timed, and with little device memory.
gsh_test_variant(gpu cuda_backend timed ENVIRONMENT GPUSHIM_REPORT=json:/dev/null)
gsh_test_variant(gpu cuda_backend little_memory ENVIRONMENT GPUSHIM_MEM_LIMIT=256M)
