#include "kernels/halves.hpp"

#include <tilewright/emulate/semantics.hpp>

#include "c_source/compiled.hpp"

// Kernels with tensors of float16 and bfloat16 as C: elements are uint16_t there.

using namespace tilewright;
using namespace halves;

namespace {

template <class Half>
void check(schedule const& of) {
    auto const plan = std::make_unique<plan_value>(make_plan(of));
    INFO((plan->refusal ? to_string(plan->refusal) : std::string()));
    REQUIRE(!plan->refusal);
    kernels::operand_data const data = kernels::random_operands(*plan, 5);
    Halide::Buffer<> const wanted = kernels::expected_of(*plan, data);
    for (c_kernels::compiler const& with : c_kernels::compilers) {
        c_kernels::c_kernel const kernel(of, *plan, emulated<unit<Half>>(), with);
        INFO(with.name << "\n" << kernel.text().header << kernel.text().source);
        Halide::Buffer<> result = data.output.copy();
        emulated<unit<Half>>().reset();
        CHECK(kernel.run(*plan, data, result, {}) == 0);
        CHECK(kernels::same_bits(result, wanted));
    }
}

}  // namespace

TEMPLATE_TEST_CASE("kernels with tensors of 16 bits of floating point in C", "", float16, bfloat16) {
    check<TestType>(on_unit<TestType>);
    check<TestType>(odd_on_unit<TestType>);
    check<TestType>(row_loaded<TestType>);
    check<TestType>(stage_kept<TestType>);
    check<TestType>(schedule(scaled<TestType>, unit<TestType>));
    check<TestType>(schedule(signs<TestType>, unit<TestType>).split(x, xo, xi, 16).vectorize(xi));
}
