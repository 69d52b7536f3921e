#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <tilewright/base/label_text.hpp>
#include <tilewright/plan/ir/plan_value.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

// Whether a plan computes the same in whatever order its engines get on: all orders are tried, byte by byte. An oracle for the check of
// plans and for the emulator, so it shares no code with either; it is for small plans that only copy, and compute in loops.
namespace mutations {

namespace ir = tilewright::ir;

/// Bytes of a device, by position.
class byte_set {
  public:
    byte_set() = default;
    explicit byte_set(std::size_t bytes) : words_((bytes + 63) / 64) {}
    void add(std::size_t at) { words_[at / 64] |= std::uint64_t{1} << at % 64; }
    bool meets(byte_set const& other) const {
        for (std::size_t word = 0; word < std::min(words_.size(), other.words_.size()); ++word) {
            if ((words_[word] & other.words_[word]) != 0) return true;
        }
        return false;
    }

  private:
    std::vector<std::uint64_t> words_;
};

/// What is done at one place of the program in one iteration.
struct action {
    // A transfer without an engine is carried out by the core, as loops are. An asynchronous instruction is started, as a transfer is.
    enum class kind { start, wait, compute };

    kind is = kind::compute;
    bool copies = false;
    int queue = -1;                      ///< of an engine, or of one of its channels
    std::size_t needs = 0;               ///< wait: jobs of the queue, from the first one, that must be complete
    std::map<int, std::size_t> after{};  ///< start: of other queues, jobs that must be complete before it begins
    std::size_t computed = 0;            ///< of what computes: how many before it
    std::vector<int> reads{}, writes{};  ///< bytes; of a copy, one for one
    byte_set read_set{}, write_set{};
    std::uint64_t narrow_banks = 0;  ///< with a single port
    std::string text{};

    bool meets(action const& other) const {
        return write_set.meets(other.read_set) || write_set.meets(other.write_set) || read_set.meets(other.write_set) ||
               (narrow_banks & other.narrow_banks) != 0;
    }
};

/// The actions of the core, in order.
class unrolled {
  public:
    std::vector<action> actions;
    std::vector<int> results;  ///< bytes of the arguments that the kernel writes
    std::vector<int> depths;   ///< of each queue: an engine has one for each of its channels
    int bytes = 0;
    std::string fault{};  ///< empty: no engine waits for a token in vain, and none is left

    explicit unrolled(tilewright::plan_value const& plan) : plan_(plan), values_(static_cast<std::size_t>(plan.variables.size())) {
        lay_out();
        for (int at = 0; at < plan.where->engines.size(); ++at) {
            first_queue_.push_back(static_cast<int>(depths.size()));
            for (int channel = 0; channel < plan.where->engines[at].channels; ++channel) {
                depths.push_back(plan.where->engines[at].depth);
                interlocked_.push_back(plan.where->engines[at].interlocked);
            }
        }
        started_.resize(depths.size());
        pending_.resize(depths.size());
        int position = 0;
        run(position);
        for (auto const& [queue, pushed] : tokens_) {
            // Behind the kernel, the code takes what links that share a queue have left.
            if (!pushed.empty() && !shared_[queue]) fault = "a token is left";
        }
        std::size_t computed = 0;
        for (action& a : actions) {
            if (a.is != action::kind::wait && !a.copies) a.computed = computed++;
        }
        for (action& a : actions) {
            a.read_set = a.write_set = byte_set(static_cast<std::size_t>(bytes));
            for (int byte : a.reads) a.read_set.add(static_cast<std::size_t>(byte));
            for (int byte : a.writes) a.write_set.add(static_cast<std::size_t>(byte));
        }
        hold_back();
    }

  private:
    using index = tilewright::fixed_array<ir::affine, tilewright::max_rank>;
    using values = std::vector<std::int64_t>;

    template <class Pool>
    static auto const& at(Pool const& pool, int position) {
        return pool[position];
    }

