#include <sstream>
#include <tilewright/import/tiles_in.hpp>

#include "import/layers_on_chips.hpp"

// Standard schedules: each one that is searched computes what the layer says.

using namespace layers_on_chips;

TEST_CASE("each schedule that the standard one of products is chosen from computes what the layer says") {
    std::mt19937 random(7);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int on_columns = 0, on_rows = 0, in_loops = 0;
    for (int run = 0; run < 120; ++run) {
        shape_of_layer of{.rows = draw({1, 2, 5, 7}),
                          .columns = draw({1, 3, 4, 6, 9}),
                          .channels = draw({1, 3, 8, 11, 20}),
                          .filters = draw({1, 4, 7, 12})};
        of.taps = draw({1, 1, 3}), of.stride = draw({1, 1, 2}), of.finishes = random() % 3 != 0, of.has_bias = random() % 2 != 0;
        if (of.taps == 1 && of.channels == 1) of.channels = 5;
        if (of.rows * of.columns * of.filters == 1) of.filters = 3;
        if (of.taps == 3 && of.stride == 1 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        bool const second = run % 2 != 0;
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << ", stride " << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish")
                    << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        // Where the planner refuses the one that is drawn, loops take the layer.
        chip const on = chip_with(second ? nothing() : one_of(products_by("mac"), random()),
                                  second ? one_of(products_by("mac_rows"), random()) : nothing())
                            .loops(cpu);
        std::string const agent = run_on(on, network, random);
        (agent == "npu" ? on_columns : agent == "other" ? on_rows : in_loops) += 1;
    }
    INFO(on_columns << " on columns, " << on_rows << " on rows, " << in_loops << " in loops");
    CHECK(on_columns > 30);
    CHECK(on_rows > 30);
    CHECK(in_loops < 40);
}

TEST_CASE("an instruction finishes sums that are rescaled as TensorFlow Lite or quantised ONNX does, vectors as well") {
    std::mt19937 random(5);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int by_instruction = 0, by_core = 0, vectors = 0, in_floats = 0;
    for (int run = 0; run < 80; ++run) {
        shape_of_layer of{
            .rows = draw({1, 2, 5}), .columns = draw({1, 3, 6, 9}), .channels = draw({3, 8, 11}), .filters = draw({1, 4, 7, 12})};
        of.taps = draw({1, 3}), of.scales = run % 2 != 0, of.rescales = !of.scales, of.has_bias = random() % 2 != 0;
        if (of.rows * of.columns * of.filters == 1) of.filters = 3;
        if (of.filters == 1 && of.columns == 1) of.columns = 3;
        layers const network = network_of(of, random);
        chip const on = chip_that_finishes(one_of(products_by("mac", {"finish", "scaling"}), random()));
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << (of.has_bias ? ", bias" : ""));
        run_on(on, network, random);
        bool const is_finished = is_finished_by_instruction(network, on, of.scales ? "scaling" : "finish");
        CHECK_FALSE(is_finished_by_instruction(network, on, of.scales ? "finish" : "scaling"));
        (is_finished ? by_instruction : by_core) += 1;
        in_floats += is_finished && of.scales ? 1 : 0;
        vectors += is_finished && of.rows * of.columns == 1 ? 1 : 0;
    }
    CHECK(by_instruction > 35);
    CHECK(in_floats > 15);
    CHECK(by_core > 5);
    CHECK(vectors > 3);
}

TEST_CASE("sums of a tile are finished while those of the next are added up, where an instruction finishes beside the core") {
    std::mt19937 random(6);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    auto const has_versions = [](schedule const& how) {
        bool found = false;
        for (int at = 1; at < how.directive_count(); ++at) {
            found |= how.directive_at(at).kind == directive_kind::buffers && how.directive_at(at - 1).kind == directive_kind::store_in;
        }
        return found;
    };
    int in_versions = 0;
    for (int run = 0; run < 24; ++run) {
        shape_of_layer of{.rows = draw({2, 5}), .columns = draw({3, 6, 9}), .channels = draw({3, 8, 11}), .filters = draw({4, 7, 12})};
        of.taps = draw({1, 3}), of.rescales = true, of.has_bias = random() % 2 != 0;
        layers const network = network_of(of, random);
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << (of.has_bias ? ", bias" : ""));
        chip const on = chip_that_finishes(one_of(products_by("mac", "finish"), random()), true);
        run_on(on, network, random);
        network_program const drawn(network, "net", on);
        if (!is_finished_by_instruction(network, on)) continue;
        if (has_versions(drawn.placed_layers()[0].how)) ++in_versions;
        // What the template finds is never dearer than where the core waits for every instruction.
        auto const cycles_on = [&](bool aside) {
            network_program const found(network, "net", chip_that_finishes(products_by("mac", "finish"), aside));
            return make_program_plan(found.get()).cycles();
        };
        CHECK(cycles_on(true) <= cycles_on(false));
    }
    CHECK(in_versions > 3);
}

