#include "fuzz/operands.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tilewright/plan/ir/plan_value.hpp>

#include "fuzz/dice.hpp"

// What is done element by element; it is optimised, because some tensors are large.
namespace fuzz {

namespace {

constexpr unsigned char mark = 0xa5;

}  // namespace

template <class Visit>
void placed_tensor::each_element(Visit const& visit) const {
    std::array<std::int64_t, oracle::most_dimensions> at{};
    std::int64_t const count = box_.elements();
    for (std::int64_t number = 0; number < count; ++number) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(box_.rank); ++d) offset += at[d] * strides_[d];
        visit(number, offset * bytes_of(type_));
        for (std::size_t d = static_cast<std::size_t>(box_.rank); d-- > 0;) {
            if (++at[d] < box_.extents[d]) break;
            at[d] = 0;
        }
    }
}

placed_tensor::placed_tensor(ir::buffer const& b, std::int64_t gaps) : type_(b.type) {
    box_.name = b.tensor;
    box_.type = b.type;
    box_.rank = b.rank;
    std::int64_t stride = 1, reach = 1;
    for (int d = b.rank - 1; d >= 0; --d) {
        auto const at = static_cast<std::size_t>(d);
        box_.minimum[at] = b.minimum[at], box_.extents[at] = b.extents[at];
        if (d < b.rank - 1) {
            stride *= b.extents[at + 1];
            std::int64_t const multiple = std::max<std::int64_t>(1, b.stride_multiples[at]);
            if (d < b.dense_from) stride = (stride + gaps + multiple - 1) / multiple * multiple;
        }
        strides_[at] = stride;
        reach += (b.extents[at] - 1) * stride;
    }
    bytes_ = reach * bytes_of(type_);
    alignment_ = std::max<std::int64_t>(b.alignment, bytes_of(type_));
    region_ = guarded_region(static_cast<std::size_t>((bytes_ + alignment_ + 4095) / 4096 * 4096), 1);
    place(false);
}

void placed_tensor::place(bool high) {
    std::memset(region_.begin(), mark, region_.size());
    auto const room = static_cast<std::int64_t>(region_.size()) - bytes_;
    first_ = region_.begin() + (high ? room / alignment_ * alignment_ : 0);
}

void placed_tensor::fill(std::vector<std::byte> const& dense) {
    each_element([&](std::int64_t number, std::int64_t offset) {
        std::memcpy(first_ + offset, dense.data() + number * bytes_of(type_), static_cast<std::size_t>(bytes_of(type_)));
    });
}

std::vector<std::byte> placed_tensor::dense() const {
    std::vector<std::byte> all(static_cast<std::size_t>(box_.bytes()));
    each_element([&](std::int64_t number, std::int64_t offset) {
        std::memcpy(all.data() + number * bytes_of(type_), first_ + offset, static_cast<std::size_t>(bytes_of(type_)));
    });
    return all;
}

bool placed_tensor::is_clean_around() const {
    std::vector<bool> mine(region_.size());
    std::int64_t const begins = first_ - region_.begin();
    each_element([&](std::int64_t, std::int64_t offset) {
        for (int byte = 0; byte < bytes_of(type_); ++byte) mine[begins + offset + byte] = true;
    });
    for (std::size_t at = 0; at < region_.size(); ++at) {
        if (!mine[at] && region_.begin()[at] != std::byte{mark}) return false;
    }
    return true;
}

