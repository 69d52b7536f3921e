#pragma once
#include <cstdint>
#include <string>
#include <tilewright/import/arithmetic.hpp>

// Operators of the bits of integers. The language has no such operation: bits that both operands have are counted one by one.
namespace tilewright::imported::detail {

enum class bit_rule { both, any, one };

inline scalar_type word_of(value const& x) {
    if (is_float(x.type())) throw not_imported(std::string("bits of elements of ") + name_of(x.type()));
    return bytes_of(x.type()) == 8 ? scalar_type::uint64 : scalar_type::uint32;
}
/// a | b is a + b less what both have, and a ^ b is that less it once more.
template <bit_rule Which>
void combine_bits(lowering& of) {
    elementwise(of, 2, [](auto const& x) {
        scalar_type const type = x[0].type(), word = word_of(x[0]);
        need_types(operation::add, type, x[1].type());
        auto const bit = [](value const& from, std::int64_t at) {
            return binary(operation::modulo, shifted_right(from, at), integer_like(from, 2));
        };
        return once(convert(x[0], word), [&](value const& a) {
            return once(convert(x[1], word), [&](value const& b) {
                value both = none_of(word);
                for (std::int64_t at = 8 * bytes_of(type); at-- > 0;) both = both * integer_like(a, 2) + bit(a, at) * bit(b, at);
                if (Which == bit_rule::both) return convert(both, type);
                return convert(Which == bit_rule::any ? a + b - both : a + b - both * integer_like(a, 2), type);
            });
        });
    });
}
inline void invert_bits(lowering& of) {
    elementwise(of, 1, [](auto const& x) {
        scalar_type const word = word_of(x[0]);
        return convert(none_of(word) - convert(x[0], word) - number(std::int64_t{1}, word), x[0].type());
    });
}

}  // namespace tilewright::imported::detail
