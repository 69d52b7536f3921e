#pragma once
#include <initializer_list>
#include <tilewright/base/type_questions.hpp>

namespace tilewright::detail {

/// What a schedule says to a directive with other arguments than it takes: one error, with what it takes.
///
/// The functions take anything, and lose to every other function that could be called. So they are templates of nothing that is given, and
/// the second wrong call of a directive adds no error. Each leaves the schedule, and the plan says nothing about it.
template <class Schedule>
class wrong_calls {
  protected:
    // clang-format off
    template <bool expected = false> constexpr Schedule& stage(...) {
        static_assert(expected, "stage takes a tensor that a stage computes: stage(C)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& split(...) {
        static_assert(expected, "split takes a loop, the outer and the inner one, and the factor: split(k, ko, ki, 16)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& tile(...) {
        static_assert(expected, "tile takes two loops, both outer, both inner ones, and both factors: tile(m, n, mo, no, mi, ni, 16, 16)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& fuse(...) {
        static_assert(expected, "fuse takes the outer loop, the inner one, and the name of the one that they become: fuse(m, n, mn)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& reorder(...) {
        static_assert(expected, "reorder takes loops, the outermost first: reorder(mo, no, mi, ni)");
        return left();
    }
    // Braces fit nothing but a list.
    template <class Loop> constexpr Schedule& reorder(std::initializer_list<Loop>) {
        static_assert(as_expected<Loop>, "reorder takes loops without braces: reorder(mo, no, mi, ni)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& unroll(...) {
        static_assert(expected, "unroll takes one loop, and how many copies if not all: unroll(k), unroll(k, 4)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& vectorize(...) {
        static_assert(expected, "vectorize takes one loop, and how many lanes if not all: vectorize(n), vectorize(n, 8)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& parallel(...) {
        static_assert(expected, "parallel takes one loop: parallel(mo); split says how many iterations that has");
        return left();
    }
    template <bool expected = false> constexpr Schedule& distribute(...) {
        static_assert(expected, "distribute takes a loop, cores, and how many if not all: distribute(m, dsps), distribute(m, dsps, 2)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& compute_at(...) {
        static_assert(expected, "compute_at takes a tensor that a stage computes, and a loop that reads it: compute_at(rows, yo); a copy takes at(yo)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& on(...) {
        static_assert(expected, "on takes a kind of cores, and the number of one: on(dsps, 1)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& store_in(...) {
        static_assert(expected, "store_in takes a tensor that a stage computes, and then a memory: store_in(rows, spad)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& reads(...) {
        static_assert(expected, "reads takes an input, and then a memory: reads(A, spad), reads(A, any_of(spad, l2))");
        return left();
    }
    template <bool expected = false> constexpr Schedule& writes(...) {
        static_assert(expected, "writes takes the result, and then a memory: writes(C, spad), writes(C, any_of(spad, l2))");
        return left();
    }
    template <bool expected = false> constexpr Schedule& cache_read(...) {
        static_assert(expected, "cache_read takes the tensor first, and then the memory: cache_read(A, spad); at(ko) takes the loop");
        return left();
    }
    template <class Tensor, class Memory> constexpr Schedule& cache_read(std::initializer_list<Tensor>, Memory const&) {
        static_assert(as_expected<Tensor>, "cache_read takes one tensor, and then the memory: cache_read(A, spad)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& cache_write(...) {
        static_assert(expected, "cache_write takes the tensor first, and then the memory: cache_write(C, spad); at(no) takes the loop");
        return left();
    }
    template <bool expected = false> constexpr Schedule& at(...) {
        static_assert(expected, "at takes one loop: at(ko)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& by(...) {
        static_assert(expected, "by takes one transfer: by(mvin)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& buffers(...) {
        static_assert(expected, "buffers takes how many versions there are: buffers(2)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& double_buffer(...) {
        static_assert(expected, "double_buffer takes nothing: double_buffer(); another number of versions is buffers(3)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& prefetch(...) {
        static_assert(expected, "prefetch takes how many steps ahead, and a loop for copies by the core: prefetch(2), prefetch(1, m)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& in_bank(...) {
        static_assert(expected, "in_bank takes the number of a bank, from 0 on: in_bank(1)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& layout(...) {
        static_assert(expected, "layout takes one function: layout([](auto i, auto j) { return index_map(i / 16, j, i % 16); })");
        return left();
    }
    template <class Loop, class Intrinsic> constexpr Schedule& tensorize(std::initializer_list<Loop>, Intrinsic const&) {
        static_assert(as_expected<Loop>, "tensorize takes loops without braces, and then the intrinsic: tensorize(mi, ni, ki, mac16)");
        return left();
    }
    template <bool expected = false> constexpr Schedule& tensorize(...) {
        static_assert(expected, "tensorize takes the loops first, and then the intrinsic: tensorize(mi, ni, ki, mac16)");
        return left();
    }
    // clang-format on

  private:
    constexpr Schedule& left() { return static_cast<Schedule&>(*this).leave(); }
};

}  // namespace tilewright::detail