    /// Room for every argument, then for every bank, with some bytes between them that nothing should touch.
    void lay_out() {
        for (int b = 0; b < plan_.buffers.size(); ++b) {
            ir::buffer const& one = at(plan_.buffers, b);
            argument_at_.push_back(bytes + gap);
            if (one.kind != ir::buffer_kind::argument) continue;
            std::int64_t const size = one.extents[0] * one.stride(0) * bytes_of(one.type);
            for (int byte = 0; one.written && byte < size; ++byte) results.push_back(bytes + gap + byte);
            bytes += static_cast<int>(size) + 2 * gap;
        }
        for (int m = 0; m < plan_.where->memories.size(); ++m) {
            for (int bank = 0; bank < plan_.where->memories[m].banks; ++bank) {
                bank_at_[{m, bank}] = bytes + gap;
                bytes += static_cast<int>(plan_.peak_bytes(m, bank)) + 2 * gap;
            }
        }
    }

    std::int64_t value_of(ir::affine const& form, values const& loops) const {
        std::int64_t sum = form.constant;
        for (int t = 0; t < form.count; ++t) {
            ir::term const& part = at(plan_.terms, form.first + t);
            sum += part.coefficient * value_of(part.variable, loops);
        }
        return sum;
    }
    /// The loops as they are in the step of a ring that is meant.
    values loops_at(ir::ring_step const& when) const {
        values loops = values_;
        if (when.ring < 0) return loops;
        ir::ring const& r = at(plan_.rings, when.ring);
        std::int64_t rest = value_of(when.step, values_);
        for (int loop = r.loop_count - 1; loop >= 0; --loop) {
            auto const v = static_cast<std::size_t>(r.loops[loop]);
            std::int64_t const extent = plan_.variables[v].extent;
            loops[v] = loop == 0 ? rest : rest % extent;
            rest /= extent;
        }
        return loops;
    }
    std::int64_t value_of(int variable_at, values const& loops) const {
        ir::variable const& v = at(plan_.variables, variable_at);
        if (v.kind != ir::variable_kind::component) return loops[variable_at];
        std::int64_t const value = value_of(v.fused, loops) / v.divisor;
        return v.modulus == 0 ? value : value % v.modulus;
    }
    bool is_there(ir::ring_step const& when) const {
        if (when.only_where >= 0 && value_of(when.only_where, values_) != 0) return false;
        if (when.ring < 0) return true;
        // What stands at a step that the loops around have is not asked for.
        std::int64_t const number = value_of(when.step, values_), end = at(plan_.rings, when.ring).steps - when.fewer;
        return (when.ahead >= 0 || number >= 0) && (when.ahead + when.fewer <= 0 || number < end);
    }
    std::int64_t tag_of(ir::ring_step const& when) const {
        ir::ring const& r = at(plan_.rings, when.ring);
        return r.first_tag + value_of(when.step, values_) % r.versions;
    }
    /// The queue of an engine that carries out what belongs to a ring's step: versions go round its channels.
    int queue_of(int engine, ir::ring_step const& when) const {
        int const first = first_queue_[engine];
        ir::ring const& r = at(plan_.rings, when.ring);
        return first +
               static_cast<int>((r.first_channel + value_of(when.step, values_) % r.versions) % plan_.where->engines[engine].channels);
    }
    int version_of(ir::buffer const& b, values const& loops) const {
        return b.versions == 1 ? 0 : static_cast<int>(value_of(at(plan_.rings, b.ring).step, loops) % b.versions);
    }
    /// The first byte of an element.
    int byte_of(int buffer_at, index const& where, values const& loops) const {
        ir::buffer const& b = at(plan_.buffers, buffer_at);
        std::int64_t element = 0;
        for (int d = 0; d < b.rank; ++d) {
            auto const dimension = static_cast<std::size_t>(d);
            std::int64_t const low = b.kind == ir::buffer_kind::argument ? b.minimum[dimension] : 0;
            element += (value_of(where[dimension], loops) - low) * b.stride(d);
        }
        std::int64_t const offset = element * bytes_of(b.type), of_block = b.bytes / b.blocks;
        if (b.kind == ir::buffer_kind::argument) return argument_at_[buffer_at] + static_cast<int>(offset);
        // Blocks of version 0, then those of version 1, go round the banks.
        int const banks = plan_.where->memories[b.memory].banks;
        int const part = version_of(b, loops) * b.blocks + static_cast<int>(offset / of_block);
        return bank_at_.at({b.memory, (b.bank + part) % banks}) +
               static_cast<int>(b.offset + part / banks * b.part_stride + offset % of_block);
    }
    std::uint64_t narrow_bank(int buffer_at, values const& loops) const {
        ir::buffer const& b = at(plan_.buffers, buffer_at);
        tilewright::memory const& m = plan_.where->memories[b.memory];
        if (b.kind == ir::buffer_kind::argument || m.ports > 1) return 0;
        std::uint64_t bits = 0;
        for (int block = 0; block < b.blocks; ++block) {
            int const bank = (b.bank + version_of(b, loops) * b.blocks + block) % m.banks;
            bits |= std::uint64_t{1} << (b.memory * tilewright::max_banks + bank);
        }
        return bits;
    }
    void add_element(std::vector<int>& into, int first, std::int64_t count) const {
        for (int byte = first; byte < first + count; ++byte) {
            if (byte < 0 || byte >= bytes) throw std::out_of_range("an access outside of every memory");
            into.push_back(byte);
        }
    }

