#pragma once
#include <algorithm>
#include <tilewright/base/label_text.hpp>
#include <tilewright/halide/places.hpp>
#include <tilewright/plan/ir/required_value.hpp>

// How generated code waits, counts jobs, passes tokens, and ends when a device function fails.
namespace tilewright::halide {

class code_order : public code_places {
  protected:
    using code_places::code_places;

    /// A call that returns an error code; a code other than 0 ends the kernel, which returns it when nothing is in flight any more.
    Stmt checked(Expr const& device_call) const {
        using namespace Halide::Internal;
        Expr const status = Variable::make(Halide::Int(32), "status");
        Stmt const end = AssertStmt::make(status == 0, status);
        Stmt const waits = wait_for_everything();
        return LetStmt::make("status", device_call, waits.defined() ? Block::make(IfThenElse::make(status != 0, waits), end) : end);
    }
    Stmt configure(int configuration_at, std::vector<Expr> const& values) const {
        if (how_.to == binding::emulated)
            return checked(call(Halide::Int(32), "tilewright_emulate_configure", {machine_handle(), configuration_at, structure(values)}));
        device_call const described = set_call_of(plan_.where->configurations[configuration_at]);
        std::vector<Expr> arguments;
        for (int at = 0; at < described.count; ++at) {
            call_argument const& a = described.arguments[at];
            arguments.push_back(a.is == role::literal ? wide(a.value) : values[static_cast<std::size_t>(a.dimension)]);
        }
        return checked(call(Halide::Int(32), described.symbol.str(), arguments));
    }
    Stmt configure(setting const& to) const {
        std::vector<Expr> values;
        for (int at = 0; at < plan_.where->configurations[to.configuration].value_count; ++at) {
            setting_value const& v = to.values[at];
            values.push_back(v.buffer < 0 ? wide(v.number)
                                          : Halide::Internal::simplify(element_stride(v.buffer, v.dimension, v.number) / wide(v.unit)));
        }
        return configure(to.configuration, values);
    }
    /// Waits first for every engine, in the machine's order, until its jobs are complete. Then it pops every queue until no token is left.
    /// An engine may wait for a token that another one pushes, so a wait for it must keep the others at work. The last pops hold back at
    /// most jobs of the next kernel. Undefined if the plan starts nothing that it has to wait for.
    Stmt wait_for_everything() const {
        std::vector<Stmt> waits;
        for (int at = 0; at < plan_.where->engines.size(); ++at) {
            if (!plan_.is_busy_aside(at)) continue;
            int const first = plan_.where->first_lane(at);
            if (is_channel(at)) {
                plan_.each_busy_lane(at, [&](int lane) {
                    waits.push_back(Halide::Internal::Evaluate::make(wait_on(at, own_channel(at, wide(lane - first)), wide(0))));
                });
            }
            for (int which = 0; which < plan_.rings.size() && !is_channel(at); ++which) {
                ring const& r = plan_.rings[which];
                for (int version = 0; version < r.versions && r.engine == at; ++version)
                    waits.push_back(Halide::Internal::Evaluate::make(
                        wait_on(at, own_channel(at, wide(plan_.channel_of(r, version))), wide(r.first_tag + version))));
            }
        }
        for (link const* l : token_queues()) waits.push_back(pop_all(*l, false));
        return waits.empty() ? Stmt() : Halide::Internal::Block::make(waits);
    }
    /// Nothing at steps that a ring does not have.
    Stmt where_there_is(ring_step const& at, Stmt const& what) const {
        if (at.ring < 0) return what;
        if (at.only_where >= 0) {
            ring_step everywhere = at;
            everywhere.only_where = no_variable;
            return Halide::Internal::IfThenElse::make(variable_value(plan_, at.only_where, loop_values()) == 0,
                                                      where_there_is(everywhere, what));
        }
        Expr const number = step_value(at);
        Expr there = Halide::Internal::const_true();
        if (plan_.may_precede(at)) there = number >= 0;
        if (plan_.may_exceed(at)) there = there && number < steps_of(ring_of(at)) - static_cast<int>(at.fewer);
        return Halide::Internal::is_const_one(there) ? what : Halide::Internal::IfThenElse::make(Halide::Internal::simplify(there), what);
    }
    Expr tag_of(ring_step const& at) const {
        ring const& r = ring_of(at);
        Expr const number = step_value(at);
        return wide(r.first_tag) + Halide::cast<std::int64_t>(Halide::Internal::simplify(number % static_cast<int>(r.versions)));
    }
    /// The channel of its engine that a step's transfer is for.
    Expr channel_of(ring_step const& at) const {
        ring const& r = ring_of(at);
        int const channels = plan_.channels_of(r.engine);
        if (channels == 1) return own_channel(r.engine, wide(0));
        // If the versions go round the channels evenly, the number of the step says the channel.
        int const versions = r.versions;
        Expr const number = step_value(at), version = versions % channels == 0 ? number : number % versions;
        Expr const among = Halide::Internal::simplify((version + static_cast<int>(r.first_channel)) % channels);
        return own_channel(r.engine, Halide::cast<std::int64_t>(among));
    }
    Expr channel_of(movement const& m) const {
        if (plan_.is_asynchronous(m)) return channel_of(m.at);
        return plan_.engine_of(m) < 0 ? wide(0) : own_channel(plan_.engine_of(m), wide(0));
    }
    /// One of the channels that this core has of an engine which cores share, among all of them.
    Expr own_channel(int engine_at, Expr const& channel) const {
        if (!plan_.is_dealt_out(engine_at)) return channel;
        return Halide::Internal::simplify(Halide::cast<std::int64_t>(core_number()) * wide(plan_.channels_of(engine_at)) + channel);
    }
    Expr wait_on(int engine_at, Expr const& channel, Expr const& value) const {
        engine const& e = plan_.where->engines[engine_at];
        if (how_.to == binding::emulated) {
            Expr const lane = Halide::cast<std::int32_t>(lane_of(engine_at, channel));
            return call(Halide::Int(32), "tilewright_emulate_wait", {machine_handle(), Halide::Internal::simplify(lane), value});
        }
        return call_with(wait_call_of(e), value, channel);
    }
    Expr wait_on(ring_step const& at, Expr const& value) const { return wait_on(ring_of(at).engine, channel_of(at), value); }
    /// A call whose arguments are literals, one value, and a channel.
    static Expr call_with(device_call const& described, Expr const& value, Expr const& channel = {}) {
        std::vector<Expr> arguments;
        for (int position = 0; position < described.count; ++position) {
            call_argument const& a = described.arguments[position];
            arguments.push_back(a.is == role::literal ? wide(a.value) : a.is == role::channel ? channel : value);
        }
        return call(Halide::Int(32), described.symbol.str(), arguments);
    }
    Stmt wait_call(ring_step const& until) const {
        ring const& r = ring_of(until);
        if (!is_channel(r.engine)) return checked(wait_on(until, tag_of(until)));
        // Between begin and complete, nobody else gives the engine jobs.
        if (how_.part != plan_part::whole || waits_for_all(r.engine)) return checked(wait_on(until, wide(0)));
        return checked(wait_on(until, count_at(job_count(r.engine, channel_of(until))) - count_at(last_of_tag(until))));
    }

