#include <tilewright/plan/ir/buffer.hpp>

#include "catch.hpp"

// Versions, blocks and banks of a buffer, and its strides.

using namespace tilewright::ir;

TEST_CASE("parts go round the banks, from the first one's on") {
    // 3 versions of 2 blocks from bank 1 of 4 on: parts 0 to 5 lie in banks 1, 2, 3, 0, 1, 2.
    buffer const b{.bytes = 48, .offset = 100, .blocks = 2, .versions = 3, .bank = 1, .part_stride = 32};
    CHECK(b.parts() == 6);
    CHECK(b.part_bytes() == 24);
    CHECK((b.bank_of(0, 4) == 1 && b.bank_of(3, 4) == 0 && b.bank_of(5, 4) == 2));
    CHECK(b.banks_of(0, 4) == 0b0110);
    CHECK(b.banks_of(1, 4) == 0b1001);
    CHECK(b.banks_of(2, 4) == 0b0110);
    // The second round lies behind the first.
    CHECK((b.offset_of(3, 4) == 100 && b.offset_of(4, 4) == 132 && b.offset_of(5, 4) == 132));
    CHECK(b.parts_in_bank(4) == 2);
    CHECK(b.bytes_in_bank(4) == 32 + 24);
    for (int bank = 0; bank < 4; ++bank) CHECK(b.lies_in(bank, 4));
}
TEST_CASE("a buffer of fewer parts than banks lies in some of them") {
    buffer const b{.bytes = 16, .versions = 2, .bank = 3, .part_stride = 16};
    CHECK((b.lies_in(3, 4) && b.lies_in(0, 4)));
    CHECK_FALSE((b.lies_in(1, 4) || b.lies_in(2, 4)));
    CHECK(b.parts_in_bank(4) == 1);
    CHECK(b.bytes_in_bank(4) == 16);
    CHECK(b.bytes_in_bank(1) == 32);
}
TEST_CASE("the stride of a dimension is what lies further in") {
    buffer const b{.rank = 3, .extents = {2, 5, 7}};
    CHECK((b.stride(0) == 35 && b.stride(1) == 7 && b.stride(2) == 1));
    CHECK(b.stride(-1) == 70);  // all of it
}
TEST_CASE("buffers share bytes where both lie in one bank") {
    buffer const first{.bytes = 16, .bank = 0, .part_stride = 16};
    buffer other{.bytes = 16, .bank = 1, .part_stride = 16};
    CHECK_FALSE(share_bytes(first, other, 2));
    other.bank = 0;
    CHECK(share_bytes(first, other, 2));
    other.offset = 16;  // behind it
    CHECK_FALSE((share_bytes(first, other, 2) || share_bytes(other, first, 2)));
    other.offset = 15;
    CHECK((share_bytes(first, other, 2) && share_bytes(other, first, 2)));
    other.bank = 1, other.versions = 2;  // the second in bank 0
    CHECK(share_bytes(first, other, 2));
}
