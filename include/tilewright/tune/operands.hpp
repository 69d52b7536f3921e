#pragma once
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <tilewright/halide/jit.hpp>
#include <tilewright/runtime/call.hpp>
#include <tilewright/tune/measure.hpp>
#include <tilewright/tune/plan_hash.hpp>
#include <tilewright/tune/problem.hpp>

// Operands to measure kernels with, and what the results must be.
namespace tilewright::tune {

namespace detail {

struct freed {
    void operator()(void* memory) const { std::free(memory); }
};
using memory_block = std::unique_ptr<void, freed>;

inline memory_block allocate(std::int64_t bytes, std::int64_t alignment) {
    auto const aligned = static_cast<std::size_t>(std::max<std::int64_t>(alignment, 64));
    std::size_t const size = (static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)) + aligned - 1) / aligned * aligned;
    memory_block made(std::aligned_alloc(aligned, size));
    if (!made) throw std::bad_alloc();
    return made;
}

/// Whole numbers from -3 to 3, or from 0 where there are none below: sums of products of them are exact in floats.
inline void fill_small(operand_view const& of, std::uint64_t seed) {
    std::mt19937_64 random(hash_text(seed, of.tensor));
    visit_scalar(of.type, [&]<class T>(T) {
        for (std::int64_t at = 0; at < of.elements; ++at) {
            int const number = static_cast<int>(random() % 7) - 3;
            T& element = static_cast<T*>(of.first)[at];
            if (is_half(of.type)) element = static_cast<T>(half_bits_of(of.type, static_cast<float>(number)));
            else element = static_cast<T>(std::is_signed_v<T> ? number : number & (std::is_same_v<T, bool> ? 1 : 3));
        }
    });
}

}  // namespace detail

/// Dense operands of a kernel, filled: what it reads in the order of its plan, the result last. Operands of the same seed and size are
/// equal.
class operands {
  public:
    /// @param sized  a plan with known extents
    operands(problem const& of, plan_value const& sized, std::uint64_t seed) {
        ir::argument_list const list = ir::arguments_of(sized);
        for (int at = 0; at < list.tensor_count; ++at) {
            ir::buffer const& b = sized.buffers[list.tensors[at]];
            std::int64_t elements = 1;
            for (int d = 0; d < b.rank; ++d) elements *= b.extents[d];
            memory_.push_back(detail::allocate(elements * bytes_of(b.type), b.alignment));
            views_.push_back({b.tensor.str(), memory_.back().get(), elements, b.type, b.written});
            if (of.fill) of.fill(views_.back());
            else detail::fill_small(views_.back(), seed);
            arguments_.push_back(std::make_unique<tilewright::detail::tensor_argument>(b, memory_.back().get()));
        }
        if (views_.empty() || !views_.back().is_result)
            throw std::invalid_argument("the result stays in a memory of the machine: nothing to compare");
    }

    std::vector<operand_view> const& views() const { return views_; }
    operand_view const& result() const { return views_.back(); }
    /// In the order of the plan's arguments.
    std::vector<halide_buffer_t*> arguments() const {
        std::vector<halide_buffer_t*> all;
        for (auto const& one : arguments_) all.push_back(*one);
        return all;
    }
    std::vector<unsigned char> bytes() const {
        auto const* const first = static_cast<unsigned char const*>(result().first);
        return {first, first + bytes_of_result()};
    }
    /// Runs a kernel on them.
    void run(halide::jit_kernel& kernel, std::vector<double> const& scalars) {
        std::vector<Halide::Buffer<>> given;
        for (halide_buffer_t* one : arguments()) given.emplace_back(*one);
        Halide::Buffer<> const result = given.back();
        given.pop_back();
        kernel.run(given, result, scalars);
    }
    std::int32_t run(halide::jit_kernel& kernel, core_team& on, std::vector<double> const& scalars) {
        std::vector<Halide::Buffer<>> given;
        for (halide_buffer_t* one : arguments()) given.emplace_back(*one);
        Halide::Buffer<> const result = given.back();
        given.pop_back();
        return kernel.run(on, given, result, scalars);
    }

  private:
    std::size_t bytes_of_result() const { return static_cast<std::size_t>(result().elements * bytes_of(result().type)); }

    std::vector<detail::memory_block> memory_;
    std::vector<operand_view> views_;
    std::vector<std::unique_ptr<tilewright::detail::tensor_argument>> arguments_;
};

/// Says which share of a result is right.
class referee {
  public:
    referee(problem const& of, std::uint64_t seed) : of_(of), seed_(seed) {}

    /// @param after  operands that a kernel of the candidate has run on, once, from their first contents
    double share_right(candidate const& one, operands const& after) {
        if (of_.check) return of_.check(after.views()) ? 1 : 0;
        std::vector<unsigned char> const& wanted = expected(one);
        return visit_scalar(after.result().type, [&]<class T>(T) {
            auto const* const expected = reinterpret_cast<T const*>(wanted.data());
            T const* const found = static_cast<T const*>(after.result().first);
            std::int64_t const elements = after.result().elements;
            scalar_type const type = after.result().type;
            auto const value_of = [type](T element) -> double {
                return is_half(type) ? value_of_half(type, static_cast<std::uint16_t>(element)) : static_cast<double>(element);
            };
            bool const has_tolerance = is_float(type) || is_half(type);
            double largest = 0;
            for (std::int64_t at = 0; has_tolerance && at < elements; ++at) largest = std::max(largest, std::abs(value_of(expected[at])));
            std::int64_t right = 0;
            for (std::int64_t at = 0; at < elements; ++at) {
                bool same = std::memcmp(expected + at, found + at, sizeof(T)) == 0;
                same = same || (has_tolerance && std::abs(value_of(expected[at]) - value_of(found[at])) <= of_.tolerance * largest);
                right += same ? 1 : 0;
            }
            return elements == 0 ? 1.0 : static_cast<double>(right) / static_cast<double>(elements);
        });
    }

  private:
    /// What the computation gives without a schedule; once for all candidates that compute the same.
    std::vector<unsigned char> const& expected(candidate const& one) {
        std::uint64_t const which = detail::hash_of_computation(one.how.what());
        auto const known = expected_.find(which);
        if (known != expected_.end()) return known->second;
        operands fresh(of_, one.sized, seed_);
        halide::jit_kernel plain(one.plan, nullptr);
        fresh.run(plain, of_.scalars);
        return expected_[which] = fresh.bytes();
    }

    problem const& of_;
    std::uint64_t seed_;
    std::map<std::uint64_t, std::vector<unsigned char>> expected_;
};

namespace detail {

/// @throws std::invalid_argument when the kernel takes another number of scalar parameters than the problem gives
inline void expect_scalars(problem const& of, plan_value const& plan) {
    int const wanted = ir::arguments_of(plan).parameter_count;
    if (wanted != static_cast<int>(of.scalars.size()))
        throw std::invalid_argument("the kernel takes " + std::to_string(wanted) + " scalar parameters, and `scalars` has " +
                                    std::to_string(of.scalars.size()));
}

inline outcome wrong_result(double share) {
    char text[80];
    std::snprintf(text, sizeof text, "only %.6f of the elements of the result are right", share);
    return outcome::failed(invalidity::correctness, text, share);
}

}  // namespace detail
}  // namespace tilewright::tune