    // A channel is waited for by how many of its jobs may be pending. The code counts the jobs that it has started on each of them, and
    // keeps the count at which the last transfer of every tag was started, and those that links mark. Of tokens it counts the pushes and
    // the pops.
    static constexpr char const* counts = "counts";
    bool is_channel(int engine_at) const { return plan_.where->engines[engine_at].completes != completion::by_transfer; }
    bool waits_for_all(int engine_at) const { return plan_.where->engines[engine_at].completes == completion::by_engine; }
    /// Whether the core waits for some of an engine's jobs by counting them.
    bool counts_jobs(int engine_at) const {
        if (!is_channel(engine_at) || waits_for_all(engine_at) || how_.part != plan_part::whole) return false;
        bool waited = false;
        for (int at = 0; at < plan_.steps.size(); ++at) {
            step const& s = plan_.steps[at];
            if (s.kind == step_kind::wait) waited |= ring_of(plan_.waits[s.what]).engine == engine_at;
        }
        for (int at = 0; at < plan_.links.size(); ++at) {
            link const& l = plan_.links[at];
            waited |= l.to < 0 && l.from == engine_at;
        }
        return waited;
    }
    /// A link for each queue of tokens.
    std::vector<link const*> token_queues() const {
        std::vector<link const*> found;
        for (int at = 0; at < plan_.links.size(); ++at) {
            link const& l = plan_.links[at];
            bool known = l.to < 0;
            for (link const* other : found) known |= other->tokens == l.tokens && other->queue == l.queue;
            if (!known) found.push_back(&l);
        }
        return found;
    }
    bool keeps_counts() const {
        bool keeps = !token_queues().empty();
        for (int at = 0; at < plan_.where->engines.size(); ++at) keeps |= counts_jobs(at);
        return keeps;
    }
    int tag_count() const {
        int tags = 0;
        for (int at = 0; at < plan_.rings.size(); ++at) tags += plan_.rings[at].versions;
        return tags;
    }
    int link_count() const {
        int steps = 0;
        for (int at = 0; at < plan_.links.size(); ++at) {
            int const ring_at = plan_.links[at].ring;
            steps += ring_at < 0 ? 1 : plan_.rings[ring_at].versions;
        }
        return steps;
    }
    // Which count is which.
    Expr lane_of(int engine_at, Expr const& channel) const {
        return Halide::Internal::simplify(wide(plan_.where->first_lane(engine_at)) + channel);
    }
    /// Jobs of a channel; of an engine with one, it is that.
    Expr job_count(int engine_at, Expr const& channel) const { return lane_of(engine_at, channel); }
    Expr job_count(int engine_at) const { return job_count(engine_at, wide(0)); }
    Expr last_of_tag(ring_step const& at) const { return wide(plan_.where->lane_count()) + tag_of(at); }
    Expr last_of_link(ring_step const& at) const {
        link const& l = link_of(at);
        Expr const first = wide(plan_.where->lane_count() + tag_count() + l.first_count);
        if (l.ring < 0) return first;
        Expr const number = step_value(at);
        int const versions = plan_.rings[l.ring].versions;
        return first + Halide::cast<std::int64_t>(Halide::Internal::simplify(number % versions));
    }
    Expr push_count(link const& l) const {
        auto const queues = token_queues();
        auto const found = std::find_if(queues.begin(), queues.end(),
                                        [&](link const* other) { return other->tokens == l.tokens && other->queue == l.queue; });
        return wide(plan_.where->lane_count() + tag_count() + link_count() + 2 * (found - queues.begin()));
    }
    Expr pop_count(link const& l) const { return push_count(l) + 1; }

