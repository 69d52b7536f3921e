/* The C functions of `targets/c_vectors.hpp`: sums of products, and what follows them, for any processor.
 *
 * They are written for the vectors of GNU C, which gcc and clang have for all processors, as wide as the compiler is told that they are
 * (`-march=native`). With AVX-512 VNNI and with AVX2, products of bytes are instructions of theirs. Other compilers, and
 * C_VECTORS_PLAIN_C, take plain C of the same meaning.
 *
 * Generated C includes it. It needs nothing else of this project, so it can be copied to where the C goes.
 */
#ifndef TILEWRIGHT_TARGETS_C_VECTORS_H
#define TILEWRIGHT_TARGETS_C_VECTORS_H
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Without SSE2, x86 computes floats in more digits than vectors take. */
#if (!defined(__GNUC__) || (defined(__i386__) && !defined(__SSE2_MATH__))) && !defined(C_VECTORS_PLAIN_C)
#define C_VECTORS_PLAIN_C
#endif
#if defined(__GNUC__) && !defined(__clang__)
/* gcc finds that a loop over rows would leave all memory after 2^59 of them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
/* As C++, functions of its own header of AVX-512 use what nobody has set, such as lanes that a mask leaves out. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#elif defined(__clang__)
/* For some processors, clang tells that it does not unroll a loop. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#ifdef __GNUC__
/* Once in a file, however many kernels call it: tiles in registers are much code. */
#define C_VECTORS_FUNCTION static __attribute__((noinline, unused))
#else
#define C_VECTORS_FUNCTION static inline
#endif

#ifndef C_VECTORS_PLAIN_C
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define C_VECTORS_LANES 16
#define C_VECTORS_ROWS 12
#elif defined(__AVX__)
#define C_VECTORS_LANES 8
#define C_VECTORS_ROWS 6
#else
#define C_VECTORS_LANES 4
#define C_VECTORS_ROWS 6
#endif
#define C_VECTORS_INLINE static inline __attribute__((always_inline))
#define C_VECTORS_ALIGNED __attribute__((aligned(64)))
#ifdef __clang__
#define C_VECTORS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define C_VECTORS_UNROLL _Pragma("GCC unroll 16")
#endif

typedef float c_vectors_floats __attribute__((vector_size(4 * C_VECTORS_LANES), aligned(4), may_alias));
typedef int32_t c_vectors_ints __attribute__((vector_size(4 * C_VECTORS_LANES), aligned(4), may_alias));
typedef int8_t c_vectors_bytes __attribute__((vector_size(C_VECTORS_LANES), aligned(1), may_alias));

C_VECTORS_INLINE c_vectors_floats c_vectors_load_floats(const float* from, int lanes) {
#if C_VECTORS_LANES == 16
    if (lanes < 16) return (c_vectors_floats)_mm512_maskz_loadu_ps((__mmask16)((1u << lanes) - 1), from);
#elif C_VECTORS_LANES == 8
    /* A copy would be read back from the stack before it is there. */
    if (lanes < 8) {
        const __m256 some = _mm256_cmp_ps(_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_ps((float)lanes), _CMP_LT_OQ);
        return (c_vectors_floats)_mm256_maskload_ps(from, _mm256_castps_si256(some));
    }
#else
    if (lanes < C_VECTORS_LANES) {
        c_vectors_floats some = {0};
        memcpy(&some, from, sizeof *from * (size_t)lanes);
        return some;
    }
#endif
    return *(const c_vectors_floats*)from;
}
C_VECTORS_INLINE void c_vectors_store_floats(float* to, c_vectors_floats some, int lanes) {
#if C_VECTORS_LANES == 16
    if (lanes < 16) _mm512_mask_storeu_ps(to, (__mmask16)((1u << lanes) - 1), (__m512)some);
#elif defined(__SSE2__)
    if (lanes < C_VECTORS_LANES) {
#if C_VECTORS_LANES == 8
        __m128 four = _mm256_castps256_ps128((__m256)some);
        if (lanes & 4) _mm_storeu_ps(to, four), to += 4, four = _mm256_extractf128_ps((__m256)some, 1);
#else
        __m128 four = (__m128)some;
#endif
        if (lanes & 2) _mm_storel_pi((__m64*)(void*)to, four), to += 2, four = _mm_movehl_ps(four, four);
        if (lanes & 1) _mm_store_ss(to, four);
    }
#else
    if (lanes < C_VECTORS_LANES) memcpy(to, &some, sizeof *to * (size_t)lanes);
#endif
    else *(c_vectors_floats*)to = some;
}
C_VECTORS_INLINE c_vectors_ints c_vectors_load_ints(const int32_t* from, int lanes) {
    return (c_vectors_ints)c_vectors_load_floats((const float*)(const void*)from, lanes);
}
C_VECTORS_INLINE void c_vectors_store_ints(int32_t* to, c_vectors_ints some, int lanes) {
    c_vectors_store_floats((float*)(void*)to, (c_vectors_floats)some, lanes);
}
C_VECTORS_INLINE c_vectors_bytes c_vectors_load_bytes(const int8_t* from, int lanes) {
#if C_VECTORS_LANES == 16
    if (lanes < 16) return (c_vectors_bytes)_mm_maskz_loadu_epi8((__mmask16)((1u << lanes) - 1), from);
#else
    if (lanes < C_VECTORS_LANES) {
        c_vectors_bytes some = {0};
        memcpy(&some, from, (size_t)lanes);
        return some;
    }
#endif
    return *(const c_vectors_bytes*)from;
}

#if C_VECTORS_LANES == 8 && defined(__AVX2__)
/* As the lower half of a vector. Processors of 32 bits have no register of 64. */
C_VECTORS_INLINE __m128i c_vectors_eight(const c_vectors_bytes* some) {
#ifdef __x86_64__
    int64_t all;
    memcpy(&all, some, sizeof all);
    return _mm_cvtsi64_si128(all);
#else
    return _mm_loadl_epi64((const __m128i*)(const void*)some);
#endif
}
#endif

/* Rounded once where there is an instruction for it: strict C does not let the compiler choose that by itself. */
C_VECTORS_INLINE c_vectors_floats c_vectors_multiply_add(float one, c_vectors_floats by, c_vectors_floats to) {
#if C_VECTORS_LANES == 16
    return (c_vectors_floats)_mm512_fmadd_ps(_mm512_set1_ps(one), (__m512)by, (__m512)to);
#elif C_VECTORS_LANES == 8 && defined(__FMA__)
    return (c_vectors_floats)_mm256_fmadd_ps(_mm256_set1_ps(one), (__m256)by, (__m256)to);
#elif defined(__ARM_FEATURE_FMA) && defined(__ARM_NEON)
    return (c_vectors_floats)vfmaq_f32((float32x4_t)to, (float32x4_t)by, vdupq_n_f32(one));
#else
    return to + one * by;
#endif
}

/* A panel is two vectors of columns. Of the right, some terms of a panel at a time come to stand beside each other. */
#define C_VECTORS_PANEL (2 * C_VECTORS_LANES)
#define C_VECTORS_TERMS 256

/* Sums over the taps of a window and the terms of each: how many elements lie from one to the next. A product of matrices has one tap.
 * Terms of the left follow each other. */
struct c_vectors_sum {
    int64_t tap_rows, taps, terms;
    int64_t left_tap_row, left_tap, left_row;
    int64_t right_tap_row, right_tap, right_term;
    int64_t sums_row;
    int adds;
};
/* Which rows of the left and of the sums: `lines` of `rows` each, such as the pixels of an image, and how far it is from line to line. */
struct c_vectors_lines {
    int64_t lines, rows, left_line, sums_line;
};

/* A tile of sums in registers: `rows` of `vectors`. The last vector has `lanes` sums. Of the right, all of it can be read, or just
 * `from_right`. */
C_VECTORS_INLINE void c_vectors_tile_f32(const int rows, const int vectors, const int from_right, const int lanes,
                                         const struct c_vectors_sum* of, const float* const* left, const float* right, float* const* to) {
    c_vectors_floats sums[C_VECTORS_ROWS][2];
    const float* a[C_VECTORS_ROWS];
    const int64_t right_term = of->right_term, terms = of->terms;
    const c_vectors_floats none = {0};
    C_VECTORS_UNROLL for (int i = 0; i < rows; ++i) sums[i][0] = sums[i][1] = none, a[i] = left[i];
    for (int64_t r = 0; r < of->tap_rows; ++r) {
        for (int64_t t = 0; t < of->taps; ++t) {
            const float* b = right + r * of->right_tap_row + t * of->right_tap;
            /* One index for all rows: one register counts. */
            int64_t l = r * of->left_tap_row + t * of->left_tap;
            for (const int64_t end = l + terms; l < end; ++l, b += right_term) {
                c_vectors_floats by[2];
                C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) by[v] = c_vectors_load_floats(b + v * C_VECTORS_LANES, from_right);
                C_VECTORS_UNROLL for (int i = 0; i < rows; ++i) {
                    const float one = a[i][l];
                    C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] = c_vectors_multiply_add(one, by[v], sums[i][v]);
                }
            }
        }
    }
    C_VECTORS_UNROLL for (int i = 0; i < rows; ++i) {
        C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) {
            float* const at = to[i] + v * C_VECTORS_LANES;
            const int some = v + 1 < vectors ? C_VECTORS_LANES : lanes;
            if (of->adds) sums[i][v] += c_vectors_load_floats(at, some);
            c_vectors_store_floats(at, sums[i][v], some);
        }
    }
}

