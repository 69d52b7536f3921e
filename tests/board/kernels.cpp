#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <tilewright/c_source/c_source.hpp>

#include "board/schedules.hpp"
#include "oracle/oracle.hpp"

// Writes kernels of many shapes as C, and a table of them for the board: what goes in, what must come out, and how much of each bank is the
// kernel's. What must come out the oracle says, which shares no code with what makes kernels.
namespace {

using namespace board_kernels;

/// An array of C. Operands are constants, and stay in flash.
std::string array_text(std::string const& name, std::byte const* from, std::size_t bytes) {
    std::ostringstream text;
    text << "static const unsigned char " << name << "[" << bytes << "] = {";
    for (std::size_t at = 0; at < bytes; ++at) text << (at % 32 == 0 ? "\n    " : "") << std::to_integer<int>(from[at]) << ",";
    text << "\n};\n";
    return text.str();
}

/// Bytes of all values; numbers of 32 bits are small, so that sums do not overflow.
std::vector<std::byte> random_bytes(oracle::tensor_box const& box, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> made(static_cast<std::size_t>(box.bytes()));
    if (box.type == scalar_type::int32) {
        for (std::size_t at = 0; at < made.size(); at += 4) {
            auto const small = static_cast<std::int32_t>(random() % 20001) - 10000;
            std::memcpy(made.data() + at, &small, sizeof small);
        }
    } else if (box.type == scalar_type::int16) {
        for (std::size_t at = 0; at < made.size(); at += 2) {
            auto const number = static_cast<std::int16_t>(static_cast<int>(random() % 8001) - 4000);
            std::memcpy(made.data() + at, &number, sizeof number);
        }
    } else {
        for (std::byte& one : made) one = static_cast<std::byte>(random() & 255);
    }
    return made;
}

class kernel_list {
  public:
    /// @param include  the header of the board's functions; @param banks  the memory of which the kernels use parts
    kernel_list(std::string folder, int count, std::string include, memory const& banks)
        : folder_(std::move(folder)), include_(std::move(include)), wanted_(count), banks_(banks) {}

    /// @param what  in words; @param parameters  of the plain loops that the board compares with, too: see `struct kernel` of shapes.c
    void add(std::string const& what, schedule const& made_by, std::string const& parameters) {
        auto const plan = std::make_unique<plan_value>(make_plan(made_by));
        if (skips_large_ && plan->refusal.kind == verdict_kind::memory_overflow) return;
        if (plan->refusal) throw std::runtime_error(what + ": " + to_string(plan->refusal));
        std::string const number = std::to_string(count_++), name = "kernel_" + number;
        halide::c_source_text const text = halide::c_source(made_by, *plan, {name, halide::binding::device, {include_}});
        bool const shared = plan->where->host().count > 1;
        std::ofstream(folder_ + "/" + name + ".h") << text.header;

        std::vector<oracle::tensor_box> const boxes = oracle::inputs_of(plan->what);
        std::vector<std::vector<std::byte>> inputs;
        std::vector<oracle::operand> operands;
        for (oracle::tensor_box const& box : boxes)
            inputs.push_back(random_bytes(box, static_cast<unsigned>(100 * count_ + inputs.size())));
        for (std::size_t at = 0; at < boxes.size(); ++at) operands.emplace_back(boxes[at], inputs[at].data());
        oracle::result const expected = oracle::evaluate(plan->what, operands);
        if (!expected.is_defined()) throw std::runtime_error(what + ": undefined");

        includes_ << "#include \"" << name << ".h\"\n";
        std::ostringstream given, call;
        if (plan->cores > 1) call << "core, ";
        std::size_t position = 0;
        auto const strides = [&](oracle::tensor_box const& box) {
            auto const all = box.dense_strides();
            for (int d = 0; d + 1 < box.rank; ++d) call << ", " << all[static_cast<std::size_t>(d)];
        };
        for (ir::buffer const& b : halide::detail::passed_buffers(*plan)) {
            if (b.written) continue;
            std::size_t at = 0;
            while (at < boxes.size() && !(boxes[at].name == b.tensor)) ++at;
            if (at == boxes.size() || boxes[at].bytes() != b.bytes) throw std::runtime_error(what + ": other boxes");
            std::string const data = "in_" + number + "_" + std::to_string(position);
            arrays_ << array_text(data, inputs[at].data(), inputs[at].size());
            given << "{" << data << ", " << inputs[at].size() << "}, ";
            call << (position == 0 ? "" : ", ") << "in[" << position << "]";
            strides(boxes[at]);
            ++position;
        }
        call << (plan->where->host().count > 1 ? ", of->out" : ", out");
        strides(expected.box);
        arrays_ << array_text("out_" + number, expected.bytes.data(), expected.bytes.size());
        // A share is compiled for each core, and so it stands beside the kernel. A kernel that left the second core idle would be one for
        // core 0 alone.
        std::ofstream(folder_ + "/" + name + ".c")
            << text.source
            << (shared ? "\n#include \"share.h\"\nboard_share share_" + number + ";\nint share_" + number +
                             "(int32_t core, const void *operands) {\n    const struct share *of = "
                             "operands;\n    void *const *in = of->in;\n    return " +
                             name + "(" + call.str() + ");\n}\n"
                       : "");
        if (shared) {
            functions_ << "extern board_share share_" << number << ", share_" << number << "_of_core0;\n";
            names_of_core0_ << "#define " << name << " " << name << "_of_core0\n#define share_" << number << " share_" << number
                            << "_of_core0\n";
        } else {
            functions_ << "static int call_" << number << "(void **in, void *out) { return " << name << "(" << call.str() << "); }\n";
        }
        table_ << "    {\"" << what << "\", ";
        if (shared) table_ << "{SHARE_OF_CORE0(" << number << "), share_" << number << "}, ";
        else table_ << "call_" << number << ", ";
        table_ << parameters << ", " << position << ", {" << given.str() << "}, out_" << number << ", " << expected.bytes.size() << ", {";
        for (int core = 0; core < (banks_.per_core ? 2 : 1); ++core) {
            for (int bank = 0; bank < banks_.banks; ++bank)
                table_ << static_cast<std::int64_t>(static_cast<double>(plan->peak(banks_, bank))) << ", ";
        }
        table_ << "}},\n";
    }
    /// From now on, kernels that do not fit the banks are left out.
    void skip_large() { skips_large_ = true; }
    void write() {
        if (count_ != wanted_) throw std::runtime_error("there are " + std::to_string(count_) + " kernels: say so in CMakeLists.txt");
        std::ofstream(folder_ + "/kernels.h") << includes_.str() << arrays_.str() << functions_.str()
                                              << "static const struct kernel kernels[] = {\n"
                                              << table_.str() << "};\n";
        std::ofstream(folder_ + "/names_of_core0.h") << names_of_core0_.str();
    }

