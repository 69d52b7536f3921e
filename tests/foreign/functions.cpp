#include <tilewright/emulate/check_intrinsic.hpp>
#include <tilewright/targets/aarch64_dot.hpp>
#include <tilewright/targets/riscv64_v.hpp>

#include "catch.hpp"

#define AARCH64_DOT_PLAIN_C
#define RISCV64_V_PLAIN_C
#include <tilewright/targets/aarch64_dot.h>
#include <tilewright/targets/riscv64_v.h>

using namespace tilewright;

// The first of them covers 64 x 64 x 64, and the others less.
inline constexpr int tries = 6;

TEST_CASE("in plain C, the functions of AArch64 do what the machine declares") {
    using namespace targets::aarch64_dot;
    CHECK(check_intrinsic<host>(mul_u8u8, c_functions(&aarch64_dot_u8u8), tries) == "");
    CHECK(check_intrinsic<host>(mac_u8u8, c_functions(&aarch64_dot_u8u8), tries) == "");
    CHECK(check_intrinsic<host>(mul_s8s8, c_functions(&aarch64_dot_s8s8), tries) == "");
    CHECK(check_intrinsic<host>(mac_s8s8, c_functions(&aarch64_dot_s8s8), tries) == "");
    CHECK(check_intrinsic<host>(mul_u8s8, c_functions(&aarch64_dot_u8s8), tries) == "");
    CHECK(check_intrinsic<host>(mac_u8s8, c_functions(&aarch64_dot_u8s8), tries) == "");
    // A function for other bytes does not pass.
    CHECK(check_intrinsic<host>(mac_u8s8, c_functions(&aarch64_dot_s8s8), tries) != "");
}

TEST_CASE("in plain C, the functions of RISC-V do what the machine declares") {
    using namespace targets::riscv64_v;
    CHECK(check_intrinsic<host>(mul_u8u8, c_functions(&riscv64_v_u8u8), tries) == "");
    CHECK(check_intrinsic<host>(mac_u8u8, c_functions(&riscv64_v_u8u8), tries) == "");
    CHECK(check_intrinsic<host>(mul_s8s8, c_functions(&riscv64_v_s8s8), tries) == "");
    CHECK(check_intrinsic<host>(mac_s8s8, c_functions(&riscv64_v_s8s8), tries) == "");
    CHECK(check_intrinsic<host>(mul_u8s8, c_functions(&riscv64_v_u8s8), tries) == "");
    CHECK(check_intrinsic<host>(mac_u8s8, c_functions(&riscv64_v_u8s8), tries) == "");
    CHECK(check_intrinsic<host>(mul_f32, c_functions(&riscv64_v_f32), tries) == "");
    CHECK(check_intrinsic<host>(mac_f32, c_functions(&riscv64_v_f32), tries) == "");
    CHECK(check_intrinsic<host>(mul_u8u8, c_functions(&riscv64_v_s8s8), tries) != "");
}