/* Products of bytes: a step is four terms with AVX-512 VNNI, two on other x86, one elsewhere. `c_vectors_dot` adds the products of a step
 * to sums. `c_vectors_step_of_left` makes the terms of one row out of bytes, `c_vectors_step_of_right` those of all columns of a vector out
 * of as many rows. */
#if C_VECTORS_LANES == 16 && defined(__AVX512VNNI__)
#define C_VECTORS_STEP 4
C_VECTORS_INLINE c_vectors_ints c_vectors_dot(c_vectors_ints sums, c_vectors_ints right, int32_t left) {
    return (c_vectors_ints)_mm512_dpbusd_epi32((__m512i)sums, _mm512_xor_si512(_mm512_set1_epi32(left), _mm512_set1_epi8((char)0x80)),
                                               (__m512i)right);
}
C_VECTORS_INLINE c_vectors_ints c_vectors_step_of_right(const c_vectors_bytes rows[4]) {
#if defined(__AVX512VBMI__)
    /* Byte q of column j is byte j of row q. */
    const __m512i columns = _mm512_add_epi8(
        _mm512_set1_epi32(0x30201000),
        _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm512_set1_epi32(0x01010101)));
    __m512i all = _mm512_inserti32x4(_mm512_castsi128_si512((__m128i)rows[0]), (__m128i)rows[1], 1);
    all = _mm512_inserti32x4(all, (__m128i)rows[2], 2);
    all = _mm512_permutexvar_epi8(columns, _mm512_inserti32x4(all, (__m128i)rows[3], 3));
#else
    const __m128i ab = _mm_unpacklo_epi8((__m128i)rows[0], (__m128i)rows[1]), AB = _mm_unpackhi_epi8((__m128i)rows[0], (__m128i)rows[1]),
                  cd = _mm_unpacklo_epi8((__m128i)rows[2], (__m128i)rows[3]), CD = _mm_unpackhi_epi8((__m128i)rows[2], (__m128i)rows[3]);
    __m512i all = _mm512_inserti32x4(_mm512_castsi128_si512(_mm_unpacklo_epi16(ab, cd)), _mm_unpackhi_epi16(ab, cd), 1);
    all = _mm512_inserti32x4(all, _mm_unpacklo_epi16(AB, CD), 2);
    all = _mm512_inserti32x4(all, _mm_unpackhi_epi16(AB, CD), 3);
#endif
    return (c_vectors_ints)all;
}
C_VECTORS_INLINE int32_t c_vectors_step_of_left(const int8_t* from, int terms) {
    int32_t four = 0;
    memcpy(&four, from, (size_t)terms);
    return four;
}
/* Bytes of the left count as 128 more, without a sign: what sums start from takes that off again. */
C_VECTORS_INLINE c_vectors_ints c_vectors_start(c_vectors_ints start, c_vectors_ints right) {
    const __m512i sum = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), (__m512i)right);
    return (c_vectors_ints)_mm512_sub_epi32((__m512i)start, _mm512_slli_epi32(sum, 7));
}
#elif defined(__SSE2__)
#define C_VECTORS_STEP 2
C_VECTORS_INLINE c_vectors_ints c_vectors_dot(c_vectors_ints sums, c_vectors_ints right, int32_t left) {
#if C_VECTORS_LANES == 16
    return sums + (c_vectors_ints)_mm512_madd_epi16((__m512i)right, _mm512_set1_epi32(left));
#elif defined(__AVX2__)
    return sums + (c_vectors_ints)_mm256_madd_epi16((__m256i)right, _mm256_set1_epi32(left));
#elif C_VECTORS_LANES == 4
    return sums + (c_vectors_ints)_mm_madd_epi16((__m128i)right, _mm_set1_epi32(left));
#else
    const union {
        c_vectors_ints all;
        __m128i half[2];
    } of = {right};
    union {
        __m128i half[2];
        c_vectors_ints all;
    } made;
    for (int h = 0; h < 2; ++h) made.half[h] = _mm_madd_epi16(of.half[h], _mm_set1_epi32(left));
    return sums + made.all;
#endif
}
C_VECTORS_INLINE c_vectors_ints c_vectors_step_of_right(const c_vectors_bytes rows[2]) {
#if defined(__AVX2__) && C_VECTORS_LANES == 8
    return (c_vectors_ints)_mm256_cvtepi8_epi16(_mm_unpacklo_epi8(c_vectors_eight(&rows[0]), c_vectors_eight(&rows[1])));
#elif C_VECTORS_LANES == 4
    int32_t a, b;
    memcpy(&a, &rows[0], sizeof a), memcpy(&b, &rows[1], sizeof b);
    const __m128i both = _mm_unpacklo_epi8(_mm_cvtsi32_si128(a), _mm_cvtsi32_si128(b));
    return (c_vectors_ints)_mm_srai_epi16(_mm_unpacklo_epi8(both, both), 8);
#else
    const c_vectors_ints low = __builtin_convertvector(rows[0], c_vectors_ints), high = __builtin_convertvector(rows[1], c_vectors_ints);
    return (low & 0xffff) | (high << 16);
#endif
}
C_VECTORS_INLINE int32_t c_vectors_step_of_left(const int8_t* from, int terms) {
    return (int32_t)((uint32_t)(uint16_t)from[0] | (terms > 1 ? (uint32_t)from[1] << 16 : 0));
}
#else
#define C_VECTORS_STEP 1
C_VECTORS_INLINE c_vectors_ints c_vectors_dot(c_vectors_ints sums, c_vectors_ints right, int32_t left) { return sums + right * left; }
C_VECTORS_INLINE c_vectors_ints c_vectors_step_of_right(const c_vectors_bytes rows[1]) {
    return __builtin_convertvector(rows[0], c_vectors_ints);
}
C_VECTORS_INLINE int32_t c_vectors_step_of_left(const int8_t* from, int terms) {
    (void)terms;
    return from[0];
}
#endif
#if C_VECTORS_STEP < 4
C_VECTORS_INLINE c_vectors_ints c_vectors_start(c_vectors_ints start, c_vectors_ints right) {
    (void)right;
    return start;
}
#endif

/* What tiles read of the left. With two terms in a step, they are words already: out of bytes, each pair would take several instructions.
 */
#if C_VECTORS_STEP == 2
typedef int16_t c_vectors_left;
#else
typedef int8_t c_vectors_left;
#endif
C_VECTORS_INLINE int32_t c_vectors_step_of_tile(const c_vectors_left* from, int terms) {
#if C_VECTORS_STEP == 2
    int32_t pair;
    (void)terms;
    memcpy(&pair, from, sizeof pair);
    return pair;
#else
    return c_vectors_step_of_left(from, terms);
#endif
}
/* The right is one of steps: from one to the next, it is a panel further. */
C_VECTORS_INLINE void c_vectors_step_s8(const int rows, const int vectors, const int terms, const c_vectors_left* const* left, int64_t at,
                                        const int32_t* right, c_vectors_ints sums[C_VECTORS_ROWS][2]) {
    c_vectors_ints by[2];
    C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) by[v] = *(const c_vectors_ints*)(right + v * C_VECTORS_LANES);
    C_VECTORS_UNROLL for (int i = 0; i < rows; ++i) {
        const int32_t one = c_vectors_step_of_tile(left[i] + at, terms);
        C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] = c_vectors_dot(sums[i][v], by[v], one);
    }
}
C_VECTORS_INLINE void c_vectors_tile_s8(const int rows, const int vectors, const int lanes, const struct c_vectors_sum* of,
                                        const c_vectors_left* const* left, const int32_t* right, const int32_t* start, int32_t* const* to) {
    c_vectors_ints sums[C_VECTORS_ROWS][2];
    const c_vectors_left* a[C_VECTORS_ROWS];
    const int64_t terms = of->terms;
    C_VECTORS_UNROLL for (int i = 0; i < rows; ++i) {
        a[i] = left[i];
        C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) sums[i][v] = *(const c_vectors_ints*)(start + v * C_VECTORS_LANES);
    }
    for (int64_t r = 0; r < of->tap_rows; ++r) {
        for (int64_t t = 0; t < of->taps; ++t) {
            int64_t l = r * of->left_tap_row + t * of->left_tap;
            const int64_t end = l + terms;
#if C_VECTORS_STEP == 4
            for (; l + 4 <= end; l += 4, right += C_VECTORS_PANEL) c_vectors_step_s8(rows, vectors, 4, a, l, right, sums);
            switch (end - l) {
                case 3: c_vectors_step_s8(rows, vectors, 3, a, l, right, sums); break;
                case 2: c_vectors_step_s8(rows, vectors, 2, a, l, right, sums); break;
                case 1: c_vectors_step_s8(rows, vectors, 1, a, l, right, sums); break;
            }
            if (l < end) right += C_VECTORS_PANEL;
#else
            /* The second of the last two may be of what follows; then it is multiplied by 0. */
            for (; l < end; l += C_VECTORS_STEP, right += C_VECTORS_PANEL)
                c_vectors_step_s8(rows, vectors, C_VECTORS_STEP, a, l, right, sums);
#endif
        }
    }
    C_VECTORS_UNROLL for (int i = 0; i < rows; ++i) {
        C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) {
            int32_t* const at = to[i] + v * C_VECTORS_LANES;
            const int some = v + 1 < vectors ? C_VECTORS_LANES : lanes;
            if (of->adds) sums[i][v] += c_vectors_load_ints(at, some);
            c_vectors_store_ints(at, sums[i][v], some);
        }
    }
}

