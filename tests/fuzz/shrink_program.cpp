#include "fuzz/shrink_program.hpp"

#include <algorithm>
#include <tilewright/base/label_text.hpp>
#include <utility>

#include "fuzz/shrink.hpp"

namespace fuzz {

using namespace programs;

namespace {

using kind_of_kernel = drawn_kernel::kind;
using kind_of_tensor = drawn_tensor::kind;

bool is_read(recipe const& in, int tensor) {
    return std::any_of(in.kernels.begin(), in.kernels.end(),
                       [&](drawn_kernel const& k) { return k.first == tensor || k.second == tensor; });
}
template <class Change>
void each_tensor_of(recipe& in, Change const& change) {
    for (drawn_kernel& k : in.kernels) change(k.first), change(k.second), change(k.result);
}
void erase_tensor(recipe& from, int which) {
    from.tensors.erase(from.tensors.begin() + which);
    each_tensor_of(from, [&](int& tensor) { tensor -= tensor > which ? 1 : 0; });
}
/// Makes shapes follow from those of inputs, gives back to the caller what nobody reads, and drops what nobody needs.
/// @return whether it is a program still
bool settle(recipe& in) {
    for (drawn_kernel& k : in.kernels) {
        drawn_tensor const& x = in.tensor_at(k.first);
        drawn_tensor* const y = k.second < 0 ? nullptr : &in.tensor_at(k.second);
        drawn_tensor& r = in.tensor_at(k.result);
        r.rows = x.rows, r.columns = x.columns;
        if (k.is == kind_of_kernel::turned) std::swap(r.rows, r.columns);
        if (k.is == kind_of_kernel::slice) r.rows -= 1, r.columns -= 2;
        if (y != nullptr && y->is == kind_of_tensor::constant) {
            // Of a constant that two kernels read, the second may find another shape.
            y->rows = k.is == kind_of_kernel::product ? x.columns : x.rows;
            if (k.is == kind_of_kernel::added) y->columns = x.columns;
        }
        if (k.is == kind_of_kernel::product) r.columns = y->columns;
        if (r.rows < 1 || r.columns < 1) return false;
        if (k.cut >= r.rows) k.cut = 0;
    }
    for (drawn_kernel const& k : in.kernels) {
        if (k.second < 0) continue;
        drawn_tensor const &x = in.tensor_at(k.first), &y = in.tensor_at(k.second);
        bool const product = k.is == kind_of_kernel::product;
        if (y.rows != (product ? x.columns : x.rows) || (!product && y.columns != x.columns)) return false;
    }
    for (int at = static_cast<int>(in.tensors.size()) - 1; at >= 0; --at) {
        drawn_tensor& t = in.tensor_at(at);
        if (is_read(in, at)) continue;
        if (t.given()) erase_tensor(in, at);
        else if (t.is != kind_of_tensor::output) t.is = kind_of_tensor::output, t.where = "l2";
    }
    auto const nobody_has = [&](std::vector<std::string> drawn_machine::*parts) {
        return [&in, parts](auto const& one) {
            return std::none_of(in.machines.begin(), in.machines.end(), [&](drawn_machine const& m) {
                return std::count((m.*parts).begin(), (m.*parts).end(), one.name.str()) > 0;
            });
        };
    };
    std::erase_if(in.memories, nobody_has(&drawn_machine::memories));
    std::erase_if(in.engines, nobody_has(&drawn_machine::engines));
    return !in.kernels.empty();
}
/// Without a kernel: its result is an input, or goes with it.
void erase_kernel(recipe& in, std::size_t which) {
    drawn_kernel const gone = in.kernels[which];
    in.kernels.erase(in.kernels.begin() + static_cast<std::ptrdiff_t>(which));
    drawn_tensor& made = in.tensor_at(gone.result);
    made.is = kind_of_tensor::input;
    if (made.where.empty()) made.where = "l2";
}

/// Every program that is one change smaller, the largest changes first.
class smaller_programs {
  public:
    explicit smaller_programs(recipe const& from) : from_(from) {
        kernels();
        agents();
        directives();
        shapes();
        tensors();
        machines();
    }
    std::vector<recipe> take() { return std::move(all_); }

