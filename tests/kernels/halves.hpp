#pragma once
#include <tilewright/tilewright.hpp>

/// A unit whose products have operands of 16 bits and sums of 32, and a store that converts; kernels with tensors of float16 and bfloat16.
namespace halves {

using namespace tilewright;

inline constexpr memory dram{.name = "dram"}, spad{.name = "spad", .base = 0x5000'0000, .capacity = 16_KiB, .alignment = 64},
    acc{.name = "acc", .base = 0x5100'0000, .capacity = 16_KiB, .alignment = 64, .host_visible = false};
inline constexpr engine loader{"loader"}, storer{"storer"}, array{"array"};
inline constexpr axis i{"i", 8}, j{"j", 8}, l{"l", 8}, e{"e", 1};
inline constexpr tensor<float> c{"c"};
template <class Half>
inline constexpr tensor<Half> a{"a"};
template <class Half>
inline constexpr tensor<Half> b{"b"};
template <class Half>
inline constexpr tensor<Half> d{"d"};
template <class Half>
inline constexpr auto product = cast<float>(a<Half>(i, l)) * cast<float>(b<Half>(l, j));
template <class Half>
inline constexpr auto mac =
    intrinsic("half_mac", c(i, j) += product<Half>).reads({a<Half>, b<Half>}, spad).updates(c, acc).on(array).cycles(8);
template <class Half>
inline constexpr auto mul =
    intrinsic("half_mul", c(i, j) = sum(l, product<Half>)).reads({a<Half>, b<Half>}, spad).writes(c, acc).on(array).cycles(8);
inline constexpr auto load = transfer("half_load", dram, spad).on(loader).asynchronous().dimensions(2).fills_border();
inline constexpr auto out_acc = transfer("half_out", acc, dram).on(storer).asynchronous().dimensions(2);
inline constexpr auto save = transfer("half_save", spad, dram).on(storer).asynchronous().dimensions(2);
template <class Half>
inline constexpr auto narrow = transfer("half_narrow", acc, dram, d<Half>(e) = cast<Half>(c(e))).on(storer).asynchronous().dimensions(2);
template <class Half>
inline constexpr auto clear = transfer("half_clear", dram, spad, d<Half>(e) = 0).on(loader).dimensions(2);
template <class Half>
inline constexpr auto unit = machine(scalar_type_of<Half>() == scalar_type::float16 ? "half_unit" : "brain_unit", dram, spad, acc, loader,
                                     storer, array, load, save, narrow<Half>, out_acc, clear<Half>, mac<Half>, mul<Half>);

inline constexpr axis m{"m", 24}, n{"n", 32}, k{"k", 40}, y{"y", 20}, x{"x", 48};
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"}, yo{"yo"}, yi{"yi"}, xo{"xo"}, xi{"xi"};
template <class Half>
inline constexpr tensor<Half> A{"A"};
template <class Half>
inline constexpr tensor<Half> B{"B"};
template <class Half>
inline constexpr tensor<Half> D{"D"};
template <class Half>
inline constexpr tensor<Half> G{"G"};
inline constexpr tensor<float> P{"P"};

/// Products of 16 bits are summed up as floats, and what is stored is converted.
template <class Half>
inline constexpr auto matmul = stages(P(m, n) = sum(k, cast<float>(A<Half>(m, k)) * cast<float>(B<Half>(k, n))),
                                      D<Half>(m, n) = cast<Half>(P(m, n)));
/// Both ways, with a literal of 16 bits.
template <class Half>
inline constexpr auto scaled = D<Half>(y, x) = select(cast<float>(A<Half>(y, x)) < 0.25f,
                                                      cast<Half>(cast<float>(A<Half>(y, x)) * 3.0f - 0.125f), -1.5);
/// A border of 16 bits; and a copy.
template <class Half>
inline constexpr auto padded_row = D<Half>(y, x) = padded(A<Half>(y, x), 0.5)(y - 2, x + 1);
/// Through a stage of 16 bits.
template <class Half>
inline constexpr auto staged = stages(G<Half>(y, x) = cast<Half>(cast<float>(A<Half>(y, x)) + 0.3f),
                                      P(y, x) = cast<float>(G<Half>(y, x)) * cast<float>(B<Half>(y, x)));
/// The bits as those of integers.
template <class Half>
inline constexpr auto signs = D<Half>(y, x) = reinterpret<Half>(max(reinterpret<std::uint16_t>(A<Half>(y, x)), 0x8000));

template <class Half>
inline constexpr schedule on_unit = schedule(matmul<Half>, unit<Half>)
                                        .split(m, mo, mi, 8)
                                        .writes(D<Half>, dram)
                                        .by(narrow<Half>)
                                        .compute_at(P, mo)
                                        .store_in(P, acc)
                                        .stage(P)
                                        .split(k, ko, ki, 8)
                                        .reorder(ko, m, n, ki)
                                        .cache_read(A<Half>, spad)
                                        .at(ko)
                                        .by(load)
                                        .buffers(2)
                                        .cache_read(B<Half>, spad)
                                        .at(ko)
                                        .by(load)
                                        .buffers(2)
                                        .tensorize(m, n, ki, mac<Half>);
/// Products whose last steps are partial: operands are filled with zeros of 16 bits.
inline constexpr axis odd_m{"odd_m", 13}, odd_n{"odd_n", 9}, odd_k{"odd_k", 11};
template <class Half>
inline constexpr auto odd = P(odd_m, odd_n) += cast<float>(A<Half>(odd_m, odd_k)) * cast<float>(B<Half>(odd_k, odd_n));
template <class Half>
inline constexpr schedule odd_on_unit = schedule(odd<Half>, unit<Half>)
                                            .cache_read(A<Half>, spad)
                                            .by(load)
                                            .cache_read(B<Half>, spad)
                                            .by(load)
                                            .cache_write(P, acc)
                                            .tensorize(odd_m, odd_n, odd_k, mac<Half>);
template <class Half>
inline constexpr schedule row_loaded = schedule(padded_row<Half>, unit<Half>)
                                           .split(y, yo, yi, 6)
                                           .cache_read(A<Half>, spad)
                                           .at(yo)
                                           .by(load)
                                           .cache_write(D<Half>, spad)
                                           .by(save)
                                           .split(x, xo, xi, 16)
                                           .vectorize(xi);
template <class Half>
inline constexpr schedule stage_kept = schedule(staged<Half>, unit<Half>)
                                           .split(y, yo, yi, 5)
                                           .split(x, xo, xi, 8)
                                           .vectorize(xi)
                                           .compute_at(G<Half>, yo)
                                           .store_in(G<Half>, spad);

// What names an object and its C.
inline constexpr schedule half_matmul = on_unit<float16>;
inline constexpr schedule brain_rows = row_loaded<bfloat16>;

}  // namespace halves