/* Rows of one panel, in tiles of about equal heights, since a tile of few rows would wait for its sums. A tile may begin in one line and
 * end in another. */
#define C_VECTORS_CASES(of) of(1) of(2) of(3) of(4) of(5) of(6) C_VECTORS_MORE_CASES(of)
#if C_VECTORS_ROWS == 12
#define C_VECTORS_MORE_CASES(of) of(7) of(8) of(9) of(10) of(11) of(12)
#else
#define C_VECTORS_MORE_CASES(of)
#endif
#define C_VECTORS_TILES(element, sum, of, lines, left, sums)                                              \
    const int64_t all = (lines)->lines * (lines)->rows;                                                   \
    const element* line = left;                                                                           \
    sum* sums_line = sums;                                                                                \
    for (int64_t i = 0, x = 0, tiles = (all + C_VECTORS_ROWS - 1) / C_VECTORS_ROWS; tiles > 0; --tiles) { \
        const int height = (int)((all - i + tiles - 1) / tiles);                                          \
        const element* a[C_VECTORS_ROWS];                                                                 \
        sum* c[C_VECTORS_ROWS];                                                                           \
        i += height;                                                                                      \
        for (int row = 0; row < height; ++row) {                                                          \
            a[row] = line + x * (of).left_row, c[row] = sums_line + x * (of).sums_row;                    \
            if (++x == (lines)->rows) x = 0, line += (lines)->left_line, sums_line += (lines)->sums_line; \
        }                                                                                                 \
        switch (height) { C_VECTORS_CASES(C_VECTORS_CASE) }                                               \
    }
/* `is_padded`: of the right, whole vectors can be read. */
C_VECTORS_FUNCTION void c_vectors_rows_f32(const struct c_vectors_sum of, const struct c_vectors_lines* lines, int64_t columns,
                                           int is_padded, const float* left, const float* right, float* sums) {
#define C_VECTORS_CASE(count)                                                                                                            \
    case count:                                                                                                                          \
        if (columns > C_VECTORS_LANES) c_vectors_tile_f32(count, 2, C_VECTORS_LANES, (int)columns - C_VECTORS_LANES, &of, a, right, c);  \
        else if (is_padded || columns == C_VECTORS_LANES) c_vectors_tile_f32(count, 1, C_VECTORS_LANES, (int)columns, &of, a, right, c); \
        else c_vectors_tile_f32(count, 1, (int)columns, (int)columns, &of, a, right, c);                                                 \
        break;
    C_VECTORS_TILES(float, float, of, lines, left, sums)
#undef C_VECTORS_CASE
}
C_VECTORS_FUNCTION void c_vectors_rows_s8(const struct c_vectors_sum of, const struct c_vectors_lines* lines, int64_t columns,
                                          const c_vectors_left* left, const int32_t* right, const int32_t* start, int32_t* sums) {
#define C_VECTORS_CASE(count)                                                                                                \
    case count:                                                                                                              \
        if (columns > C_VECTORS_LANES) c_vectors_tile_s8(count, 2, (int)columns - C_VECTORS_LANES, &of, a, right, start, c); \
        else c_vectors_tile_s8(count, 1, (int)columns, &of, a, right, start, c);                                             \
        break;
    C_VECTORS_TILES(c_vectors_left, int32_t, of, lines, left, sums)
#undef C_VECTORS_CASE
}

/* What is summed at a time: some terms of one tap; or taps of one row with all their terms, which are `step` terms each at least; or rows
 * of taps. */
struct c_vectors_part {
    int64_t r, tap_rows, t, taps, l, terms;
};
C_VECTORS_INLINE int c_vectors_next_part(const struct c_vectors_sum* of, int64_t step, struct c_vectors_part* part) {
    part->l += part->terms;
    if (part->l >= of->terms) part->l = 0, part->t += part->taps;
    if (part->t >= of->taps) part->t = 0, part->r += part->tap_rows;
    if (part->r >= of->tap_rows) return 0;
    const int64_t of_tap = (of->terms + step - 1) / step * step, left = of->terms - part->l;
    part->terms = left < C_VECTORS_TERMS ? left : C_VECTORS_TERMS;
    part->taps = of_tap >= C_VECTORS_TERMS ? 1 : C_VECTORS_TERMS / of_tap;
    if (part->taps > of->taps - part->t) part->taps = of->taps - part->t;
    part->tap_rows = of_tap * of->taps >= C_VECTORS_TERMS ? 1 : C_VECTORS_TERMS / (of_tap * of->taps);
    if (part->tap_rows > of->tap_rows - part->r) part->tap_rows = of->tap_rows - part->r;
    return 1;
}
/* How many taps a part has; and where the tap `at` of them lies, of which rows and columns are so far apart. */
C_VECTORS_INLINE int64_t c_vectors_taps(const struct c_vectors_part* part) { return part->tap_rows * part->taps; }
C_VECTORS_INLINE int64_t c_vectors_tap(const struct c_vectors_part* part, int64_t at, int64_t by_row, int64_t by_tap) {
    return (part->r + at / part->taps) * by_row + (part->t + at % part->taps) * by_tap;
}
/* The terms of a part come to stand after each other, a panel of columns each. */
C_VECTORS_INLINE void c_vectors_pack_f32(const struct c_vectors_sum* of, const struct c_vectors_part* part, int64_t columns,
                                         const float* right, float* to) {
    const int first = columns < C_VECTORS_LANES ? (int)columns : C_VECTORS_LANES, second = (int)columns - first;
    for (int64_t tap = 0; tap < c_vectors_taps(part); ++tap) {
        const float* from = right + c_vectors_tap(part, tap, of->right_tap_row, of->right_tap) + part->l * of->right_term;
        if (second == C_VECTORS_LANES) {
            for (int64_t l = 0; l < part->terms; ++l, from += of->right_term, to += C_VECTORS_PANEL) {
                c_vectors_store_floats(to, c_vectors_load_floats(from, C_VECTORS_LANES), C_VECTORS_LANES);
                c_vectors_store_floats(to + C_VECTORS_LANES, c_vectors_load_floats(from + C_VECTORS_LANES, C_VECTORS_LANES),
                                       C_VECTORS_LANES);
            }
        } else {
            for (int64_t l = 0; l < part->terms; ++l, from += of->right_term, to += C_VECTORS_PANEL) {
                c_vectors_store_floats(to, c_vectors_load_floats(from, first), C_VECTORS_LANES);
                if (second > 0)
                    c_vectors_store_floats(to + C_VECTORS_LANES, c_vectors_load_floats(from + C_VECTORS_LANES, second), C_VECTORS_LANES);
            }
        }
    }
}
/* One panel of columns. */
C_VECTORS_FUNCTION void c_vectors_panel_f32(const struct c_vectors_sum of, const struct c_vectors_lines* lines, int64_t columns,
                                            const float* left, const float* right, float* sums) {
    C_VECTORS_ALIGNED float packed[C_VECTORS_TERMS * C_VECTORS_PANEL];
    struct c_vectors_part part = {0, 0, 0, 0, 0, 0};
    struct c_vectors_sum some = of;
    /* Where a row of the right is a panel, or a vector, it is in order already. */
    const int in_order = of.right_term == columns && (columns == C_VECTORS_PANEL || columns == C_VECTORS_LANES);
    some.right_term = in_order ? columns : C_VECTORS_PANEL;
    while (c_vectors_next_part(&of, 1, &part)) {
        const float* in_part = right + c_vectors_tap(&part, 0, of.right_tap_row, of.right_tap) + part.l * of.right_term;
        some.tap_rows = part.tap_rows, some.taps = part.taps, some.terms = part.terms;
        if (!in_order) {
            c_vectors_pack_f32(&of, &part, columns, right, packed);
            some.right_tap = part.terms * C_VECTORS_PANEL, some.right_tap_row = part.taps * some.right_tap;
            in_part = packed;
        }
        c_vectors_rows_f32(some, lines, columns, 1, left + c_vectors_tap(&part, 0, of.left_tap_row, of.left_tap) + part.l, in_part, sums);
        some.adds = 1;
    }
}
C_VECTORS_FUNCTION void c_vectors_panel_s8(const struct c_vectors_sum of, const struct c_vectors_lines* lines, int64_t columns,
                                           const c_vectors_left* left, const int8_t* right, int32_t* sums) {
    C_VECTORS_ALIGNED int32_t packed[C_VECTORS_TERMS / C_VECTORS_STEP * C_VECTORS_PANEL];
    struct c_vectors_part part = {0, 0, 0, 0, 0, 0};
    struct c_vectors_sum some = of;
    while (c_vectors_next_part(&of, C_VECTORS_STEP, &part)) {
        c_vectors_ints start[2] = {{0}, {0}};
        int32_t* to = packed;
        for (int64_t tap = 0; tap < c_vectors_taps(&part); ++tap) {
            const int8_t* from = right + c_vectors_tap(&part, tap, of.right_tap_row, of.right_tap) + part.l * of.right_term;
            for (int64_t l = 0; l < part.terms; l += C_VECTORS_STEP, from += C_VECTORS_STEP * of.right_term, to += C_VECTORS_PANEL) {
                for (int v = 0; v < 2 && v * C_VECTORS_LANES < columns; ++v) {
                    const int64_t across = columns - v * C_VECTORS_LANES;
                    c_vectors_bytes rows_of[C_VECTORS_STEP] = {{0}};
                    for (int q = 0; q < C_VECTORS_STEP && l + q < part.terms; ++q)
                        rows_of[q] = c_vectors_load_bytes(from + q * of.right_term + v * C_VECTORS_LANES,
                                                          across < C_VECTORS_LANES ? (int)across : C_VECTORS_LANES);
                    const c_vectors_ints step = c_vectors_step_of_right(rows_of);
                    *(c_vectors_ints*)(to + v * C_VECTORS_LANES) = step;
                    start[v] = c_vectors_start(start[v], step);
                }
            }
        }
        some.tap_rows = part.tap_rows, some.taps = part.taps, some.terms = part.terms;
        c_vectors_rows_s8(some, lines, columns, left + c_vectors_tap(&part, 0, of.left_tap_row, of.left_tap) + part.l, packed,
                          (const int32_t*)start, sums);
        some.adds = 1;
    }
}