/// Of the schedules of a template, those of which a directive is as asked, or those of which none is.
template <class Predicate>
static schedule_template those_with(schedule_template from, Predicate asked, bool has = true) {
    return [=](placed_layer& of) {
        candidates made = from(of);
        std::erase_if(made.all, [&](schedule const& one) {
            bool found = false;
            for (int at = 0; at < one.directive_count(); ++at) found |= asked(one, one.directive_at(at));
            return found != has;
        });
        return made;
    };
}
/// Those that fuse loops, or those that fuse none.
static schedule_template fused_ones(schedule_template from, bool fused) {
    return those_with(
        std::move(from), [](schedule const&, directive const& one) { return one.kind == directive_kind::fuse; }, fused);
}

TEST_CASE("a call covers several short rows of an image") {
    std::mt19937 random(12);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    auto const those = [](bool fused) { return fused_ones(products_by("mac", "finish"), fused); };
    int by_rows = 0;
    for (int run = 0; run < 40; ++run) {
        shape_of_layer of{.rows = draw({2, 3, 4, 6}), .columns = draw({2, 3, 5}), .channels = draw({3, 8, 11}), .filters = draw({4, 7})};
        of.taps = draw({2, 3}), of.before = of.taps == 3 ? draw({0, 1}) : 0, of.rescales = true, of.has_bias = random() % 2 != 0;
        layers const network = network_of(of, random);
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << ", border " << of.before << (of.has_bias ? ", bias" : ""));
        chip const on = chip_that_finishes(one_of(those(true), random()), run % 2 != 0);
        run_on(on, network, random);
        by_rows += network_program(network, "net", on).placed_layers()[0].report.choice == "products" ? 1 : 0;
    }
    CHECK(by_rows > 25);
    // Half as many calls, where two rows of two pixels fill one that multiplies four. With four rows, columns would fill it as well.
    layers const network = network_of({.rows = 2, .columns = 2, .channels = 8, .filters = 24, .taps = 3, .rescales = true}, random);
    auto const cycles_by = [&](schedule_template how) {
        network_program const found(network, "net", chip_that_finishes(std::move(how)));
        return make_program_plan(found.get()).cycles().value;
    };
    CHECK(cycles_by(those(true)) < cycles_by(those(false)));
    CHECK(cycles_by(products_by("mac", "finish")) == cycles_by(those(true)));
}

TEST_CASE("an image is staged for a column of a window, whose rows share it") {
    std::mt19937 random(31);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    auto const by_columns = [](bool has) {
        auto const is_at = [](schedule const& how, directive const& one) {
            return one.kind == directive_kind::at && how.name_at(one, 0) == ir::label("s");
        };
        return those_with(products_by("mac", "finish"), is_at, has);
    };
    int found = 0;
    for (int run = 0; run < 40; ++run) {
        shape_of_layer of{.rows = draw({2, 3, 4, 6}), .columns = draw({3, 5, 7}), .channels = draw({3, 8, 11}), .filters = draw({4, 7})};
        of.taps = draw({2, 3}), of.before = of.taps == 3 ? draw({0, 1}) : 0, of.rescales = true, of.has_bias = random() % 2 != 0;
        layers const network = network_of(of, random);
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << ", border " << of.before << (of.has_bias ? ", bias" : ""));
        chip const on = chip_that_finishes(one_of(by_columns(true), random()), run % 2 != 0);
        run_on(on, network, random);
        found += network_program(network, "net", on).placed_layers()[0].report.choice == "products" ? 1 : 0;
    }
    CHECK(found > 25);
    // 4 rows of 7 pixels are 7 calls of 4, and 8 where each row has its own.
    layers const network = network_of({.rows = 4, .columns = 7, .channels = 24, .filters = 8, .taps = 3, .rescales = true}, random);
    auto const cycles_by = [&](schedule_template how) {
        network_program const found(network, "net", chip_that_finishes(std::move(how), true));
        return make_program_plan(found.get()).cycles().value;
    };
    CHECK(cycles_by(by_columns(true)) < cycles_by(by_columns(false)));
}