std::vector<std::byte> draw_elements(tensor const& of, std::int64_t count, std::uint64_t seed) {
    if (is_half(of.type)) {
        tensor floats = of;
        floats.type = scalar_type::float32;
        std::vector<std::byte> const from = draw_elements(floats, count, seed);
        std::vector<std::byte> all(from.size() / 2);
        for (std::size_t at = 0; at < all.size(); at += 2) {
            float one = 0;
            std::memcpy(&one, from.data() + 2 * at, 4);
            std::uint16_t const bits = half_bits_of(of.type, one);
            std::memcpy(all.data() + at, &bits, 2);
        }
        return all;
    }
    dice random(seed);
    std::vector<std::byte> all(static_cast<std::size_t>(count * bytes_of(of.type)));
    visit_scalar(of.type, [&]<class T>(T) {
        for (std::int64_t at = 0; at < count; ++at) {
            T one{};
            if constexpr (std::is_same_v<T, bool>) one = random.one_in(2);
            else if constexpr (std::is_floating_point_v<T>) {
                using limits = std::numeric_limits<T>;
                constexpr T specials[] = {limits::quiet_NaN(), limits::infinity(), -limits::infinity(), T(-0.0), T(0),
                                          limits::denorm_min()};
                int const most = static_cast<int>(std::min<std::int64_t>(of.magnitude, 100));
                one = static_cast<T>(random.between(-2 * most, 2 * most)) / 2;
                if (!of.exact) one += static_cast<T>(random.below(1 << 20)) / (1 << 20);
                if (of.special && random.one_in(4)) one = random.any_of(specials);
            } else if (static_cast<double>(of.magnitude) >= static_cast<double>(std::numeric_limits<T>::max())) {
                one = static_cast<T>(random.bits());
            } else {
                int const most = static_cast<int>(of.magnitude);
                one = static_cast<T>(random.between(std::is_signed_v<T> ? -most : 0, most));
            }
            std::memcpy(all.data() + at * static_cast<std::int64_t>(sizeof one), &one, sizeof one);
        }
    });
    return all;
}

oracle::tensor_box joined(oracle::tensor_box a, oracle::tensor_box const& b) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(a.rank); ++d) {
        std::int64_t const end = std::max(a.minimum[d] + a.extents[d], b.minimum[d] + b.extents[d]);
        a.minimum[d] = std::min(a.minimum[d], b.minimum[d]);
        a.extents[d] = end - a.minimum[d];
    }
    return a;
}

std::vector<std::byte> part_of(oracle::tensor_box const& whole, std::vector<std::byte> const& elements, oracle::tensor_box const& part) {
    auto const size = static_cast<std::size_t>(bytes_of(part.type));
    std::vector<std::byte> found;
    std::array<std::int64_t, oracle::most_dimensions> at{};
    auto const strides = whole.dense_strides();
    for (std::int64_t number = 0; number < part.elements(); ++number) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(part.rank); ++d)
            offset += (part.minimum[d] - whole.minimum[d] + at[d]) * strides[d];
        auto const* const first = elements.data() + static_cast<std::size_t>(offset) * size;
        found.insert(found.end(), first, first + size);
        for (std::size_t d = static_cast<std::size_t>(part.rank); d-- > 0;) {
            if (++at[d] < part.extents[d]) break;
            at[d] = 0;
        }
    }
    return found;
}

std::string difference(oracle::result const& wanted, std::vector<std::byte> const& got) {
    return visit_scalar(wanted.box.type, [&]<class T>(T) -> std::string {
        std::int64_t wrong = 0, first = -1;
        T is{}, should{};
        for (std::int64_t at = 0; at < wanted.box.elements(); ++at) {
            T a, b;
            std::memcpy(&a, wanted.bytes.data() + at * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
            std::memcpy(&b, got.data() + at * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
            bool same = std::memcmp(&a, &b, sizeof(T)) == 0;
            if constexpr (std::is_floating_point_v<T>) same |= std::isnan(a) && std::isnan(b);
            if (is_half(wanted.box.type)) {
                auto const is_nan = [&](T bits) { return std::isnan(value_of_half(wanted.box.type, static_cast<std::uint16_t>(bits))); };
                same |= is_nan(a) && is_nan(b);
            }
            if (same || !wanted.defined[at]) continue;
            if (wrong++ == 0) first = at, should = a, is = b;
        }
        if (wrong == 0) return {};
        std::string where;
        std::int64_t left = first;
        for (int d = wanted.box.rank - 1; d >= 0; --d) {
            std::int64_t const extent = wanted.box.extents[d];
            where = std::to_string(left % extent) + (where.empty() ? "" : ", ") + where;
            left /= extent;
        }
        auto const text = [](T one) {
            if constexpr (std::is_floating_point_v<T>) return std::signbit(one) && one == 0 ? std::string("-0.0") : std::to_string(one);
            else return std::to_string(one);
        };
        return std::to_string(wrong) + " of " + std::to_string(wanted.box.elements()) + " elements differ, the first at [" + where +
               "]: " + text(is) + ", but should be " + text(should);
    });
}

}  // namespace fuzz