C_VECTORS_FUNCTION void c_vectors_panels_s8(struct c_vectors_sum of, const struct c_vectors_lines* lines, int64_t columns,
                                            const c_vectors_left* left, const int8_t* right, int32_t* sums) {
    /* Taps that follow each other on both sides are more terms. */
    if (of.left_tap == of.terms && of.right_tap == of.terms * of.right_term) of.terms *= of.taps, of.taps = 1;
    for (int64_t j = 0; j < columns; j += C_VECTORS_PANEL)
        c_vectors_panel_s8(of, lines, columns - j < C_VECTORS_PANEL ? columns - j : C_VECTORS_PANEL, left, right + j, sums + j);
}
#if C_VECTORS_STEP == 2
C_VECTORS_INLINE void c_vectors_widen_terms(const int8_t* from, int64_t count, int16_t* to) {
    int64_t l = 0;
#if defined(__AVX2__)
    for (; l + 16 <= count; l += 16)
        _mm256_storeu_si256((__m256i*)(void*)(to + l), _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)(const void*)(from + l))));
#endif
    for (; l + 8 <= count; l += 8) {
        const __m128i some = _mm_loadl_epi64((const __m128i*)(const void*)(from + l));
        _mm_storeu_si128((__m128i*)(void*)(to + l), _mm_srai_epi16(_mm_unpacklo_epi8(some, some), 8));
    }
    for (; l < count; ++l) to[l] = from[l];
}
/* How many results along one side take so many pixels, each of them `taps` from every `step`-th one; and the reverse. Pixels between that
 * none takes are left out. */
C_VECTORS_INLINE int64_t c_vectors_results(int64_t pixels, int64_t taps, int64_t step) {
    return pixels < taps ? 0 : (pixels - taps) / (step < taps ? step : taps) + 1;
}
C_VECTORS_INLINE int64_t c_vectors_taken(int64_t results, int64_t taps, int64_t step) {
    return (results - 1) * (step < taps ? step : taps) + taps;
}
C_VECTORS_INLINE int64_t c_vectors_place(int64_t taken, int64_t taps, int64_t step) {
    return step < taps ? taken : taken / taps * step + taken % taps;
}
#endif
#define C_VECTORS_WORDS 16384
/* Sums over windows that begin at every `step`-th pixel; a window has at most C_VECTORS_WORDS terms. */
C_VECTORS_FUNCTION void c_vectors_windows_s8(const struct c_vectors_sum of, const struct c_vectors_lines lines, int64_t step,
                                             int64_t columns, const int8_t* left, const int8_t* right, int32_t* sums) {
#if C_VECTORS_STEP == 2
    /* Bytes become words once, for all columns and all windows that have them: as much of the image at a time as there is room for. */
    C_VECTORS_ALIGNED int16_t words[C_VECTORS_WORDS + 2];
    const int64_t wide = c_vectors_results(C_VECTORS_WORDS / (of.tap_rows * of.terms), of.taps, step);
    for (int64_t x = 0, some; x < lines.rows; x += some) {
        some = lines.rows - x < wide ? lines.rows - x : wide;
        const int64_t across = c_vectors_taken(some, of.taps, step), line = across * of.terms,
                      run = of.left_tap != of.terms ? 1
                            : step < of.taps        ? across
                                                    : of.taps,
                      high = c_vectors_results(C_VECTORS_WORDS / line, of.tap_rows, step);
        struct c_vectors_sum in_words = of;
        in_words.left_tap_row = line, in_words.left_tap = of.terms, in_words.left_row = (step < of.taps ? step : of.taps) * of.terms;
        for (int64_t y = 0; y < lines.lines; y += high) {
            const struct c_vectors_lines here = {lines.lines - y < high ? lines.lines - y : high, some,
                                                 (step < of.tap_rows ? step : of.tap_rows) * line, lines.sums_line};
            const int64_t down = c_vectors_taken(here.lines, of.tap_rows, step);
            for (int64_t row = 0; row < down; ++row) {
                const int8_t* from = left + (y * step + c_vectors_place(row, of.tap_rows, step)) * of.left_tap_row + x * of.left_row;
                for (int64_t at = 0; at < across; at += run)
                    c_vectors_widen_terms(from + c_vectors_place(at, of.taps, step) * of.left_tap, run * of.terms,
                                          words + row * line + at * of.terms);
            }
            words[down * line] = 0;
            c_vectors_panels_s8(in_words, &here, columns, words, right, sums + y * lines.sums_line + x * of.sums_row);
        }
    }
#else
    (void)step;
    c_vectors_panels_s8(of, &lines, columns, left, right, sums);
#endif
}
/* Windows of any size. Where words are made, each panel of filters is put in order for some 64 results at least, or for all: otherwise that
 * would take longer than the sums. So some of the terms are summed at a time. */
C_VECTORS_FUNCTION void c_vectors_image_s8(struct c_vectors_sum of, const struct c_vectors_lines lines, int64_t step, int64_t columns,
                                           const int8_t* left, const int8_t* right, int32_t* sums) {
    const struct c_vectors_sum whole = of;
    int64_t terms = whole.terms;
#if C_VECTORS_STEP == 2
    const int64_t wide = lines.rows < 64 ? lines.rows : 64, needed = (63 + wide) / wide, high = lines.lines < needed ? lines.lines : needed,
                  room = C_VECTORS_WORDS / (c_vectors_taken(wide, of.taps, step) * c_vectors_taken(high, of.tap_rows, step));
    if (terms > room) terms = room < 64 ? 64 : room / 64 * 64;
    of.tap_rows = whole.tap_rows * whole.taps * terms <= C_VECTORS_WORDS ? whole.tap_rows : 1;
    of.taps = of.tap_rows * whole.taps * terms <= C_VECTORS_WORDS ? whole.taps : 1;
#endif
    for (int64_t r = 0; r < whole.tap_rows; r += of.tap_rows) {
        for (int64_t t = 0; t < whole.taps; t += of.taps) {
            for (int64_t l = 0; l < whole.terms; l += terms) {
                of.terms = whole.terms - l < terms ? whole.terms - l : terms;
                c_vectors_windows_s8(of, lines, step, columns, left + r * of.left_tap_row + t * of.left_tap + l,
                                     right + r * of.right_tap_row + t * of.right_tap + l * of.right_term, sums);
                of.adds = 1;
            }
        }
    }
}

