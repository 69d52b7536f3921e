#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Buffers to place, as in a file: `id,lower,upper,size` with half-open lifetimes.
struct instance {
    struct buffer {
        std::string id;
        int lower = 0, upper = 0;
        std::int64_t size = 0;
    };
    std::string name;
    std::vector<buffer> buffers;
    std::int64_t capacity = 0;  ///< bytes; 0: not known
};

/// Something in a file that is not as it should be; says where.
struct input_error : std::runtime_error {
    input_error(std::string const& file, int line, std::string const& what)
        : runtime_error(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + what) {}
};

/// A whole number and nothing else.
inline bool parse(std::string const& text, std::int64_t& value) {
    std::size_t used = 0;
    try {
        value = std::stoll(text, &used);
    } catch (std::logic_error const&) {
        return false;
    }
    return used == text.size();
}

/// @throws input_error with file and line
inline instance read_instance(std::string const& file) {
    instance read{.name = std::filesystem::path(file).filename().string(), .buffers = {}};
    std::ifstream in(file);
    if (!in || std::filesystem::is_directory(file)) throw input_error(file, 0, "cannot be read");
    std::string line;
    auto const cells = [&] {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        std::vector<std::string> parts;
        std::istringstream all(line);
        for (std::string part; std::getline(all, part, ',');) parts.push_back(part);
        return parts;
    };
    if (!std::getline(in, line)) throw input_error(file, 1, "is empty, where a line id,lower,upper,size should be");
    std::vector<std::string> const names = cells();
    int columns[4] = {-1, -1, -1, -1};
    char const* const wanted[4] = {"id", "lower", "upper", "size"};
    for (int which = 0; which < 4; ++which) {
        for (std::size_t at = 0; at < names.size(); ++at) {
            if (names[at] == wanted[which]) columns[which] = static_cast<int>(at);
        }
        if (columns[which] < 0) throw input_error(file, 1, std::string("has no column `") + wanted[which] + "`");
    }
    for (int number = 2; std::getline(in, line); ++number) {
        std::vector<std::string> const parts = cells();
        if (parts.empty()) continue;
        std::int64_t numbers[4] = {};
        for (int which = 0; which < 4; ++which) {
            std::size_t const at = static_cast<std::size_t>(columns[which]);
            if (at >= parts.size()) throw input_error(file, number, std::string("`") + wanted[which] + "` is missing");
            if (which > 0 && !parse(parts[at], numbers[which]))
                throw input_error(file, number, std::string("`") + wanted[which] + "` is no number: " + parts[at]);
        }
        auto const [none, lower, upper, size] = numbers;
        if (lower < INT32_MIN || upper > INT32_MAX) throw input_error(file, number, "a lifetime takes more than 32 bits");
        if (upper <= lower)
            throw input_error(file, number, "`upper` " + std::to_string(upper) + " is not behind `lower` " + std::to_string(lower));
        if (size <= 0) throw input_error(file, number, "`size` is " + std::to_string(size));
        read.buffers.push_back({parts[columns[0]], static_cast<int>(lower), static_cast<int>(upper), size});
    }
    // A.1048576.csv
    std::string const stem = std::filesystem::path(file).stem().string();
    if (auto const dot = stem.rfind('.'); dot != std::string::npos && !parse(stem.substr(dot + 1), read.capacity)) read.capacity = 0;
    return read;
}