    void run(int& position) {
        for (; position < plan_.steps.size(); ++position) {
            ir::step const& s = at(plan_.steps, position);
            switch (s.kind) {
                case ir::step_kind::end: return;
                case ir::step_kind::loop: {
                    int const first = position + 1;
                    auto const v = static_cast<std::size_t>(s.what);
                    around_.push_back(s.what);
                    for (values_[v] = 0; values_[v] < plan_.variables[v].extent; ++values_[v]) run(position = first);
                    around_.pop_back();
                    break;
                }
                case ir::step_kind::start: start(at(plan_.movements, s.what)); break;
                case ir::step_kind::wait: wait(at(plan_.waits, s.what)); break;
                case ir::step_kind::push: push(at(plan_.waits, s.what)); break;
                case ir::step_kind::pop: pop(at(plan_.waits, s.what)); break;
                case ir::step_kind::compute: compute(at(plan_.bodies, s.what)); break;
                default: break;
            }
        }
    }
    void start(ir::movement const& m) {
        if (!is_there(m.at)) return;
        tilewright::transfer_description const& t = plan_.where->transfers[m.transfer];
        int const engine = plan_.where->engines.find(t.engine_name);
        if (m.source < 0 || t.semantics.count > 0) throw std::invalid_argument("only copies are followed");
        values const loops = loops_at(m.at);
        std::vector<int> concerned = around_;
        for (int loop = 0; m.at.ring >= 0 && loop < at(plan_.rings, m.at.ring).loop_count; ++loop)
            concerned.push_back(at(plan_.rings, m.at.ring).loops[loop]);
        if (ends_before(concerned, loops)) return;
        bool one_of = false, none = true;
        for (int which = m.first_clip; which < m.first_clip + m.clip_count; ++which) {
            ir::clip const& c = at(plan_.clips, which);
            bool const before = value_of(c.form, loops) < c.bound;
            if (c.is == ir::clip_kind::only && !before) return;
            if (c.is == ir::clip_kind::beyond) one_of = true, none = none && before;
        }
        if (one_of && none) return;
        action a{.is = engine < 0 ? action::kind::compute : action::kind::start, .copies = true};
        if (engine >= 0) a.queue = t.is_asynchronous ? queue_of(engine, m.at) : first_queue_[engine];
        a.text = t.name.str();
        a.narrow_banks = narrow_bank(m.source, loops) | narrow_bank(m.destination, loops);
        std::int64_t const size = bytes_of(at(plan_.buffers, m.source).type);
        auto const rows = [&](auto const& self, int dimension, std::int64_t from, std::int64_t to) -> void {
            if (dimension == m.dimension_count) {
                auto const [first, end] = left_of(m, -1, m.row_elements, loops);
                if (first >= end) return;
                add_element(a.reads, static_cast<int>(from + first * size), (end - first) * size);
                return add_element(a.writes, static_cast<int>(to + first * size), (end - first) * size);
            }
            ir::movement_dimension const& d = m.dimensions[dimension];
            std::int64_t const source_step =
                d.source_dimension < 0 ? 0 : at(plan_.buffers, m.source).stride(d.source_dimension) * d.source_factor * size;
            std::int64_t const destination_step =
                d.destination_dimension < 0
                    ? 0
                    : at(plan_.buffers, m.destination).stride(d.destination_dimension) * d.destination_factor * size;
            auto const [first, end] = left_of(m, dimension, d.extent, loops);
            for (std::int64_t i = first; i < end; ++i) self(self, dimension + 1, from + i * source_step, to + i * destination_step);
        };
        rows(rows, 0, byte_of(m.source, m.source_at, loops), byte_of(m.destination, m.destination_at, loops));
        if (a.reads.empty()) return;
        stay_inside(a.reads, m.source, loops, t.name.str());
        stay_inside(a.writes, m.destination, loops, t.name.str());
        if (engine < 0) return actions.push_back(std::move(a));
        int const queue = a.queue;
        std::size_t const now = give(std::move(a));
        if (!t.is_asynchronous) {  // it blocks
            actions.push_back({.is = action::kind::wait, .queue = queue, .needs = now});
        } else {
            last_of_tag_[{plan_.where->engines[engine].completes == tilewright::completion::by_transfer ? queue : -1, tag_of(m.at)}] = now;
        }
    }
    void wait(ir::ring_step const& until) {
        if (!is_there(until)) return;
        int const engine = at(plan_.rings, until.ring).engine;
        bool const tagged = plan_.where->engines[engine].completes == tilewright::completion::by_transfer;
        // A channel is asked to leave as many jobs as code has counted since the last one with this tag, on whatever channel that was.
        int const queue = queue_of(engine, until);
        auto const found = last_of_tag_.find({tagged ? queue : -1, tag_of(until)});
        std::size_t const all = started_[queue];
        actions.push_back({.is = action::kind::wait, .queue = queue});
        if (found != last_of_tag_.end()) actions.back().needs = std::min(found->second, all);
    }
    /// A queue is given a job. @return how many it has been given
    std::size_t give(action a) {
        auto const queue = static_cast<std::size_t>(a.queue);
        a.after = std::exchange(pending_[queue], {});
        actions.push_back(std::move(a));
        return ++started_[queue];
    }
    void push(ir::ring_step const& when) {
        if (!is_there(when)) return;
        ir::link const& l = at(plan_.links, when.link);
        int const from = first_queue_[l.from];
        std::size_t const given = started_[from];
        if (l.to < 0) {
            counts_[count_of(when)] = given;
            return;
        }
        auto& queue = tokens_[{l.tokens, l.queue}];
        std::map<int, std::size_t> after = pending_[from];
        after[from] = given;
        queue.push_back(after);
        shared_[{l.tokens, l.queue}] = l.shared;
        if (static_cast<int>(queue.size()) > plan_.where->tokens[l.tokens].capacity) fault = "more tokens than fit";
        counts_[count_of(when)] = ++pushed_[{l.tokens, l.queue}];
    }
    void pop(ir::ring_step const& when) {
        if (!is_there(when)) return;
        ir::link const& l = at(plan_.links, when.link);
        if (l.to < 0) {
            actions.push_back({.is = action::kind::wait, .queue = first_queue_[l.from], .needs = counts_[count_of(when)]});
            return;
        }
        std::size_t& popped = popped_[{l.tokens, l.queue}];
        std::size_t const wanted = l.shared ? counts_[count_of(when)] : popped + 1;
        auto& queue = tokens_[{l.tokens, l.queue}];
        for (; popped < wanted && fault.empty(); ++popped) {
            if (queue.empty()) fault = "an engine waits for a token for ever";
            else {
                for (auto const& [behind, count] : queue.front()) {
                    std::size_t& needs = pending_[first_queue_[l.to]][behind];
                    needs = std::max(needs, count);
                }
                queue.pop_front();
            }
        }
    }
    /// Which count of the code a link's push is kept in.
    std::pair<int, std::int64_t> count_of(ir::ring_step const& when) const {
        int const ring = at(plan_.links, when.link).ring;
        return {when.link, ring < 0 ? 0 : value_of(when.step, values_) % at(plan_.rings, ring).versions};
    }
    /// Jobs of interlocked engines begin behind earlier ones of others that they conflict with.
    void hold_back() {
        std::vector<std::size_t> given(depths.size());
        std::vector<std::pair<action const*, std::size_t>> before;
        for (action& a : actions) {
            if (a.is != action::kind::start || !interlocked_[a.queue]) continue;
            std::size_t const index = ++given[a.queue];
            for (auto const& [other, count] : before) {
                bool const conflict =
                    a.write_set.meets(other->read_set) || a.write_set.meets(other->write_set) || a.read_set.meets(other->write_set);
                if (other->queue != a.queue && conflict) a.after[other->queue] = std::max(a.after[other->queue], count);
            }
            before.emplace_back(&a, index);
        }
    }
    /// One step of an instruction: the elements of its operands.
    void step_of_intrinsic(ir::body const& b) {
        if (ends_before(around_, values_)) return;
        tilewright::ir::stage const& st = at(plan_.stages, b.stage);
        bool first = b.first_intrinsic >= 0;
        for (int loop = 0; loop < b.first_loop_count; ++loop) first = first && values_[b.first_loops[loop]] == 0;
        tilewright::intrinsic_description const& called = plan_.where->intrinsics[first ? b.first_intrinsic : b.intrinsic];
        bool continues = false;
        for (int operand = 0; operand < called.operand_count; ++operand)
            continues |= called.operands[operand].is == tilewright::ir::direction::updates;
        int const engine = plan_.where->engines.find(called.engine_name);
        action a{.queue = engine < 0 ? -1 : first_queue_[engine], .text = called.name.str()};
        for (int position = 0; position < plan_.uses.size(); ++position) {
            ir::use const& u = at(plan_.uses, position);
            bool const writes = u.node == st.target, reads = writes ? continues : u.node > st.target && u.node < st.store;
            if (u.buffer < 0 || (!writes && !reads)) continue;
            std::vector<std::size_t> lanes;
            for (int v = 0; v < plan_.variables.size(); ++v) {
                bool moved = false;
                for (int d = 0; d < at(plan_.buffers, u.buffer).rank; ++d) moved |= moves(u.at[d], v);
                if (moved && at(plan_.variables, v).kind == ir::variable_kind::lane) lanes.push_back(static_cast<std::size_t>(v));
            }
            values loops = values_;
            auto const iterate = [&](auto const& self, std::size_t lane) -> void {
                if (lane == lanes.size()) {
                    int const element = byte_of(u.buffer, u.at, loops);
                    if (reads) add_element(a.reads, element, bytes_of(at(plan_.buffers, u.buffer).type));
                    if (writes) add_element(a.writes, element, bytes_of(at(plan_.buffers, u.buffer).type));
                    return;
                }
                std::size_t const v = lanes[lane];
                for (loops[v] = 0; loops[v] < plan_.variables[v].extent; ++loops[v]) self(self, lane + 1);
                loops[v] = 0;
            };
            iterate(iterate, 0);
            a.narrow_banks |= narrow_bank(u.buffer, values_);
        }
        if (!called.is_asynchronous) return actions.push_back(std::move(a));
        a.is = action::kind::start;
        give(std::move(a));
    }
    void compute(ir::body const& b) {
        if (b.kind == ir::body_kind::intrinsic) return step_of_intrinsic(b);
        tilewright::ir::stage const& st = at(plan_.stages, b.stage);
        if (ends_before(around_, values_)) return;
        action a{.text = st.output.str()};
        auto const lies_beyond = [&](values const& loops) {
            for (int which = 0; which < plan_.limits.size(); ++which) {
                ir::limit const& l = at(plan_.limits, which);
                if (l.loop >= 0 || l.stage != b.stage || (b.kind == ir::body_kind::identity && l.reduction)) continue;
                bool own = false;
                for (int loop = 0; loop < b.loop_count; ++loop) own |= moves(l.form, b.loops[loop]);
                if (own && value_of(l.form, loops) >= l.bound) return true;
            }
            return false;
        };
        bool const continues = b.kind == ir::body_kind::update;
        for (int position = 0; position < plan_.uses.size(); ++position) {
            ir::use const& u = at(plan_.uses, position);
            bool const writes = u.node == st.target;
            bool const starts = st.is_in_start(u.node);
            bool const mine = b.kind == ir::body_kind::identity ? starts : b.kind != ir::body_kind::update || !starts;
            bool const reads = (writes && continues) || (!writes && mine && u.node > st.target && u.node < st.store);
            if (u.buffer < 0 || (!writes && !reads)) continue;
            std::vector<int> touched;
            values loops = values_;
            auto const iterate = [&](auto const& self, int loop) -> void {
                if (loop == b.loop_count) {
                    if (!lies_beyond(loops)) touched.push_back(byte_of(u.buffer, u.at, loops));
                    return;
                }
                auto const v = static_cast<std::size_t>(b.loops[loop]);
                for (loops[v] = 0; loops[v] < plan_.variables[v].extent; ++loops[v]) self(self, loop + 1);
                loops[v] = 0;
            };
            iterate(iterate, 0);
            std::sort(touched.begin(), touched.end());
            touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
            std::vector<int> all;
            for (int first : touched) add_element(all, first, bytes_of(at(plan_.buffers, u.buffer).type));
            stay_inside(all, u.buffer, values_, a.text);
            for (int first : touched) {
                if (reads) add_element(a.reads, first, bytes_of(at(plan_.buffers, u.buffer).type));
                if (writes) add_element(a.writes, first, bytes_of(at(plan_.buffers, u.buffer).type));
            }
            a.narrow_banks |= narrow_bank(u.buffer, values_);
        }
        if (!a.writes.empty()) actions.push_back(std::move(a));
    }

