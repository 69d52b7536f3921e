#pragma once
#include <tilewright/tilewright.hpp>

/// An accelerator whose vector unit overwrites its accumulator: the source of an instruction is where its result goes, as one number of a
/// row.
namespace in_place {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory inputs{.name = "inputs", .base = 0x1000'0000, .capacity = 8_KiB, .host_visible = false};
inline constexpr memory acc{.name = "acc", .capacity = 16_KiB, .host_visible = false, .address_unit = 64};
/// What leaves the accumulator does so by the same numbers of rows, each element as a byte.
inline constexpr memory out{.name = "out", .host_visible = false, .address_unit = 64, .view_of = "acc"};
inline constexpr engine array{"array"}, alu{"alu"};

inline constexpr axis i{"i", 4}, j{"j", 16}, l{"l", 8};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"}, A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> c{"c"}, d{"d"}, x{"x"}, y{"y"};
inline constexpr auto term = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
inline constexpr auto load = transfer("load", dram, inputs).dimensions(2);
inline constexpr auto load_acc = transfer("load_acc", dram, acc).dimensions(2);
inline constexpr auto store = transfer("store", acc, dram).dimensions(2);
inline constexpr axis z{"z", 1};
inline constexpr tensor<std::int8_t> o{"o"}, O{"O"};
inline constexpr auto store_out = transfer("store_out", out, dram, o(z) = cast<std::int8_t>(x(z)))
                                      .dimensions(2)
                                      .calls("store_out", argument::source, argument::destination, argument::row_bytes, argument::extent(1),
                                             argument::source_stride(1).in_units_of(64), argument::destination_stride(1));
inline constexpr auto mac = intrinsic("mac", c(i, j) += term).reads(a, inputs).reads(b, inputs).updates(c, acc).on(array).cycles(9);
inline constexpr auto mul = intrinsic("mul", c(i, j) = sum(l, term)).reads(a, inputs).reads(b, inputs).writes(c, acc).on(array).cycles(7);
/// Sums that start from what lies where they go.
inline constexpr auto from = intrinsic("from", c(i, j) = d(i, j) + sum(l, term))
                                 .reads(a, inputs)
                                 .reads(b, inputs)
                                 .reads(d, acc)
                                 .writes(c, acc)
                                 .in_place(d)
                                 .on(array)
                                 .cycles(8);
inline constexpr auto add_row =
    intrinsic("add_row", y(i, j) = x(i, j) + d(j)).reads(x, acc).reads(d, acc).writes(y, acc).in_place(x).on(alu).cycles(5);
inline constexpr auto add =
    intrinsic("add", y(i, j) = x(i, j) + d(i, j)).reads(d, acc).writes(y, acc).reads(x, acc).in_place(x).on(alu).cycles(6);
inline constexpr auto shift = intrinsic("shift", y(i, j) = x(i, j) >> 6).reads(x, acc).writes(y, acc).in_place(x).on(alu).cycles(3);
inline constexpr auto least = intrinsic("least", y(i, j) = max(x(i, j), -128)).reads(x, acc).writes(y, acc).in_place(x).on(alu).cycles(3);
inline constexpr auto most = intrinsic("most", y(i, j) = min(x(i, j), 127)).reads(x, acc).writes(y, acc).in_place(x).on(alu).cycles(3);
inline constexpr auto vta =
    machine("vta", dram, inputs, acc, out, array, alu, load, load_acc, store_out, store, mac, mul, from, add_row, add, shift, least, most);

inline constexpr axis m{"m", 24}, n{"n", 32}, k{"k", 40}, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr tensor<std::int32_t> C{"C"}, R{"R"}, S{"S"}, T{"T"}, Y{"Y"}, bias{"bias"};
inline constexpr auto product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
/// Sums, the bias, a shift and two bounds.
inline constexpr auto layer = stages(C(m, n) += product, R(m, n) = C(m, n) + bias(n), S(m, n) = R(m, n) >> 6, T(m, n) = max(S(m, n), -128),
                                     Y(m, n) = min(T(m, n), 127));

/// @param rows  of a tile
constexpr schedule requantised(schedule made, int rows) {
    made.split(m, mo, mi, rows).cache_write(Y, acc).at(mo).tensorize(mi, n, most);
    made.compute_at(T, mo).store_in(T, acc).stage(T).tensorize(m, n, least);
    made.compute_at(S, mo).store_in(S, acc).stage(S).tensorize(m, n, shift);
    made.compute_at(R, mo).store_in(R, acc).stage(R).cache_read(bias, acc).tensorize(m, n, add_row);
    made.compute_at(C, mo).store_in(C, acc).stage(C).split(k, ko, ki, 16).reorder(ko, m, n, ki);
    made.cache_read(A, inputs).at(ko).cache_read(B, inputs).at(ko).tensorize(m, n, ki, mac);
    return made;
}
inline constexpr auto layer_on_vta = requantised(schedule(layer, vta), 8);

/// Likewise, and what comes out leaves as bytes, tile by tile.
constexpr schedule narrowed(schedule made, int rows) {
    made.split(m, mo, mi, rows).writes(O, dram).by(store_out);
    made.compute_at(Y, mo).store_in(Y, acc).stage(Y).tensorize(m, n, most);
    made.compute_at(T, mo).store_in(T, acc).stage(T).tensorize(m, n, least);
    made.compute_at(S, mo).store_in(S, acc).stage(S).tensorize(m, n, shift);
    made.compute_at(R, mo).store_in(R, acc).stage(R).cache_read(bias, acc).tensorize(m, n, add_row);
    made.compute_at(C, mo).store_in(C, acc).stage(C).split(k, ko, ki, 16).reorder(ko, m, n, ki);
    made.cache_read(A, inputs).at(ko).cache_read(B, inputs).at(ko).tensorize(m, n, ki, mac);
    return made;
}
inline constexpr auto byte_layer = stages(C(m, n) += product, R(m, n) = C(m, n) + bias(n), S(m, n) = R(m, n) >> 6,
                                          T(m, n) = max(S(m, n), -128), Y(m, n) = min(T(m, n), 127), O(m, n) = cast<std::int8_t>(Y(m, n)));
inline constexpr auto bytes_on_vta = narrowed(schedule(byte_layer, vta), 8);

/// The functions of the device. The vector unit has one row for what it reads and writes.
inline constexpr char const* device = R"(
#ifndef IN_PLACE_DEVICE_H
#define IN_PLACE_DEVICE_H
#include <stdint.h>
static int8_t inputs[8192];
static int32_t acc[256][16];
static inline int load(const void *source, void *destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    uintptr_t const at = (uintptr_t)destination;
    if (at < 0x10000000u || at >= 0x10002000u) return 11;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            inputs[(int64_t)(at - 0x10000000u) + row * to + byte] = ((const int8_t *)source)[row * from + byte];
    return 0;
}
static inline int load_acc(const void *source, int64_t destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    if (destination < 0 || destination >= 256) return 12;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            ((int8_t *)acc)[destination * 64 + row * to + byte] = ((const int8_t *)source)[row * from + byte];
    return 0;
}
static inline int store(int64_t source, void *destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    if (source < 0 || source >= 256) return 13;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            ((int8_t *)destination)[row * to + byte] = ((int8_t *)acc)[source * 64 + row * from + byte];
    return 0;
}
static inline int store_out(int64_t source, void *destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    if (source < 0 || source >= 256) return 16;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            ((int8_t *)destination)[row * to + byte] = (int8_t)((int32_t *)acc)[(source + row * from) * 16 + byte];
    return 0;
}
static inline int multiply(const void *a, int64_t a_stride, const void *b, int64_t b_stride, int64_t c, int64_t c_stride, int begins) {
    const int8_t *const left = &inputs[(uintptr_t)a - 0x10000000u], *const right = &inputs[(uintptr_t)b - 0x10000000u];
    if (c < 0 || c >= 256) return 14;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 16; ++j) {
            int32_t *const sum = &((int32_t *)acc)[c * 16 + i * c_stride + j];
            if (begins) *sum = 0;
            for (int l = 0; l < 8; ++l) *sum += left[i * a_stride + l] * right[l * b_stride + j];
        }
    return 0;
}
static inline int mac(const void *a, int64_t a_stride, const void *b, int64_t b_stride, int64_t c, int64_t c_stride) {
    return multiply(a, a_stride, b, b_stride, c, c_stride, 0);
}
static inline int mul(const void *a, int64_t a_stride, const void *b, int64_t b_stride, int64_t c, int64_t c_stride) {
    return multiply(a, a_stride, b, b_stride, c, c_stride, 1);
}
/* Sums begin with what is there. */
static inline int from(const void *a, int64_t a_stride, const void *b, int64_t b_stride, int64_t c, int64_t c_stride) {
    return multiply(a, a_stride, b, b_stride, c, c_stride, 0);
}
static inline int update(int64_t y, int64_t stride, int is, int64_t d, int64_t d_stride) {
    if (y < 0 || y >= 256 || d < 0 || d >= 256) return 15;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 16; ++j) {
            int32_t *const at = &((int32_t *)acc)[y * 16 + i * stride + j];
            if (is == 0) *at += ((int32_t *)acc)[d * 16 + i * d_stride + j];
            if (is == 1) *at >>= 6;
            if (is == 2) *at = *at < -128 ? -128 : *at;
            if (is == 3) *at = *at > 127 ? 127 : *at;
        }
    return 0;
}
static inline int add_row(int64_t d, int64_t y, int64_t stride) { return update(y, stride, 0, d, 0); }
static inline int add(int64_t d, int64_t d_stride, int64_t y, int64_t stride) { return update(y, stride, 0, d, d_stride); }
static inline int shift(int64_t y, int64_t stride) { return update(y, stride, 1, 0, 0); }
static inline int least(int64_t y, int64_t stride) { return update(y, stride, 2, 0, 0); }
static inline int most(int64_t y, int64_t stride) { return update(y, stride, 3, 0, 0); }
#endif
)";

}  // namespace in_place