    static Expr count_at(Expr const& which) {
        return Halide::Internal::Load::make(Halide::Int(64), counts, which, Halide::Buffer<>(), Halide::Internal::Parameter(),
                                            Halide::Internal::const_true(), Halide::Internal::ModulusRemainder());
    }
    static Stmt set_count(Expr const& which, Expr const& value) {
        return Halide::Internal::Store::make(counts, value, which, Halide::Internal::Parameter(), Halide::Internal::const_true(),
                                             Halide::Internal::ModulusRemainder());
    }
    Stmt with_counts(Stmt whole) const {
        using namespace Halide::Internal;
        auto const queues = token_queues();
        int const size = plan_.where->lane_count() + tag_count() + link_count() + 2 * static_cast<int>(queues.size());
        Expr const at = Variable::make(Halide::Int(32), "count");
        Stmt const clear = For::make("count", 0, size, ForType::Serial, Halide::DeviceAPI::None, set_count(at, wide(0)));
        // If links share a queue, tokens that nobody asked for are left.
        for (link const* l : queues) {
            if (l->shared) whole = Block::make(whole, pop_all(*l, true));
        }
        return Allocate::make(counts, Halide::Int(64), Halide::MemoryType::Stack, {size}, const_true(), Block::make(clear, whole));
    }
    /// A call that gives a channel of an engine a job, counted if needed. `tag`: the tag that is kept with the count; undefined if there is
    /// none
    Stmt started(int engine_at, Expr const& channel, Stmt const& start, Expr const& tag) const {
        if (engine_at < 0 || !counts_jobs(engine_at)) return start;
        Expr const jobs = job_count(engine_at, channel);
        std::vector<Stmt> all{start, set_count(jobs, count_at(jobs) + 1)};
        if (tag.defined()) all.push_back(set_count(tag, count_at(jobs)));
        return Halide::Internal::Block::make(all);
    }
    Stmt started(movement const& m, Stmt const& start) const {
        if (!plan_.is_asynchronous(m)) return start;
        return started(ring_of(m.at).engine, channel_of(m.at), start, last_of_tag(m.at));
    }