    /// Whether an iteration of one of these loops lies behind an end.
    bool ends_before(std::vector<int> const& loops, values const& where) const {
        for (int which = 0; which < plan_.limits.size(); ++which) {
            ir::limit const& l = at(plan_.limits, which);
            if (std::find(loops.begin(), loops.end(), l.loop) != loops.end() && value_of(l.form, where) >= l.bound) return true;
        }
        return false;
    }
    /// Whether a form has another value in another iteration of a loop.
    bool moves(ir::affine const& form, int loop) const {
        for (int t = 0; t < form.count; ++t) {
            int const part = at(plan_.terms, form.first + t).variable;
            ir::variable const& v = at(plan_.variables, part);
            if (part == loop || (v.kind == ir::variable_kind::component && moves(v.fused, loop))) return true;
        }
        return false;
    }
    /// Of a dimension of a call, -1 its row, the elements that are moved: from the first to behind the last.
    std::pair<std::int64_t, std::int64_t> left_of(ir::movement const& m, int dimension, std::int64_t extent, values const& loops) const {
        std::int64_t first = 0, end = extent;
        for (int which = m.first_clip; which < m.first_clip + m.clip_count; ++which) {
            ir::clip const& c = at(plan_.clips, which);
            if (c.dimension != dimension) continue;
            std::int64_t const room = c.bound - value_of(c.form, loops);
            if (c.is == ir::clip_kind::end) end = std::min(end, room);
            if (c.is == ir::clip_kind::begin) first = std::max(first, room);
        }
        return {first, end};
    }
    void stay_inside(std::vector<int> const& touched, int buffer_at, values const& loops, std::string const& who) const {
        ir::buffer const& b = at(plan_.buffers, buffer_at);
        std::int64_t const size = b.extents[0] * b.stride(0) * bytes_of(b.type);
        std::vector<std::pair<int, int>> parts;  // of the version that is meant, a part in each block
        if (b.kind == ir::buffer_kind::argument) {
            int const first = argument_at_[buffer_at];
            parts.emplace_back(first, first + static_cast<int>(size));
        }
        int const banks = plan_.where->memories[b.memory].banks, version = b.kind == ir::buffer_kind::argument ? 0 : version_of(b, loops);
        for (int part = version * b.blocks; part < (version + 1) * b.blocks && b.kind != ir::buffer_kind::argument; ++part) {
            int const first = bank_at_.at({b.memory, (b.bank + part) % banks}) + static_cast<int>(b.offset + part / banks * b.part_stride);
            parts.emplace_back(first, first + static_cast<int>(size / b.blocks));
        }
        for (int byte : touched) {
            bool const inside =
                std::any_of(parts.begin(), parts.end(), [&](auto const& part) { return byte >= part.first && byte < part.second; });
            if (!inside) throw std::out_of_range(who + " leaves " + b.name.str());
        }
    }

