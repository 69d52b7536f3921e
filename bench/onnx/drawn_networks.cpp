#include "drawn_networks.hpp"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>
#include <span>
#include <sstream>
#include <tilewright/network/file_bytes.hpp>
#include <tilewright/reference/onnxruntime.hpp>

#include "run_network.hpp"

namespace networks {

namespace {

namespace onnxruntime = tilewright::onnxruntime;
using bytes = std::vector<std::byte>;

/// How far an output may be from ONNX Runtime's.
struct expectation {
    std::string rule = {};
    double step = 0;
    std::vector<std::int64_t> extents = {};
    bytes bounds = {};  ///< float64, of each element

    double allowed(std::size_t at, double should) const {
        if (rule == "step") return step * (1 + 1e-6);
        if (rule != "float") return 0;
        double bound = 0;
        std::memcpy(&bound, bounds.data() + at * sizeof bound, sizeof bound);
        return bound + 1e-5 * std::abs(should);
    }
};

/// How results compare.
struct comparison {
    std::size_t elements = 0, different = 0;
    std::size_t integers = 0, different_integers = 0;  ///< of these elements
    double worst = 0;  ///< the largest difference, in what is allowed; where nothing is, a difference is more than 1
    std::string why = {};

    void add(comparison const& other) {
        elements += other.elements, different += other.different;
        integers += other.integers, different_integers += other.different_integers;
        worst = std::max(worst, other.worst);
    }
};

template <class T>
void compare_as(comparison& into, std::byte const* got, bytes const& expected, expectation const& how) {
    for (std::size_t at = 0; at * sizeof(T) < expected.size(); ++at) {
        T is{}, should{};
        std::memcpy(&is, got + at * sizeof(T), sizeof(T));
        std::memcpy(&should, expected.data() + at * sizeof(T), sizeof(T));
        ++into.elements, into.integers += std::is_integral_v<T> ? 1 : 0;
        if (is == should) continue;
        ++into.different, into.different_integers += std::is_integral_v<T> ? 1 : 0;
        double const difference = std::abs(static_cast<double>(is) - static_cast<double>(should)),
                     allowed = how.allowed(at, static_cast<double>(should));
        into.worst = std::max(into.worst, allowed > 0 ? difference / allowed : std::numeric_limits<double>::infinity());
        if (!(difference <= allowed) && into.why.empty()) {
            std::ostringstream text;
            text << "element " << at << ": ONNX Runtime has " << std::setprecision(9) << +should << ", here is " << +is << "; " << allowed
                 << " is allowed";
            into.why = text.str();
        }
    }
}
comparison compare(std::byte const* got, onnxruntime::tensor const& expected, expectation const& how) {
    comparison made;
    switch (expected.type) {
        case onnx::TensorProto::FLOAT: compare_as<float>(made, got, expected.bytes, how); break;
        case onnx::TensorProto::INT8: compare_as<std::int8_t>(made, got, expected.bytes, how); break;
        case onnx::TensorProto::UINT8: compare_as<std::uint8_t>(made, got, expected.bytes, how); break;
        case onnx::TensorProto::INT32: compare_as<std::int32_t>(made, got, expected.bytes, how); break;
        default: made.why = "elements of type " + std::to_string(expected.type) + " are not compared";
    }
    return made;
}

/// One network, from its folder to how its results compare.
struct network_under_test {
    fs::path folder = {};
    std::string name = {};  ///< an identifier
    networks::written_network written = {};
    enum { passed, refused, failed } outcome = passed;
    comparison found = {};
    std::string why = {};

    std::string kind() const { return folder.filename().string().substr(4); }
    void fail(std::string const& reason) { outcome = failed, why = reason; }

    void write(fs::path const& into) try {
        auto made = networks::layers_of(networks::read_network(folder / "model.onnx"));
        if (made.refused.empty()) written = networks::write_network(std::move(made), into, name);
        else outcome = refused, why = made.refused[0];
    } catch (std::exception const& error) {
        fail(error.what());
    }

