#include <tilewright/plan/offsets/assign_offsets.hpp>
#include <vector>

#include "catch.hpp"

// The activations of networks for microcontrollers, as lists of layers: int8 tensors of so many bytes, alive from the layer that writes
// them to the last one that reads them.

using namespace tilewright;

namespace {

class layer_list {
  public:
    explicit layer_list(int input_bytes) { alive_.push_back({.bytes = input_bytes, .alignment = 16, .born = 0, .dead = 0}); }

    /// A layer that reads tensors, and writes one. @return the tensor
    int layer(std::vector<int> const& reads, int bytes) {
        int const now = layers_++;
        for (int tensor : reads) alive_[tensor].dead = now + 1;
        alive_.push_back({.bytes = bytes, .alignment = 16, .born = now, .dead = now + 1});
        return static_cast<int>(alive_.size()) - 1;
    }
    /// Layers one behind the other.
    int chain(int from, std::vector<int> const& bytes) {
        for (int one : bytes) from = layer({from}, one);
        return from;
    }
    ir::offset_result place() { return ir::assign_offsets(alive_, {.capacity = std::int64_t{1} << 20}, 1'000'000); }

  private:
    std::vector<ir::placed_buffer> alive_;
    int layers_ = 0;
};

void check(layer_list list, std::int64_t by_hand) {
    ir::offset_result const found = list.place();
    CHECK(found.fault == ir::offset_fault::none);
    CHECK(found.peak == by_hand);
    CHECK(found.lower_bound == by_hand);
    CHECK(found.proven);
}

}  // namespace

TEST_CASE("MobileNetV1 0.25 of 96 x 96 x 3: the first pointwise convolution decides, 48 x 48 x 8 beside 48 x 48 x 16") {
    layer_list list(96 * 96 * 3);
    int last = list.chain(0, {48 * 48 * 8, 48 * 48 * 8, 48 * 48 * 16});
    last = list.chain(last, {24 * 24 * 16, 24 * 24 * 32, 24 * 24 * 32, 24 * 24 * 32});
    last = list.chain(last, {12 * 12 * 32, 12 * 12 * 64, 12 * 12 * 64, 12 * 12 * 64});
    last = list.chain(last, {6 * 6 * 64, 6 * 6 * 128});
    for (int block = 0; block < 5; ++block) last = list.chain(last, {6 * 6 * 128, 6 * 6 * 128});
    last = list.chain(last, {3 * 3 * 128, 3 * 3 * 256, 3 * 3 * 256, 3 * 3 * 256, 256, 1000});
    check(list, 48 * 48 * 8 + 48 * 48 * 16);
}
TEST_CASE("a ResNet of 8 layers for 32 x 32 x 3: three tensors of the first block") {
    layer_list list(32 * 32 * 3);
    int in = list.layer({0}, 32 * 32 * 16);
    int const first = list.layer({list.layer({in}, 32 * 32 * 16)}, 32 * 32 * 16);
    in = list.layer({in, first}, 32 * 32 * 16);
    for (int side = 16, channels = 32; side >= 8; side /= 2, channels *= 2) {
        int const bytes = side * side * channels;
        int const long_way = list.layer({list.layer({in}, bytes)}, bytes), short_way = list.layer({in}, bytes);
        in = list.layer({long_way, short_way}, bytes);
    }
    list.chain(in, {64, 10});
    check(list, 3 * 32 * 32 * 16);
}
TEST_CASE("a depthwise separable network for keywords, 49 x 10: two tensors of 25 x 5 x 64") {
    layer_list list(49 * 10);
    int last = list.layer({0}, 25 * 5 * 64);
    for (int block = 0; block < 4; ++block) last = list.chain(last, {25 * 5 * 64, 25 * 5 * 64});
    list.chain(last, {64, 12});
    check(list, 2 * 25 * 5 * 64);
}