    static constexpr int gap = 256;

    tilewright::plan_value const& plan_;
    values values_;
    std::vector<int> around_;  ///< loops of the program
    std::vector<int> argument_at_;
    std::map<std::pair<int, int>, int> bank_at_;
    std::vector<std::size_t> started_;
    std::map<std::pair<int, std::int64_t>, std::size_t> last_of_tag_;
    using token_queue = std::pair<int, int>;                                // of the machine's tokens, which queue
    std::map<token_queue, std::deque<std::map<int, std::size_t>>> tokens_;  ///< pushed and not popped: jobs of queues
    std::map<token_queue, bool> shared_;
    std::map<token_queue, std::size_t> pushed_, popped_;
    std::map<std::pair<int, std::int64_t>, std::size_t> counts_;
    std::vector<std::map<int, std::size_t>> pending_;  ///< what the next job of a queue comes behind
    std::vector<int> first_queue_;                     ///< of each engine
    std::vector<bool> interlocked_;                    ///< of each queue
};

/// What every body must see, and what must be in the results in the end: one value for each byte, made from all that it depends on.
struct meaning {
    std::vector<std::uint64_t> seen, left;
};

/// Tries every order in which engines may get on while a program runs. An engine carries out its jobs one after the other, each in two
/// moments, when it has been started and before a wait that needs it returns: at the first it has read, at the second it has written.
/// Between the two it is under way.
class interleavings {
  public:
    explicit interleavings(unrolled const& program)
        : program_(program), memory_(static_cast<std::size_t>(program.bytes)), engines_(program.depths.size()) {
        for (std::size_t byte = 0; byte < memory_.size(); ++byte) memory_[byte] = mixed(byte);
        for (std::size_t at = 0; at < program.actions.size(); ++at) {
            action const& a = program.actions[at];
            if (a.is == action::kind::start) engines_[a.queue].jobs.push_back(at);
        }
    }