/* sums(i, j) of left(i, l) times right(l, j). */
C_VECTORS_FUNCTION int c_vectors_f32(int64_t rows, int64_t columns, int64_t terms, const void* left, int64_t left_row, const void* right,
                                     int64_t right_row, void* sums, int64_t sums_row, int64_t adds) {
    const struct c_vectors_sum of = {1, 1, terms, 0, 0, left_row, 0, 0, right_row, sums_row, adds != 0};
    const struct c_vectors_lines lines = {1, rows, 0, 0};
    for (int64_t j = 0; j < columns;) {
        int64_t across = columns - j < C_VECTORS_PANEL ? columns - j : C_VECTORS_PANEL;
        if (rows <= C_VECTORS_ROWS) {
            /* For few rows it does not pay to put the right in order. */
            if (across > C_VECTORS_LANES && across < C_VECTORS_PANEL) across = C_VECTORS_LANES;
            c_vectors_rows_f32(of, &lines, across, 0, (const float*)left, (const float*)right + j, (float*)sums + j);
        } else {
            c_vectors_panel_f32(of, &lines, across, (const float*)left, (const float*)right + j, (float*)sums + j);
        }
        j += across;
    }
    return 0;
}
/* For few rows it does not pay to put the right in order. A step has `terms` terms. */
struct c_vectors_few_sums {
    c_vectors_ints sums[2][2], start[2];
};
C_VECTORS_INLINE void c_vectors_few_step_s8(const int rows, const int vectors, const int lanes, const int terms, int64_t right_term,
                                            const c_vectors_left* left, int64_t left_row, const int8_t* right,
                                            struct c_vectors_few_sums* made) {
    C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) {
        c_vectors_bytes some[C_VECTORS_STEP] = {{0}};
        C_VECTORS_UNROLL for (int q = 0; q < C_VECTORS_STEP; ++q) {
            if (q < terms) some[q] = c_vectors_load_bytes(right + q * right_term + v * C_VECTORS_LANES, lanes);
        }
        const c_vectors_ints by = c_vectors_step_of_right(some);
        made->start[v] = c_vectors_start(made->start[v], by);
        C_VECTORS_UNROLL for (int i = 0; i < rows; ++i) made->sums[i][v] =
            c_vectors_dot(made->sums[i][v], by, c_vectors_step_of_tile(left + i * left_row, terms));
    }
}
C_VECTORS_INLINE void c_vectors_few_s8(const int rows, const int vectors, const int lanes, const struct c_vectors_sum* of,
                                       const c_vectors_left* left, int64_t left_row, const int8_t* right, int32_t* to) {
    struct c_vectors_few_sums made = {{{{0}, {0}}, {{0}, {0}}}, {{0}, {0}}};
    int64_t l = 0;
    for (; l + C_VECTORS_STEP <= of->terms; l += C_VECTORS_STEP)
        c_vectors_few_step_s8(rows, vectors, lanes, C_VECTORS_STEP, of->right_term, left + l, left_row, right + l * of->right_term, &made);
    if (l < of->terms)
        c_vectors_few_step_s8(rows, vectors, lanes, (int)(of->terms - l), of->right_term, left + l, left_row, right + l * of->right_term,
                              &made);
    C_VECTORS_UNROLL for (int i = 0; i < rows; ++i) {
        C_VECTORS_UNROLL for (int v = 0; v < vectors; ++v) {
            int32_t* const at = to + i * of->sums_row + v * C_VECTORS_LANES;
            c_vectors_ints sum = made.sums[i][v] + made.start[v];
            if (of->adds) sum += c_vectors_load_ints(at, lanes);
            c_vectors_store_ints(at, sum, lanes);
        }
    }
}
C_VECTORS_FUNCTION void c_vectors_few_rows_s8(const struct c_vectors_sum of, int64_t rows, int64_t columns, const c_vectors_left* left,
                                              int64_t left_row, const int8_t* right, int32_t* sums) {
    for (int64_t j = 0, some; j < columns; j += some) {
        some = columns - j >= C_VECTORS_PANEL ? C_VECTORS_PANEL : C_VECTORS_LANES;
#define C_VECTORS_FEW(rows, vectors, lanes) c_vectors_few_s8(rows, vectors, lanes, &of, left, left_row, right + j, sums + j)
        if (some == C_VECTORS_PANEL && rows == 1) C_VECTORS_FEW(1, 2, C_VECTORS_LANES);
        else if (some == C_VECTORS_PANEL) C_VECTORS_FEW(2, 2, C_VECTORS_LANES);
        else if (columns - j >= C_VECTORS_LANES) C_VECTORS_FEW((int)rows, 1, C_VECTORS_LANES);
        else C_VECTORS_FEW((int)rows, 1, (int)(columns - j));
#undef C_VECTORS_FEW
    }
}
#define C_VECTORS_FEW_TERMS 1024
C_VECTORS_FUNCTION int c_vectors_s8(int64_t rows, int64_t columns, int64_t terms, const void* left, int64_t left_row, const void* right,
                                    int64_t right_row, void* sums, int64_t sums_row, int64_t adds) {
    const struct c_vectors_sum of = {1, 1, terms, 0, left_row, left_row, 0, 0, right_row, sums_row, adds != 0};
    const struct c_vectors_lines lines = {1, rows, 0, 0};
    if (rows <= 2) {
#if C_VECTORS_STEP == 2
        int16_t words[2 * (C_VECTORS_FEW_TERMS + 1)];
        struct c_vectors_sum some = of;
        for (int64_t l = 0; l < terms; l += C_VECTORS_FEW_TERMS, some.adds = 1) {
            some.terms = terms - l < C_VECTORS_FEW_TERMS ? terms - l : C_VECTORS_FEW_TERMS;
            for (int64_t i = 0; i < rows; ++i) {
                int16_t* const row = words + i * (C_VECTORS_FEW_TERMS + 1);
                c_vectors_widen_terms((const int8_t*)left + i * left_row + l, some.terms, row);
                row[some.terms] = 0;
            }
            c_vectors_few_rows_s8(some, rows, columns, words, C_VECTORS_FEW_TERMS + 1, (const int8_t*)right + l * right_row,
                                  (int32_t*)sums);
        }
#else
        c_vectors_few_rows_s8(of, rows, columns, (const int8_t*)left, left_row, (const int8_t*)right, (int32_t*)sums);
#endif
        return 0;
    }
    c_vectors_image_s8(of, lines, 1, columns, (const int8_t*)left, (const int8_t*)right, (int32_t*)sums);
    return 0;
}

C_VECTORS_FUNCTION void c_vectors_image_f32(struct c_vectors_sum of, const struct c_vectors_lines lines, int64_t step, int64_t columns,
                                            const float* left, const float* right, float* sums) {
    (void)step;
    /* Taps that follow each other on both sides are more terms. */
    if (of.left_tap == of.terms && of.right_tap == of.terms * of.right_term) of.terms *= of.taps, of.taps = 1;
    for (int64_t j = 0; j < columns; j += C_VECTORS_PANEL)
        c_vectors_panel_f32(of, &lines, columns - j < C_VECTORS_PANEL ? columns - j : C_VECTORS_PANEL, left, right + j, sums + j);
}
/* sums(y, x, j) of image(step y + r, step x + t, l) times filter(r, t, l, j). */
#define C_VECTORS_PIXELS(name, element, sum, image_of)                                                                                    \
    C_VECTORS_FUNCTION int name(int64_t tap_rows, int64_t taps, int64_t rows, int64_t columns, int64_t channels, int64_t terms,           \
                                const void* image, int64_t image_row, int64_t image_pixel, int64_t step, const void* filter,              \
                                int64_t filter_tap_row, int64_t filter_tap, int64_t filter_term, void* sums, int64_t sums_row,            \
                                int64_t sums_pixel) {                                                                                     \
        const struct c_vectors_sum of = {tap_rows,   taps,        terms,      image_row, image_pixel, step * image_pixel, filter_tap_row, \
                                         filter_tap, filter_term, sums_pixel, 0};                                                         \
        const struct c_vectors_lines lines = {rows, columns, step * image_row, sums_row};                                                 \
        image_of(of, lines, step, channels, (const element*)image, (const element*)filter, (sum*)sums);                                   \
        return 0;                                                                                                                         \
    }
C_VECTORS_PIXELS(c_vectors_pixels_f32, float, float, c_vectors_image_f32)
C_VECTORS_PIXELS(c_vectors_pixels_s8, int8_t, int32_t, c_vectors_image_s8)

/* Right(l, j) lies `right_row` from row to row and `right_column` from column to column: some of it is put in order at a time. */
#define C_VECTORS_TERMS_AT_A_TIME 32
#define C_VECTORS_COLUMNS_AT_A_TIME 256
#define C_VECTORS_APART(name, element, sum, product)                                                                                       \
    C_VECTORS_FUNCTION int name(int64_t rows, int64_t columns, int64_t terms, const void* left_at, int64_t left_row, const void* right_at, \
                                int64_t right_row, int64_t right_column, void* sums_at, int64_t sums_row, int64_t adds) {                  \
        const element *const left = (const element*)left_at, *const right = (const element*)right_at;                                      \
        sum* const sums = (sum*)sums_at;                                                                                                   \
        element some[C_VECTORS_TERMS_AT_A_TIME * C_VECTORS_COLUMNS_AT_A_TIME];                                                             \
        for (int64_t j = 0; j < columns; j += C_VECTORS_COLUMNS_AT_A_TIME) {                                                               \
            const int64_t across = columns - j < C_VECTORS_COLUMNS_AT_A_TIME ? columns - j : C_VECTORS_COLUMNS_AT_A_TIME;                  \
            for (int64_t l = 0; l < terms; l += C_VECTORS_TERMS_AT_A_TIME) {                                                               \
                const int64_t down = terms - l < C_VECTORS_TERMS_AT_A_TIME ? terms - l : C_VECTORS_TERMS_AT_A_TIME;                        \
                const element* const from = right + l * right_row + j * right_column;                                                      \
                if (right_row == 1) {                                                                                                      \
                    for (int64_t c = 0; c < across; ++c)                                                                                   \
                        for (int64_t r = 0; r < down; ++r) some[r * across + c] = from[c * right_column + r];                              \
                } else {                                                                                                                   \
                    for (int64_t r = 0; r < down; ++r)                                                                                     \
                        for (int64_t c = 0; c < across; ++c) some[r * across + c] = from[r * right_row + c * right_column];                \
                }                                                                                                                          \
                product(rows, across, down, left + l, left_row, some, across, sums + j, sums_row, adds || l > 0);                          \
            }                                                                                                                              \
        }                                                                                                                                  \
        return 0;                                                                                                                          \
    }
C_VECTORS_APART(c_vectors_f32_apart, float, float, c_vectors_f32)
C_VECTORS_APART(c_vectors_s8_apart, int8_t, int32_t, c_vectors_s8)