/// A depthwise layer, of which rows, columns, filters and taps are drawn.
static void draw_the_rest(shape_of_layer& of, std::mt19937& random) {
    of.depthwise = true, of.has_bias = random() % 2 != 0, of.stride = 1 + random() % 2, of.rescales = random() % 2 != 0;
    of.filters_last = random() % 2 != 0;
    of.finishes = of.rescales || random() % 2 != 0;
    if (of.stride == 1 && of.taps == 3 && of.rows > 2 && of.columns > 2) of.before = random() % 2;
}
static std::string words_of(shape_of_layer const& of) {
    std::ostringstream text;
    text << of.rows << " x " << of.columns << " x " << of.filters << ", taps " << of.taps << ", stride " << of.stride << ", border "
         << of.before << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : "");
    return text.str();
}

TEST_CASE("depthwise convolutions go to an instruction that sums channels, by weights of 0") {
    std::mt19937 random(31);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int in_blocks = 0, finished_so = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{.rows = draw({2, 5, 7}), .columns = draw({2, 3, 6, 9}), .filters = draw({2, 4, 7, 12}), .taps = draw({2, 3})};
        draw_the_rest(of, random);
        INFO("run " << run << ": " << words_of(of));
        layers const network = network_of(of, random);
        std::uint32_t const which = random();
        bool const by_rows = !of.rescales && random() % 2 != 0;
        chip const on = by_rows ? chip_with(nothing(), one_of(apart_by("mac_rows"), which)).loops(cpu)
                                : chip_that_finishes(one_of(apart_by("mac", "finish"), which));
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        if (whole.placed_layers()[0].report.choice == "loops") continue;
        ++in_blocks, finished_so += is_finished_by_instruction(network, on) ? 1 : 0;
    }
    CHECK(in_blocks > 40);
    CHECK(finished_so > 15);
    // Filters of several channels are not for it.
    layers const dense = network_of({.rows = 5, .columns = 6, .channels = 8, .filters = 4}, random);
    network_program const whole(dense, "net", chip_that_finishes(apart_by("mac", "finish")));
    CHECK(whole.placed_layers()[0].report.passed_over ==
          std::vector<std::string>{"products on finisher: a channel of its result is made of several channels"});
}

TEST_CASE("a call sums over several columns of a depthwise window") {
    std::mt19937 random(47);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    auto const those = [](bool fused) { return fused_ones(apart_by("mac", "finish"), fused); };
    int by_columns = 0, in_several_calls = 0;
    for (int run = 0; run < 40; ++run) {
        shape_of_layer of{.rows = draw({2, 5, 7}), .columns = draw({2, 3, 6, 9}), .filters = draw({2, 4, 6, 12}), .taps = draw({2, 3, 5})};
        draw_the_rest(of, random);
        INFO("run " << run << ": " << words_of(of));
        layers const network = network_of(of, random);
        chip const on = chip_that_finishes(one_of(those(true), random()), run % 2 != 0);
        run_on(on, network, random);
        if (network_program(network, "net", on).placed_layers()[0].report.choice == "loops") continue;
        ++by_columns, in_several_calls += of.taps == 5 ? 1 : 0;
    }
    CHECK(by_columns > 20);
    CHECK(in_several_calls > 5);
    // Four channels of three columns are two calls that sum over eight, and were three.
    layers const network =
        network_of({.rows = 7, .columns = 9, .filters = 12, .taps = 3, .rescales = true, .depthwise = true, .filters_last = true}, random);
    auto const cycles_by = [&](schedule_template how) {
        network_program const found(network, "net", chip_that_finishes(std::move(how)));
        return make_program_plan(found.get()).cycles().value;
    };
    CHECK(cycles_by(those(true)) < cycles_by(those(false)));
    CHECK(cycles_by(apart_by("mac", "finish")) == cycles_by(those(true)));
    // Weights of a block come while sums of the one before are added up.
    network_program const beside(network, "net", chip_that_finishes(apart_by("mac", "finish"), true));
    CHECK(eject(beside, "found", "chip.hpp", "tested").find(".at(\"f_b\").buffers(2)") != std::string::npos);
}

TEST_CASE("filters that make whole panels are taken panel by panel") {
    std::mt19937 random(43);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int in_panels = 0, whole_rows = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{
            .rows = draw({1, 3, 5}), .columns = draw({2, 3, 6, 9}), .channels = draw({2, 3, 5, 8}), .filters = draw({4, 7, 8, 12})};
        of.taps = draw({1, 2, 3}), of.stride = draw({1, 2}), of.has_bias = random() % 2 != 0, of.finishes = random() % 2 != 0;
        if (of.stride == 1 && of.taps == 3 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, stride "
                    << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        chip const on = chip_with(nothing(), one_of(products_by("mac_rows", {}, 0, 4), random())).loops(cpu);
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        bool const has_panels = eject(whole, "found", "chip.hpp", "tested").find("put_channels_in_blocks(4)") != std::string::npos;
        (has_panels ? in_panels : whole_rows) += 1;
        CHECK(has_panels == (of.filters == 8 || of.filters == 12));
    }
    CHECK(in_panels > 20);
    CHECK(whole_rows > 20);
}

