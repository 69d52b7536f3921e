#pragma once
#include <tilewright/targets/aarch64_dot.hpp>
#include <tilewright/targets/riscv64_v.hpp>
#include <tilewright/tilewright.hpp>

/// Products and convolutions of any shape, for the machines whose instructions are products of tiles. One schedule serves both.
namespace foreign_kernels {

using namespace tilewright;

/// The machines of a processor, by what a schedule packs.
struct processor {
    machine const &host, &packs_right, &packs_left;
};
namespace arm = targets::aarch64_dot;
namespace riscv = targets::riscv64_v;
inline constexpr processor aarch64{arm::host, arm::packs_right, arm::packs_left},
    riscv64{riscv::host, riscv::packs_right, riscv::packs_left};

/// The instruction that goes on with sums: a schedule keeps its name, which is that of both machines.
template <class Left, class Right>
constexpr intrinsic const& mac() {
    if constexpr (std::is_same_v<Left, float>) return riscv::mac_f32;
    else if constexpr (std::is_signed_v<Left>) return riscv::mac_s8s8;
    else if constexpr (std::is_signed_v<Right>) return riscv::mac_u8s8;
    else return riscv::mac_u8u8;
}

/// C(m, n) = sum of A(m, k) * B(k, n), in blocks.
struct product_shape {
    std::int64_t m, n, k, rows, columns, depth;
    bool packs;  ///< B
};
template <class Left, class Right, class Sum>
struct product_stage {
    product_shape shape;
    axis m, n, k, mo{"mo"}, mi{"mi"}, no{"no"}, ni{"ni"}, ko{"ko"}, ki{"ki"};
    tensor<Left> A{"A"};
    tensor<Right> B{"B"};
    tensor<Sum> C{"C"};

    explicit product_stage(product_shape const& of) : shape(of), m{"m", of.m}, n{"n", of.n}, k{"k", of.k} {}
    auto written() const {
        if constexpr (std::is_same_v<Left, Sum>) return C(m, n) += A(m, k) * B(k, n);
        else return C(m, n) += cast<Sum>(A(m, k)) * cast<Sum>(B(k, n));
    }
};
template <class Left, class Right, class Sum>
struct product : product_stage<Left, Right, Sum> {
    using base = product_stage<Left, Right, Sum>;
    decltype(std::declval<base>().written()) what;

    explicit product(product_shape const& of) : base(of), what(base::written()) {}
    schedule on(processor const& p) const {
        schedule s(what, this->shape.packs ? p.packs_right : p.host);
        s.split(this->m, this->mo, this->mi, this->shape.rows)
            .split(this->n, this->no, this->ni, this->shape.columns)
            .split(this->k, this->ko, this->ki, this->shape.depth)
            .reorder(this->no, this->ko, this->mo, this->mi, this->ni, this->ki);
        if (this->shape.packs) s.cache_read(this->B, arm::l2).at(this->ko);
        return s.tensorize(this->mi, this->ni, this->ki, mac<Left, Right>());
    }
};

/// out(y, x, filter) = sum of in(stride y + r - before, stride x + s - before, channel) * weights(r, s, channel, filter): a product for
/// each row and tap.
struct conv_shape {
    std::int64_t height, width, channels, filters, taps, stride, before;
    std::int64_t positions(std::int64_t extent) const { return (extent + 2 * before - taps) / stride + 1; }
};
template <class Left, class Right>
struct conv_stage {
    conv_shape shape;
    axis y, x, filter, r, s, channel, in_y, in_x;
    tensor<Left> in{"in"};
    tensor<Right> weights{"weights"};
    tensor<std::int32_t> out{"out"};

    explicit conv_stage(conv_shape const& of)
        : shape(of),
          y{"y", of.positions(of.height)},
          x{"x", of.positions(of.width)},
          filter{"filter", of.filters},
          r{"r", of.taps},
          s{"s", of.taps},
          channel{"channel", of.channels},
          in_y{"in_y", of.height},
          in_x{"in_x", of.width} {}
    auto written() const {
        auto const image = padded(in(in_y, in_x, channel), 0);
        return out(y, x, filter) +=
               cast<std::int32_t>(image(shape.stride * y + r - shape.before, shape.stride * x + s - shape.before, channel)) *
               cast<std::int32_t>(weights(r, s, channel, filter));
    }
};
template <class Left, class Right>
struct conv : conv_stage<Left, Right> {
    using base = conv_stage<Left, Right>;
    decltype(std::declval<base>().written()) what;

    explicit conv(conv_shape const& of) : base(of), what(base::written()) {}
    /// The rows of the image that a row of the result needs are copied with their border.
    schedule on(processor const& p) const {
        schedule s(what, p.packs_left);
        s.reorder(this->y, this->r, this->s, this->x, this->filter, this->channel).cache_read(this->in, arm::l2).at(this->y);
        return s.tensorize(this->x, this->filter, this->channel, mac<Left, Right>());
    }
};

}  // namespace foreign_kernels
