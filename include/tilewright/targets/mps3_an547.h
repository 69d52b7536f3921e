/* The C functions of the Arm MPS3-AN547 that kernels for `targets/mps3_an547.hpp` call: instructions on vectors. It stands beside the
 * description of the machine, since the two say the same and change together. Generated C includes it
 * (`C_INCLUDES tilewright/targets/mps3_an547.h`). Only compilers for a core with MVE find functions here.
 */
#ifndef TILEWRIGHT_TARGETS_MPS3_AN547_H
#define TILEWRIGHT_TARGETS_MPS3_AN547_H
#include <stdint.h>
#include <string.h>

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#include <arm_mve.h>

/* A vector of bytes, of any alignment. */
static inline int8x16_t mps3_an547_load(const void* source) { return vldrbq_s8((const int8_t*)source); }
static inline int32_t mps3_an547_load_word(const void* source) {
    int32_t word;
    memcpy(&word, source, sizeof word);
    return word;
}
static inline void mps3_an547_save_word(void* destination, int32_t word) { memcpy(destination, &word, sizeof word); }

/* sum + a[0] b[0] + ... + a[15] b[15] of bytes, modulo 2^32. */
static inline int32_t mps3_an547_mac16(int8x16_t a, int8x16_t b, int32_t sum) { return vmladavaq_s8(sum, a, b); }
static inline int32_t mps3_an547_mul16(int8x16_t a, int8x16_t b) { return vmladavq_s8(a, b); }
/* The same of eight numbers of 16 bits, which lie in the vectors. */
static inline int32_t mps3_an547_mac8(int8x16_t a, int8x16_t b, int32_t sum) {
    return vmladavaq_s16(sum, vreinterpretq_s16_s8(a), vreinterpretq_s16_s8(b));
}
static inline int32_t mps3_an547_mul8(int8x16_t a, int8x16_t b) { return vmladavq_s16(vreinterpretq_s16_s8(a), vreinterpretq_s16_s8(b)); }

/* sum + a[0] b[0] + ... of rows of bytes, modulo 2^32. Lanes beyond the end of the rows are neither loaded nor added. */
static inline int32_t mps3_an547_dot(int32_t sum, const void* a, const void* b, int64_t count) {
    const int8_t *left = (const int8_t*)a, *right = (const int8_t*)b;
    for (int32_t rest = (int32_t)count; rest > 0; rest -= 16, left += 16, right += 16) {
        const mve_pred16_t there = vctp8q((uint32_t)rest);
        sum = vmladavaq_p_s8(sum, vldrbq_z_s8(left, there), vldrbq_z_s8(right, there), there);
    }
    return sum;
}
static inline int32_t mps3_an547_dot0(const void* a, const void* b, int64_t count) { return mps3_an547_dot(0, a, b, count); }
#endif

#endif
