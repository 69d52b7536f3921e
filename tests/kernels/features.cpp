#include "kernels/features.hpp"

#include "catch.hpp"
#include "kernels/run_kernel.hpp"
#include "reference/reference.hpp"

// One feature a case, compiled at run time; the references are loops written here or in tests/reference.

using namespace features;
using kernels::check_kernel;
using kernels::operand_data;

namespace {
tilewright::emulator& on_npu() { return emulated<npu>(); }
tilewright::emulator& on_core() { return emulated<core_with_tcm>(); }
}  // namespace

TEST_CASE("an intrinsic whose axes and factors come in another order") {
    check_kernel(plan<matmul_by_dots>, on_npu(), [](operand_data const& d) {
        // The computation names B first.
        reference::matmul_nt(32, 24, 20, d.in<std::int8_t>(1), d.in<std::int8_t>(0), d.out<std::int32_t>());
    });
    CHECK(plan<matmul_by_dots>.calls(first_dots) == (32 / 8) * (24 / 4));
    CHECK(plan<matmul_by_dots>.calls(dots) == (32 / 8) * (24 / 4) * (20 / 4 - 1));
}
TEST_CASE("an intrinsic that only accumulates, after a transfer that fills") {
    check_kernel(plan<matmul_by_mac>, on_npu(), [](operand_data const& d) {
        reference::matmul_nn(32, 24, 20, d.in<std::int8_t>(0), d.in<std::int8_t>(1), d.out<std::int32_t>());
    });
    CHECK(plan<matmul_by_mac>.calls(zero_acc) == 4);
}
TEST_CASE("an intrinsic on rows that are two elements apart") {
    check_kernel(plan<conv_by_mac>, on_npu(), [](operand_data const& d) {
        auto const* image_at = d.in<std::int8_t>(0);
        auto const* filters_at = d.in<std::int8_t>(1);
        for (int y_ = 0; y_ < 5; ++y_)
            for (int x_ = 0; x_ < 8; ++x_)
                for (int q_ = 0; q_ < 16; ++q_) {
                    std::int32_t sum_ = 0;
                    for (int r_ = 0; r_ < 3; ++r_)
                        for (int s_ = 0; s_ < 2; ++s_)
                            for (int c_ = 0; c_ < 8; ++c_)
                                sum_ += image_at[((y_ + r_) * 16 + 2 * x_ + s_) * 8 + c_] * filters_at[((r_ * 2 + s_) * 8 + c_) * 16 + q_];
                    d.out<std::int32_t>()[(y_ * 8 + x_) * 16 + q_] = sum_;
                }
    });
}
TEST_CASE("a vector intrinsic inside a reduction that stays loops") {
    check_kernel(plan<matmul_by_fma>, on_core(),
                 [](operand_data const& d) { reference::matmul_nn(32, 24, 20, d.in<float>(0), d.in<float>(1), d.out<float>()); });
}
TEST_CASE("a transfer that converts and scales") {
    check_kernel(plan<widened_by_dma>, on_core(), [](operand_data const& d) {
        for (int h_ = 0; h_ < 12; ++h_)
            for (int w_ = 0; w_ < 10; ++w_) {
                int const value = d.in<std::int8_t>(0)[h_ * 19 + 2 * w_] * 3 - 7;
                d.out<std::int32_t>()[h_ * 10 + w_] = value * value;
            }
    });
}
TEST_CASE("a transfer that transposes") {
    check_kernel(plan<transposed_by_dma>, on_core(), [](operand_data const& d) {
        for (int h_ = 0; h_ < 12; ++h_)
            for (int w_ = 0; w_ < 10; ++w_) d.out<std::int32_t>()[h_ * 10 + w_] = d.in<std::int32_t>(0)[w_ * 12 + h_] + 1;
    });
}
TEST_CASE("a transfer that fills with a constant") {
    check_kernel(plan<constant_by_dma>, on_core(), [](operand_data const& d) {
        for (int at = 0; at < 120; ++at) d.out<std::int32_t>()[at] = d.in<std::int32_t>(0)[at] + 5;
    });
}
TEST_CASE("scalar parameters and an axis as a value") {
    check_kernel(plan<scaled_on_core>, on_core(),
                 [](operand_data const& d) {
                     for (int at = 0; at < 60; ++at) d.out<float>()[at] = d.in<float>(0)[at] * 2.5f + static_cast<float>(at + 11);
                 },
                 {2.5, 11});
}
TEST_CASE("an input that begins at a negative index") {
    check_kernel(plan<neighbours_on_core>, on_core(), [](operand_data const& d) {
        float const* const first = d.in<float>(0);  // at index -1
        for (int at = 0; at < 60; ++at) d.out<float>()[at] = first[at] + first[at + 1] * -first[at + 2];
    });
}
TEST_CASE("a result without dimensions") {
    check_kernel(plan<sum_all_on_core>, on_core(), [](operand_data const& d) {
        std::int64_t sum_ = 0;
        for (int at = 0; at < 120; ++at) sum_ += d.in<std::int64_t>(0)[at];
        *d.out<std::int64_t>() = sum_;
    });
}
TEST_CASE("rank six by a transfer of one dimension") {
    check_kernel(plan<rank_six_on_core>, on_core(), [](operand_data const& d) {
        int const extent[6] = {2, 3, 4, 3, 2, 5};
        int at = 0;
        for (int i0 = 0; i0 < extent[0]; ++i0)
            for (int i1 = 0; i1 < extent[1]; ++i1)
                for (int i2 = 0; i2 < extent[2]; ++i2)
                    for (int i3 = 0; i3 < extent[3]; ++i3)
                        for (int i4 = 0; i4 < extent[4]; ++i4)
                            for (int i5 = 0; i5 < extent[5]; ++i5) {
                                d.out<double>()[at++] = d.in<double>(0)[((((i5 * 3 + i1) * 2 + i0) * 3 + i3) * 2 + i4) * 4 + i2] / 3.0;
                            }
    });
}
TEST_CASE("unsigned arithmetic wraps; comparisons and logic give bools") {
    check_kernel(plan<wrapped_on_core>, on_core(), [](operand_data const& d) {
        for (int at = 0; at < 60; ++at) {
            std::uint8_t const given = d.in<std::uint8_t>(0)[at];
            auto const wrapped_value = static_cast<std::uint8_t>(given * 7 + given - 9);
            d.out<bool>()[at] = wrapped_value % 3 == 1 || (!(wrapped_value <= given) && given != 4);
        }
    });
}
TEST_CASE("division, modulo, shifts, minimum, maximum in 16 bits") {
    check_kernel(plan<divided_on_core>, on_core(), [](operand_data const& d) {
        auto const floor_divide = [](int x_, int y_) {  // Euclidean: the remainder is never negative; by zero gives zero
            if (y_ == 0) return 0;
            int quotient = x_ / y_;
            if (x_ % y_ < 0) quotient += y_ > 0 ? -1 : 1;
            return quotient;
        };
        auto const narrow = [](int value) { return static_cast<std::int16_t>(static_cast<std::uint16_t>(value)); };
        for (int at = 0; at < 60; ++at) {
            int const x_ = d.in<std::int16_t>(0)[at], y_ = d.in<std::int16_t>(1)[at];
            int const low = std::max<int>(narrow(floor_divide(x_, y_)), x_ - 7 * floor_divide(x_, 7));
            int const middle = std::min(std::max(y_ >> 2, -20), 30);
            int const high = std::min<int>(x_, narrow(5 - y_));
            d.out<std::int16_t>()[at] = narrow(low - middle + high + narrow(x_ * 2));
        }
    });
}
TEST_CASE("three stages, nested in one another's loops") {
    check_kernel(plan<chain_on_core>, on_core(), [](operand_data const& d) {
        auto const* const given = d.in<std::int32_t>(0);
        auto const first = [&](int at) { return given[at] * 2; };
        auto const second = [&](int at) { return first(at) + first(at + 2); };
        for (int at = 0; at < 48; ++at) d.out<std::int32_t>()[at] = second(at) - second(at + 2) * first(at + 1);
    });
}