TEST_CASE("columns of a window and channels are summed as one loop") {
    std::mt19937 random(37);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int joined = 0, padded = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{
            .rows = draw({1, 3, 5}), .columns = draw({2, 3, 6, 9}), .channels = draw({2, 3, 5, 8}), .filters = draw({2, 7, 12})};
        of.taps = 3, of.stride = draw({1, 2}), of.has_bias = random() % 2 != 0, of.rescales = random() % 2 != 0;
        of.finishes = of.rescales || random() % 2 != 0;
        if (of.stride == 1 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, stride "
                    << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        chip const on = chip_that_finishes(one_of(windows_by("mac", "finish"), random()));
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        bool const is_joined = eject(whole, "found", "chip.hpp", "tested").find("join_taps()") != std::string::npos;
        joined += is_joined ? 1 : 0, padded += is_joined && of.before > 0 ? 1 : 0;
    }
    CHECK(joined > 30);
    CHECK(padded > 5);
}

TEST_CASE("sums of elements go to an instruction that sums products") {
    std::mt19937 random(41);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int by_products = 0, finished_so = 0, joined = 0;
    for (int run = 0; run < 40; ++run) {
        std::int64_t const rows = draw({1, 3, 5}), columns = draw({2, 7, 9}), channels = draw({2, 4, 11});
        INFO("run " << run << ": " << rows << " x " << columns << " x " << channels);
        bool const is_pool = run % 3 == 2;
        layers const network = is_pool ? pool_of(rows, columns, channels) : mean_of(rows, columns, channels);
        chip const on = chip_that_finishes(one_of(sums_by("mac", "finish"), random()));
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        if (whole.placed_layers()[0].report.choice == "loops") continue;
        ++by_products, finished_so += is_finished_by_instruction(network, on) ? 1 : 0;
        // Rows and columns of a mean are one loop. A pool sums a part of them.
        bool const is_joined = eject(whole, "found", "chip.hpp", "tested").find("join_sums()") != std::string::npos;
        CHECK(is_joined == (!is_pool && rows > 1));
        joined += is_joined ? 1 : 0;
    }
    CHECK(by_products > 30);
    CHECK(finished_so > 20);
    CHECK(joined > 10);
    layers const product = network_of({.rows = 5, .columns = 6, .channels = 8, .filters = 4}, random);
    network_program const whole(product, "net", chip_that_finishes(sums_by("mac", "finish")));
    CHECK(whole.placed_layers()[0].report.passed_over == std::vector<std::string>{"products on finisher: it sums products"});
}

TEST_CASE("sums of two tensors go to an instruction on elements, which reads them where they lie or in a memory of its own") {
    std::mt19937 random(43);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int there = 0, near_it = 0;
    for (int run = 0; run < 40; ++run) {
        std::int64_t const rows = draw({1, 3, 5}), columns = draw({2, 7, 9}), channels = draw({1, 2, 4, 11});
        bool const is_staged = run % 2 != 0;
        INFO("run " << run << ": " << rows << " x " << columns << " x " << channels);
        layers const network = sum_of(rows, columns, channels);
        chip const on = chip_that_finishes(one_of(elements_by(is_staged ? "add_near" : "add_there"), random()));
        run_on(on, network, random);
        network_program const whole(network, "net", on);
        if (whole.placed_layers()[0].report.choice == "products") (is_staged ? near_it : there) += 1;
    }
    CHECK(there == 20);
    CHECK(near_it > 15);
    layers const product = network_of({.rows = 5, .columns = 6, .channels = 8, .filters = 4}, random);
    network_program const whole(product, "net", chip_that_finishes(elements_by("add_there")));
    CHECK(whole.placed_layers()[0].report.passed_over ==
          std::vector<std::string>{"products on finisher: it computes more than single elements"});
}

