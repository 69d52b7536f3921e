#include <tilewright/halide/jit.hpp>
#include <tilewright/plan/plan.hpp>

#include "catch.hpp"
#include "halide/copying_host.hpp"

// Arguments and memories begin at a multiple of their elements. Vectors of them are read there, wherever that is.

using namespace tilewright;
using copying::host, copying::near;

namespace {

constexpr int length = 16;
constexpr axis x{"x", length}, xo{"xo"}, xi{"xi"};
template <class T>
constexpr tensor<T> A{"A"};
template <class T>
constexpr tensor<T> B{"B"};
template <class T>
constexpr tensor<T> C{"C"};

/// Runs C[x] = f(A, B)[x] with arguments and memory that begin `late` elements after a multiple of 64 bytes.
template <class T, class Value>
void check(schedule s, bool staged, std::int64_t late, Value&& value) {
    INFO(late << " elements after a multiple of 64 bytes, staged " << staged);
    s.split(x, xo, xi, 8).vectorize(xi);
    if (staged) s.cache_read(A<T>, near);
    auto const plan = std::make_unique<plan_value>(make_plan(s));
    REQUIRE(!plan->refusal);
    struct alignas(64) block {
        std::array<T, 64> elements{};
    };
    std::array<block, 3> operands;
    block pool;
    auto const begin = [&](block& of) { return of.elements.data() + late; };
    T* const a = begin(operands[0]);
    T* const b = begin(operands[1]);
    T* const c = begin(operands[2]);
    for (int i = 0; i < 3 * length; ++i) a[i] = static_cast<T>(7 * i + 3);
    for (int i = 0; i < length; ++i) b[i] = static_cast<T>(i % 3 + 2);
    std::vector<void*> pools;
    if (ir::arguments_of(*plan).pool_count > 0) pools.push_back(begin(pool));
    halide::jit_kernel kernel(*plan, pools);
    auto const as_buffer = [](ir::buffer const& of, T* data) {
        return Halide::Buffer<>(Halide::type_of<T>(), data, {static_cast<int>(of.extents[0])});
    };
    kernel.run({as_buffer(plan->buffers[0], a), as_buffer(plan->buffers[1], b)}, Halide::Buffer<>(Halide::type_of<T>(), c, {length}));
    for (int i = 0; i < length; ++i) {
        INFO("at " << i);
        CHECK(c[i] == value(a, b, i));
    }
}

}  // namespace

TEST_CASE("quotients and remainders of vectors read operands that are aligned to their elements alone") {
    for (bool staged : {false, true}) {
        for (std::int64_t late = 0; late < 4; ++late) {
            using whole = std::uint64_t;
            static constexpr auto by_one = C<whole>(x) = A<whole>(x) / B<whole>(0);
            static constexpr auto by_each = C<std::int32_t>(x) = A<std::int32_t>(x) / B<std::int32_t>(x);
            static constexpr auto strided = C<whole>(x) = A<whole>(2 * x) / B<whole>(0);
            static constexpr auto rest = C<std::int32_t>(x) = A<std::int32_t>(x) % B<std::int32_t>(x);
            static constexpr auto rest_of_float = C<float>(x) = A<float>(x) % B<float>(x);
            check<whole>(schedule(by_one, host), staged, late, [](auto a, auto b, int i) { return a[i] / b[0]; });
            check<std::int32_t>(schedule(by_each, host), staged, late, [](auto a, auto b, int i) { return a[i] / b[i]; });
            check<whole>(schedule(strided, host), staged, late, [](auto a, auto b, int i) { return a[2 * i] / b[0]; });
            check<std::int32_t>(schedule(rest, host), staged, late, [](auto a, auto b, int i) { return a[i] % b[i]; });
            check<float>(schedule(rest_of_float, host), staged, late, [](auto a, auto b, int i) { return std::fmod(a[i], b[i]); });
        }
    }
}
