// Schedules are read line by line.
// clang-format off
#pragma once
#include <tilewright/targets/mps2_an521.hpp>
#include <tilewright/targets/mps3_an547.hpp>
#include <tilewright/tilewright.hpp>

/// Kernels of many shapes: for the MPS2-AN521 with words in registers on the core that has the instruction, and by loops on the other one; for
/// the MPS3-AN547 with vectors in registers.
namespace board_kernels {

using namespace tilewright;
namespace board = targets::mps2_an521;
namespace vector_board = targets::mps3_an547;

/// The largest of 2 and 1 that divides an extent: registers hold whole tiles.
constexpr std::int64_t pair_of(std::int64_t extent) { return extent % 2 == 0 ? 2 : 1; }

/// C(m, n) = sum of A(m, k) * W(n, k).
struct matmul_shape {
    std::int64_t m, n, k;
    std::int64_t rows = 16;  ///< of a tile
};
template <class Element>
struct matmul {
    axis m, n, k, mo{"mo"}, mi{"mi"}, mm{"mm"}, mr{"mr"}, nn{"nn"}, nr{"nr"}, kk{"kk"}, kr{"kr"};
    tensor<Element> A{"A"}, W{"W"};
    tensor<std::int32_t> C{"C"};
    decltype(C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(W(n, k))) what;
    matmul_shape shape;

    explicit matmul(matmul_shape const& of)
        : m{"m", of.m}, n{"n", of.n}, k{"k", of.k}, what(C(m, n) += cast<std::int32_t>(A(m, k)) * cast<std::int32_t>(W(n, k))), shape(of) {}

    schedule by_words() const {
        bool const bytes = sizeof(Element) == 1;
        std::int64_t const rows = shape.m % shape.rows == 0 ? shape.rows : 1;
        return schedule(what, board::core1)
            .split(m, mo, mi, rows).split(mi, mm, mr, pair_of(rows)).split(n, nn, nr, pair_of(shape.n)).split(k, kk, kr, bytes ? 4 : 2)
            .reorder(mo, mm, nn, kk, mr, nr, kr)
            .cache_read(A, board::sram).at(mo).double_buffer()
            .cache_read(W, board::sram).in_bank(2)
            .cache_write(C, board::sram).at(mo).double_buffer().in_bank(2)
            .cache_read(A, board::words).at(kk).cache_read(W, board::words).at(kk)
            .cache_write(C, board::words).at(nn)
            .unroll(mr).unroll(nr).tensorize(kr, bytes ? board::mac4 : board::mac2);
    }
    /// Rows of any length; only for bytes.
    schedule by_rows() const {
        return schedule(what, board::core1)
            .split(m, mo, mi, shape.rows).split(n, nn, nr, 12).reorder(mo, nn, mi, nr, k)
            .cache_read(A, board::sram).at(mo).double_buffer()
            .cache_read(W, board::sram).at(nn).buffers(3).in_bank(1)
            .cache_write(C, board::sram).at(nn).double_buffer().in_bank(2)
            .cache_write(C, board::words).at(nr)
            .tensorize(k, board::dot_on);
    }
    /// On both cores, which share tiles of rows.
    schedule words_on_both() const {
        bool const bytes = sizeof(Element) == 1;
        std::int64_t const rows = shape.m % shape.rows == 0 ? shape.rows : 1;
        return schedule(what, board::both)
            .split(m, mo, mi, rows).split(mi, mm, mr, pair_of(rows)).split(n, nn, nr, pair_of(shape.n)).split(k, kk, kr, bytes ? 4 : 2)
            .reorder(mo, mm, nn, kk, mr, nr, kr)
            .distribute(mo, board::both_cores)
            .cache_read(A, board::sram).at(mo).double_buffer()
            .cache_read(W, board::sram).at("mo.core")
            .cache_write(C, board::sram).at(mo).double_buffer()
            .cache_read(A, board::words).at(kk).cache_read(W, board::words).at(kk)
            .cache_write(C, board::words).at(nn)
            .unroll(mr).unroll(nr).tensorize(kr, bytes ? board::mac4 : board::mac2);
    }
    /// Core 0 brings blocks of W for both.
    schedule rows_on_both() const {
        return schedule(what, board::both)
            .split(m, mo, mi, shape.rows).split(n, nn, nr, 12).reorder(nn, mo, mi, nr, k)
            .distribute(mo, board::both_cores)
            .cache_read(W, board::common).at(nn).double_buffer()
            .cache_read(A, board::sram).at(mo).double_buffer()
            .cache_read(W, board::sram).at("mo.core").by(board::fetch_common)
            .cache_write(C, board::sram).at(mo).double_buffer()
            .cache_write(C, board::words).at(nr)
            .tensorize(k, board::dot_on);
    }
    /// On the MPS3-AN547.
    schedule by_vectors() const {
        bool const bytes = sizeof(Element) == 1;
        std::int64_t const rows = shape.m % shape.rows == 0 ? shape.rows : 1;
        return schedule(what, vector_board::core0)
            .split(m, mo, mi, rows).split(mi, mm, mr, pair_of(rows)).split(n, nn, nr, pair_of(shape.n)).split(k, kk, kr, bytes ? 16 : 8)
            .reorder(mo, mm, nn, kk, mr, nr, kr)
            .cache_read(A, vector_board::dtcm).at(mo).cache_read(W, vector_board::dtcm).cache_write(C, vector_board::dtcm).at(mo)
            .cache_read(A, vector_board::vectors).at(kk).cache_read(W, vector_board::vectors).at(kk)
            .cache_write(C, vector_board::words).at(nn)
            .unroll(mr).unroll(nr).tensorize(kr, bytes ? vector_board::mac16 : vector_board::mac8);
    }
    schedule by_predicated_rows() const {
        return schedule(what, vector_board::core0)
            .split(m, mo, mi, shape.rows).split(n, nn, nr, 12).reorder(mo, nn, mi, nr, k)
            .cache_read(A, vector_board::dtcm).at(mo).cache_read(W, vector_board::dtcm).at(nn)
            .cache_write(C, vector_board::words).at(nr)
            .tensorize(k, vector_board::dot_on);
    }
    schedule by_loops() const {
        return schedule(what, board::core0)
            .split(m, mo, mi, shape.rows).split(n, nn, nr, 12).reorder(mo, nn, mi, nr, k)
            .cache_read(A, board::sram).at(mo).double_buffer()
            .cache_read(W, board::sram).at(nn).buffers(3).in_bank(1)
            .cache_write(C, board::sram).at(nn).double_buffer().in_bank(2);
    }
};

/// out(y, x, filter) = bias(filter) + sum of in(stride y + dilation r - before, …, channel) * weights(r, s, filter, channel).
struct conv_shape {
    std::int64_t height, width, channels, filters, taps_y = 3, taps_x = 3, stride = 1, dilation = 1, before = 0, after = 0;
    bool bordered() const { return before + after > 0; }
    std::int64_t positions(std::int64_t extent, std::int64_t taps) const {
        return (extent + before + after - (taps - 1) * dilation - 1) / stride + 1;
    }
};
struct conv_stage {
    conv_shape shape;
    axis y, x, filter, r, s, channel, in_y, in_x;
    axis fo{"fo"}, fi{"fi"}, xx{"xx"}, xr{"xr"}, ff{"ff"}, fr{"fr"}, cc{"cc"}, cr{"cr"}, yo{"yo"}, yi{"yi"};
    tensor<std::int8_t> in{"in"}, weights{"weights"};
    tensor<std::int32_t> bias{"bias"}, out{"out"};

