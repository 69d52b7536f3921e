/* The functions of targets/c_vectors.h beside loops that are written here, at shapes that are drawn. Buffers have exactly the elements that
 * a call may touch, so that sanitizers see any other access. Prints how many calls there were, and how many
 * elements differ. The argument is the number of rounds, of nine calls each. */
#include <stdio.h>
#include <stdlib.h>
#include <tilewright/targets/c_vectors.h>

#include "sums.h"

static uint64_t state = 88172645463325252u;
static int64_t drawn(int64_t low, int64_t high) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return low + (int64_t)(state % (uint64_t)(high - low + 1));
}
/* Mostly small, sometimes around the width of a vector or of what is put in order at a time. */
static int64_t extent(void) { return drawn(0, 3) == 0 ? drawn(1, 70) : drawn(0, 9) == 0 ? drawn(250, 300) : drawn(1, 17); }

static void* fresh(int64_t bytes) {
    void* const made = malloc((size_t)bytes);
    if (made == NULL) exit(2);
    return made;
}
static float* floats(int64_t count) {
    float* const made = fresh(4 * count);
    for (int64_t at = 0; at < count; ++at) made[at] = (float)drawn(-64, 64) / 64;
    return made;
}
static int8_t* bytes(int64_t count) {
    int8_t* const made = fresh(count);
    for (int64_t at = 0; at < count; ++at) made[at] = (int8_t)drawn(-128, 127);
    return made;
}
static int32_t* integers(int64_t count, int64_t low, int64_t high) {
    int32_t* const made = fresh(4 * count);
    for (int64_t at = 0; at < count; ++at) made[at] = (int32_t)drawn(low, high);
    return made;
}

static int failures, calls;
/* Floats here are multiples of 1/64 below 1, so that sums of a few thousand products are exact in any order. */
static void same(const char* what, double got, double expected) {
    if (got == expected) return;
    if (failures++ < 5) printf("%s: %.9g, expected %.9g\n", what, got, expected);
}

/* What is expected of some results that lie next to each other. Those of bytes stay below 4 x 4 x 300 products: 32 bits hold them. */
struct sums {
    int64_t count;
    int32_t* s8;
    double* f32;
};
static struct sums* fresh_sums(int64_t count) {
    struct sums* const made = fresh((int64_t)sizeof *made);
    made->count = count, made->s8 = fresh(4 * count), made->f32 = fresh(8 * count);
    return made;
}
static void clear(struct sums* all) {
    for (int64_t at = 0; at < all->count; ++at) all->s8[at] = 0, all->f32[at] = 0;
}
static void free_sums(struct sums* all) { free(all->s8), free(all->f32), free(all); }

static void products(void) {
    const int64_t m = extent(), n = extent(), k = extent(), left_row = k + drawn(0, 3), sums_row = n + drawn(0, 3);
    const int turned = drawn(0, 2) == 0, apart = turned || drawn(0, 2) == 0;
    const int64_t column = turned ? k + drawn(0, 2) : apart ? drawn(1, 3) : 1, row = turned ? 1 : n * column + drawn(0, 2);
    const int64_t right_count = (k - 1) * row + (n - 1) * column + 1, left_count = (m - 1) * left_row + k,
                  sums_count = (m - 1) * sums_row + n;
    const int adds = (int)drawn(0, 1);
    float *const a = floats(left_count), *const b = floats(right_count), *const c = floats(sums_count),
                 *const before = fresh(4 * sums_count);
    int8_t *const x = bytes(left_count), *const y = bytes(right_count);
    int32_t *const z = integers(sums_count, -1000, 1000), *const z_before = fresh(4 * sums_count);
    memcpy(before, c, (size_t)(4 * sums_count)), memcpy(z_before, z, (size_t)(4 * sums_count));
    if (apart) {
        c_vectors_f32_apart(m, n, k, a, left_row, b, row, column, c, sums_row, adds);
        c_vectors_s8_apart(m, n, k, x, left_row, y, row, column, z, sums_row, adds);
    } else {
        c_vectors_f32(m, n, k, a, left_row, b, row, c, sums_row, adds);
        c_vectors_s8(m, n, k, x, left_row, y, row, z, sums_row, adds);
    }
    struct sums* const expected = fresh_sums(sums_row);
    for (int64_t i = 0; i < m; ++i) {
        const int64_t here = i * sums_row, end = i == m - 1 ? n : sums_row; /* between rows nothing changes */
        for (int64_t j = 0; j < end; ++j) {
            expected->f32[j] = j < n && !adds ? 0 : (double)before[here + j];
            expected->s8[j] = j < n && !adds ? 0 : z_before[here + j];
        }
        for (int64_t l = 0; l < k; ++l) {
            add_products_f32(n, expected->f32, a + i * left_row + l, 0, b + l * row, column);
            add_products_s8(n, expected->s8, x + i * left_row + l, 0, y + l * row, column);
        }
        for (int64_t j = 0; j < end; ++j) same("f32", (double)c[here + j], expected->f32[j]), same("s8", z[here + j], expected->s8[j]);
    }
    free_sums(expected);
    free(a), free(b), free(c), free(before), free(x), free(y), free(z), free(z_before);
    calls += 2;
}

