/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of the .cuh files in kernels/ and kernels/cuda as strings; cmake/embed_texts.cmake makes them.
 */
#pragma once

extern const char gsh_cuda_text_types[], gsh_cuda_text_cast[], gsh_cuda_text_half[],
    gsh_cuda_text_arithmetic[], gsh_cuda_text_complex[], gsh_cuda_text_integers[],
    gsh_cuda_text_floats[], gsh_cuda_text_transcendental[], gsh_cuda_text_hypot[],
    gsh_cuda_text_complex_length[], gsh_cuda_text_complex_exp[], gsh_cuda_text_complex_hyperbolic[],
    gsh_cuda_text_complex_inverse[], gsh_cuda_text_memory[], gsh_cuda_text_collective[],
    gsh_cuda_text_errors[], gsh_cuda_text_operand[], gsh_cuda_text_place[],
    gsh_cuda_text_real_math[], gsh_cuda_text_round[], gsh_cuda_text_running[];
/* Functions of scipy.special; they are compiled as C, too (kernels/special_base.cuh). */
extern const char gsh_cuda_text_special_base[], gsh_cuda_text_special_erf[],
    gsh_cuda_text_special_gamma[], gsh_cuda_text_special_bessel[], gsh_cuda_text_special_modified[],
    gsh_cuda_text_special_log[], gsh_cuda_text_special_degrees[], gsh_cuda_text_special_integrals[],
    gsh_cuda_text_special_incomplete[], gsh_cuda_text_special_certain[],
    gsh_cuda_text_special_power[], gsh_cuda_text_special_exp_table[], gsh_cuda_text_special_beta[],
    gsh_cuda_text_special_elliptic[], gsh_cuda_text_special_order[], gsh_cuda_text_special_sines[],
    gsh_cuda_text_special_zeta[];
/* Kernels. */
extern const char gsh_cuda_text_elementwise[], gsh_cuda_text_group[], gsh_cuda_text_group_element[],
    gsh_cuda_text_group_paths[], gsh_cuda_text_group_sinks[], gsh_cuda_text_group_sinks_space[],
    gsh_cuda_text_group_space[], gsh_cuda_text_group_fast_errors[], gsh_cuda_text_reduction[],
    gsh_cuda_text_tree[], gsh_cuda_text_ordered[], gsh_cuda_text_scan[],
    gsh_cuda_text_scan_range_checked[], gsh_cuda_text_scan_plain[], gsh_cuda_text_scan_tile[],
    gsh_cuda_text_scan_chunk[], gsh_cuda_text_scan_pass[], gsh_cuda_text_scan_range_checked_pass[],
    gsh_cuda_text_scan_walk[], gsh_cuda_text_scan_sums[], gsh_cuda_text_compress[],
    gsh_cuda_text_indexed[], gsh_cuda_text_indexed_move[], gsh_cuda_text_indexed_claim[],
    gsh_cuda_text_indexed_clear[], gsh_cuda_text_indexed_combine[], gsh_cuda_text_indexed_add[],
    gsh_cuda_text_indexed_count[], gsh_cuda_text_indexed_put[], gsh_cuda_text_indexed_key[],
    gsh_cuda_text_indexed_order[], gsh_cuda_text_indexed_order_gather[],
    gsh_cuda_text_indexed_order_join[], gsh_cuda_text_group_interpreter[],
    gsh_cuda_text_group_interpreter_program[], gsh_cuda_text_lapack[], gsh_cuda_text_product[],
    gsh_cuda_text_narrow_product[], gsh_cuda_text_mirror[], gsh_cuda_text_random_stream[],
    gsh_cuda_text_random_value[], gsh_cuda_text_random_fixed[], gsh_cuda_text_random_ziggurat[],
    gsh_cuda_text_random_tile[], gsh_cuda_text_random_survey[], gsh_cuda_text_random_join[],
    gsh_cuda_text_random_write[], gsh_cuda_text_random_exp[], gsh_cuda_text_random_patch[],
    gsh_cuda_text_sort[], gsh_cuda_text_sort_key[], gsh_cuda_text_sort_rows[],
    gsh_cuda_text_sort_clear[], gsh_cuda_text_sort_count[], gsh_cuda_text_sort_sum[],
    gsh_cuda_text_sort_offsets[], gsh_cuda_text_sort_places[], gsh_cuda_text_sort_pass[],
    gsh_cuda_text_sort_finish[], gsh_cuda_text_sort_search[], gsh_cuda_text_filter[],
    gsh_cuda_text_spmv[], gsh_cuda_text_selection[], gsh_cuda_text_random_twister[];