C_VECTORS_INLINE c_vectors_ints c_vectors_widen(c_vectors_bytes some) {
    /* gcc 12 converts element by element. */
#if C_VECTORS_LANES == 16
    return (c_vectors_ints)_mm512_cvtepi8_epi32((__m128i)some);
#elif C_VECTORS_LANES == 8 && defined(__AVX2__)
    return (c_vectors_ints)_mm256_cvtepi8_epi32(c_vectors_eight(&some));
#elif C_VECTORS_LANES == 4 && defined(__SSE2__)
    int32_t all;
    memcpy(&all, &some, sizeof all);
    const __m128i twice = _mm_unpacklo_epi8(_mm_cvtsi32_si128(all), _mm_cvtsi32_si128(all));
    return (c_vectors_ints)_mm_srai_epi32(_mm_unpacklo_epi16(twice, twice), 24);
#else
    return __builtin_convertvector(some, c_vectors_ints);
#endif
}
C_VECTORS_INLINE c_vectors_ints c_vectors_add_ints(const int8_t* one, const int8_t* by, int lanes, c_vectors_ints to) {
    const c_vectors_ints a = c_vectors_widen(c_vectors_load_bytes(one, lanes)), b = c_vectors_widen(c_vectors_load_bytes(by, lanes));
    /* Bytes are words: a product of words takes less time than one of numbers of 32 bits. The upper words of a number must not count. */
#if C_VECTORS_LANES == 8 && defined(__AVX2__)
    return to + (c_vectors_ints)_mm256_madd_epi16((__m256i)a, _mm256_blend_epi16((__m256i)b, _mm256_setzero_si256(), 0xaa));
#elif C_VECTORS_LANES == 4 && defined(__SSE2__)
    return to + (c_vectors_ints)_mm_madd_epi16((__m128i)a, _mm_and_si128((__m128i)b, _mm_set1_epi32(0xffff)));
#else
    return to + a * b;
#endif
}
C_VECTORS_INLINE c_vectors_floats c_vectors_add_floats(const float* one, const float* by, int lanes, c_vectors_floats to) {
    const c_vectors_floats a = c_vectors_load_floats(one, lanes), b = c_vectors_load_floats(by, lanes);
#if C_VECTORS_LANES == 16
    return (c_vectors_floats)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)to);
#elif C_VECTORS_LANES == 8 && defined(__FMA__)
    return (c_vectors_floats)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)to);
#elif defined(__ARM_FEATURE_FMA) && defined(__ARM_NEON)
    return (c_vectors_floats)vfmaq_f32((float32x4_t)to, (float32x4_t)a, (float32x4_t)b);
#else
    return to + a * b;
#endif
}
/* sums(y, x, j) of image(step y + r, step x + t, j) times filter(r, t, j). The last channels are summed again with some before them: whole
 * vectors take less time than parts. A row of three taps, `few`, is written out: neighbouring windows share pixels, and each is loaded
 * once. */
#define C_VECTORS_WINDOW(name, element, sum, vector, add, store)                                                                         \
    C_VECTORS_INLINE void name##_pixels(const int pixels, const int lanes, const int few, int64_t tap_rows, int64_t taps,                \
                                        const element* image, int64_t image_row, int64_t image_pixel, const int64_t step,                \
                                        const element* filter, int64_t filter_row, int64_t filter_tap, sum* to, int64_t to_pixel) {      \
        vector sums[4];                                                                                                                  \
        const vector none = {0};                                                                                                         \
        C_VECTORS_UNROLL for (int i = 0; i < pixels; ++i) sums[i] = none;                                                                \
        for (int64_t r = 0; r < tap_rows; ++r, image += image_row, filter += filter_row) {                                               \
            C_VECTORS_UNROLL for (int t = 0; t < few; ++t) {                                                                             \
                C_VECTORS_UNROLL for (int i = 0; i < pixels; ++i) sums[i] =                                                              \
                    add(image + (step * i + t) * image_pixel, filter + t * filter_tap, lanes, sums[i]);                                  \
            }                                                                                                                            \
            for (int64_t t = few; t < taps; ++t) {                                                                                       \
                C_VECTORS_UNROLL for (int i = 0; i < pixels; ++i) sums[i] =                                                              \
                    add(image + (step * i + t) * image_pixel, filter + t * filter_tap, lanes, sums[i]);                                  \
            }                                                                                                                            \
        }                                                                                                                                \
        C_VECTORS_UNROLL for (int i = 0; i < pixels; ++i) store(to + i * to_pixel, sums[i], lanes);                                      \
    }                                                                                                                                    \
    C_VECTORS_FUNCTION int name(int64_t tap_rows, int64_t taps, int64_t rows, int64_t columns, int64_t channels, const void* image,      \
                                int64_t image_row, int64_t image_pixel, int64_t step, const void* filter, int64_t filter_row,            \
                                int64_t filter_tap, void* sums, int64_t sums_row, int64_t sums_pixel) {                                  \
        const int64_t before = channels - C_VECTORS_LANES;                                                                               \
        for (int64_t y = 0; y < rows; ++y) {                                                                                             \
            for (int64_t next_x = 0, pixels; next_x < columns; next_x += pixels) {                                                       \
                const int64_t x = before >= 0 && columns >= 4 && columns - next_x == 3 ? next_x - 1 : next_x;                            \
                const element* const from = (const element*)image + step * (y * image_row + x * image_pixel);                            \
                const element* const by = (const element*)filter;                                                                        \
                sum* const to = (sum*)sums + y * sums_row + x * sums_pixel;                                                              \
                pixels = before >= 0 && columns - x >= 4 ? 4 : 1;                                                                        \
                for (int64_t next = 0; next < channels; next += C_VECTORS_LANES) {                                                       \
                    const int64_t j = before < next && before > 0 ? before : next;                                                       \
                    if (pixels == 4 && taps == 3 && step == 1)                                                                           \
                        name##_pixels(4, C_VECTORS_LANES, 3, tap_rows, 3, from + j, image_row, image_pixel, 1, by + j, filter_row,       \
                                      filter_tap, to + j, sums_pixel);                                                                   \
                    else if (pixels == 4 && taps == 3 && step == 2)                                                                      \
                        name##_pixels(4, C_VECTORS_LANES, 3, tap_rows, 3, from + j, image_row, image_pixel, 2, by + j, filter_row,       \
                                      filter_tap, to + j, sums_pixel);                                                                   \
                    else if (pixels == 4)                                                                                                \
                        name##_pixels(4, C_VECTORS_LANES, 0, tap_rows, taps, from + j, image_row, image_pixel, step, by + j, filter_row, \
                                      filter_tap, to + j, sums_pixel);                                                                   \
                    else                                                                                                                 \
                        name##_pixels(1, before < 0 ? (int)channels : C_VECTORS_LANES, 0, tap_rows, taps, from + j, image_row,           \
                                      image_pixel, step, by + j, filter_row, filter_tap, to + j, sums_pixel);                            \
                }                                                                                                                        \
            }                                                                                                                            \
        }                                                                                                                                \
        return 0;                                                                                                                        \
    }
C_VECTORS_WINDOW(c_vectors_window_f32, float, float, c_vectors_floats, c_vectors_add_floats, c_vectors_store_floats)
C_VECTORS_WINDOW(c_vectors_window_s8, int8_t, int32_t, c_vectors_ints, c_vectors_add_ints, c_vectors_store_ints)

#else
/* The same in plain C: sums of products over the taps of a window and the terms of each, element by element. */
#define C_VECTORS_SUMS(name, element, sum)                                                                                      \
    static inline void name(const int64_t extents[6], const element* left, const int64_t by_left[6], const element* right,      \
                            const int64_t by_right[6], sum* to, const int64_t by_sums[3], int adds) {                           \
        int64_t at[5];                                                                                                          \
        for (at[0] = 0; at[0] < extents[0]; ++at[0]) {                                                                          \
            for (at[1] = 0; at[1] < extents[1]; ++at[1]) {                                                                      \
                for (at[2] = 0; at[2] < extents[2]; ++at[2]) {                                                                  \
                    sum* const one = to + at[0] * by_sums[0] + at[1] * by_sums[1] + at[2] * by_sums[2];                         \
                    sum total = adds ? *one : 0;                                                                                \
                    for (at[3] = 0; at[3] < extents[3]; ++at[3]) {                                                              \
                        for (at[4] = 0; at[4] < extents[4]; ++at[4]) {                                                          \
                            const element *a = left, *b = right;                                                                \
                            for (int loop = 0; loop < 5; ++loop) a += at[loop] * by_left[loop], b += at[loop] * by_right[loop]; \
                            for (int64_t l = 0; l < extents[5]; ++l) total += (sum)a[l * by_left[5]] * (sum)b[l * by_right[5]]; \
                        }                                                                                                       \
                    }                                                                                                           \
                    *one = total;                                                                                               \
                }                                                                                                               \
            }                                                                                                                   \
        }                                                                                                                       \
    }
C_VECTORS_SUMS(c_vectors_sums_f32, float, float)
C_VECTORS_SUMS(c_vectors_sums_s8, int8_t, int32_t)
#define C_VECTORS_PRODUCT(name, sums_of, element, sum)                                                                               \
    C_VECTORS_FUNCTION int name##_apart(int64_t rows, int64_t columns, int64_t terms, const void* left, int64_t left_row,            \
                                        const void* right, int64_t right_row, int64_t right_column, void* sums, int64_t sums_row,    \
                                        int64_t adds) {                                                                              \
        const int64_t extents[6] = {1, rows, columns, 1, 1, terms}, by_left[6] = {0, left_row, 0, 0, 0, 1},                          \
                      by_right[6] = {0, 0, right_column, 0, 0, right_row}, by_sums[3] = {0, sums_row, 1};                            \
        sums_of(extents, (const element*)left, by_left, (const element*)right, by_right, (sum*)sums, by_sums, adds != 0);            \
        return 0;                                                                                                                    \
    }                                                                                                                                \
    C_VECTORS_FUNCTION int name(int64_t rows, int64_t columns, int64_t terms, const void* left, int64_t left_row, const void* right, \
                                int64_t right_row, void* sums, int64_t sums_row, int64_t adds) {                                     \
        return name##_apart(rows, columns, terms, left, left_row, right, right_row, 1, sums, sums_row, adds);                        \
    }