    explicit conv_stage(conv_shape const& of)
        : shape(of), y{"y", of.positions(of.height, of.taps_y)}, x{"x", of.positions(of.width, of.taps_x)}, filter{"filter", of.filters},
          r{"r", of.taps_y}, s{"s", of.taps_x}, channel{"channel", of.channels}, in_y{"in_y", of.height}, in_x{"in_x", of.width} {}

    auto at(axis const& position, axis const& tap) const { return shape.stride * position + shape.dilation * tap - shape.before; }
    auto written() const {
        return out(y, x, filter) = bias(filter) + sum(r, s, channel, cast<std::int32_t>(padded(in(in_y, in_x, channel), 0)(at(y, r), at(x, s), channel)) *
                                                                     cast<std::int32_t>(weights(r, s, filter, channel)));
    }
};
struct conv : conv_stage {
    decltype(std::declval<conv_stage>().written()) what;

    explicit conv(conv_shape const& of) : conv_stage(of), what(written()) {}

    schedule by_words() const {
        return schedule(what, board::core1)
            .split(x, xx, xr, shape.stride == 1 ? pair_of(x.extent) : 1).split(filter, ff, fr, pair_of(shape.filters)).split(channel, cc, cr, 4)
            .reorder(y, xx, ff, r, s, cc, xr, fr, cr)
            .cache_read(in, board::sram).at(y).double_buffer()
            .cache_read(weights, board::sram).in_bank(2)
            .cache_write(out, board::sram).at(y).double_buffer().in_bank(2)
            .cache_read(in, board::words).at(cc).cache_read(weights, board::words).at(cc).cache_read(bias, board::words).at(ff)
            .cache_write(out, board::words).at(ff)
            .unroll(xr).unroll(fr).tensorize(cr, board::mac4);
    }
    schedule by_rows() const {
        return schedule(what, board::core1)
            .split(filter, fo, fi, 8).reorder(fo, y, x, fi, r, s, channel)
            .cache_read(in, board::sram).at(y).double_buffer()
            .cache_read(weights, board::sram).at(fo).double_buffer().in_bank(2)
            .cache_write(out, board::sram).at(y).double_buffer().in_bank(2)
            .cache_read(bias, board::words).at(fi)
            .cache_write(out, board::words).at(fi)
            .tensorize(channel, board::dot_on);
    }
    /// On both cores, which share blocks of filters.
    schedule rows_on_both() const {
        return schedule(what, board::both)
            .split(filter, fo, fi, 3).reorder(fo, y, x, fi, r, s, channel)
            .distribute(fo, board::both_cores)
            .cache_read(in, board::sram).at(y).double_buffer()
            .cache_read(weights, board::sram).at(fo)
            .cache_write(out, board::sram).at(y).double_buffer()
            .cache_read(bias, board::words).at(fi)
            .cache_write(out, board::words).at(fi)
            .tensorize(channel, board::dot_on);
    }
    /// The cores share rows, and compute where data lies.
    schedule loops_on_both() const { return schedule(what, board::both).reorder(y, filter, x, r, s, channel).distribute(y, board::both_cores); }
    /// On the MPS3-AN547.
    schedule by_vectors() const {
        return schedule(what, vector_board::core0)
            .split(x, xx, xr, shape.stride == 1 ? pair_of(x.extent) : 1).split(filter, ff, fr, pair_of(shape.filters)).split(channel, cc, cr, 16)
            .reorder(y, xx, ff, r, s, cc, xr, fr, cr)
            .cache_read(in, vector_board::dtcm).at(y).cache_read(weights, vector_board::dtcm).cache_write(out, vector_board::dtcm).at(y)
            .cache_read(in, vector_board::vectors).at(cc).cache_read(weights, vector_board::vectors).at(cc)
            .cache_read(bias, vector_board::words).at(ff)
            .cache_write(out, vector_board::words).at(ff)
            .unroll(xr).unroll(fr).tensorize(cr, vector_board::mac16);
    }
    schedule by_predicated_rows() const {
        return schedule(what, vector_board::core0)
            .split(filter, fo, fi, 8).reorder(fo, y, x, fi, r, s, channel)
            .cache_read(in, vector_board::dtcm).at(y).cache_read(weights, vector_board::dtcm).at(fo)
            .cache_read(bias, vector_board::words).at(fi)
            .cache_write(out, vector_board::words).at(fi)
            .tensorize(channel, vector_board::dot_on);
    }
    schedule by_loops() const {
        return schedule(what, board::core0)
            .split(y, yo, yi, 3).split(filter, fo, fi, 5).reorder(yo, fo, yi, x, fi, r, s, channel)
            .cache_read(in, board::sram).at(yo).double_buffer()
            .cache_read(weights, board::sram).at(fo).double_buffer().in_bank(2)
            .cache_write(out, board::sram).at(fo).buffers(3).in_bank(1);
    }
    /// Everything stays where the caller has it.
    schedule in_place() const { return schedule(what, board::core0).reorder(y, x, filter, r, s, channel); }
};

/// A row that is longer than what a descriptor moves, or than all that a chain does.
struct copy {
    axis i, io{"io"}, ii{"ii"};
    tensor<std::int16_t> from{"from"}, to{"to"};
    decltype(to(i) = from(i) + 1) what;
    std::int64_t piece;