/* A window of r x t taps over y x x results; channels k, filters n. */
struct window {
    int64_t r, t, y, x, k, n, step, wide, high;
};
static struct window drawn_window(void) {
    struct window w = {drawn(1, 4), drawn(1, 4), drawn(1, 9), drawn(1, 12), extent(), extent(), drawn(1, 3), 0, 0};
    if (drawn(0, 3) == 0) w.x = drawn(1, 60);
    /* Several times as many channels, or pixels, as are summed at a time. */
    if (drawn(0, 9) == 0) w.n = drawn(100, 300);
    if (drawn(0, 19) == 0) w.x = drawn(200, 400), w.y = drawn(4, 9), w.k = drawn(1, 3), w.n = drawn(1, 40);
    w.wide = w.step * (w.x - 1) + w.t, w.high = w.step * (w.y - 1) + w.r;
    return w;
}
static void pixels(void) {
    const struct window w = drawn_window();
    const int64_t pixel = w.k + (drawn(0, 1) ? drawn(1, 3) : 0), row = w.wide * pixel + drawn(0, 2), spot = w.n + drawn(0, 2),
                  line = w.x * spot + drawn(0, 2), left = (w.high - 1) * row + (w.wide - 1) * pixel + w.k,
                  made = (w.y - 1) * line + (w.x - 1) * spot + w.n;
    int8_t *const image = bytes(left), *const filter = bytes(w.r * w.t * w.k * w.n);
    float *const image_f32 = floats(left), *const filter_f32 = floats(w.r * w.t * w.k * w.n), *const sums_f32 = floats(made);
    int32_t* const sums = integers(made, -9, 9);
    c_vectors_pixels_s8(w.r, w.t, w.y, w.x, w.n, w.k, image, row, pixel, w.step, filter, w.t * w.k * w.n, w.k * w.n, w.n, sums, line, spot);
    c_vectors_pixels_f32(w.r, w.t, w.y, w.x, w.n, w.k, image_f32, row, pixel, w.step, filter_f32, w.t * w.k * w.n, w.k * w.n, w.n, sums_f32,
                         line, spot);
    struct sums* const expected = fresh_sums(w.n);
    for (int64_t y = 0; y < w.y; ++y)
        for (int64_t x = 0; x < w.x; ++x) {
            clear(expected);
            for (int64_t r = 0; r < w.r; ++r)
                for (int64_t t = 0; t < w.t; ++t)
                    for (int64_t k = 0; k < w.k; ++k) {
                        const int64_t a = (w.step * y + r) * row + (w.step * x + t) * pixel + k, b = ((r * w.t + t) * w.k + k) * w.n;
                        add_products_s8(w.n, expected->s8, image + a, 0, filter + b, 1);
                        add_products_f32(w.n, expected->f32, image_f32 + a, 0, filter_f32 + b, 1);
                    }
            for (int64_t j = 0; j < w.n; ++j) {
                same("pixels_s8", sums[y * line + x * spot + j], expected->s8[j]);
                same("pixels_f32", (double)sums_f32[y * line + x * spot + j], expected->f32[j]);
            }
        }
    free_sums(expected);
    free(image), free(filter), free(sums), free(image_f32), free(filter_f32), free(sums_f32);
    calls += 2;
}
static void depthwise(void) {
    const struct window w = drawn_window();
    const int64_t pixel = w.n + drawn(0, 2), row = w.wide * pixel + drawn(0, 2), tap = w.n + drawn(0, 2), spot = w.n + drawn(0, 2),
                  line = w.x * spot + drawn(0, 2), left = (w.high - 1) * row + (w.wide - 1) * pixel + w.n,
                  right = (w.r * w.t - 1) * tap + w.n, made = (w.y - 1) * line + (w.x - 1) * spot + w.n;
    int8_t *const image = bytes(left), *const filter = bytes(right);
    float *const image_f32 = floats(left), *const filter_f32 = floats(right), *const sums_f32 = floats(made);
    int32_t* const sums = integers(made, -9, 9);
    c_vectors_window_s8(w.r, w.t, w.y, w.x, w.n, image, row, pixel, w.step, filter, w.t * tap, tap, sums, line, spot);
    c_vectors_window_f32(w.r, w.t, w.y, w.x, w.n, image_f32, row, pixel, w.step, filter_f32, w.t * tap, tap, sums_f32, line, spot);
    struct sums* const expected = fresh_sums(w.n);
    for (int64_t y = 0; y < w.y; ++y)
        for (int64_t x = 0; x < w.x; ++x) {
            clear(expected);
            for (int64_t r = 0; r < w.r; ++r)
                for (int64_t t = 0; t < w.t; ++t) {
                    const int64_t a = (w.step * y + r) * row + (w.step * x + t) * pixel, b = (r * w.t + t) * tap;
                    add_products_s8(w.n, expected->s8, image + a, 1, filter + b, 1);
                    add_products_f32(w.n, expected->f32, image_f32 + a, 1, filter_f32 + b, 1);
                }
            for (int64_t j = 0; j < w.n; ++j) {
                same("window_s8", sums[y * line + x * spot + j], expected->s8[j]);
                same("window_f32", (double)sums_f32[y * line + x * spot + j], expected->f32[j]);
            }
        }
    free_sums(expected);
    free(image), free(filter), free(sums), free(image_f32), free(filter_f32), free(sums_f32);
    calls += 2;
}

