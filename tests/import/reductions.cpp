#include <sstream>
#include <tilewright/import/reductions_by_instruction.hpp>

#include "import/layers_on_chips.hpp"

// Layers that are one reduction of a tensor: each schedule of the standard one computes what the layer says.

using namespace layers_on_chips;

namespace {

constexpr axis w{"w", 2};
constexpr tensor<std::int8_t> window{"window"}, found{"found"};
constexpr auto put = by_loader("put", spad, common);

/// Rows of taps of windows, staged in `spad`. The result lies where the kernel's does.
constexpr intrinsic of_rows(char const* name) { return intrinsic(name, found(p, f) = maximum(w, window(w, p, f))).reads(window, spad); }
constexpr auto rows_first = of_rows("rows_first").writes(found, common).up_to(w, p, f).on(array).cycles(4);
constexpr auto rows_more = of_rows("rows_more").updates(found, common).up_to(w, p, f).on(array).cycles(4);
/// One element at a time of the window, where it lies; the result has to be stored.
constexpr auto first_there =
    intrinsic("first_there", found(p, f) = window(p, f)).reads(window, common).writes(found, spad).up_to(p, f).cycles(4);
constexpr auto more_there =
    intrinsic("more_there", found(p, f) = maximum(window(p, f))).reads(window, common).updates(found, spad).up_to(p, f).cycles(4);
/// A vector of channels, the smallest of each.
constexpr auto least_first =
    intrinsic("least_first", found(f) = minimum(w, window(w, f))).reads(window, spad).writes(found, spad).up_to(w, f).on(array).cycles(4);
constexpr auto least_more =
    intrinsic("least_more", found(f) = minimum(w, window(w, f))).reads(window, spad).updates(found, spad).up_to(w, f).on(array).cycles(4);
constexpr auto negated = intrinsic("negated", found(f) = -window(f)).reads(window, spad).writes(found, spad).up_to(f).cycles(4);
constexpr auto pools = machine("pools", common, constants, spad, acc, loader, array, mvin, mvin_constants, put, rows_first, rows_more,
                               first_there, more_there, least_first, least_more, negated);
constexpr agent pooler("pooler", pools);

chip chip_by(schedule_template how) {
    return chip("tested")
        .inputs_in(common)
        .outputs_in(common)
        .constants_in(constants)
        .with(pooler, {.tensors = common, .inner = &common, .semantics = &semantics_of<pools>})
        .standard("windows", pooler, std::move(how))
        .loops(pooler);
}

struct shape_of_windows {
    std::int64_t rows = 1, columns = 1, channels = 1, high = 2, wide = 2, step = 1, before = 0, border = -128;
    bool largest = true;
};
layers windows_of(shape_of_windows const& of) {
    value const y = along("y", of.rows), x = along("x", of.columns), c = along("c", of.channels), r = along("r", of.high),
                t = along("t", of.wide);
    stored const in{"in0",
                    scalar_type::int8,
                    {(of.rows - 1) * of.step + of.high - 2 * of.before, (of.columns - 1) * of.step + of.wide - 2 * of.before, of.channels}},
        out{"out0", scalar_type::int8, {of.rows, of.columns, of.channels}};
    value const row = y * in32(of.step) + r - in32(of.before), column = x * in32(of.step) + t - in32(of.before);
    value const pixel = of.before > 0 ? padded_element("in0", in.type,
                                                       {within(row, "rows", in.extents[0]), within(column, "columns", in.extents[1]),
                                                        within(c, "channels", of.channels)},
                                                       static_cast<double>(of.border))
                                      : element("in0", in.type, {row, column, c});
    value const most = reduced(of.largest ? operation::reduce_maximum : operation::reduce_minimum, {r, t}, pixel);
    layers made;
    made.all.push_back({"k0", stage_of(element("out0", out.type, {y, x, c}), most), {}, "node 0 (`MAX_POOL_2D`)"});
    made.inputs.push_back(in), made.outputs.push_back(out);
    return made;
}

std::string why_not(layers const& network, schedule_template how) {
    network_program const whole(network, "net", chip_by(std::move(how)));
    auto const& passed_over = whole.placed_layers()[0].report.passed_over;
    return passed_over.empty() ? "" : passed_over[0];
}

}  // namespace

TEST_CASE("each schedule of a reduction of windows computes what the layer says") {
    std::mt19937 random(51);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int rows = 0, there = 0, least = 0;
    for (int run = 0; run < 90; ++run) {
        shape_of_windows of{.rows = draw({2, 3, 5}),
                            .columns = draw({2, 4, 7, 9}),
                            .channels = draw({2, 4, 7}),
                            .high = draw({2, 3}),
                            .wide = draw({2, 3, 4})};
        of.step = draw({1, 2, 3}), of.largest = run % 3 != 2;
        if (of.high == 3 && of.wide == 3 && run % 3 != 1)
            of.before = draw({0, 1}), of.border = of.largest ? draw({-128, 5}) : draw({127, -5});
        char const* const by[] = {"rows_more", "more_there", "least_more"};
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.channels << ", windows of " << of.high << " x "
                    << of.wide << " every " << of.step << ", border " << of.before << " of " << of.border);
        layers const network = windows_of(of);
        chip const on = chip_by(one_of(reductions_by(by[run % 3]), random()));
        run_on(on, network, random);
        bool const is_by = network_program(network, "net", on).placed_layers()[0].report.choice == "windows";
        (run % 3 == 0 ? rows : run % 3 == 1 ? there : least) += is_by ? 1 : 0;
    }
    CHECK(rows > 20);
    CHECK(there > 20);
    CHECK(least > 20);
}

TEST_CASE("the instruction takes fewer cycles than loops") {
    layers const network = windows_of({.rows = 6, .columns = 8, .channels = 8, .high = 3, .wide = 3, .step = 2});
    auto const cycles_by = [&](schedule_template how) {
        network_program const placed(network, "net", chip_by(std::move(how)));
        return make_program_plan(placed.get()).cycles().value;
    };
    CHECK(4 * cycles_by(reductions_by("rows_more")) < cycles_by(nothing()));
}

TEST_CASE("what is no reduction of one tensor, or another one, is passed over with the reason") {
    layers const pool = windows_of({.rows = 3, .columns = 4, .channels = 4});
    std::mt19937 random(5);
    layers const product = network_of({.rows = 3, .columns = 4, .channels = 8, .filters = 4, .finishes = false}, random);
    CHECK(why_not(product, reductions_by("rows_more")) == "windows on pooler: it is no reduction of the elements of one tensor");
    CHECK(why_not(pool, reductions_by("nothing")) == "windows on pooler: `nothing` is no instruction of `pools`");
    CHECK(why_not(pool, reductions_by("negated")) == "windows on pooler: `negated` is no reduction");
    CHECK(why_not(pool, reductions_by("least_more")) == "windows on pooler: it computes something else than `least_more` does");
}