TEST_CASE("each schedule of loops over tiles computes what the layer says") {
    std::mt19937 random(11);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    int in_tiles = 0, in_loops = 0;
    for (int run = 0; run < 80; ++run) {
        shape_of_layer of{
            .rows = draw({1, 2, 5, 7}), .columns = draw({1, 3, 6, 9}), .channels = draw({1, 3, 8}), .filters = draw({1, 4, 7})};
        of.taps = draw({1, 3}), of.stride = draw({1, 1, 2}), of.finishes = random() % 3 != 0, of.has_bias = random() % 2 != 0;
        if (of.taps == 1 && of.channels == 1) of.channels = 5;
        if (of.rows * of.columns * of.filters == 1) of.filters = 3;
        layers const network = network_of(of, random);
        chip const on = chip("tested")
                            .inputs_in(common)
                            .outputs_in(common)
                            .constants_in(constants)
                            .with(dsp, {.tensors = common, .semantics = &semantics_of<with_near>})
                            .with(cpu, {.tensors = any_of(common, far), .inner = &far, .semantics = &semantics_of<host_machine>})
                            .standard("tiles", dsp, one_of(tiles_in(near), random()))
                            .loops(cpu);
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << ", stride " << of.stride << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        (run_on(on, network, random) == "dsp" ? in_tiles : in_loops) += 1;
    }
    CHECK(in_tiles > 60);
    CHECK(in_loops < 20);
}

TEST_CASE("depthwise convolutions go to an instruction that keeps channels apart") {
    std::mt19937 random(17);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    constexpr static agent one("one", apart_npu);
    int by_taps = 0, by_windows = 0;
    for (int run = 0; run < 60; ++run) {
        shape_of_layer of{.rows = draw({2, 5, 7}), .columns = draw({2, 3, 6, 9}), .filters = draw({2, 4, 7, 12}), .taps = draw({2, 3})};
        of.depthwise = true, of.finishes = random() % 3 != 0, of.has_bias = random() % 2 != 0;
        bool const by_window = run % 2 != 0;
        of.stride = by_window ? 1 : draw({1, 2});
        if (of.stride == 1 && of.taps == 3 && of.rows > 2 && of.columns > 2) of.before = draw({0, 1});
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << ", taps " << of.taps << ", stride "
                    << of.stride << ", border " << of.before << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        chip const on = chip("tested")
                            .inputs_in(common)
                            .outputs_in(common)
                            .constants_in(constants)
                            .with(one, {.tensors = common, .inner = &common, .semantics = &semantics_of<apart_npu>})
                            .with(cpu, {.tensors = any_of(common, far), .inner = &far, .semantics = &semantics_of<host_machine>})
                            .standard("each", one, one_of(products_by(by_window ? "window" : "mac_each"), random()))
                            .loops(cpu);
        if (run_on(on, network, random) == "one") (by_window ? by_windows : by_taps) += 1;
    }
    CHECK(by_taps > 20);
    CHECK(by_windows > 20);
}

TEST_CASE("what an instruction takes from where it lies is not staged, and of several templates the cheapest counts") {
    std::mt19937 random(19);
    auto const draw = [&](std::initializer_list<std::int64_t> from) { return from.begin()[random() % from.size()]; };
    constexpr static agent one("one", in_place_npu);
    chip const on = chip("tested")
                        .inputs_in(common)
                        .outputs_in(common)
                        .constants_in(constants)
                        .with(one, {.tensors = common, .inner = &common, .semantics = &semantics_of<in_place_npu>})
                        .standard("products", one, {products_by("mac_there"), products_by("image")});
    int whole_images = 0;
    for (int run = 0; run < 40; ++run) {
        shape_of_layer of{
            .rows = draw({2, 5}), .columns = draw({2, 3, 6}), .channels = draw({2, 3, 8, 11}), .filters = draw({2, 4, 7, 12})};
        of.taps = draw({1, 1, 3}), of.stride = draw({1, 2}), of.finishes = random() % 3 != 0, of.has_bias = random() % 2 != 0;
        INFO("run " << run << ": " << of.rows << " x " << of.columns << " x " << of.filters << " of " << of.channels << " channels, taps "
                    << of.taps << ", stride " << of.stride << (of.finishes ? "" : ", no finish") << (of.has_bias ? ", bias" : ""));
        layers const network = network_of(of, random);
        run_on(on, network, random);
        // One call for the whole image costs less than calls for parts of it, and it is for images whose every second pixel counts.
        std::string const found = eject(network_program(network, "net", on), "found", "chip.hpp", "tested");
        CHECK(found.find("cache_read") == std::string::npos);
        bool const is_whole = found.find("intrinsic_named(\"image\")") != std::string::npos;
        CHECK(is_whole == (of.taps == 1 && of.stride == 2));
        whole_images += is_whole ? 1 : 0;
    }
    CHECK(whole_images > 5);
}
