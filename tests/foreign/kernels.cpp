#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <tilewright/c_source/c_source.hpp>
#include <tilewright/kernels/dot_products.hpp>
#include <tilewright/targets/aarch64_dot.hpp>
#include <tilewright/targets/riscv64_v.hpp>

// Writes kernels of many shapes as C, and a table of them. What they must make, loops in the program that calls them say. Some include the
// functions of the machine; most call one copy of these, since compilers take half a second for it.
namespace {

using namespace tilewright;
using namespace tilewright::kernel;
using targets::dot_products::dot_core;

class kernel_list {
  public:
    kernel_list(std::string folder, int count, std::string include, dot_core const& on)
        : folder_(std::move(folder)), include_(std::move(include)), on_(on), wanted_(count) {}

    void add(schedule const& made_by, std::string const& kind, std::string const& extents, std::string const& strides_of_in,
             std::string const& strides_of_weights, std::string const& strides_of_out) {
        auto const plan = std::make_unique<plan_value>(make_plan(made_by));
        std::string const number = std::to_string(count_++), name = "kernel_" + number;
        if (plan->refusal) throw std::runtime_error(name + ": " + to_string(plan->refusal));
        std::string const include = count_ % 16 == 1 ? include_ : "functions.h";
        halide::c_source_text const text = halide::c_source(made_by, *plan, {name, halide::binding::device, {include}});
        std::ofstream(folder_ + "/" + name + ".c") << text.source;
        std::ofstream(folder_ + "/" + name + ".h") << text.header;
        auto const pool = static_cast<std::int64_t>(static_cast<double>(plan->peak(on_.blocks)));
        calls_ << "static int call_" << number
               << "(const void *a, const void *b, void *l2, void *c, const int64_t *strides) { (void)l2, (void)strides; return " << name
               << "(a, " << strides_of_in << ", b, " << strides_of_weights << (pool > 0 ? ", l2" : "") << ", c, " << strides_of_out
               << "); }\n";
        table_ << "    {" << kind << ", {" << extents << "}, " << pool << ", call_" << number << "},\n";
    }
    void add_product(std::string const& kind, auto const& product, dot_tile const& tile) {
        std::ostringstream extents;
        extents << product.m.extent << ", " << product.n.extent << ", " << product.k.extent;
        add(tiled_gemm(product, tile, on_), kind, extents.str(), "strides[0]", "strides[1]", "strides[2]");
    }
    template <conv2d_shape Shape, class Left, class Right>
    void add_conv(std::string const& kind) {
        using conv = conv2d<Shape, Left, std::int32_t, Right>;
        auto const& [channels, filters] = std::pair(Shape.channels, Shape.filters);
        std::int64_t const height = Shape.y.extent, width = Shape.x.extent;
        std::ostringstream extents, in, weights, out;
        extents << conv::y.extent << ", " << conv::x.extent << ", " << height << ", " << width << ", " << channels << ", " << filters
                << ", " << Shape.x.taps << ", " << Shape.x.stride << ", " << Shape.x.before;
        in << height * width * channels << ", " << width * channels << ", " << channels;
        weights << Shape.x.taps * channels * filters << ", " << channels * filters << ", " << filters;
        out << conv::y.extent * conv::x.extent * filters << ", " << conv::x.extent * filters << ", " << filters;
        add(dotted_conv2d(conv(), on_), kind, extents.str(), in.str(), weights.str(), out.str());
    }
    void write() const {
        if (count_ != wanted_) throw std::runtime_error("there are " + std::to_string(count_) + " kernels: say so in CMakeLists.txt");
        std::ofstream table(folder_ + "/kernels.h");
        for (int at = 0; at < count_; ++at) table << "#include \"kernel_" << at << ".h\"\n";
        table << calls_.str() << "static const struct kernel kernels[] = {\n" << table_.str() << "};\n";
    }

  private:
    std::string folder_, include_;
    dot_core on_;
    int count_ = 0, wanted_;
    std::ostringstream calls_, table_;
};

void add_products(kernel_list& to, bool floats) {
    using s8 = std::int8_t;
    using u8 = std::uint8_t;
    using s32 = std::int32_t;
    struct cut {
        gemm_shape shape;
        std::int64_t rows, columns, depth;
    };
    // One element; whole tiles; rows, columns and depth that leave some of each; blocks of the depth, the last one short.
    for (bool packs : {false, true}) {
        for (cut const& each : {cut{{1, 1, 1}, 8, 8, 16},
                                {{16, 32, 64}, 8, 32, 64},
                                {{13, 21, 39}, 8, 16, 39},
                                {{31, 45, 70}, 13, 24, 34},
                                {{3, 130, 29}, 8, 130, 29},
                                {{7, 3, 18}, 7, 3, 11}}) {
            dot_tile const tile{each.rows, each.columns, each.depth, packs};
            to.add_product("S8S8", wide_gemm<s8, s8, s32>(each.shape), tile);
            to.add_product("U8S8", wide_gemm<u8, s8, s32>(each.shape), tile);
            to.add_product("U8U8", wide_gemm<u8, u8, s32>(each.shape), tile);
            if (floats) to.add_product("F32", gemm<float>(each.shape), tile);
        }
    }
}
template <conv2d_shape Shape>
void add_convs_of(kernel_list& to) {
    to.add_conv<Shape, std::int8_t, std::int8_t>("CONV_S8S8");
    to.add_conv<Shape, std::uint8_t, std::int8_t>("CONV_U8S8");
}
void add_convs(kernel_list& to) {
    constexpr window of_3_taps{.extent = 7, .taps = 3, .before = 1, .after = 1},
        in_steps{.extent = 9, .taps = 3, .stride = 2, .before = 1, .after = 1};
    add_convs_of<conv2d_shape{.channels = 16, .filters = 24, .y = of_3_taps, .x = of_3_taps}>(to);
    add_convs_of<conv2d_shape{.channels = 5, .filters = 3, .y = in_steps, .x = in_steps}>(to);
    add_convs_of<conv2d_shape{.channels = 8, .filters = 9, .y = {.extent = 5}, .x = {.extent = 4}}>(to);
}

}  // namespace

/// Arguments: the processor, the folder, the number of kernels.
int main(int count, char** arguments) try {
    if (count != 4) return 1;
    bool const is_arm = std::string(arguments[1]) == "aarch64";
    kernel_list all(arguments[2], std::stoi(arguments[3]), std::string("tilewright/targets/") + (is_arm ? "aarch64_dot.h" : "riscv64_v.h"),
                    is_arm ? targets::aarch64_dot::dots : targets::riscv64_v::dots);
    add_products(all, !is_arm);
    add_convs(all);
    all.write();
    return 0;
} catch (std::exception const& wrong) {
    std::cerr << wrong.what() << "\n";
    return 1;
}
