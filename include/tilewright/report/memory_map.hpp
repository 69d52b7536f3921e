#pragma once
#include <algorithm>
#include <map>
#include <tilewright/base/label_text.hpp>
#include <tilewright/report/loop_program.hpp>

namespace tilewright {
namespace reports {

/// A version of a buffer, or a block of one, in its place.
struct placed_part {
    int buffer = 0;  ///< position in the plan
    int part = 0;
    std::int64_t offset = 0;  ///< bytes from the base of the memory, or of the bank
};

/// What a plan takes of one memory, or of one of its banks. Everything in bytes.
struct memory_use {
    int memory = 0;  ///< position in the machine
    int bank = 0;
    std::int64_t capacity = 0;
    std::int64_t peak = 0;               ///< from the base to the end of the highest byte that is ever used
    std::int64_t slack = 0;              ///< the rest
    std::int64_t buffers = 0;            ///< the sum of the buffers' sizes; above the peak where buffers share bytes at different times
    std::vector<placed_part> planned{};  ///< by address, then by time
};

/// The memories of a plan that hold planned buffers.
inline std::vector<memory_use> memory_uses(plan_value const& plan) {
    std::vector<memory_use> uses;
    for (int at = 0; !plan.refusal && at < plan.where->memories.size(); ++at) {
        memory const& m = plan.where->memories[at];
        for (int bank = 0; bank < m.banks; ++bank) {
            memory_use use{.memory = at, .bank = bank, .capacity = m.bank_capacity(), .peak = plan.peak_bytes(at, bank)};
            use.slack = use.capacity - use.peak;
            for (int b = 0; b < plan.buffers.size(); ++b) {
                buffer const& one = plan.buffers[b];
                if (one.kind == buffer_kind::argument || one.memory != at) continue;
                for (int part = 0; part < one.parts(); ++part) {
                    if (one.bank_of(part, m.banks) != bank) continue;
                    use.buffers += one.part_bytes();
                    use.planned.push_back({b, part, one.offset_of(part, m.banks)});
                }
            }
            std::sort(use.planned.begin(), use.planned.end(), [&](placed_part const& a, placed_part const& b) {
                int const left = plan.buffers[a.buffer].born, right = plan.buffers[b.buffer].born;
                return a.offset != b.offset ? a.offset < b.offset : left < right;
            });
            if (!use.planned.empty()) uses.push_back(std::move(use));
        }
    }
    return uses;
}

/// Lines of the loop program in which a buffer is alive.
struct lifetime {
    int first = 0, last = 0;
    std::string loop{};  ///< the loop in each of whose iterations it is made anew; empty: once
};

inline lifetime lifetime_of(plan_value const& plan, buffer const& b) {
    lifetime life{line_number(plan, b.born), line_number(plan, b.dead) - 1};
    std::vector<int> open;
    for (int at = 0; at < b.born; ++at) {
        step const& s = plan.steps[at];
        if (s.kind == step_kind::loop) open.push_back(s.what);
        if (s.kind == step_kind::end) open.pop_back();
    }
    if (!open.empty()) life.loop = loop_name(plan, open.back());
    return life;
}

/// "0x50001000", or "+0x00001000" in a memory whose base nobody knows.
inline std::string address_text(memory const& m, int bank, std::int64_t offset) {
    auto const bytes = static_cast<std::uint64_t>(offset);
    return m.has_address() ? hexadecimal(m.bank_base(bank) + bytes)
                           : "+" + hexadecimal(static_cast<std::uint64_t>(bank * m.bank_capacity()) + bytes);
}

/// "A.spad", or "A.spad v1" of several versions, "A.spad b1" of several blocks, "A.spad v1 b0" of both.
inline std::string part_text(buffer const& b, int part) {
    return b.name.str() + (b.versions == 1 ? "" : " v" + std::to_string(part / b.blocks)) +
           (b.blocks == 1 ? "" : " b" + std::to_string(part % b.blocks));
}

/// What lies in one memory as rectangles: addresses downwards, time to the right.
class memory_picture {
  public:
    struct box {
        std::string name, size;
        std::int64_t first, last;  // of the time, half-open
        std::int64_t begin, end;   // bytes, half-open
    };

    /// @param time   what the numbers above are, in four letters
    /// @param names  of times that are shown by another text than their number
    memory_picture(memory const& of, int bank, std::string time, std::vector<box> boxes, std::map<std::int64_t, std::string> names = {})
        : memory_(of), bank_(bank), time_(std::move(time)), boxes_(std::move(boxes)), names_(std::move(names)) {
        for (box const& b : boxes_) {
            times_.insert(times_.end(), {b.first, b.last});
            addresses_.insert(addresses_.end(), {b.begin, b.end});
        }
        addresses_.push_back(0);
        for (auto* marks : {&times_, &addresses_}) {
            std::sort(marks->begin(), marks->end());
            marks->erase(std::unique(marks->begin(), marks->end()), marks->end());
        }
        lay_out();
    }