    /// Every transfer is complete as soon as it is started.
    meaning in_sequence() {
        meaning found;
        for (action const& a : program_.actions) {
            if (a.is == action::kind::wait) continue;
            std::vector<std::uint64_t> values = read(a);
            if (!a.copies) {
                found.seen.push_back(digest(values, a.computed));
                values = results_of(a, found.seen.back());
            }
            write(a, values);
        }
        for (int byte : program_.results) found.left.push_back(memory_[byte]);
        return found;
    }

    /// @return how the first order that goes wrong does; empty: none does
    std::string fault_against(meaning const& good) {
        good_ = &good;
        visit();
        return fault_;
    }
    std::size_t states() const { return seen_.size(); }

  private:
    struct engine_state {
        std::vector<std::size_t> jobs;  ///< all of the program, in order
        std::size_t started = 0, complete = 0;
        bool under_way = false;
        std::vector<std::uint64_t> read;  ///< of the job under way; what it is going to write
    };

    static std::uint64_t mixed(std::uint64_t value) {
        value = (value + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
        value = (value ^ (value >> 30)) * 0x94d049bb133111ebu;
        return value ^ (value >> 31);
    }
    static std::uint64_t digest(std::vector<std::uint64_t> const& values, std::uint64_t from) {
        std::uint64_t sum = mixed(from);
        for (std::uint64_t value : values) sum = mixed(sum ^ value);
        return sum;
    }
    std::vector<std::uint64_t> read(action const& a) const {
        std::vector<std::uint64_t> values;
        values.reserve(a.reads.size());
        for (int byte : a.reads) values.push_back(memory_[byte]);
        return values;
    }
    static std::vector<std::uint64_t> results_of(action const& a, std::uint64_t from) {
        std::vector<std::uint64_t> values;
        for (std::size_t at = 0; at < a.writes.size(); ++at) values.push_back(mixed(from ^ mixed(at)));
        return values;
    }
    /// @return what was there
    std::vector<std::uint64_t> write(action const& a, std::vector<std::uint64_t> const& values) {
        std::vector<std::uint64_t> before;
        before.reserve(values.size());
        for (std::size_t at = 0; at < values.size(); ++at) {
            auto const byte = static_cast<std::size_t>(a.writes[at]);
            before.push_back(memory_[byte]);
            sum_ += mixed(values[at] ^ mixed(byte)) - mixed(memory_[byte] ^ mixed(byte));
            memory_[byte] = values[at];
        }
        return before;
    }

    std::uint64_t key() const {
        std::uint64_t sum = mixed(sum_ ^ mixed(next_));
        for (engine_state const& e : engines_) {
            sum = mixed(sum ^ (2 * e.complete + (e.under_way ? 1 : 0)));
            if (e.under_way) sum = digest(e.read, sum);
        }
        return sum;
    }
    void fail(std::string why) { fault_ = std::move(why); }
    /// What is under way elsewhere while `a` happens.
    bool meets_others(action const& a) {
        for (std::size_t at = 0; at < engines_.size(); ++at) {
            engine_state const& e = engines_[at];
            if (!e.under_way || (a.is == action::kind::start && static_cast<int>(at) == a.queue)) continue;
            action const& other = program_.actions[e.jobs[e.complete]];
            if (a.meets(other)) return fail(a.text + " meets " + other.text), true;
        }
        return false;
    }

    void visit() {
        if (!fault_.empty() || !seen_.insert(key()).second) return;
        if (seen_.size() > most_states) throw std::length_error("too many orders");
        core();
        for (engine_state& e : engines_) {
            if (fault_.empty()) e.under_way ? complete(e) : begin(e);
        }
    }
    void core() {
        if (next_ == program_.actions.size()) return finish();
        action const& a = program_.actions[next_];
        if (a.is == action::kind::wait) {
            if (engines_[a.queue].complete < a.needs) return;
            ++next_, visit(), --next_;
            return;
        }
        if (a.is == action::kind::start) {
            auto const engine = static_cast<std::size_t>(a.queue);
            engine_state& e = engines_[engine];
            if (e.started - e.complete >= static_cast<std::size_t>(program_.depths[engine])) return;
            ++e.started, ++next_, visit(), --next_, --e.started;
            return;
        }
        if (meets_others(a)) return;
        std::vector<std::uint64_t> values = read(a);
        if (!a.copies) {
            std::uint64_t const seen = digest(values, a.computed);
            if (seen != good_->seen.at(a.computed)) return fail(a.text + " sees other data");
            values = results_of(a, seen);
        }
        auto const before = write(a, values);
        ++next_, visit(), --next_;
        write(a, before);
    }
    void begin(engine_state& e) {
        if (e.complete == e.started) return;
        action const& a = program_.actions[e.jobs[e.complete]];
        for (auto const& [engine, count] : a.after) {
            if (engines_[engine].complete < count) return;
        }
        if (meets_others(a)) return;
        e.read = read(a);
        if (!a.copies) {
            std::uint64_t const seen = digest(e.read, a.computed);
            if (seen != good_->seen.at(a.computed)) return fail(a.text + " sees other data");
            e.read = results_of(a, seen);
        }
        e.under_way = true, visit(), e.under_way = false;
    }
    void complete(engine_state& e) {
        action const& a = program_.actions[e.jobs[e.complete]];
        std::vector<std::uint64_t> const values = e.read, before = write(a, values);
        e.under_way = false, ++e.complete;
        visit();
        e.under_way = true, --e.complete;
        e.read = values;
        write(a, before);
    }
    void finish() {
        for (engine_state const& e : engines_) {
            if (e.complete != e.started)
                return fail("the kernel ends while " + program_.actions[e.jobs[e.complete]].text + " is under way");
        }
        for (std::size_t at = 0; at < program_.results.size(); ++at) {
            if (memory_[program_.results[at]] != good_->left[at]) return fail("the result is another one");
        }
    }

    static constexpr std::size_t most_states = 4'000'000;

    unrolled const& program_;
    std::vector<std::uint64_t> memory_;
    std::vector<engine_state> engines_;
    meaning const* good_ = nullptr;
    std::uint64_t sum_ = 0;  ///< of all bytes, as it changes
    std::size_t next_ = 0;
    std::unordered_set<std::uint64_t> seen_;
    std::string fault_;
};

/// What a plan computes when nothing overlaps.
inline meaning meaning_of(tilewright::plan_value const& plan) {
    unrolled const program(plan);
    return interleavings(program).in_sequence();
}

/// How a plan can go wrong, where `good` is the meaning of the plan that it should be; empty: it cannot.
inline std::string fault_of(tilewright::plan_value const& plan, meaning const& good, std::size_t* states = nullptr) {
    try {
        unrolled const program(plan);
        if (!program.fault.empty()) return program.fault;
        interleavings all(program);
        std::string found = all.fault_against(good);
        if (states != nullptr) *states = all.states();
        return found;
    } catch (std::out_of_range const& outside) {
        return outside.what();
    }
}

}  // namespace mutations