  private:
    std::string folder_, include_;
    int count_ = 0, wanted_;
    memory banks_;
    bool skips_large_ = false;
    std::ostringstream includes_, arrays_, functions_, table_, names_of_core0_;
};

/// Extents of 1 to 130: the ends, powers of two and what is beside them are drawn more often.
class dice {
  public:
    explicit dice(unsigned seed) : random_(seed) {}
    std::int64_t among(std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random_() % static_cast<unsigned>(most - least + 1));
    }
    std::int64_t extent(std::int64_t most = 130) {
        if (among(0, 2) == 0) return among(1, most);
        std::int64_t const near = (std::int64_t{1} << among(0, 7)) + among(-1, 1);
        return std::clamp<std::int64_t>(near, 1, most);
    }

  private:
    std::mt19937 random_;
};

template <class Element>
void add_matmul(kernel_list& to, matmul_shape const& shape, char const* kind, schedule (matmul<Element>::*how)() const) {
    std::ostringstream what, parameters;
    what << "matmul " << shape.m << " x " << shape.n << " x " << shape.k << ", int" << 8 * sizeof(Element) << ", " << kind;
    parameters << "MATMUL" << 8 * sizeof(Element) << ", {" << shape.m << ", " << shape.n << ", " << shape.k << "}";
    matmul<Element> const made(shape);
    to.add(what.str(), (made.*how)(), parameters.str());
}
void add_matmuls(kernel_list& to) {
    // Any shape: rows of any depth in registers' sums, and loops.
    for (matmul_shape const& shape : {matmul_shape{1, 1, 1},
                                      {1, 1, 130},
                                      {130, 1, 1},
                                      {1, 130, 1},
                                      {2, 3, 5},
                                      {3, 5, 7},
                                      {16, 12, 4},
                                      {17, 13, 33},
                                      {31, 25, 15},
                                      {33, 24, 65},
                                      {5, 130, 129},
                                      {128, 7, 127, 13},
                                      {64, 64, 64},
                                      {65, 66, 67, 9}}) {
        add_matmul(to, shape, "rows", &matmul<std::int8_t>::by_rows);
        add_matmul(to, shape, "loops", &matmul<std::int8_t>::by_loops);
    }
    // Registers hold whole words.
    for (matmul_shape const& shape :
         {matmul_shape{1, 1, 4}, {2, 2, 8}, {3, 5, 12}, {16, 1, 128}, {48, 30, 20}, {64, 64, 64}, {130, 6, 100, 26}, {32, 130, 44, 8}})
        add_matmul(to, shape, "words", &matmul<std::int8_t>::by_words);
    for (matmul_shape const& shape : {matmul_shape{1, 1, 2}, {3, 5, 6}, {32, 17, 130}, {64, 64, 64}})
        add_matmul(to, shape, "words", &matmul<std::int16_t>::by_words);
    for (matmul_shape const& shape : {matmul_shape{1, 1, 1}, {17, 13, 33}, {40, 26, 129, 7}})
        add_matmul(to, shape, "loops", &matmul<std::int16_t>::by_loops);
}
void draw_matmuls(kernel_list& to) {
    dice random(5);
    for (int draw = 0; draw < 40; ++draw) {
        matmul_shape const shape{random.extent(), random.extent(), random.extent(), random.among(1, 20)};
        if (shape.m * shape.n * shape.k > 200'000) continue;
        if (shape.k % 4 == 0) add_matmul(to, shape, "words", &matmul<std::int8_t>::by_words);
        add_matmul(to, shape, "rows", &matmul<std::int8_t>::by_rows);
        add_matmul(to, shape, "loops", &matmul<std::int16_t>::by_loops);
    }
}

void add_conv(kernel_list& to, conv_shape const& shape, char const* kind, schedule (conv::*how)() const) {
    std::ostringstream what, parameters;
    what << "conv " << shape.height << " x " << shape.width << " x " << shape.channels << " to " << shape.filters << ", " << shape.taps_y
         << " x " << shape.taps_x << ", stride " << shape.stride << ", dilation " << shape.dilation << ", border " << shape.before
         << " and " << shape.after << ", " << kind;
    conv const made(shape);
    parameters << "CONV, {" << made.y.extent << ", " << made.x.extent << ", " << shape.height << ", " << shape.width << ", "
               << shape.channels << ", " << shape.filters << ", " << shape.taps_y << ", " << shape.taps_x << ", " << shape.stride << ", "
               << shape.dilation << ", " << shape.before << "}";
    to.add(what.str(), (made.*how)(), parameters.str());
}
void add_convs(kernel_list& to) {
    // Channels of whole words.
    for (conv_shape const& shape : {conv_shape{3, 3, 4, 1},
                                    {1, 1, 4, 1, 1, 1},
                                    {8, 8, 16, 16, 3, 3, 1, 1, 1, 1},
                                    {16, 16, 16, 16, 3, 3, 1, 1, 1, 1},
                                    {9, 7, 8, 6, 3, 3, 2, 1, 1, 1},
                                    {12, 13, 4, 5, 3, 3, 1, 2, 2, 2},
                                    {11, 10, 12, 3, 5, 3, 2, 2, 3, 1},
                                    {7, 130, 4, 2, 3, 3, 1, 1, 1, 1},
                                    {6, 6, 128, 2, 1, 1},
                                    {14, 9, 4, 8, 2, 4, 3, 1, 0, 0}})
        add_conv(to, shape, "words", &conv::by_words);
    for (conv_shape const& shape : {conv_shape{1, 1, 1, 1, 1, 1},
                                    {1, 1, 1, 1, 3, 3, 1, 1, 1, 1},
                                    {8, 8, 1, 16, 3, 3, 1, 1, 1, 1},
                                    {13, 11, 5, 7, 3, 2, 2, 2, 2, 1},
                                    {130, 3, 3, 2, 3, 3, 1, 1, 1, 1},
                                    {3, 130, 3, 2, 3, 3, 2, 1, 1, 1},
                                    {5, 4, 130, 9, 3, 3, 1, 1, 1, 1},
                                    {6, 6, 2, 130, 1, 1},
                                    {17, 17, 3, 11, 5, 5, 3, 3, 6, 6},
                                    {10, 12, 6, 10, 1, 5, 1, 2, 2, 3},
                                    {4, 4, 7, 3, 4, 4},
                                    {20, 19, 2, 4, 2, 2, 4, 1, 0, 0}}) {
        add_conv(to, shape, "rows", &conv::by_rows);
        add_conv(to, shape, "loops", &conv::by_loops);
    }
    for (conv_shape const& shape :
         {conv_shape{1, 1, 1, 1, 3, 3, 1, 1, 1, 1}, {9, 8, 3, 4, 3, 3, 1, 1, 1, 1}, {13, 11, 5, 7, 3, 2, 2, 2, 2, 1}})
        add_conv(to, shape, "in place", &conv::in_place);
}
void draw_convs(kernel_list& to) {
    dice random(7);
    for (int draw = 0; draw < 90; ++draw) {
        conv_shape shape{random.extent(), random.extent(), random.extent(40), random.extent(20), random.among(1, 5), random.among(1, 5)};
        shape.stride = random.among(1, 3), shape.dilation = random.among(1, 3);
        shape.before = random.among(0, 3), shape.after = random.among(0, 3);
        std::int64_t const positions = shape.positions(shape.height, shape.taps_y) * shape.positions(shape.width, shape.taps_x);
        bool const none = shape.positions(shape.height, shape.taps_y) < 1 || shape.positions(shape.width, shape.taps_x) < 1;
        if (none || positions * shape.channels * shape.filters * shape.taps_y * shape.taps_x > 200'000) continue;
        if (shape.channels % 4 == 0) add_conv(to, shape, "words", &conv::by_words);
        add_conv(to, shape, "rows", &conv::by_rows);
        add_conv(to, shape, "loops", &conv::by_loops);
    }
}

/// For the other board: vectors of whole channels or depths, and rows whose ends are predicated.
void add_by_vectors(kernel_list& to) {
    for (matmul_shape const& shape :
         {matmul_shape{1, 1, 16}, {2, 2, 32}, {3, 5, 48}, {16, 1, 128}, {48, 30, 64}, {64, 64, 64}, {130, 6, 96, 26}, {32, 130, 112, 8}})
        add_matmul(to, shape, "vectors", &matmul<std::int8_t>::by_vectors);
    for (matmul_shape const& shape : {matmul_shape{1, 1, 8}, {3, 5, 24}, {32, 17, 128}, {64, 64, 64}})
        add_matmul(to, shape, "vectors", &matmul<std::int16_t>::by_vectors);
    for (matmul_shape const& shape : {matmul_shape{1, 1, 1},
                                      {1, 1, 130},
                                      {130, 1, 15},
                                      {1, 130, 16},
                                      {2, 3, 17},
                                      {17, 13, 33},
                                      {31, 25, 47},
                                      {5, 130, 129},
                                      {64, 64, 64},
                                      {65, 66, 67, 9}})
        add_matmul(to, shape, "rows", &matmul<std::int8_t>::by_predicated_rows);
    for (conv_shape const& shape : {conv_shape{3, 3, 16, 1},
                                    {1, 1, 16, 1, 1, 1},
                                    {16, 16, 16, 16, 3, 3, 1, 1, 1, 1},
                                    {9, 7, 32, 6, 3, 3, 2, 1, 1, 1},
                                    {12, 13, 16, 5, 3, 3, 1, 2, 2, 2},
                                    {11, 10, 48, 3, 5, 3, 2, 2, 3, 1},
                                    {6, 6, 128, 2, 1, 1}})
        add_conv(to, shape, "vectors", &conv::by_vectors);
    for (conv_shape const& shape : {conv_shape{1, 1, 1, 1, 3, 3, 1, 1, 1, 1},
                                    {8, 8, 1, 16, 3, 3, 1, 1, 1, 1},
                                    {13, 11, 5, 7, 3, 2, 2, 2, 2, 1},
                                    {130, 3, 3, 2, 3, 3, 1, 1, 1, 1},
                                    {5, 4, 130, 9, 3, 3, 1, 1, 1, 1},
                                    {6, 6, 17, 11, 2, 2, 1, 3, 2, 2}})
        add_conv(to, shape, "rows", &conv::by_predicated_rows);
    to.skip_large();
    dice random(11);
    for (int draw = 0; draw < 40; ++draw) {
        matmul_shape const shape{random.extent(), random.extent(), random.extent(), random.among(1, 20)};
        if (shape.m * shape.n * shape.k > 200'000) continue;
        if (shape.k % 16 == 0) add_matmul(to, shape, "vectors", &matmul<std::int8_t>::by_vectors);
        if (shape.k % 8 == 0) add_matmul(to, shape, "vectors", &matmul<std::int16_t>::by_vectors);
        add_matmul(to, shape, "rows", &matmul<std::int8_t>::by_predicated_rows);
    }
}

void add_copies(kernel_list& to) {
    for (auto [length, piece] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                 {130, 130},
                                 {4095, 4095},
                                 {4096, 4096},
                                 {9001, 9001},
                                 {20000, 5000},
                                 {16001, 4001}}) {
        copy const made(length, piece);
        to.add("copy of " + std::to_string(length) + " in pieces of " + std::to_string(piece), made.by_pieces(),
               "COPY, {" + std::to_string(length) + "}");
    }
}

/// Shares of both cores, even and uneven, with and without barriers, and pipelines by signals.
void add_on_both(kernel_list& to) {
    for (matmul_shape const& shape :
         {matmul_shape{2, 2, 8, 1}, {3, 5, 12, 1}, {48, 30, 20}, {64, 64, 64}, {130, 6, 100, 26}, {32, 130, 44, 8}, {9, 8, 128, 1}})
        add_matmul(to, shape, "words on both", &matmul<std::int8_t>::words_on_both);
    for (matmul_shape const& shape : {matmul_shape{3, 5, 6, 1}, {32, 17, 130}, {64, 64, 64}})
        add_matmul(to, shape, "words on both", &matmul<std::int16_t>::words_on_both);
    for (matmul_shape const& shape : {matmul_shape{2, 1, 1, 1},
                                      {2, 3, 5, 1},
                                      {3, 5, 7, 2},
                                      {17, 13, 33},
                                      {31, 25, 15, 4},
                                      {33, 24, 65, 5},
                                      {5, 130, 129, 2},
                                      {64, 64, 64}})
        add_matmul(to, shape, "rows on both", &matmul<std::int8_t>::rows_on_both);
    for (conv_shape const& shape : {conv_shape{4, 4, 7, 4, 4, 4},
                                    {8, 8, 1, 16, 3, 3, 1, 1, 1, 1},
                                    {13, 11, 5, 7, 3, 2, 2, 2, 2, 1},
                                    {130, 3, 3, 4, 3, 3, 1, 1, 1, 1},
                                    {5, 4, 130, 9, 3, 3, 1, 1, 1, 1},
                                    {17, 17, 3, 11, 5, 5, 3, 3, 6, 6}}) {
        add_conv(to, shape, "rows on both", &conv::rows_on_both);
        add_conv(to, shape, "loops on both", &conv::loops_on_both);
    }
    for (auto [length, piece, versions] :
         {std::array<std::int64_t, 3>{100, 100, 1}, {1000, 100, 1}, {1000, 100, 2}, {9001, 500, 3}, {4095, 45, 4}}) {
        for (int first = 0; first < 2; ++first) {
            pipeline const made(length, piece, versions);
            to.add("pipeline of " + std::to_string(length) + " in pieces of " + std::to_string(piece) + ", " + std::to_string(versions) +
                       " between, from core " + std::to_string(first),
                   made.over(first, 1 - first), "COPY, {" + std::to_string(length) + "}");
        }
    }
    to.skip_large();
    dice random(13);
    for (int draw = 0; draw < 40; ++draw) {
        matmul_shape const shape{random.extent() + 1, random.extent(), random.extent(), random.among(1, 20)};
        if (shape.m <= shape.rows || shape.m * shape.n * shape.k > 200'000) continue;
        if (shape.k % 4 == 0) add_matmul(to, shape, "words on both", &matmul<std::int8_t>::words_on_both);
        add_matmul(to, shape, "rows on both", &matmul<std::int8_t>::rows_on_both);
    }
}

}  // namespace

/// Arguments: the board, the folder, the number of kernels.
int main(int count, char** arguments) try {
    if (count != 4) return 1;
    std::string const name = arguments[1];
    bool const has_vectors = name == "mps3_an547", on_both = name == "mps2_an521_both";
    kernel_list all(arguments[2], std::stoi(arguments[3]),
                    std::string("tilewright/targets/") + (has_vectors ? "mps3_an547" : "mps2_an521") + ".h",
                    has_vectors ? memory(vector_board::dtcm)
                    : on_both   ? memory(board::half_of_sram)
                                : memory(board::sram));
    if (has_vectors) {
        add_by_vectors(all);
    } else if (on_both) {
        add_on_both(all);
    } else {
        add_matmuls(all);
        add_convs(all);
        add_copies(all);
        all.skip_large();
        draw_matmuls(all);
        draw_convs(all);
    }
    all.write();
    return 0;
} catch (std::exception const& wrong) {
    std::cerr << wrong.what() << "\n";
    return 1;
}
