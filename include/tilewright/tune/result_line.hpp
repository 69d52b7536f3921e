#pragma once
#include <cmath>
#include <nlohmann/json.hpp>
#include <tilewright/tune/record.hpp>

// The line of a log that says a result.
namespace tilewright::tune {

namespace detail {

inline constexpr char const* schema_version = "1.0.0";

using json = nlohmann::ordered_json;

inline json json_of(record const& of) {
    json line;
    line["timestamp"] = of.timestamp;
    line["configuration"] = json::object();
    for (named_value const& one : of.what) line["configuration"][one.name.str()] = one.value;
    line["times"] = {{"compilation_time", of.compilation_time},
                     {"runtimes", of.runtimes},
                     {"framework", of.framework},
                     {"search_algorithm", of.search_algorithm},
                     {"validation", of.validation}};
    line["invalidity"] = name_of(of.is);
    line["correctness"] = of.correctness;
    line["measurements"] = json::array();
    for (measurement const& one : of.measurements)
        line["measurements"].push_back({{"name", one.name}, {"value", one.value}, {"unit", one.unit}});
    line["objectives"] = json::array({of.objective});
    line["reason"] = of.reason;
    line["problem"] = of.from.problem;
    line["shape"] = std::vector<std::int64_t>(of.from.shape.begin(), of.from.shape.end());
    line["plan_hash"] = of.plan_hash;
    line["hardware"] = {{"machine", of.from.machine},
                        {"machine_hash", of.from.machine_hash},
                        {"processor", of.from.processor},
                        {"model", of.from.model},
                        {"operating_system", of.from.operating_system}};
    line["environment"] = {{"measured_by", of.from.measured_by}, {"compiler", of.from.compiler}};
    line["schema_version"] = schema_version;
    return line;
}

inline invalidity invalidity_of(std::string const& name) {
    for (int at = 0; at <= static_cast<int>(invalidity::constraints); ++at) {
        if (name == name_of(static_cast<invalidity>(at))) return static_cast<invalidity>(at);
    }
    throw std::invalid_argument("no invalidity is called `" + name + "`");
}
inline double finite(json const& number) {
    if (!number.is_number() || !std::isfinite(number.get<double>())) throw std::invalid_argument("a number is missing");
    return number.get<double>();
}
inline std::int64_t whole(json const& number) {
    if (!number.is_number_integer()) throw std::invalid_argument("a whole number is missing");
    return number.get<std::int64_t>();
}

/// @throws std::exception, saying what is missing
inline record record_of(json const& line) {
    record made;
    if (line.at("schema_version") != schema_version) throw std::invalid_argument("another version of the schema");
    made.timestamp = line.at("timestamp").get<std::string>();
    for (auto const& [name, value] : line.at("configuration").items()) made.what.add(name.c_str(), whole(value));
    json const& times = line.at("times");
    made.compilation_time = finite(times.at("compilation_time"));
    made.framework = finite(times.at("framework"));
    made.search_algorithm = finite(times.at("search_algorithm"));
    made.validation = finite(times.at("validation"));
    for (json const& one : times.at("runtimes")) made.runtimes.push_back(finite(one));
    made.is = invalidity_of(line.at("invalidity").get<std::string>());
    made.correctness = finite(line.at("correctness"));
    for (json const& one : line.at("measurements"))
        made.measurements.push_back({one.at("name").get<std::string>(), finite(one.at("value")), one.at("unit").get<std::string>()});
    made.objective = line.at("objectives").at(0).get<std::string>();
    made.reason = line.at("reason").get<std::string>();
    made.plan_hash = line.at("plan_hash").get<std::string>();
    json const &hardware = line.at("hardware"), &environment = line.at("environment");
    made.from = {.problem = line.at("problem").get<std::string>(),
                 .machine = hardware.at("machine").get<std::string>(),
                 .machine_hash = hardware.at("machine_hash").get<std::string>(),
                 .processor = hardware.at("processor").get<std::string>(),
                 .model = hardware.at("model").get<std::string>(),
                 .compiler = environment.at("compiler").get<std::string>(),
                 .measured_by = environment.at("measured_by").get<std::string>(),
                 .operating_system = hardware.at("operating_system").get<std::string>()};
    for (json const& one : line.at("shape")) made.from.shape.add(whole(one));
    if (made.is == invalidity::correct) made.value();
    return made;
}

}  // namespace detail

/// A result as one line of JSON, without the end of the line: an object of the array `results` of T4, version 1.0.0, with `problem`,
/// `shape`, `plan_hash`, `reason`, `hardware` and `environment` beside it. What is no UTF-8 becomes U+FFFD.
inline std::string to_line(record const& of) { return detail::json_of(of).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

/// The result that a line says. @throws std::invalid_argument when it is no such line, saying why
inline record from_line(std::string const& line) {
    detail::json const read = detail::json::parse(line, nullptr, false);
    if (read.is_discarded()) throw std::invalid_argument("no JSON");
    try {
        return detail::record_of(read);
    } catch (std::exception const& wrong) {
        throw std::invalid_argument(wrong.what());
    }
}

/// Results as one document of T4, for tools that read those.
inline std::string to_t4(std::vector<record> const& results) {
    detail::json whole;
    whole["schema_version"] = detail::schema_version;
    whole["results"] = detail::json::array();
    for (record const& one : results) whole["results"].push_back(detail::json_of(one));
    return whole.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tilewright::tune
