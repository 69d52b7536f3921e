#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <tilewright/c_source/c_source.hpp>

#include "foreign/schedules.hpp"

// Writes kernels of many shapes as C, and a table of them. What they must make, loops in the program that calls them say. Some include the
// functions of the machine; most call one copy of these, since compilers take half a second for it.
namespace {

using namespace foreign_kernels;

class kernel_list {
  public:
    kernel_list(std::string folder, int count, std::string include, processor const& on)
        : folder_(std::move(folder)), include_(std::move(include)), on_(on), wanted_(count) {}

    void add(schedule const& made_by, std::string const& kind, std::string const& extents, std::string const& strides_of_in,
             std::string const& strides_of_weights, std::string const& strides_of_out) {
        auto const plan = std::make_unique<plan_value>(make_plan(made_by));
        std::string const number = std::to_string(count_++), name = "kernel_" + number;
        if (plan->refusal) throw std::runtime_error(name + ": " + to_string(plan->refusal));
        halide::c_source_text const text = halide::c_source(made_by, *plan, {name, halide::binding::device, {count_ % 16 == 1 ? include_ : "functions.h"}});
        std::ofstream(folder_ + "/" + name + ".c") << text.source;
        std::ofstream(folder_ + "/" + name + ".h") << text.header;
        auto const pool = static_cast<std::int64_t>(static_cast<double>(plan->peak(arm::l2)));
        calls_ << "static int call_" << number
               << "(const void *a, const void *b, void *l2, void *c, const int64_t *strides) { (void)l2, (void)strides; return " << name
               << "(a, " << strides_of_in << ", b, " << strides_of_weights << (pool > 0 ? ", l2" : "") << ", c, " << strides_of_out
               << "); }\n";
        table_ << "    {" << kind << ", {" << extents << "}, " << pool << ", call_" << number << "},\n";
    }
    template <class Left, class Right, class Sum>
    void add_product(std::string const& kind, product_shape const& shape) {
        std::ostringstream extents;
        extents << shape.m << ", " << shape.n << ", " << shape.k;
        add(product<Left, Right, Sum>(shape).on(on_), kind, extents.str(), "strides[0]", "strides[1]", "strides[2]");
    }
    template <class Left, class Right>
    void add_conv(std::string const& kind, conv_shape const& shape) {
        std::ostringstream extents, in, weights, out;
        conv<Left, Right> const made(shape);
        extents << made.y.extent << ", " << made.x.extent << ", " << shape.height << ", " << shape.width << ", " << shape.channels << ", "
                << shape.filters << ", " << shape.taps << ", " << shape.stride << ", " << shape.before;
        in << shape.width * shape.channels << ", " << shape.channels;
        weights << shape.taps * shape.channels * shape.filters << ", " << shape.channels * shape.filters << ", " << shape.filters;
        out << made.x.extent * shape.filters << ", " << shape.filters;
        add(made.on(on_), kind, extents.str(), in.str(), weights.str(), out.str());
    }
    void write() const {
        if (count_ != wanted_) throw std::runtime_error("there are " + std::to_string(count_) + " kernels: say so in CMakeLists.txt");
        std::ofstream table(folder_ + "/kernels.h");
        for (int at = 0; at < count_; ++at) table << "#include \"kernel_" << at << ".h\"\n";
        table << calls_.str() << "static const struct kernel kernels[] = {\n" << table_.str() << "};\n";
    }

  private:
    std::string folder_, include_;
    processor on_;
    int count_ = 0, wanted_;
    std::ostringstream calls_, table_;
};

void add_all(kernel_list& to, bool floats) {
    using s8 = std::int8_t;
    using u8 = std::uint8_t;
    using s32 = std::int32_t;
    // One element; whole tiles; rows, columns and depth that leave some of each; blocks of the depth, the last one short.
    for (bool packs : {false, true}) {
        for (product_shape const& shape : {product_shape{1, 1, 1, 8, 8, 16, packs},
                                           {16, 32, 64, 8, 32, 64, packs},
                                           {13, 21, 37, 8, 16, 37, packs},
                                           {31, 45, 70, 13, 24, 33, packs},
                                           {3, 130, 18, 8, 130, 18, packs},
                                           {7, 3, 15, 7, 3, 8, packs}}) {
            to.add_product<s8, s8, s32>("S8S8", shape);
            to.add_product<u8, s8, s32>("U8S8", shape);
            to.add_product<u8, u8, s32>("U8U8", shape);
            if (floats) to.add_product<float, float, float>("F32", shape);
        }
    }
    for (conv_shape const& shape : {conv_shape{6, 7, 16, 24, 3, 1, 1}, {9, 8, 5, 3, 3, 2, 1}, {5, 5, 8, 9, 1, 1, 0}}) {
        to.add_conv<s8, s8>("CONV_S8S8", shape);
        to.add_conv<u8, s8>("CONV_U8S8", shape);
    }
}

}  // namespace

/// Arguments: the processor, the folder, the number of kernels.
int main(int count, char** arguments) try {
    if (count != 4) return 1;
    bool const is_arm = std::string(arguments[1]) == "aarch64";
    kernel_list all(arguments[2], std::stoi(arguments[3]), std::string("tilewright/targets/") + (is_arm ? "aarch64_dot.h" : "riscv64_v.h"),
                    is_arm ? aarch64 : riscv64);
    add_all(all, !is_arm);
    all.write();
    return 0;
} catch (std::exception const& wrong) {
    std::cerr << wrong.what() << "\n";
    return 1;
}