    std::string str(std::string const& indent) const {
        std::size_t const margin = address_text(memory_, bank_, addresses_.back()).size() + 2;
        std::vector<std::string> canvas(rows_.back() + 1, std::string(columns_.back() + 1, ' '));
        for (box const& b : boxes_) draw(canvas, b);
        std::string head(margin + columns_.back() + 8, ' ');
        head.replace(0, time_.size(), time_);
        for (std::size_t at = 0; at < times_.size(); ++at) {
            auto const named = names_.find(times_[at]);
            std::string const number = named != names_.end() ? named->second : std::to_string(times_[at]);
            head.replace(margin + columns_[at], number.size(), number);
        }
        std::string text = trimmed(indent + head);
        for (std::size_t row = 0; row < canvas.size(); ++row) {
            auto const mark = std::find(rows_.begin(), rows_.end(), row);
            std::string label;
            if (mark != rows_.end()) label = address_text(memory_, bank_, addresses_[static_cast<std::size_t>(mark - rows_.begin())]);
            label.resize(margin, ' ');
            text += trimmed(indent + label + canvas[row]);
        }
        return text;
    }

  private:
    static std::string trimmed(std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        return line + '\n';
    }
    static std::size_t place(std::vector<std::int64_t> const& marks, std::int64_t value) {
        return static_cast<std::size_t>(std::lower_bound(marks.begin(), marks.end(), value) - marks.begin());
    }
    /// Rows to scale, at least one inside every band; columns as wide as the names need.
    void lay_out() {
        double const rows_of_all = std::min(12.0, 4.0 * static_cast<double>(addresses_.size() - 1));
        rows_.push_back(0);
        for (std::size_t at = 1; at < addresses_.size(); ++at) {
            double const part = static_cast<double>(addresses_[at] - addresses_[at - 1]) / static_cast<double>(addresses_.back());
            rows_.push_back(rows_.back() + 1 + std::max<std::size_t>(1, static_cast<std::size_t>(rows_of_all * part + 0.5)));
        }
        for (std::size_t at = 0; at < times_.size(); ++at) columns_.push_back(6 * at);
        for (box const& b : boxes_) {
            std::size_t const from = place(times_, b.first), to = place(times_, b.last);
            std::size_t const inner_rows = rows_[place(addresses_, b.end)] - rows_[place(addresses_, b.begin)] - 1;
            std::size_t const needed = 3 + (inner_rows > 1 ? std::max(b.name.size(), b.size.size()) : b.name.size() + 1 + b.size.size());
            std::size_t const have = columns_[to] - columns_[from];
            for (std::size_t at = to; have < needed && at < columns_.size(); ++at) columns_[at] += needed - have;
        }
    }
    void draw(std::vector<std::string>& canvas, box const& b) const {
        std::size_t const left = columns_[place(times_, b.first)], right = columns_[place(times_, b.last)];
        std::size_t const top = rows_[place(addresses_, b.begin)], bottom = rows_[place(addresses_, b.end)];
        for (std::size_t row = top; row <= bottom; ++row) {
            bool const edge = row == top || row == bottom;
            for (std::size_t column = left + 1; edge && column < right; ++column) {
                if (canvas[row][column] == ' ') canvas[row][column] = '-';
            }
            for (std::size_t column : {left, right}) {
                if (edge || canvas[row][column] == ' ') canvas[row][column] = edge ? '+' : '|';
            }
        }
        bool const two_lines = bottom - top > 2;
        std::string const first = two_lines ? b.name : b.name + " " + b.size;
        canvas[top + 1].replace(left + 2, first.size(), first);
        if (two_lines) canvas[top + 2].replace(left + 2, b.size.size(), b.size);
    }

