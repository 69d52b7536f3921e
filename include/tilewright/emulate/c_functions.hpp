#pragma once
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <tilewright/base/divisors.hpp>
#include <tilewright/base/label_text.hpp>
#include <tilewright/emulate/memories.hpp>
#include <type_traits>

// Whether C functions do what a machine declares of them: random operands, strides and extents; what lies around the operands must stay as
// it is. Nothing is planned, and nothing is needed but the machine and the functions.
namespace tilewright {

namespace emulation {

/// One value that a C function is given: an address, or a number.
struct passed_value {
    std::uint64_t bits = 0;

    template <class T>
    T as() const {
        if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(static_cast<std::uintptr_t>(bits));
        else return static_cast<T>(bits);
    }
};

template <class... Parameters>
int call_with(int (*function)(Parameters...), std::vector<passed_value> const& values) {
    if (values.size() != sizeof...(Parameters))
        throw std::invalid_argument("the C function takes another number of arguments than the part passes");
    return [&]<std::size_t... At>(std::index_sequence<At...>) { return function(values[At].template as<Parameters>()...); }
    (std::index_sequence_for<Parameters...>{});
}

using c_function = std::function<int(std::vector<passed_value> const&)>;

}  // namespace emulation

/// The C functions of one part, in the order of its calls; how what it uses is configured; and where memories that have numbers for
/// addresses lie in this process.
///
/// `c_functions(&mvin).sets(config_ld, &set_stride).memory_at(spad, rows, sizeof rows)`
class c_functions {
  public:
    template <class... Functions>
    explicit c_functions(Functions*... functions) : calls{wrapped(functions)...} {}
    template <class Function>
    c_functions& sets(configuration const& what, Function* function) {
        setters.emplace_back(what.name, wrapped(function));
        return *this;
    }
    /// The first byte of the memory's first bank, and how many there are.
    c_functions& memory_at(memory const& what, void* first, std::size_t bytes) {
        places.push_back({what.name, static_cast<std::byte*>(first), static_cast<std::int64_t>(bytes)});
        return *this;
    }

    struct place {
        ir::label memory_name{};
        std::byte* first = nullptr;
        std::int64_t bytes = 0, used = 0;
    };
    std::vector<emulation::c_function> calls;
    std::vector<std::pair<ir::label, emulation::c_function>> setters{};
    std::vector<place> places{};

  private:
    template <class Function>
    static emulation::c_function wrapped(Function* function) {
        return [function](std::vector<emulation::passed_value> const& values) { return emulation::call_with(function, values); };
    }
};

namespace emulation {

/// What a check of a part is about: the machine, its memories in this process, and the functions.
class part_check {
  public:
    part_check(machine const& where, c_functions functions) : where_(where), functions_(std::move(functions)) {}

  protected:
    /// A piece of memory that a part works on, with bytes around it that it must leave alone.
    struct piece {
        std::byte* first = nullptr;  ///< of the operand
        std::vector<std::byte> own;  ///< where no memory was given
        std::byte* begin = nullptr;
        std::int64_t size = 0;
        std::uint64_t address = 0;  ///< as the device has it
    };
    static constexpr std::int64_t guard = 64;

    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    /// Memory for `bytes` bytes at a multiple of `alignment`, among random ones.
    piece make_piece(int memory_at, std::int64_t bytes, std::int64_t alignment) {
        memory const& m = where_.memories[memory_at];
        if (m.is_numbered()) alignment = detail::lcm(alignment, m.address_unit);
        piece made;
        c_functions::place* place = nullptr;
        for (c_functions::place& one : functions_.places) {
            if (one.memory_name == m.name) place = &one;
        }
        if (m.is_numbered() && place == nullptr)
            throw std::invalid_argument("say by memory_at where the rows of `" + m.name.str() + "` lie in this process");
        made.size = bytes + 2 * (guard + alignment);
        std::int64_t offset = 0;
        if (place != nullptr) {
            offset = (place->used + alignment - 1) / alignment * alignment;
            place->used = offset + made.size;
            if (place->used > place->bytes)
                throw std::invalid_argument("the memory given for `" + m.name.str() + "` is too small for the check");
            made.begin = place->first + offset;
        } else {
            made.own.resize(static_cast<std::size_t>(made.size + alignment));
            auto const lowest = reinterpret_cast<std::uintptr_t>(made.own.data());
            auto const step = static_cast<std::uintptr_t>(alignment);
            made.begin = made.own.data() + ((lowest + step - 1) / step * step - lowest);
        }
        std::int64_t const inside = (guard + alignment - 1) / alignment * alignment;
        made.first = made.begin + inside;
        for (std::int64_t at = 0; at < made.size; ++at) made.begin[at] = static_cast<std::byte>(random_());
        // A memory that is given begins where the first bank does.
        made.address = m.is_numbered() ? m.number_of(m.position(0, offset + inside)) : reinterpret_cast<std::uintptr_t>(made.first);
        return made;
    }
    void free_pieces() {
        for (c_functions::place& one : functions_.places) one.used = 0;
    }