C_VECTORS_PRODUCT(c_vectors_f32, c_vectors_sums_f32, float, float)
C_VECTORS_PRODUCT(c_vectors_s8, c_vectors_sums_s8, int8_t, int32_t)
#define C_VECTORS_IMAGES(kind, sums_of, element, sum)                                                                                      \
    C_VECTORS_FUNCTION int c_vectors_pixels_##kind(int64_t tap_rows, int64_t taps, int64_t rows, int64_t columns, int64_t channels,        \
                                                   int64_t terms, const void* image, int64_t image_row, int64_t image_pixel, int64_t step, \
                                                   const void* filter, int64_t filter_tap_row, int64_t filter_tap, int64_t filter_term,    \
                                                   void* sums, int64_t sums_row, int64_t sums_pixel) {                                     \
        const int64_t extents[6] = {rows, columns, channels, tap_rows, taps, terms},                                                       \
                      by_left[6] = {step * image_row, step * image_pixel, 0, image_row, image_pixel, 1},                                   \
                      by_right[6] = {0, 0, 1, filter_tap_row, filter_tap, filter_term}, by_sums[3] = {sums_row, sums_pixel, 1};            \
        sums_of(extents, (const element*)image, by_left, (const element*)filter, by_right, (sum*)sums, by_sums, 0);                        \
        return 0;                                                                                                                          \
    }                                                                                                                                      \
    C_VECTORS_FUNCTION int c_vectors_window_##kind(int64_t tap_rows, int64_t taps, int64_t rows, int64_t columns, int64_t channels,        \
                                                   const void* image, int64_t image_row, int64_t image_pixel, int64_t step,                \
                                                   const void* filter, int64_t filter_row, int64_t filter_tap, void* sums,                 \
                                                   int64_t sums_row, int64_t sums_pixel) {                                                 \
        const int64_t extents[6] = {rows, columns, channels, tap_rows, taps, 1},                                                           \
                      by_left[6] = {step * image_row, step * image_pixel, 1, image_row, image_pixel, 0},                                   \
                      by_right[6] = {0, 0, 1, filter_row, filter_tap, 0}, by_sums[3] = {sums_row, sums_pixel, 1};                          \
        sums_of(extents, (const element*)image, by_left, (const element*)filter, by_right, (sum*)sums, by_sums, 0);                        \
        return 0;                                                                                                                          \
    }
C_VECTORS_IMAGES(f32, c_vectors_sums_f32, float, float)
C_VECTORS_IMAGES(s8, c_vectors_sums_s8, int8_t, int32_t)
#endif

/* A number as `rescale` scales it that rounds twice. */
static inline int32_t c_vectors_scaled(int32_t number, int32_t multiplier, int32_t shift) {
    const int32_t left = shift < 0 ? -shift : 0, right = shift > 0 ? shift : 0;
    int64_t moved = (int64_t)((uint64_t)(int64_t)number << left);
    moved = moved > INT32_MAX ? INT32_MAX : moved < INT32_MIN ? INT32_MIN : moved;
    int64_t scaled = (moved * multiplier + (INT64_C(1) << 30)) >> 31;
    scaled = scaled > INT32_MAX ? INT32_MAX : scaled;
    const int64_t half = ((INT64_C(1) << right) + (scaled < 0 ? -1 : 0)) >> 1;
    return (int32_t)((scaled + half) >> right);
}
/* Likewise as a byte: limited, and moved by the zero point. */
static inline int8_t c_vectors_rescaled(int32_t sum, int32_t multiplier, int32_t shift, int32_t low, int32_t high, int32_t zero) {
    const int32_t scaled = c_vectors_scaled(sum, multiplier, shift), below = scaled > high ? high : scaled;
    return (int8_t)((below < low ? low : below) + zero);
}
#if !defined(C_VECTORS_PLAIN_C) && defined(__AVX2__)
#define C_VECTORS_HAS_REGISTERS
#if C_VECTORS_LANES == 16
typedef __m512i c_vectors_register;
#define C_VECTORS_INTRINSIC(operation) _mm512_##operation
#else
typedef __m256i c_vectors_register;
#define C_VECTORS_INTRINSIC(operation) _mm256_##operation
#endif
/* What scales numbers of 32 bits, a lane each. `odd`: multipliers of the lanes 1, 3, ... in those before them. `mask`: bits that a shift to
   the right takes out. */
struct c_vectors_scale {
    c_vectors_register multiplier, odd, left, right, mask, limit;
    int goes_left;
};
/* @return whether numbers can be scaled so: by no multiplier that is the least number */
C_VECTORS_INLINE int c_vectors_read_scale(struct c_vectors_scale* to, c_vectors_register multiplier, c_vectors_register shift) {
    const c_vectors_register none = C_VECTORS_INTRINSIC(set1_epi32)(0), one = C_VECTORS_INTRINSIC(set1_epi32)(1),
                             least = C_VECTORS_INTRINSIC(set1_epi32)(INT32_MIN);
    to->multiplier = multiplier, to->odd = C_VECTORS_INTRINSIC(srli_epi64)(multiplier, 32);
    to->left = C_VECTORS_INTRINSIC(max_epi32)(C_VECTORS_INTRINSIC(sub_epi32)(none, shift), none);
    to->right = C_VECTORS_INTRINSIC(max_epi32)(shift, none);
    to->mask = C_VECTORS_INTRINSIC(sub_epi32)(C_VECTORS_INTRINSIC(sllv_epi32)(one, to->right), one);
    to->limit = C_VECTORS_INTRINSIC(srli_epi32)(to->mask, 1);
#if C_VECTORS_LANES == 16
    to->goes_left = _mm512_test_epi32_mask(to->left, to->left) != 0;
    return _mm512_cmpeq_epi32_mask(multiplier, least) == 0;
#else
    to->goes_left = !_mm256_testz_si256(to->left, to->left);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(multiplier, least)) == 0;
#endif
}
/* Numbers shifted to the left, or the nearest that 32 bits hold. */
C_VECTORS_INLINE c_vectors_register c_vectors_shifted(c_vectors_register number, c_vectors_register left) {
    const c_vectors_register moved = C_VECTORS_INTRINSIC(sllv_epi32)(number, left), back = C_VECTORS_INTRINSIC(srav_epi32)(moved, left),
                             end = C_VECTORS_INTRINSIC(srai_epi32)(number, 31) ^ C_VECTORS_INTRINSIC(set1_epi32)(INT32_MAX);
#if C_VECTORS_LANES == 16
    return _mm512_mask_mov_epi32(end, _mm512_cmpeq_epi32_mask(back, number), moved);
#else
    return _mm256_blendv_epi8(end, moved, _mm256_cmpeq_epi32(back, number));
#endif
}
/* `c_vectors_scaled` of a register of lanes. */
C_VECTORS_INLINE c_vectors_register c_vectors_scaled_lanes(c_vectors_register number, const struct c_vectors_scale* by) {
    if (by->goes_left) number = c_vectors_shifted(number, by->left);
    /* 2^30 in each 64 bits. */
    const c_vectors_register half = C_VECTORS_INTRINSIC(srli_epi64)(C_VECTORS_INTRINSIC(set1_epi32)(1 << 30), 32);
    const c_vectors_register even = C_VECTORS_INTRINSIC(add_epi64)(C_VECTORS_INTRINSIC(mul_epi32)(number, by->multiplier), half);
    const c_vectors_register high = C_VECTORS_INTRINSIC(srli_epi64)(number, 32);
    const c_vectors_register odd = C_VECTORS_INTRINSIC(add_epi64)(C_VECTORS_INTRINSIC(mul_epi32)(high, by->odd), half);
    /* Bits 31 to 62 of each: all of it, unless both factors are the least number. Then they are rounded to the nearest, halves away from 0:
       what is shifted out is compared with a half. */
    const c_vectors_register of_even = C_VECTORS_INTRINSIC(srli_epi64)(even, 31), of_odd = C_VECTORS_INTRINSIC(slli_epi64)(odd, 1);
#if C_VECTORS_LANES == 16
    const __m512i scaled = _mm512_mask_blend_epi32(0xaaaa, of_even, of_odd);
#else
    const __m256i scaled = _mm256_blend_epi32(of_even, of_odd, 0xaa);
#endif
    const c_vectors_register rest = scaled & by->mask,
                             limit = C_VECTORS_INTRINSIC(sub_epi32)(by->limit, C_VECTORS_INTRINSIC(srai_epi32)(scaled, 31)),
                             down = C_VECTORS_INTRINSIC(srav_epi32)(scaled, by->right);
#if C_VECTORS_LANES == 16
    return _mm512_mask_add_epi32(down, _mm512_cmpgt_epi32_mask(rest, limit), down, _mm512_set1_epi32(1));
#else
    return _mm256_sub_epi32(down, _mm256_cmpgt_epi32(rest, limit));
#endif
}
/* `c_vectors_rescaled` of a register of lanes, which are bytes then. */
C_VECTORS_INLINE c_vectors_register c_vectors_rescaled_lanes(c_vectors_register sum, const struct c_vectors_scale* by, int32_t low,
                                                             int32_t high, int32_t zero) {
    const c_vectors_register below = C_VECTORS_INTRINSIC(min_epi32)(c_vectors_scaled_lanes(sum, by), C_VECTORS_INTRINSIC(set1_epi32)(high));
    return C_VECTORS_INTRINSIC(add_epi32)(C_VECTORS_INTRINSIC(max_epi32)(below, C_VECTORS_INTRINSIC(set1_epi32)(low)),
                                          C_VECTORS_INTRINSIC(set1_epi32)(zero));
}
C_VECTORS_INLINE c_vectors_register c_vectors_load_lanes(const int32_t* from) {
#if C_VECTORS_LANES == 16
    return _mm512_loadu_si512(from);
#else
    return _mm256_loadu_si256((const __m256i*)(const void*)from);
#endif
}
/* A register of bytes less a zero point, times 2^20, scaled. */
C_VECTORS_INLINE c_vectors_register c_vectors_scaled_bytes(const int8_t* from, int32_t zero, const struct c_vectors_scale* by) {
#if C_VECTORS_LANES == 16
    const __m512i bytes = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)(const void*)from));