    memory const& memory_;
    int bank_;
    std::string time_;
    std::vector<box> boxes_;
    std::map<std::int64_t, std::string> names_;
    std::vector<std::int64_t> times_, addresses_;
    std::vector<std::size_t> rows_, columns_;
};

/// The buffers of a plan in one memory, over the lines of its loop program; in the order of `planned`.
inline std::vector<memory_picture::box> boxes_of(plan_value const& plan, memory_use const& use) {
    std::vector<memory_picture::box> boxes;
    for (placed_part const& at : use.planned) {
        buffer const& b = plan.buffers[at.buffer];
        lifetime const life = lifetime_of(plan, b);
        boxes.push_back({part_text(b, at.part), grouped(b.part_bytes()), life.first, life.last + 1, at.offset, at.offset + b.part_bytes()});
    }
    return boxes;
}

/// "[64, 16]"; versions, and dimensions that choose a block, stand in brackets of their own.
inline std::string shape_text(buffer const& b) {
    std::string text = b.versions == 1 ? "[" : "[" + std::to_string(b.versions) + "][";
    for (int dimension = 0; dimension < b.rank; ++dimension) {
        bool const block_ends = dimension > 0 && dimension == b.block_dimensions;
        text += (dimension == 0 ? "" : block_ends ? "][" : ", ") + std::to_string(b.extents[dimension]);
    }
    return text + "]";
}

/// Where a layout puts the elements of a box: "(i, j) at [i % 2][i / 2, j]"; empty without one.
inline std::string layout_text(plan_value const& plan, buffer const& b) {
    if (b.layout < 0) return "";
    constexpr char const* names[] = {"i", "j", "k", "l", "m", "n"};
    static_assert(std::size(names) == max_rank);
    buffer_layout const& l = plan.layouts[b.layout];
    std::string text = "(";
    for (int dimension = 0; dimension < l.rank; ++dimension) text += (dimension == 0 ? "" : ", ") + std::string(names[dimension]);
    text += ") at [";
    for (int dimension = 0; dimension < b.rank; ++dimension) {
        buffer_layout::coordinate const& c = l.coordinates[dimension];
        bool const block_ends = dimension > 0 && dimension == b.block_dimensions;
        text += dimension == 0 ? "" : block_ends ? "][" : ", ";
        text += names[c.dimension];
        if (c.divisor != 1) text += " / " + std::to_string(c.divisor);
        if (c.modulus != 0) text += " % " + std::to_string(c.modulus);
    }
    return text + "]";
}

/// The other buffers of the memory that use some of its bytes at other times.
inline std::string sharers_text(plan_value const& plan, memory_use const& use, placed_part const& at) {
    std::int64_t const bytes = plan.buffers[at.buffer].part_bytes();
    std::string text;
    for (placed_part const& other : use.planned) {
        buffer const& o = plan.buffers[other.buffer];
        if (other.buffer == at.buffer || other.offset >= at.offset + bytes || at.offset >= other.offset + o.part_bytes()) continue;
        text += (text.empty() ? "" : ", ") + part_text(o, other.part);
    }
    return text;
}

/// The tensors whose place a buffer is before it is that of its own: results overwrite one in the place of the other.
inline std::vector<label> tensors_before(plan_value const& plan, int buffer_at) {
    std::vector<label> names;
    for (int at = 0; at < plan.uses.size(); ++at) {
        use const& u = plan.uses[at];
        if (u.buffer != buffer_at || plan.what[u.node].op != operation::access) continue;
        label const& name = plan.what[u.node].name;
        bool const own = name == plan.buffers[buffer_at].tensor;
        if (!own && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

}  // namespace reports

/// For every memory that holds planned buffers: how full it is, a drawing of addresses against the lines of the loop program, and a table.
inline std::string memory_map(plan_value const& plan) {
    using namespace reports;
    if (plan.refusal) return refused_text(plan);
    std::string text;
    for (memory_use const& use : memory_uses(plan)) {
        memory const& m = plan.where->memories[use.memory];
        if (!text.empty()) text += '\n';
        text += m.name.str() + (m.banks > 1 ? " bank " + std::to_string(use.bank) : "") + ", " + address_text(m, use.bank, 0) + " to " +
                address_text(m, use.bank, use.capacity) + ": peak " + grouped(use.peak) + " of " + grouped(use.capacity) + " bytes (" +
                percent(use.peak, use.capacity) + "), slack " + grouped(use.slack) + " bytes (" + percent(use.slack, use.capacity) + ")\n";
        text += "  [" + filled_columns(use.peak, use.capacity, 64, '.') + "]\n";
        if (use.buffers > use.peak)
            text += "  buffers of " + grouped(use.buffers) + " bytes share " + grouped(use.peak) + ", at different times\n";
        text += '\n' + memory_picture(m, use.bank, "line", boxes_of(plan, use)).str("  ") + '\n';
        using enum table::side;
        table rows({left, left, left, right, right, left, left, left});
        rows.add({"buffer", "extents", "type", "bytes", "offset", "address", "alive", "shares bytes with"});
        for (placed_part const& at : use.planned) {
            buffer const& b = plan.buffers[at.buffer];
            lifetime const life = lifetime_of(plan, b);
            std::string alive = life.first == life.last ? "line " + std::to_string(life.first)
                                                        : "lines " + std::to_string(life.first) + " to " + std::to_string(life.last);
            if (!life.loop.empty()) alive += ", each " + life.loop;
            std::string const sharers = sharers_text(plan, use, at);
            rows.add({part_text(b, at.part), shape_text(b), name_of(b.type), grouped(b.part_bytes()), grouped(at.offset),
                      address_text(m, use.bank, at.offset) + " to " + address_text(m, use.bank, at.offset + b.part_bytes()), alive,
                      sharers.empty() ? "-" : sharers});
        }
        text += rows.str("  ");
        int last = -1;
        for (placed_part const& at : use.planned) {
            buffer const& b = plan.buffers[at.buffer];
            std::vector<label> const before = at.buffer == last ? std::vector<label>() : tensors_before(plan, at.buffer);
            for (label const& name : before)
                text += (&name == &before.front() ? "  " + b.name.str() + " is the place of " : ", ") + name.str();
            if (!before.empty()) text += ", too\n";
            if (b.layout >= 0 && at.buffer != last) text += "  " + b.name.str() + " has element " + layout_text(plan, b) + "\n";
            last = at.buffer;
        }
    }
    return text.empty() ? "no buffer is planned: the kernel works on its arguments\n" : text;
}

}  // namespace tilewright