    void run(networks::library const& compiled, onnxruntime::runtime const& judge) try {
        onnxruntime::session session(judge, folder / "model.onnx", onnxruntime::mode::as_written);
        std::vector<bytes> inputs;
        for (std::size_t at = 0; at < session.inputs(); ++at)
            inputs.push_back(tw::network::read_bytes(folder / ("input_" + std::to_string(at) + ".bin")));
        session.give(inputs);
        session.run();
        std::vector<expectation> expected;
        std::ifstream lines(folder / "expected");
        for (std::string line; std::getline(lines, line);) {
            expectation one;
            std::istringstream words(line);
            words >> one.rule;
            if (one.rule == "step") words >> one.step;
            for (std::int64_t extent = 0; words >> extent;) one.extents.push_back(extent);
            if (one.rule == "float") one.bounds = tw::network::read_bytes(folder / ("bound_" + std::to_string(expected.size()) + ".bin"));
            expected.push_back(one);
        }
        if (expected.size() != session.outputs()) return fail("`expected` has another number of outputs");
        std::vector<std::size_t> sizes;
        for (std::size_t at = 0; at < expected.size(); ++at) {
            onnxruntime::tensor const one = session.output(at);
            if (one.extents != expected[at].extents) return fail("output " + std::to_string(at) + " of ONNX Runtime has another shape");
            sizes.push_back(one.bytes.size());
        }
        networks::call_arguments arguments(inputs, sizes);
        if (int const code = arguments(compiled.caller(name)); code != 0) return fail("code " + std::to_string(code));
        for (std::size_t at = 0; at < expected.size(); ++at) {
            comparison const one = compare(arguments.output(at), session.output(at), expected[at]);
            found.add(one);
            if (!one.why.empty() && why.empty()) fail("output " + std::to_string(at) + ", " + one.why);
        }
        if (!arguments.kept()) fail("an input, or bytes beside an argument, were written");
    } catch (std::exception const& error) {
        fail(error.what());
    }
};

/// Networks whose C is compiled by one call of the compiler.
void run_together(std::span<network_under_test> all, fs::path const& folder, onnxruntime::runtime const& judge) {
    std::vector<networks::written_network> written;
    std::vector<network_under_test*> which;
    for (network_under_test& one : all) {
        one.write(folder);
        if (one.outcome == network_under_test::passed) written.push_back(one.written), which.push_back(&one);
    }
    auto const compiled = networks::compile_together(written, folder, "-O1 -Wall -Wextra -Werror -shared");
    for (std::size_t at = 0; at < compiled.size(); ++at) {
        if (compiled[at].in) which[at]->run(*compiled[at].in, judge);
        else which[at]->fail(compiled[at].why_not);
    }
}

}  // namespace

drawn_outcome compare_drawn(fs::path const& library_file, fs::path const& folder, std::string const& part) {
    onnxruntime::runtime const judge(library_file);
    std::vector<network_under_test> all;
    for (auto const& one : fs::directory_iterator(folder)) {
        if (fs::exists(one.path() / "model.onnx") && one.path().filename().string().find(part) != std::string::npos)
            all.push_back({.folder = one.path(), .name = "n" + one.path().filename().string()});
    }
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.folder < b.folder; });
    fs::path const sources = in_parts(all.size(), 10, !part.empty(), [&](std::size_t first, std::size_t count, fs::path const& own) {
        run_together(std::span(all).subspan(first, count), own, judge);
    });
    if (!part.empty()) std::cout << "C in " << sources.string() << '\n';

    struct row {
        std::size_t networks = 0;
        comparison found = {};
    };
    std::map<std::string, row> rows;
    std::size_t counts[3] = {};
    for (network_under_test const& one : all) {
        ++counts[one.outcome];
        ++rows[one.kind()].networks;
        rows[one.kind()].found.add(one.found);
        if (one.outcome != network_under_test::passed)
            std::cout << (one.outcome == network_under_test::refused ? "refused " : "FAILED ") << one.folder.filename().string() << ": "
                      << one.why << '\n';
    }
    std::cout << "ONNX Runtime " << judge.version() << ", each operator as written\n" << std::left;
    std::cout << std::setw(20) << "kind" << std::right << std::setw(10) << "networks" << std::setw(10) << "elements" << std::setw(12)
              << "different" << std::setw(28) << "largest of what is allowed" << '\n';
    for (auto const& [kind, one] : rows) {
        std::cout << std::left << std::setw(20) << kind << std::right << std::setw(10) << one.networks << std::setw(10)
                  << one.found.elements << std::setw(10) << std::fixed << std::setprecision(3)
                  << 100.0 * static_cast<double>(one.found.different) / static_cast<double>(std::max<std::size_t>(1, one.found.elements))
                  << " %" << std::setw(28) << one.found.worst << '\n';
    }
    drawn_outcome made{all.size(), counts[network_under_test::refused], counts[network_under_test::failed]};
    for (auto const& [kind, one] : rows) {
        made.integers += one.found.integers, made.different_integers += one.found.different_integers;
        made.largest_error = std::max(made.largest_error, one.found.worst);
    }
    return made;
}

}  // namespace networks