#else
    const __m256i bytes = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)(const void*)from));
#endif
    const c_vectors_register less = C_VECTORS_INTRINSIC(sub_epi32)(bytes, C_VECTORS_INTRINSIC(set1_epi32)(zero));
    return c_vectors_scaled_lanes(C_VECTORS_INTRINSIC(slli_epi32)(less, 20), by);
}
/* Where a register of a row begins: where it is longer than what is left, earlier. Then its first bytes are written once more. */
C_VECTORS_INLINE int64_t c_vectors_lanes_at(int64_t columns, int64_t j) {
    return columns - j < C_VECTORS_LANES ? columns - C_VECTORS_LANES : j;
}
/* The lowest byte of each lane. */
C_VECTORS_INLINE void c_vectors_store_bytes(int8_t* to, c_vectors_register some) {
#if C_VECTORS_LANES == 16
    _mm_storeu_si128((__m128i*)(void*)to, _mm512_cvtepi32_epi8(some));
#else
    const __m256i of_halves = _mm256_shuffle_epi8(some, _mm256_set1_epi32(0x0c080400));
    const __m128i all = _mm_unpacklo_epi32(_mm256_castsi256_si128(of_halves), _mm256_extracti128_si256(of_halves, 1));
    _mm_storel_epi64((__m128i*)(void*)to, all);
#endif
}
#endif
C_VECTORS_FUNCTION int c_vectors_finish_s8(int64_t rows, int64_t columns, const void* sums_at, int64_t sums_row, const void* bias_at,
                                           const void* multiplier_at, const void* shift_at, const void* low_at, const void* high_at,
                                           const void* zero_at, void* finished_at, int64_t finished_row) {
    const int32_t *const sums = (const int32_t*)sums_at, *const bias = (const int32_t*)bias_at,
                         *const multiplier = (const int32_t*)multiplier_at, *const shift = (const int32_t*)shift_at,
                         *const low = (const int32_t*)low_at, *const high = (const int32_t*)high_at, *const zero = (const int32_t*)zero_at;
    int8_t* const finished = (int8_t*)finished_at;
    for (int64_t j = 0, next; j < columns; j = next) {
        next = columns;
#ifdef C_VECTORS_HAS_REGISTERS
        if (columns >= C_VECTORS_LANES) {
            const int64_t at = c_vectors_lanes_at(columns, j);
            struct c_vectors_scale by;
            next = at + C_VECTORS_LANES;
            if (c_vectors_read_scale(&by, c_vectors_load_lanes(multiplier + at), c_vectors_load_lanes(shift + at))) {
                const c_vectors_register added = c_vectors_load_lanes(bias + at);
                for (int64_t i = 0; i < rows; ++i) {
                    const c_vectors_register sum = C_VECTORS_INTRINSIC(add_epi32)(c_vectors_load_lanes(sums + i * sums_row + at), added);
                    c_vectors_store_bytes(finished + i * finished_row + at, c_vectors_rescaled_lanes(sum, &by, *low, *high, *zero));
                }
                continue;
            }
        }
#endif
        for (int64_t i = 0; i < rows; ++i) {
            for (int64_t at = j; at < next; ++at)
                finished[i * finished_row + at] = c_vectors_rescaled((int32_t)((uint32_t)sums[i * sums_row + at] + (uint32_t)bias[at]),
                                                                     multiplier[at], shift[at], *low, *high, *zero);
        }
    }
    return 0;
}
/* The same by scales of floats: rounded to the nearest, halves to the even number. */
static inline int8_t c_vectors_scaled_to_byte(int32_t sum, float scale, float low, float high, int32_t zero) {
    const float among_integers = 12582912.0f, scaled = (float)sum * scale, above = scaled < low ? low : scaled,
                limited = above < high ? above : high;
    return (int8_t)((int32_t)(limited + among_integers - among_integers) + zero);
}
C_VECTORS_FUNCTION int c_vectors_scale_s8(int64_t rows, int64_t columns, const void* sums_at, int64_t sums_row, const void* bias_at,
                                          const void* scale_at, const void* low_at, const void* high_at, const void* zero_at,
                                          void* finished_at, int64_t finished_row) {
    const int32_t *const sums = (const int32_t*)sums_at, *const bias = (const int32_t*)bias_at, *const zero = (const int32_t*)zero_at;
    const float *const scale = (const float*)scale_at, *const low = (const float*)low_at, *const high = (const float*)high_at;
    int8_t* const finished = (int8_t*)finished_at;
    for (int64_t j = 0, next; j < columns; j = next) {
        next = columns;
#ifdef C_VECTORS_HAS_REGISTERS
        if (columns >= C_VECTORS_LANES) {
            const int64_t at = c_vectors_lanes_at(columns, j);
            const c_vectors_register added = c_vectors_load_lanes(bias + at), moved = C_VECTORS_INTRINSIC(set1_epi32)(*zero);
            next = at + C_VECTORS_LANES;
            for (int64_t i = 0; i < rows; ++i) {
                const c_vectors_register sum = C_VECTORS_INTRINSIC(add_epi32)(c_vectors_load_lanes(sums + i * sums_row + at), added);
                const c_vectors_register limited = C_VECTORS_INTRINSIC(cvtps_epi32)(C_VECTORS_INTRINSIC(min_ps)(
                    C_VECTORS_INTRINSIC(max_ps)(
                        C_VECTORS_INTRINSIC(mul_ps)(C_VECTORS_INTRINSIC(cvtepi32_ps)(sum), C_VECTORS_INTRINSIC(loadu_ps)(scale + at)),
                        C_VECTORS_INTRINSIC(set1_ps)(*low)),
                    C_VECTORS_INTRINSIC(set1_ps)(*high)));
                c_vectors_store_bytes(finished + i * finished_row + at, C_VECTORS_INTRINSIC(add_epi32)(limited, moved));
            }
            continue;
        }
#endif
        for (int64_t i = 0; i < rows; ++i) {
            for (int64_t at = j; at < next; ++at)
                finished[i * finished_row + at] = c_vectors_scaled_to_byte(
                    (int32_t)((uint32_t)sums[i * sums_row + at] + (uint32_t)bias[at]), scale[at], *low, *high, *zero);
        }
    }
    return 0;
}
/* total(e) of left(e) and right(e), which have zero points and scales of their own. */
C_VECTORS_FUNCTION int c_vectors_add_s8(int64_t count, const void* left_at, const void* left_zero, const void* left_by,
                                        const void* left_shift, const void* right_at, const void* right_zero, const void* right_by,
                                        const void* right_shift, const void* multiplier_at, const void* shift_at, const void* low_at,
                                        const void* high_at, const void* zero_at, void* total_at) {
    const int8_t *const left = (const int8_t*)left_at, *const right = (const int8_t*)right_at;
    const int32_t a_zero = *(const int32_t*)left_zero, a_by = *(const int32_t*)left_by, a_shift = *(const int32_t*)left_shift,
                  b_zero = *(const int32_t*)right_zero, b_by = *(const int32_t*)right_by, b_shift = *(const int32_t*)right_shift,
                  multiplier = *(const int32_t*)multiplier_at, shift = *(const int32_t*)shift_at, low = *(const int32_t*)low_at,
                  high = *(const int32_t*)high_at, zero = *(const int32_t*)zero_at;
    int8_t* const total = (int8_t*)total_at;
    int64_t e = 0;
#ifdef C_VECTORS_HAS_REGISTERS
    struct c_vectors_scale of_left, of_right, of_total;
    if (c_vectors_read_scale(&of_left, C_VECTORS_INTRINSIC(set1_epi32)(a_by), C_VECTORS_INTRINSIC(set1_epi32)(a_shift)) &&
        c_vectors_read_scale(&of_right, C_VECTORS_INTRINSIC(set1_epi32)(b_by), C_VECTORS_INTRINSIC(set1_epi32)(b_shift)) &&
        c_vectors_read_scale(&of_total, C_VECTORS_INTRINSIC(set1_epi32)(multiplier), C_VECTORS_INTRINSIC(set1_epi32)(shift))) {
        for (; e + C_VECTORS_LANES <= count; e += C_VECTORS_LANES) {
            const c_vectors_register both = C_VECTORS_INTRINSIC(add_epi32)(c_vectors_scaled_bytes(left + e, a_zero, &of_left),
                                                                           c_vectors_scaled_bytes(right + e, b_zero, &of_right));
            c_vectors_store_bytes(total + e, c_vectors_rescaled_lanes(both, &of_total, low, high, zero));
        }
    }
#endif
    for (; e < count; ++e) {
        const int32_t a = c_vectors_scaled((left[e] - a_zero) * (1 << 20), a_by, a_shift),
                      b = c_vectors_scaled((right[e] - b_zero) * (1 << 20), b_by, b_shift);
        total[e] = c_vectors_rescaled((int32_t)((uint32_t)a + (uint32_t)b), multiplier, shift, low, high, zero);
    }
    return 0;
}
#ifdef __clang__
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#ifdef __cplusplus
}
#endif
#endif