/// A full rectangle of time and bytes, cut at random into about `count` boxes: they fill a memory of `capacity` bytes without a gap.
///
/// Cuts go right through a box or, three times in ten, leave a box in the middle with four around it, like the sails of a mill.
inline instance cut_rectangle(int count, unsigned seed, std::int64_t capacity = 1 << 20, int duration = 2000) {
    struct box {
        int lower, upper;
        std::int64_t bottom, top;
    };
    std::mt19937 random(seed);  // its numbers are the same everywhere, those of distributions are not
    auto const between = [&](std::int64_t low, std::int64_t high) { return low + static_cast<std::int64_t>(random() % (high - low + 1)); };
    std::vector<box> boxes{{0, duration, 0, capacity}};
    while (static_cast<int>(boxes.size()) < count) {
        // The largest of four, so that sizes differ but nothing is dust.
        std::size_t chosen = random() % boxes.size();
        auto const area = [&](std::size_t at) { return (boxes[at].upper - boxes[at].lower) * (boxes[at].top - boxes[at].bottom); };
        for (int draw = 0; draw < 3; ++draw) {
            std::size_t const other = random() % boxes.size();
            if (area(other) > area(chosen)) chosen = other;
        }
        box const b = boxes[chosen];
        if (between(0, 9) < 3 && b.upper - b.lower >= 3 && b.top - b.bottom >= 3) {
            int const first = static_cast<int>(between(b.lower + 1, b.upper - 2)),
                      second = static_cast<int>(between(first + 1, b.upper - 1));
            std::int64_t const low = between(b.bottom + 1, b.top - 2), high = between(low + 1, b.top - 1);
            boxes[chosen] = {first, second, low, high};
            boxes.push_back({b.lower, first, b.bottom, high});
            boxes.push_back({b.lower, second, high, b.top});
            boxes.push_back({second, b.upper, low, b.top});
            boxes.push_back({first, b.upper, b.bottom, low});
        } else if (between(0, 1) == 0 && b.upper - b.lower >= 2) {
            int const middle = static_cast<int>(between(b.lower + 1, b.upper - 1));
            boxes[chosen].upper = middle;
            boxes.push_back({middle, b.upper, b.bottom, b.top});
        } else if (b.top - b.bottom >= 2) {
            std::int64_t const middle = between(b.bottom + 1, b.top - 1);
            boxes[chosen].top = middle;
            boxes.push_back({b.lower, b.upper, middle, b.top});
        }
    }
    for (std::size_t at = boxes.size() - 1; at > 0; --at) std::swap(boxes[at], boxes[random() % (at + 1)]);
    instance made{
        .name = "cut into " + std::to_string(boxes.size()) + ", seed " + std::to_string(seed), .buffers = {}, .capacity = capacity};
    for (box const& b : boxes) made.buffers.push_back({"b" + std::to_string(made.buffers.size()), b.lower, b.upper, b.top - b.bottom});
    return made;
}

/// A full rectangle of time and bytes that is woven from the first point of time to the last one: now and then up to three boxes that lie
/// upon each other end, and up to four others fill their place. It cannot be taken apart by cuts right through, as `cut_rectangle` is.
inline instance weave_rectangle(int count, unsigned seed, std::int64_t capacity = 1 << 20) {
    std::mt19937 random(seed);
    auto const between = [&](std::int64_t low, std::int64_t high) { return low + static_cast<std::int64_t>(random() % (high - low + 1)); };
    int side = 1;
    while (side * side < count) ++side;
    instance made{.name = "woven of " + std::to_string(count) + ", seed " + std::to_string(seed), .buffers = {}, .capacity = capacity};
    struct strand {
        int born = 0;
        std::int64_t bytes = 0;
    };
    std::vector<strand> stack;
    // Fills so many bytes from a position on with new boxes.
    auto const fill = [&](std::size_t at, std::int64_t bytes, std::int64_t parts, int now) {
        for (; parts > 1 && bytes >= 2 * parts; --parts) {
            std::int64_t const part = between(1, 2 * bytes / parts - 1);
            stack.insert(stack.begin() + static_cast<std::ptrdiff_t>(at++), {now, part});
            bytes -= part;
        }
        stack.insert(stack.begin() + static_cast<std::ptrdiff_t>(at), {now, bytes});
    };
    auto const end = [&](std::size_t at, int now) {
        made.buffers.push_back({"w" + std::to_string(made.buffers.size()), stack[at].born, now, stack[at].bytes});
        stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(at));
    };
    fill(0, capacity, side, 0);
    int now = 0;
    while (static_cast<int>(made.buffers.size() + stack.size()) < count) {
        now += static_cast<int>(between(0, 2));
        std::size_t const ends = static_cast<std::size_t>(between(1, 3)), at = random() % stack.size();
        bool old = at + ends <= stack.size();
        for (std::size_t each = at; old && each < at + ends; ++each) old = stack[each].born < now;
        if (!old) continue;
        std::int64_t bytes = 0;
        for (std::size_t each = 0; each < ends; ++each) bytes += stack[at].bytes, end(at, now);
        // About as many boxes as there were, so that there are always about as many.
        std::int64_t const most = static_cast<int>(stack.size()) < side ? 4 : 3;
        fill(at, bytes, between(1, most), now);
    }
    while (!stack.empty()) end(0, now + 3);
    for (std::size_t at = made.buffers.size() - 1; at > 0; --at) std::swap(made.buffers[at], made.buffers[random() % (at + 1)]);
    return made;
}

/// What kind of slack an instance gets.
enum class slack { smaller_boxes, missing_boxes };

/// Takes about so many thousandths of the bytes away: of all boxes a bit, or of some all.
inline instance loosen(instance of, int permille, slack kind, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<instance::buffer> kept;
    for (instance::buffer b : of.buffers) {
        std::int64_t const draw = static_cast<std::int64_t>(random() % 1000);
        if (kind == slack::smaller_boxes) b.size -= b.size * permille * draw / 500'000;
        if (kind == slack::smaller_boxes || draw >= permille) kept.push_back(b);
    }
    of.buffers = kept;
    of.name += kind == slack::smaller_boxes ? " -" : " without ";
    of.name += std::to_string(permille) + "/1000";
    return of;
}