    std::string set_up(part_range const& settings, auto const& value_of) {
        for (int at = settings.first; at < settings.first + settings.count; ++at) {
            required_setting const& s = where_.settings[at];
            c_function const* setter = nullptr;
            for (auto const& [name, function] : functions_.setters) {
                if (name == s.configuration_name) setter = &function;
            }
            if (setter == nullptr) throw std::invalid_argument("say by sets how `" + s.configuration_name.str() + "` is set");
            device_call const call = set_call_of(where_.configurations[where_.configurations.find(s.configuration_name)]);
            std::vector<passed_value> values;
            for (int argument = 0; argument < call.count; ++argument) {
                call_argument const& a = call.arguments[argument];
                values.push_back(a.is == role::literal ? passed_value{static_cast<std::uint64_t>(a.value)}
                                                       : value_of(s.values[a.dimension]));
            }
            if (int const code = (*setter)(values); code != 0)
                return s.configuration_name.str() + " returned " + std::to_string(code) + " where it was set";
        }
        return {};
    }
    template <class Description>
    std::string call_all(Description const& part, auto const& value_of) {
        if (std::string wrong = set_up(part.settings, value_of); !wrong.empty()) return wrong;
        std::size_t next = 0;
        std::string wrong;
        each_call(where_, part, [&](device_call const& call) {
            if (next == functions_.calls.size())
                throw std::invalid_argument("`" + part.name.str() + "` makes more calls than functions are given");
            std::vector<passed_value> values;
            for (int at = 0; at < call.count; ++at) values.push_back(value_of(call.arguments[at]));
            int const code = functions_.calls[next++](values);
            if (wrong.empty() && code != 0) wrong = call.symbol.str() + " returned " + std::to_string(code);
        });
        return wrong;
    }
    /// The first byte of a piece that is not what it should be.
    static std::int64_t first_difference(piece const& got, std::vector<std::byte> const& wanted) {
        for (std::int64_t at = 0; at < got.size; ++at) {
            if (got.begin[at] != wanted.data()[at]) return at;
        }
        return -1;
    }
    static std::vector<std::byte> copy_of(piece const& p) { return {p.begin, p.begin + p.size}; }
    static passed_value in_units(std::int64_t value, call_argument const& a) {
        return {static_cast<std::uint64_t>(a.value > 1 ? value / a.value : value)};
    }

    /// Elements as they are harmless to compute with: floats between -1 and 1, long integers that sums do not overflow with.
    void fill(piece& p, scalar_type type) {
        visit_scalar(type, [&]<class T>(T) {
            std::int64_t const last = (p.begin + p.size - p.first) / static_cast<std::int64_t>(sizeof(T));
            for (std::int64_t at = 0; at < last; ++at) {
                T value{};
                if (is_half(type)) value = static_cast<T>(half_bits_of(type, static_cast<float>(between(-1000, 1000)) / 1000));
                else if constexpr (std::is_floating_point_v<T>) value = static_cast<T>(static_cast<double>(between(-1000, 1000)) / 1000);
                else if constexpr (std::is_same_v<T, bool>) value = between(0, 1) != 0;
                else
                    value = static_cast<T>(sizeof(T) < 4 ? static_cast<std::int64_t>(random_())
                                                         : between(std::is_signed_v<T> ? -1000 : 0, 1000));
                std::memcpy(p.first + at * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
            }
        });
    }
    static std::string text_of(scalar_type type, std::byte const* at) {
        return visit_scalar(type, [type, at]<class T>(T) {
            T value;
            std::memcpy(&value, at, sizeof(T));
            if (is_half(type)) return std::to_string(value_of_half(type, static_cast<std::uint16_t>(value)));
            return std::to_string(value);
        });
    }

    machine const& where_;
    c_functions functions_;
    std::mt19937_64 random_{1};
};

}  // namespace emulation
}  // namespace tilewright
