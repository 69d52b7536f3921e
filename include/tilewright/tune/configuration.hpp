#pragma once
#include <initializer_list>
#include <tilewright/base/bad_query.hpp>
#include <tilewright/base/label.hpp>

/// Schedules with numbers left open, and the tuner that finds them by measuring.
namespace tilewright::tune {

struct named_value {
    ir::label name{};
    std::int64_t value = 0;
};

/// The numbers that a schedule is filled in with, by name: `configuration{{"rows", 6}, {"vectors", 2}}`. A literal value: the function that
/// makes a schedule of it serves the tuner at run time, and the compiler with the winner.
struct configuration {
    static constexpr int most = 16;

    fixed_array<named_value, most> values{};
    int count = 0;

    constexpr configuration() = default;
    /// @throws bad_query when there are more than `most`
    constexpr configuration(std::initializer_list<named_value> given) {
        for (named_value const& one : given) add(one.name, one.value);
    }
    constexpr void add(ir::label const& name, std::int64_t value) {
        if (count == most) tilewright::detail::throw_or_abort(bad_query("a configuration has at most 16 numbers"));
        values[count++] = {name, value};
    }

    constexpr named_value const* begin() const { return values.elements; }
    constexpr named_value const* end() const { return values.elements + count; }
    constexpr bool has(ir::label const& name) const { return position_of(name) >= 0; }
    /// @throws bad_query when there is no number of this name
    constexpr std::int64_t operator[](ir::label const& name) const {
        int const at = position_of(name);
        if (at < 0) tilewright::detail::throw_or_abort(bad_query(name, " is no number of this configuration"));
        return values[at].value;
    }

    friend constexpr bool operator==(configuration const& a, configuration const& b) {
        bool same = a.count == b.count;
        for (int at = 0; at < a.count && same; ++at)
            same = a.values[at].name == b.values[at].name && a.values[at].value == b.values[at].value;
        return same;
    }

  private:
    constexpr int position_of(ir::label const& name) const {
        for (int at = 0; at < count; ++at) {
            if (values[at].name == name) return at;
        }
        return -1;
    }
};

/// What a problem is large: `problem_shape{256, 196, 128}`. Winners are kept by it.
struct problem_shape {
    static constexpr int most = 12;

    fixed_array<std::int64_t, most> extents{};
    int count = 0;

    constexpr problem_shape() = default;
    /// @throws bad_query when there are more than `most`
    constexpr problem_shape(std::initializer_list<std::int64_t> given) {
        for (std::int64_t one : given) add(one);
    }
    constexpr void add(std::int64_t extent) {
        if (count == most) tilewright::detail::throw_or_abort(bad_query("the shape of a problem has at most 12 numbers"));
        extents[count++] = extent;
    }

    constexpr std::int64_t const* begin() const { return extents.elements; }
    constexpr std::int64_t const* end() const { return extents.elements + count; }

    friend constexpr bool operator==(problem_shape const& a, problem_shape const& b) {
        return a.count == b.count && a.extents == b.extents;
    }
};

}  // namespace tilewright::tune
