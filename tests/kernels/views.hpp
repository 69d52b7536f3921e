#pragma once
#include <tilewright/tilewright.hpp>

/// A machine whose parts see its memories at addresses of their own: the array by pointers and by rows with a flag, what loads by those of
/// its bus, what stores by plain rows.
namespace views {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"};
inline constexpr memory spad{.name = "spad", .base = 0x1000'0000, .capacity = 8_KiB, .alignment = 16, .host_visible = false};
inline constexpr memory bus{.name = "bus", .base = 0x9000'0000, .host_visible = false, .view_of = "spad"};
inline constexpr memory sums{.name = "sums", .capacity = 16_KiB, .host_visible = false, .address_unit = 64, .address_flags = 0x8000'0000};
inline constexpr memory rows{.name = "rows", .host_visible = false, .address_unit = 32, .view_of = "sums"};
inline constexpr memory window{.name = "window", .base = 0xa000'0000, .host_visible = false, .view_of = "sums"};
inline constexpr engine array{"array"};

inline constexpr axis i{"i", 8}, j{"j", 16}, l{"l", 8};
inline constexpr tensor<std::int8_t> a{"a"}, b{"b"}, A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> c{"c"}, d{"d"}, C{"C"}, D{"D"}, bias{"bias"};
inline constexpr auto term = cast<std::int32_t>(a(i, l)) * cast<std::int32_t>(b(l, j));
inline constexpr auto load = transfer("load", dram, bus).dimensions(2);
inline constexpr auto begin = transfer("begin", dram, window).dimensions(2);
inline constexpr auto store = transfer("store", rows, dram).dimensions(2);
inline constexpr auto mac = intrinsic("mac", c(i, j) += term).reads(a, spad).reads(b, spad).updates(c, sums).on(array).cycles(9);
inline constexpr auto relu = intrinsic("relu", d(i, j) = max(c(i, j), 0)).reads(c, rows).writes(d, window).on(array).cycles(3);
inline constexpr auto npu = machine("npu_with_views", dram, bus, spad, sums, rows, window, array, load, begin, store, mac, relu);

inline constexpr axis m{"m", 24}, n{"n", 32}, k{"k", 40}, mo{"mo"}, mi{"mi"}, ko{"ko"}, ki{"ki"}, p{"p", 24}, q{"q", 32}, po{"po"},
    pi{"pi"};
/// Sums that begin with a bias, then what is positive of them: in two buffers of one memory.
inline constexpr auto layer =
    stages(C(m, n) = bias(n) + sum(k, cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n))), D(p, q) = max(C(p, q), 0));
inline constexpr auto layer_on_npu = schedule(layer, npu)
                                         .split(p, po, pi, 8)
                                         .reorder(po, pi, q)
                                         .cache_write(D, sums)
                                         .at(po)
                                         .compute_at(C, po)
                                         .store_in(C, sums)
                                         .tensorize(pi, q, relu)
                                         .stage(C)
                                         .split(k, ko, ki, 16)
                                         .reorder(ko, m, n, ki)
                                         .cache_read(A, spad)
                                         .at(ko)
                                         .cache_read(B, spad)
                                         .at(ko)
                                         .tensorize(m, n, ki, mac);

/// The functions of the device. What is not at the addresses that a part sees ends the kernel with a code.
inline constexpr char const* device = R"(
#ifndef VIEWS_DEVICE_H
#define VIEWS_DEVICE_H
#include <stdint.h>
static int8_t spad[8192];
static int32_t sums[256][16];
static inline int load(const void *source, void *destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    uintptr_t const at = (uintptr_t)destination;
    if (at < 0x90000000u || at >= 0x90002000u) return 11;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            spad[(int64_t)(at - 0x90000000u) + row * to + byte] = ((const int8_t *)source)[row * from + byte];
    return 0;
}
static inline int begin(const void *source, void *destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    uintptr_t const at = (uintptr_t)destination;
    if (at < 0xa0000000u || at >= 0xa0004000u) return 12;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            ((int8_t *)sums)[(int64_t)(at - 0xa0000000u) + row * to + byte] = ((const int8_t *)source)[row * from + byte];
    return 0;
}
static inline int store(int64_t source, void *destination, int64_t bytes, int64_t rows, int64_t from, int64_t to) {
    if (source < 0 || source >= 512) return 13;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t byte = 0; byte < bytes; ++byte)
            ((int8_t *)destination)[row * to + byte] = ((int8_t *)sums)[source * 32 + row * from + byte];
    return 0;
}
static inline int mac(const void *a, int64_t a_stride, const void *b, int64_t b_stride, int64_t c, int64_t c_stride) {
    uintptr_t const left = (uintptr_t)a, right = (uintptr_t)b;
    if (left < 0x10000000u || left >= 0x10002000u || right < 0x10000000u || right >= 0x10002000u) return 14;
    if (c < 0x80000000 || c >= 0x80000100) return 15;
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 16; ++j)
            for (int l = 0; l < 8; ++l)
                ((int32_t *)sums[c - 0x80000000])[i * c_stride + j] +=
                    spad[(int64_t)(left - 0x10000000u) + i * a_stride + l] * spad[(int64_t)(right - 0x10000000u) + l * b_stride + j];
    return 0;
}
static inline int relu(int64_t c, int64_t c_stride, void *d, int64_t d_stride) {
    uintptr_t const to = (uintptr_t)d;
    if (c < 0 || c >= 512 || to < 0xa0000000u || to >= 0xa0004000u) return 16;
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 16; ++j) {
            int32_t const value = ((int32_t *)sums)[c * 8 + i * c_stride + j];
            ((int32_t *)sums)[(int64_t)(to - 0xa0000000u) / 4 + i * d_stride + j] = value > 0 ? value : 0;
        }
    return 0;
}
#endif
)";

}  // namespace views