/* As TensorFlow Lite writes it: a saturating multiplication of which the high half is kept, rounded, and a shift that rounds half away. */
static int32_t rescaled(int32_t sum, int32_t multiplier, int32_t shift) {
    int64_t value = sum;
    for (int32_t at = 0; at < -shift; ++at) value *= 2, value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
    if (value == INT32_MIN && multiplier == INT32_MIN) value = INT32_MAX;
    else {
        const int64_t product = value * multiplier, rounded = product + ((int64_t)1 << 30);
        value = rounded >= 0 ? rounded >> 31 : -((-rounded + ((int64_t)1 << 31) - 1) >> 31);
    }
    if (shift > 0) {
        const int64_t magnitude = value < 0 ? -value : value, half = (int64_t)1 << (shift - 1);
        value = value < 0 ? -((magnitude + half) >> shift) : (magnitude + half) >> shift;
    }
    return (int32_t)value;
}
static void finish(void) {
    const int64_t m = drawn(1, 5), n = extent(), row = n + drawn(0, 2), to_row = n + drawn(0, 2);
    const int64_t far = drawn(0, 3) == 0 ? INT32_MAX : 100000, left = drawn(0, 1) == 0 ? 3 : 0, right = drawn(0, 3) == 0 ? 40 : 31,
                  least = drawn(0, 3) == 0 ? INT32_MIN : 1 << 30;
    int32_t *const sums = integers((m - 1) * row + n, -far, far), *const bias = integers(n, -1000, 1000),
                   *const multiplier = integers(n, least, INT32_MAX), *const shift = integers(n, -left, right);
    const int32_t zero = (int32_t)drawn(-128, 127), low = -128 - zero, high = 127 - zero;
    if (least < 0) multiplier[n - 1 - n / 3] = INT32_MIN, sums[n - 1 - n / 3] = INT32_MIN, bias[n - 1 - n / 3] = 0;
    int8_t* const to = bytes((m - 1) * to_row + n);
    c_vectors_finish_s8(m, n, sums, row, bias, multiplier, shift, &low, &high, &zero, to, to_row);
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
            int32_t const made = rescaled((int32_t)((uint32_t)sums[i * row + j] + (uint32_t)bias[j]), multiplier[j], shift[j]);
            same("finish", to[i * to_row + j], (made > high ? high : made < low ? low : made) + zero);
        }
    free(sums), free(bias), free(multiplier), free(shift), free(to);
    ++calls;
}