  private:
    template <class Change>
    void add(Change const& change) {
        recipe made = from_;
        if (change(made) && settle(made)) all_.push_back(std::move(made));
    }
    template <class T>
    static bool set(T& what, T const& to) {
        bool const changed = !(what == to);
        what = to;
        return changed;
    }

    void kernels() {
        std::size_t const count = from_.kernels.size();
        for (std::size_t part = count / 2; part > 0; part /= 2) {
            for (std::size_t begin = count; begin >= part; begin -= part) {
                add([&](recipe& r) {
                    for (std::size_t at = begin; at-- > begin - part;) erase_kernel(r, at);
                    return true;
                });
            }
        }
        // What it makes is what it reads, for those who read it.
        for (std::size_t at = 0; at < count; ++at) {
            add([&](recipe& r) {
                drawn_kernel const k = r.kernels[at];
                drawn_tensor const &x = r.tensor_at(k.first), &made = r.tensor_at(k.result);
                if (x.rows != made.rows || x.columns != made.columns) return false;
                erase_kernel(r, at);
                each_tensor_of(r, [&](int& tensor) { tensor = tensor == k.result ? k.first : tensor; });
                return true;
            });
        }
        for (std::size_t at = 0; at < count; ++at) {
            add([&](recipe& r) { return set(r.kernels[at].cut, 0); });
            add([&](recipe& r) {
                drawn_kernel& k = r.kernels[at];
                k.second = -1;
                if (k.is == kind_of_kernel::copied || k.is == kind_of_kernel::twice) return false;
                return set(k.is, kind_of_kernel::scaled);
            });
        }
    }
    void agents() {
        for (std::size_t at = 0; at < from_.agents.size(); ++at) {
            add([&](recipe& r) { return set(r.agents[at].aside, false); });
            add([&](recipe& r) { return set(r.agents[at].only_with, false); });
            // Its kernels on another agent of its machine, or by the core and as the planner likes.
            for (int other = 0; other < static_cast<int>(at); ++other) {
                auto const given_to_other = [&](recipe& r, bool as_they_are) {
                    bool changed = false;
                    for (drawn_kernel& k : r.kernels) {
                        if (k.by != static_cast<int>(at)) continue;
                        changed = true;
                        k.by = other;
                        if (!as_they_are) k.directives.clear();
                    }
                    return changed;
                };
                if (agent_at(at).on == agent_at(static_cast<std::size_t>(other)).on)
                    add([&](recipe& r) { return given_to_other(r, true); });
                if (other == 0) add([&](recipe& r) { return given_to_other(r, false); });
            }
            add([&](recipe& r) {
                int const gone = static_cast<int>(at);
                for (drawn_kernel& k : r.kernels) {
                    if (k.by == gone) return false;
                    k.by -= k.by > gone ? 1 : 0;
                }
                r.agents.erase(r.agents.begin() + gone);
                return !r.agents.empty();
            });
        }
    }
    drawn_agent const& agent_at(std::size_t at) const { return from_.agents[at]; }
    void directives() {
        for (std::size_t at = 0; at < from_.kernels.size(); ++at) {
            add([&](recipe& r) { return !std::exchange(r.kernels[at].directives, {}).empty(); });
            std::vector<drawn_directive> const& all = from_.kernels[at].directives;
            for (std::size_t first = all.size(); first-- > 0;) {
                std::size_t end = first + 1;
                while (!refines(all[first]) && end < all.size() && refines(all[end])) ++end;
                add([&](recipe& r) {
                    auto const begin = r.kernels[at].directives.begin();
                    r.kernels[at].directives.erase(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end));
                    return true;
                });
            }
        }
    }
    static bool refines(drawn_directive const& d) { return description_of(d.is).refines(); }
    /// Of what is given; of the others, they follow.
    void shapes() {
        for (std::size_t at = 0; at < from_.tensors.size(); ++at) {
            for (int drawn_tensor::*extent : {&drawn_tensor::rows, &drawn_tensor::columns}) {
                int const has = from_.tensors[at].*extent;
                for (int smaller : {1, has / 2, has - 1}) {
                    if (smaller >= 1) add([&](recipe& r) { return r.tensors[at].given() && set(r.tensors[at].*extent, smaller); });
                }
            }
        }
    }
    void tensors() {
        for (std::size_t at = 0; at < from_.tensors.size(); ++at) {
            drawn_tensor const& t = from_.tensors[at];
            add([&](recipe& r) { return t.is == kind_of_tensor::input && set(r.tensors[at].where, std::string("l2")); });
            // What nobody reads stays an output.
            add([&](recipe& r) {
                if (t.given() || !is_read(from_, static_cast<int>(at))) return false;
                r.tensors[at].where.clear();
                return set(r.tensors[at].is, kind_of_tensor::between);
            });
        }
    }
    void machines() {
        add([](recipe& r) { return set(r.copies, true); });
        for (std::size_t at = 0; at < from_.machines.size(); ++at) {
            add([&](recipe& r) {
                for (drawn_agent& a : r.agents) {
                    if (a.on == static_cast<int>(at)) return false;
                    a.on -= a.on > static_cast<int>(at) ? 1 : 0;
                }
                r.machines.erase(r.machines.begin() + static_cast<std::ptrdiff_t>(at));
                return true;
            });
            for (auto drawn_machine::*parts : {&drawn_machine::memories, &drawn_machine::engines}) {
                for (std::size_t which = (from_.machines[at].*parts).size(); which-- > 0;)
                    add([&](recipe& r) {
                        return (r.machines[at].*parts).erase((r.machines[at].*parts).begin() + static_cast<std::ptrdiff_t>(which)), true;
                    });
            }
            for (std::size_t which = from_.machines[at].transfers.size(); which-- > 0;) {
                auto const of = [=](recipe& r) -> transfer& { return r.machines[at].transfers[which]; };
                add([&](recipe& r) {
                    r.machines[at].transfers.erase(r.machines[at].transfers.begin() + static_cast<std::ptrdiff_t>(which));
                    return true;
                });
                add([&](recipe& r) { return set(of(r).costs, transfer_cost{}); });
                add([&](recipe& r) { return set(of(r).largest_row_bytes, std::int64_t{0}); });
                add([&](recipe& r) { return !of(r).is_asynchronous && set(of(r).engine_name, ir::label{}); });
            }
        }
        for (std::size_t at = 0; at < from_.memories.size(); ++at) {
            auto const simpler = [&](auto memory::*field) { add([&](recipe& r) { return set(r.memories[at].*field, memory{}.*field); }); };
            simpler(&memory::banks), simpler(&memory::alignment), simpler(&memory::wait_cycles), simpler(&memory::per_agent);
        }
        for (std::size_t at = 0; at < from_.engines.size(); ++at) {
            auto const simpler = [&](auto engine::*field) { add([&](recipe& r) { return set(r.engines[at].*field, engine{}.*field); }); };
            simpler(&engine::depth), simpler(&engine::channels), simpler(&engine::completes), simpler(&engine::per_agent);
        }
    }

    recipe const& from_;
    std::vector<recipe> all_;
};

}  // namespace

recipe shrink_program(recipe from, std::function<bool(recipe const&)> const& fails, std::function<bool()> const& enough) {
    return smallest_failing(
        std::move(from), [](recipe const& r) { return smaller_programs(r).take(); }, fails, enough);
}

}  // namespace fuzz
