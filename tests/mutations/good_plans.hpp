#pragma once
#include <functional>
#include <memory>
#include <string>
#include <tilewright/emulate/semantics.hpp>
#include <tilewright/plan/planner.hpp>
#include <vector>

#include "kernels/accelerator.hpp"
#include "kernels/six_transfers.hpp"

// Small plans with asynchronous transfers, on machines that wait in different ways.
namespace mutations {

using namespace tilewright;

using namespace six_transfers;
inline constexpr memory l2{.name = "l2", .base = 0x2000'0000, .capacity = 16_KiB, .alignment = 16};
inline constexpr memory l1{.name = "l1", .base = 0x1000'0000, .capacity = 16_KiB, .alignment = 16};
inline constexpr memory narrow_l1{.name = "l1", .base = 0x1000'0000, .capacity = 16_KiB, .alignment = 16, .banks = 2, .ports = 1};
inline constexpr memory four_banks{.name = "l1", .base = 0x1000'0000, .capacity = 16_KiB, .alignment = 16, .banks = 4, .ports = 1};

inline machine const by_tag = machine_with(loader, storer, copier, l2, l1), one_dma = machine_with(dma, dma, dma, l2, l1),
                     by_both = machine_with(channel, storer, other_channel, l2, l1),
                     one_channel = machine_with(channel, channel, channel, l2, l1),
                     two_channels = machine_with(channel, other_channel, channel, l2, l1),
                     banked = machine_with(loader, storer, copier, l2, narrow_l1),
                     banked_channels = machine_with(channel, other_channel, other_channel, l2, narrow_l1),
                     with_four_banks = machine_with(loader, storer, copier, l2, four_banks),
                     pair_of_channels = machine_with(two_of, two_of, two_of, l2, l1),
                     three_channels = machine_with(three_of, three_of, three_of, l2, l1),
                     channels_apart = machine_with(two_of, three_of, two_of, l2, l1);

inline constexpr axis m{"m", 4}, n{"n", 4}, k{"k", 6}, long_k{"k", 16};
inline constexpr axis mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
inline constexpr tensor<std::int8_t> A{"A"}, B{"B"};
inline constexpr tensor<std::int32_t> C{"C"};
inline constexpr auto product = cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(B(k, n));
inline constexpr auto matmul = C(m, n) += product;
inline constexpr auto more_matmul = C(m, n) = C(m, n) + sum(k, product);
inline constexpr auto long_matmul = C(m, n) += cast<std::int32_t>(A(m, long_k)) * cast<std::int32_t>(B(long_k, n));

inline constexpr axis x{"x", 12}, r{"r", 3}, xo{"xo"}, xi{"xi"};
inline constexpr tensor<std::int8_t> signal{"signal"}, weight{"weight"};
inline constexpr tensor<std::int32_t> filtered{"filtered"};
inline constexpr auto convolution = filtered(x) += cast<std::int32_t>(signal(x + r)) * cast<std::int32_t>(weight(r));

inline constexpr axis wide_x{"wide_x", 14};
inline constexpr tensor<std::int32_t> doubled{"doubled"}, differences{"differences"};
inline constexpr auto doubled_differences =
    stages(doubled(wide_x) = cast<std::int32_t>(signal(wide_x)) * 2, differences(x) = doubled(x + 2) - doubled(x));

/// Engines that compute aside of the core.
inline constexpr accelerators::array_shape small_steps{2, 4, 2};
inline constexpr machine by_tokens = accelerator(accelerators::ordered::by_tokens, 4, true, small_steps),
                         by_own_tokens = accelerator(accelerators::ordered::by_more_tokens, 4, true, small_steps),
                         by_core = accelerator(accelerators::ordered::by_core, 4, true, small_steps),
                         by_interlocks = accelerator(accelerators::ordered::by_interlocks, 4, true, small_steps);

struct good_plan {
    std::string name;
    std::unique_ptr<plan_value> plan;
    semantics_table semantics{};  ///< of the machine's instructions
};

class good_plans {
  public:
    std::vector<good_plan> all;

    good_plans() {
        for (auto const& [where, name] :
             {std::pair{&by_tag, "tags"}, std::pair{&by_both, "both"}, std::pair{&one_channel, "one channel"},
              std::pair{&pair_of_channels, "a pair of channels"}, std::pair{&three_channels, "three channels"}}) {
            for (int versions : {1, 2, 3}) {
                if (versions == 1 && where != &by_tag) continue;
                add("matmul x" + std::to_string(versions) + ", " + name, matmul.view(), *where, [versions](schedule& s) {
                    tiled(s).cache_read(A, l1).at(ko).buffers(versions).cache_read(B, l1).at(ko).buffers(versions);
                    s.cache_write(C, l1).at(no).buffers(versions);
                });
            }
        }
        add("every operand its own level, one dma", matmul.view(), one_dma, [](schedule& s) {
            tiled(s).cache_read(A, l1).at(mo).buffers(2).cache_read(B, l1).at(ko).buffers(3).prefetch(1);
            s.cache_write(C, l1).at(no).buffers(4);
        });
        add("not ahead, tags", matmul.view(), by_tag, [](schedule& s) {
            tiled(s).cache_read(A, l1).at(ko).buffers(2).prefetch(0).cache_read(B, l1).at(ko).buffers(2);
            s.cache_write(C, l1).at(mo).buffers(2);
        });
        for (auto const& [where, name] :
             {std::pair{&by_tag, "tags"}, std::pair{&one_dma, "one dma"}, std::pair{&two_channels, "two channels"},
              std::pair{&pair_of_channels, "a pair of channels"}, std::pair{&channels_apart, "channels apart"}}) {
            add(std::string("two levels, ") + name, matmul.view(), *where, [](schedule& s) {
                tiled(s).cache_read(A, l2).at(mo).buffers(2).cache_read(B, l2).cache_write(C, l2).at(mo).buffers(2);
                s.cache_read(A, l1).at(ko).buffers(2).cache_read(B, l1).at(ko).buffers(3).cache_write(C, l1).at(no).buffers(2);
            });
            // 3 or 9 steps of l1 in one of l2: they run on, in two versions, or with one load in flight
            for (int versions : {2, 3}) {
                add("runs on in x" + std::to_string(versions) + ", " + name, matmul.view(), *where, [versions](schedule& s) {
                    tiled(s).cache_read(A, l2).at(no).buffers(versions).cache_read(A, l1).at(ko).buffers(versions).prefetch(versions - 1);
                });
            }
            add(std::string("convolution, ") + name, convolution.view(), *where, [](schedule& s) {
                s.split(x, xo, xi, 2).reorder(xo, xi, r);
                s.cache_read(signal, l1).at(xo).buffers(3).cache_read(weight, l1).cache_write(filtered, l1).at(xo).buffers(2);
            });
            add(std::string("more, ") + name, more_matmul.view(), *where, [](schedule& s) {
                tiled(s).cache_read(A, l1).at(ko).buffers(2).cache_read(B, l1).at(ko).cache_write(C, l1).at(no).buffers(2);
            });
        }
        for (auto const& [where, name] : {std::pair{&banked, "tags"}, std::pair{&banked_channels, "channels"}}) {
            add(std::string("banks, ") + name, matmul.view(), *where, [](schedule& s) {
                tiled(s).cache_read(A, narrow_l1).at(ko).buffers(2).in_bank(0).cache_read(B, narrow_l1).at(ko).buffers(2).in_bank(0);
                s.cache_write(C, l2).at(no).buffers(2);
            });
            add(std::string("banks of a convolution, ") + name, convolution.view(), *where, [](schedule& s) {
                s.split(x, xo, xi, 2).reorder(xo, xi, r);
                s.cache_read(signal, narrow_l1).at(xo).buffers(2).in_bank(1).cache_read(weight, l2).cache_write(filtered, l2).at(xo);
            });
        }
        add("four banks, tags", matmul.view(), with_four_banks, [](schedule& s) {
            tiled(s).cache_read(A, four_banks).at(ko).buffers(2).in_bank(0).cache_read(B, four_banks).at(ko).buffers(2).in_bank(0);
            s.cache_write(C, four_banks).at(no).buffers(2).in_bank(2);
        });
        // Tiles that end early: of one level, of two, backwards, in rows of a fused loop, behind a producer.
        for (auto const& [where, name] :
             {std::pair{&by_tag, "tags"}, std::pair{&one_channel, "one channel"}, std::pair{&three_channels, "three channels"}}) {
            add(std::string("tails, ") + name, matmul.view(), *where, [](schedule& s) {
                s.tile(m, n, mo, no, mi, ni, 3, 3).split(k, ko, ki, 4).reorder(mo, no, ko, mi, ki, ni);
                s.cache_read(A, l1).at(ko).buffers(2).cache_read(B, l1).at(ko).buffers(2).cache_write(C, l1).at(no).buffers(2);
            });
            add(std::string("tails in two levels, ") + name, matmul.view(), *where, [](schedule& s) {
                s.tile(m, n, mo, no, mi, ni, 3, 3).split(k, ko, ki, 4).reorder(mo, no, ko, mi, ki, ni);
                s.cache_read(A, l2).at(mo).buffers(2).cache_read(A, l1).at(ko).buffers(2);
                s.cache_write(C, l2).at(mo).cache_write(C, l1).at(no).buffers(2);
            });
            add(std::string("tails of a convolution, ") + name, convolution.view(), *where, [](schedule& s) {
                s.split(x, xo, xi, 5).reorder(xo, xi, r);
                s.cache_read(signal, l1).at(xo).buffers(2).cache_read(weight, l1).cache_write(filtered, l1).at(xo).buffers(2);
            });
            add(std::string("pieces of a fused loop, ") + name, matmul.view(), *where, [](schedule& s) {
                s.fuse(m, n, "f").split("f", "fo", "fi", 6).cache_read(A, l1).at("fo").buffers(2).cache_read(B, l1).at("fo").buffers(2);
            });
        }
        add("tails of a producer, tags", doubled_differences.view(), by_tag, [](schedule& s) {
            s.split(x, xo, xi, 5).compute_at(doubled, xo).store_in(doubled, l1);
            s.stage(doubled).cache_read(signal, l2).at(xo).buffers(2);
        });
        for (auto const& [where, name] : {std::pair{&by_tag, "tags"}, std::pair{&two_channels, "two channels"}}) {
            add(std::string("panels, ") + name, matmul.view(), *where, [](schedule& s) {
                s.split(m, mo, mi, 2).split(k, ko, ki, 3).reorder(mo, ko, mi, ki, n);
                s.cache_read(A, l1).at(ko).buffers(2).layout([](auto i, auto j) { return index_map(j / 2, i, j % 2); });
                s.cache_read(B, l1).at(ko).buffers(3).layout([](auto i, auto j) { return index_map(j / 2, i, j % 2); });
                s.cache_write(C, l1).at(mo).buffers(2).layout([](auto i, auto j) { return index_map(j, i); });
            });
        }
        add("two of four blocks, tags", matmul.view(), with_four_banks, [](schedule& s) {
            tiled(s).cache_read(A, four_banks).at(ko).buffers(2).in_bank(0).layout([](auto i, auto j) {
                return index_map(i, separator, j);
            });
            s.cache_read(B, four_banks).at(ko).buffers(2).in_bank(0).layout([](auto i, auto j) { return index_map(j, separator, i); });
            s.cache_write(C, l2).at(no);
        });
        // Engines that compute aside of the core.
        for (auto const& [where, name] : {std::pair{&by_tokens, "tokens"}, std::pair{&by_own_tokens, "tokens of their own"},
                                          std::pair{&by_core, "the core"}, std::pair{&by_interlocks, "interlocks"}}) {
            for (int versions : {1, 2}) {
                add("aside x" + std::to_string(versions) + ", " + name, matmul.view(), *where, [&, where = where](schedule& s) {
                    on_array(s)
                        .cache_read(A, accelerators::inputs)
                        .at(ko)
                        .buffers(versions)
                        .cache_read(B, accelerators::weights)
                        .at(ko)
                        .buffers(versions);
                    s.cache_write(C, accelerators::sums).at(mo).buffers(versions).tensorize(mi, n, ki, where->intrinsics[0]);
                });
            }
            add(std::string("aside, at levels of their own, ") + name, matmul.view(), *where, [&, where = where](schedule& s) {
                on_array(s)
                    .cache_read(A, accelerators::inputs)
                    .at(mo)
                    .buffers(2)
                    .cache_read(B, accelerators::weights)
                    .at(ko)
                    .buffers(3)
                    .prefetch(1);
                s.cache_write(C, accelerators::sums).at(mo).tensorize(mi, n, ki, where->intrinsics[0]);
            });
            add(std::string("aside, more, ") + name, more_matmul.view(), *where, [&, where = where](schedule& s) {
                on_array(s).cache_read(A, accelerators::inputs).at(ko).buffers(2).cache_read(B, accelerators::weights);
                s.cache_write(C, accelerators::sums).at(mo).buffers(2).tensorize(mi, n, ki, where->intrinsics[0]);
            });
            all.back().semantics = all.end()[-2].semantics = all.end()[-3].semantics = all.end()[-4].semantics = semantics_of<by_tokens>;
        }
        add("long, tags", long_matmul.view(), by_tag, [](schedule& s) {
            tiled(s).cache_read(A, l1).at(ko).buffers(3).cache_read(B, l1).at(ko).buffers(2).cache_write(C, l1).at(no);
        });
    }

  private:
    static schedule& tiled(schedule& s) { return s.tile(m, n, mo, no, mi, ni, 2, 2).split(k, ko, ki, 2).reorder(mo, no, ko, mi, ki, ni); }
    static schedule& on_array(schedule& s) { return s.split(m, mo, mi, 2).split(k, ko, ki, 2).reorder(mo, ko, mi, n, ki); }
    void add(std::string name, computation_view what, machine const& where, std::function<void(schedule&)> const& direct) {
        schedule made(what, where);
        direct(made);
        all.push_back({std::move(name), std::make_unique<plan_value>(make_plan(made))});
    }
};

}  // namespace mutations