    link const& link_of(ring_step const& at) const { return plan_.links[at.link]; }
    Expr token_call(link const& l, bool pushes) const {
        tokens const& t = plan_.where->tokens[l.tokens];
        if (how_.to == binding::emulated)
            return call(Halide::Int(32), pushes ? "tilewright_emulate_push" : "tilewright_emulate_pop",
                        {machine_handle(), static_cast<int>(l.tokens), static_cast<int>(l.queue)});
        return call_with(pushes ? push_call_of(t) : pop_call_of(t), wide(l.queue));
    }
    Stmt push(ring_step const& at) const {
        link const& l = link_of(at);
        if (l.to < 0 && waits_for_all(l.from)) return Halide::Internal::Evaluate::make(0);
        if (l.to < 0) return set_count(last_of_link(at), count_at(job_count(l.from)));
        std::vector<Stmt> all{checked(token_call(l, true)), set_count(push_count(l), count_at(push_count(l)) + 1)};
        if (l.shared) all.push_back(set_count(last_of_link(at), count_at(push_count(l))));
        return Halide::Internal::Block::make(all);
    }
    Stmt pop(ring_step const& at) const {
        link const& l = link_of(at);
        if (l.to < 0 && waits_for_all(l.from)) return checked(wait_on(l.from, wide(0), wide(0)));
        if (l.to < 0) return checked(wait_on(l.from, wide(0), count_at(job_count(l.from)) - count_at(last_of_link(at))));
        if (l.shared) return pop_up_to(l, count_at(last_of_link(at)), true);
        return pop_one(l, true);
    }
    Stmt pop_one(link const& l, bool is_checked) const {
        Stmt const popped = set_count(pop_count(l), count_at(pop_count(l)) + 1);
        Expr const taken = token_call(l, false);
        // A call that fails takes no token: the way out pops it again.
        return Halide::Internal::Block::make(is_checked ? checked(taken) : Halide::Internal::Evaluate::make(taken), popped);
    }
    /// Takes tokens until so many have been taken.
    Stmt pop_up_to(link const& l, Expr const& all, bool is_checked) const {
        Expr const missing = Halide::max(Halide::cast<std::int32_t>(all - count_at(pop_count(l))), 0);
        return Halide::Internal::For::make("token", 0, missing, Halide::Internal::ForType::Serial, Halide::DeviceAPI::None,
                                           pop_one(l, is_checked));
    }
    Stmt pop_all(link const& l, bool is_checked) const { return pop_up_to(l, count_at(push_count(l)), is_checked); }
};

}  // namespace tilewright::halide
