/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of NumPy's ziggurats (ziggurat.def), and where their tails begin.
 */
#pragma once

#include <stdint.h>

#define GSH_ZIGGURAT_LAYERS 256
/* Layer 0 is a strip and the tail behind R. The float32 forms use R rounded to float32. */
#define GSH_ZIGGURAT_NORMAL_R 3.6541528853610087963519472518
#define GSH_ZIGGURAT_NORMAL_INVERSE_R 0.27366123732975827203338247596
#define GSH_ZIGGURAT_EXPONENTIAL_R 7.6971174701310497140446280481

/* A value in layer i is `steps * width[i]`. It is taken at once where steps < steepness[i]. height: the density. */
struct gsh_ziggurat {
    uint64_t steepness[GSH_ZIGGURAT_LAYERS];
    double width[GSH_ZIGGURAT_LAYERS], height[GSH_ZIGGURAT_LAYERS];
};
struct gsh_ziggurat_single {
    uint32_t steepness[GSH_ZIGGURAT_LAYERS];
    float width[GSH_ZIGGURAT_LAYERS], height[GSH_ZIGGURAT_LAYERS];
};
extern const struct gsh_ziggurat gsh_ziggurat_normal, gsh_ziggurat_exponential;
extern const struct gsh_ziggurat_single gsh_ziggurat_normal_single, gsh_ziggurat_exponential_single;