/* By scales of floats: the product rounded to a float, that to the nearest integer, of halves to the even one. Limits come last here. */
static int64_t nearest_even(double of) {
    const int64_t cut = (int64_t)of, lower = (double)cut > of ? cut - 1 : cut;
    const double rest = of - (double)lower;
    return rest < 0.5 || (rest == 0.5 && lower % 2 == 0) ? lower : lower + 1;
}
static void scale(void) {
    const int64_t m = drawn(1, 5), n = extent(), row = n + drawn(0, 2), to_row = n + drawn(0, 2);
    const int64_t far = drawn(0, 3) == 0 ? INT32_MAX : 5000;
    int32_t *const sums = integers((m - 1) * row + n, -far, far), *const bias = integers(n, -1000, 1000);
    float* const scale = floats(n);
    for (int64_t j = 0; j < n; ++j) /* every other one makes halves */
        scale[j] = drawn(0, 1) == 0 ? 1.0f / (float)(1 << drawn(1, 12)) : (float)drawn(1, 1000000) * 1e-8f;
    const int32_t zero = (int32_t)drawn(-128, 127), relu = (int32_t)drawn(0, 1);
    const int32_t least = relu != 0 ? 0 : -128 - zero, most = 127 - zero;
    const float low = (float)least, high = (float)most;
    int8_t* const to = bytes((m - 1) * to_row + n);
    c_vectors_scale_s8(m, n, sums, row, bias, scale, &low, &high, &zero, to, to_row);
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
            const float whole = (float)(int32_t)((uint32_t)sums[i * row + j] + (uint32_t)bias[j]);
            const int64_t made = nearest_even((double)(float)((double)whole * (double)scale[j]));
            same("scale", to[i * to_row + j], (double)((made > most ? most : made < least ? least : made) + zero));
        }
    free(sums), free(bias), free(scale), free(to);
    ++calls;
}

static void add(void) {
    const int64_t count = extent(), left = drawn(0, 1) == 0 ? 3 : 0;
    int8_t *const a = bytes(count), *const b = bytes(count), *const to = bytes(count);
    int32_t numbers[11];
    for (int at = 0; at < 9; at += 3) {
        numbers[at] = (int32_t)drawn(-128, 127);
        numbers[at + 1] = (int32_t)drawn(1 << 30, INT32_MAX), numbers[at + 2] = (int32_t)drawn(-left, at == 6 ? 24 : 8);
    }
    numbers[9] = -128 - numbers[6], numbers[10] = 127 - numbers[6];
    c_vectors_add_s8(count, a, numbers, numbers + 1, numbers + 2, b, numbers + 3, numbers + 4, numbers + 5, numbers + 7, numbers + 8,
                     numbers + 9, numbers + 10, numbers + 6, to);
    for (int64_t at = 0; at < count; ++at) {
        const int32_t one = rescaled((a[at] - numbers[0]) * 1048576, numbers[1], numbers[2]),
                      other = rescaled((b[at] - numbers[3]) * 1048576, numbers[4], numbers[5]),
                      made = rescaled((int32_t)((uint32_t)one + (uint32_t)other), numbers[7], numbers[8]);
        same("add", to[at], (made > numbers[10] ? numbers[10] : made < numbers[9] ? numbers[9] : made) + numbers[6]);
    }
    free(a), free(b), free(to);
    ++calls;
}

int main(int count, char** arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 400;
    for (int at = 0; at < rounds; ++at) products(), pixels(), depthwise(), finish(), scale(), add();
    printf("c_vectors: calls=%d elements that differ=%d\n", calls, failures);
    return failures != 0;
}