    copy(std::int64_t length, std::int64_t of) : i{"i", length}, what(to(i) = from(i) + 1), piece(of) {}
    schedule by_pieces() const {
        return schedule(what, board::core0).split(i, io, ii, piece)
            .cache_read(from, board::sram).at(io).double_buffer().cache_write(to, board::sram).at(io).double_buffer().in_bank(2);
    }
};

/// A core begins what the other one ends, with so many tiles between them.
struct pipeline {
    axis i, io{"io"}, ii{"ii"};
    tensor<std::int16_t> from{"from"}, between{"between"}, to{"to"};
    decltype(stages(between(i) = from(i) - 2, to(i) = between(i) + 3)) what;
    std::int64_t piece, versions;

    pipeline(std::int64_t length, std::int64_t of, std::int64_t in_flight)
        : i{"i", length}, what(stages(between(i) = from(i) - 2, to(i) = between(i) + 3)), piece(of), versions(in_flight) {}
    schedule over(int first, int second) const {
        return schedule(what, board::both).split(i, io, ii, piece)
            .on(board::both_cores, second)
            .cache_read(between, board::sram).at(io).by(board::fetch_common)
            .compute_at(between, io).store_in(between, board::common).buffers(static_cast<int>(versions))
            .stage(between).on(board::both_cores, first)
            .cache_read(from, board::sram).at(io);
    }
};

}  // namespace board_kernels
