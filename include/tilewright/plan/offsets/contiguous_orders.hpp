#pragma once
#include <bit>
#include <tilewright/plan/offsets/sections.hpp>

// All orders of things in which given sets stand side by side.
namespace tilewright::detail {

/// The binary logarithm in 1/256, rounded. Whole numbers are the same everywhere.
constexpr std::int64_t log2_of(std::int64_t number) {
    int const whole = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number))) - 1;
    std::int64_t const rest = whole > 8 ? number >> (whole - 8) : number << (8 - whole);  // 256 to 511
    std::int64_t const x = rest - 256;
    return 256 * whole + x + x * (256 - x) * 88 / 65536;
}

/// The same of the number of sets, and of orders.
constexpr std::int64_t log2_of_sets(int of, int members) {
    std::int64_t sum = 0;
    for (int at = 0; at < members; ++at) sum += log2_of(of - at) - log2_of(at + 1);
    return sum;
}
constexpr std::int64_t log2_of_orders(int of) {
    std::int64_t sum = 0;
    for (int at = 2; at <= of; ++at) sum += log2_of(at);
    return sum;
}

/// A tree whose leaves, read from left to right, stand for many orders: children of a free node may be in any order, those of a fixed node
/// only as they are or the other way round.
///
/// `gather` keeps just those orders in which a set of leaves is contiguous. `replace` puts other leaves where a contiguous set was.
///
/// @see   K. Booth, G. Lueker, "Testing for the Consecutive Ones Property … Using PQ-Tree Algorithms", 1976. This one looks at the whole
///        tree each time, which is simple, and cheap for the hundred things that are alive together.
class contiguous_orders {
  public:
    struct node {
        int label = -1;  ///< of a leaf; -1: a node with children
        int first = -1, next = -1;
        bool fixed = false;
        int leaves = 0, chosen = 0;  ///< below it, as they were last counted
    };

    constexpr contiguous_orders() : nodes(0), list_(0), children_(0) {}

    /// One free node of leaves with these labels.
    constexpr void start(std::span<int const> labels) {
        nodes.shrink(0);
        int const from = list_.used();
        for (int const label : labels) list_.push(leaf(label));
        root = group(from, false);
    }
    /// The binary logarithm of how many orders there are, in 1/256.
    constexpr std::int64_t freedom() const { return freedom(root); }
    /// A number that is the same for trees of the same orders, and hardly ever for others.
    constexpr std::uint64_t signature() const { return signature(root); }
    /// Nodes of the tree, and of what has left it.
    constexpr int size() const { return nodes.used(); }
    /// Counts the chosen leaves, and looks whether there is an order in which they are contiguous.
    /// @param is_chosen of each label
    constexpr bool can_gather(work_array<char> const& is_chosen) {
        count(root, is_chosen);
        int const top = top_of_chosen();
        if (is_uniform(top)) return true;
        if (nodes.at[top].fixed) return is_run(top);
        int partial = 0;
        for (int child = nodes.at[top].first; child >= 0; child = nodes.at[child].next) {
            if (is_uniform(child)) continue;
            if (++partial > 2 || !is_one_sided(child)) return false;
        }
        return true;
    }
    /// Keeps the orders in which the chosen leaves are contiguous. @pre `can_gather` has just said that there are some
    constexpr void gather() {
        int const top = top_of_chosen();
        if (is_uniform(top)) return;
        int const kids = open_children(top), end = children_.used(), from = list_.used();
        if (nodes.at[top].fixed) {
            // What is chosen of a partial child lies towards the others that are.
            bool seen = false;
            for (int at = kids; at < end; ++at) {
                int const child = children_.at[at], before = list_.used();
                bool const chosen = nodes.at[child].chosen > 0;
                line_up(child);
                if (seen) reverse(before);
                seen |= chosen;
            }
            link(top, from);
            children_.shrink(kids);
            return;
        }
        int partial = 0;
        for (int at = kids; at < end; ++at) {
            if (!is_uniform(children_.at[at]) && partial++ == 0) line_up(children_.at[at]);
        }
        push_group(kids, end, true);
        bool first = true;
        for (int at = kids; at < end; ++at) {
            if (is_uniform(children_.at[at])) continue;
            int const before = list_.used();
            if (!first) line_up(children_.at[at]), reverse(before);
            first = false;
        }
        list_.push(group(from, partial > 0));
        for (int at = kids; at < end; ++at) {
            if (nodes.at[children_.at[at]].chosen == 0) list_.push(children_.at[at]);
        }
        children_.shrink(kids);
        if (list_.used() > from + 1) return link(top, from);
        node const only = nodes.at[list_.pop()];
        nodes.at[top].first = only.first, nodes.at[top].fixed = only.fixed;
    }
    /// Puts a free node of new leaves where the chosen ones are. @pre they have been gathered
    constexpr void replace(work_array<char> const& is_chosen, std::span<int const> labels) {
        count(root, is_chosen);
        int const top = top_of_chosen(), from = list_.used();
        for (int const label : labels) list_.push(leaf(label));
        int const fresh = group(from, false);
        if (is_uniform(top)) {
            // The node stays, with what is in the new one.
            node& n = nodes.at[top];
            n.label = nodes.at[fresh].label, n.first = nodes.at[fresh].first, n.fixed = false;
            return;
        }
        bool put = false;
        for (int child = nodes.at[top].first; child >= 0; child = nodes.at[child].next) {
            if (nodes.at[child].chosen == 0) {
                list_.push(child);
            } else if (!put) {
                list_.push(fresh), put = true;
            }
        }
        nodes.at[top].fixed = list_.used() - from > 2;
        link(top, from);
    }
    /// Takes the chosen leaves away. @pre there are others
    constexpr void remove(work_array<char> const& is_chosen) { root = without(root, is_chosen); }
    /// A leaf more, anywhere beside the others.
    constexpr void add(int label) {
        int const from = list_.used();
        list_.push(leaf(label));
        if (nodes.at[root].fixed || nodes.at[root].label >= 0) {
            list_.push(root);
        } else {
            for (int child = nodes.at[root].first; child >= 0; child = nodes.at[child].next) list_.push(child);
        }
        root = group(from, false);
    }

    /// Chooses an order: the one whose leaves have ascending keys, as far as there is one. A key
    /// of `no_offset` says nothing.
    constexpr void sort(work_array<std::int64_t> const& key_of_label) { smallest_key(root, key_of_label); }
    /// The labels from left to right, at the end of `into`.
    constexpr void read(work_array<int>& into) const { read(root, into); }

    /// Copies the tree to the end of an array; returns where its root is.
    constexpr int save(work_array<node>& into) const { return save(root, into); }
    /// @param saved a root that `save` has returned
    constexpr void load(work_array<node> const& from, int saved) {
        nodes.shrink(0);
        list_.shrink(0);
        root = load_below(from, saved);
    }

    work_array<node> nodes;
    int root = -1;

  private:
    constexpr std::int64_t freedom(int at) const {
        std::int64_t sum = nodes.at[at].fixed ? 256 : 0;
        int children = 0;
        for (int child = nodes.at[at].first; child >= 0; child = nodes.at[child].next) {
            if (!nodes.at[at].fixed) sum += log2_of(++children);
            sum += freedom(child);
        }
        return sum;
    }
    static constexpr std::uint64_t mixed(std::uint64_t number) {
        number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
        number = (number ^ number >> 29) * 0xbf58476d1ce4e5b9u;
        return number ^ number >> 32;
    }
    constexpr std::uint64_t signature(int at) const {
        node const& n = nodes.at[at];
        if (n.label >= 0) return mixed(static_cast<std::uint64_t>(n.label) + 1);
        // Sums for the order that does not matter, polynomials read from both ends for the other.
        std::uint64_t sum = 0, forwards = 0, backwards = 0, power = 1;
        for (int child = n.first; child >= 0; child = nodes.at[child].next) {
            std::uint64_t const of_child = signature(child);
            sum += of_child, forwards = forwards * 0x2545f4914f6cdd1du + of_child, backwards += power * of_child;
            power *= 0x2545f4914f6cdd1du;
        }
        return n.fixed ? mixed(forwards + backwards) ^ mixed(forwards * backwards) : mixed(sum + 1);
    }
    constexpr int leaf(int label) {
        nodes.push({.label = label});
        return nodes.used() - 1;
    }
    /// A node with the children at the end of the list, which goes. One child needs no node.
    constexpr int group(int from, bool fixed) {
        if (list_.used() == from + 1) return list_.pop();
        nodes.push({.fixed = fixed && list_.used() - from > 2});
        link(nodes.used() - 1, from);
        return nodes.used() - 1;
    }
    constexpr void link(int parent, int from) {
        int after = -1;
        while (list_.used() > from) {
            int const child = list_.pop();
            nodes.at[child].next = after;
            after = child;
        }
        nodes.at[parent].first = after;
    }
    constexpr void reverse(int from) { std::reverse(list_.begin() + from, list_.begin() + list_.used()); }

    constexpr void count(int at, work_array<char> const& is_chosen) {
        node& n = nodes.at[at];
        n.leaves = n.label >= 0, n.chosen = n.label >= 0 && is_chosen.at[n.label];
        for (int child = n.first; child >= 0; child = nodes.at[child].next) {
            count(child, is_chosen);
            n.leaves += nodes.at[child].leaves, n.chosen += nodes.at[child].chosen;
        }
    }
    constexpr bool is_uniform(int at) const { return nodes.at[at].chosen == 0 || nodes.at[at].chosen == nodes.at[at].leaves; }
    /// The lowest node with all chosen leaves.
    constexpr int top_of_chosen() const {
        int top = root;
        for (int child = nodes.at[top].first; child >= 0;) {
            bool const all = nodes.at[child].chosen == nodes.at[root].chosen;
            if (all) top = child;
            child = all ? nodes.at[top].first : nodes.at[child].next;
        }
        return top;
    }
    /// What of a node is chosen: 0 nothing, 1 a part, 2 all.
    constexpr int share(int at) const { return nodes.at[at].chosen == 0 ? 0 : nodes.at[at].chosen < nodes.at[at].leaves ? 1 : 2; }
    /// Whether the leaves that are not chosen can all be before those that are.
    constexpr bool is_one_sided(int at) const {
        int partial = 0;
        bool rises = true, falls = true;
        for (int child = nodes.at[at].first, before = -1; child >= 0; before = child, child = nodes.at[child].next) {
            if (share(child) == 1 && (++partial > 1 || !is_one_sided(child))) return false;
            if (before < 0) continue;
            rises &= share(before) <= share(child), falls &= share(before) >= share(child);
        }
        return !nodes.at[at].fixed || rises || falls;
    }
    /// Whether the children of a fixed node are others, at most one partial, chosen ones, at most one partial, others.
    constexpr bool is_run(int at) const {
        int phase = 0;  // before, inside, after the chosen ones
        for (int child = nodes.at[at].first; child >= 0; child = nodes.at[child].next) {
            int const of_child = share(child);
            if (of_child == 0) {
                phase = phase == 1 ? 2 : phase;
                continue;
            }
            if (phase == 2 || (of_child == 1 && !is_one_sided(child))) return false;
            phase = phase == 1 && of_child == 1 ? 2 : 1;
        }
        return true;
    }

    /// Takes down the children of a node, because linking changes who follows whom. @return where they begin
    constexpr int open_children(int of) {
        int const from = children_.used();
        for (int child = nodes.at[of].first; child >= 0; child = nodes.at[child].next) children_.push(child);
        return from;
    }
    /// The parts of a one-sided node at the end of the list: what is not chosen, then what is.
    constexpr void line_up(int of) {
        if (is_uniform(of)) return list_.push(of);
        int const kids = open_children(of), end = children_.used();
        if (nodes.at[of].fixed) {
            bool const backwards = share(children_.at[kids]) > share(children_.at[end - 1]);
            if (backwards) std::reverse(children_.begin() + kids, children_.begin() + end);
            for (int at = kids; at < end; ++at) line_up(children_.at[at]);
        } else {
            push_group(kids, end, false);
            for (int at = kids; at < end; ++at) {
                if (!is_uniform(children_.at[at])) line_up(children_.at[at]);
            }
            push_group(kids, end, true);
        }
        children_.shrink(kids);
    }
    /// Children that are chosen, or that are not, as one free node at the end of the list.
    constexpr void push_group(int kids, int end, bool chosen) {
        int const from = list_.used();
        for (int at = kids; at < end; ++at) {
            int const child = children_.at[at];
            if (is_uniform(child) && (nodes.at[child].chosen > 0) == chosen) list_.push(child);
        }
        if (list_.used() > from) list_.push(group(from, false));
    }

    /// The node without the chosen leaves; -1: nothing is left.
    constexpr int without(int at, work_array<char> const& is_chosen) {
        if (nodes.at[at].label >= 0) return is_chosen.at[nodes.at[at].label] ? -1 : at;
        int const kids = open_children(at), end = children_.used(), from = list_.used();
        for (int child = kids; child < end; ++child) {
            int const left = without(children_.at[child], is_chosen);
            if (left >= 0) list_.push(left);
        }
        children_.shrink(kids);
        return list_.used() == from ? -1 : group(from, nodes.at[at].fixed);
    }
    constexpr std::int64_t smallest_key(int at, work_array<std::int64_t> const& key_of_label) {
        node const n = nodes.at[at];
        if (n.label >= 0) return key_of_label.at[n.label];
        int const kids = open_children(at), end = children_.used();
        work_array<std::int64_t> key(end - kids);
        work_array<int> order(end - kids);
        for (int child = 0; child < order.size(); ++child) {
            key.at[child] = smallest_key(children_.at[kids + child], key_of_label);
            order.at[child] = child;
        }
        if (n.fixed) {
            // What has no key says nothing.
            int known = 0, differs = 0;
            while (known < order.size() && key.at[known] == no_offset) ++known;
            differs = known;
            while (differs < order.size() && (key.at[differs] == no_offset || key.at[differs] == key.at[known])) ++differs;
            if (differs < order.size() && key.at[differs] < key.at[known]) std::reverse(order.begin(), order.end());
        } else {
            std::sort(order.begin(), order.end(), [&](int a, int b) { return key.at[a] != key.at[b] ? key.at[a] < key.at[b] : a < b; });
        }
        int const from = list_.used();
        std::int64_t smallest = key.at[0];
        for (int const child : order) {
            list_.push(children_.at[kids + child]);
            smallest = std::min(smallest, key.at[child]);
        }
        link(at, from);
        children_.shrink(kids);
        return smallest;
    }
    constexpr void read(int at, work_array<int>& into) const {
        if (nodes.at[at].label >= 0) into.push(nodes.at[at].label);
        for (int child = nodes.at[at].first; child >= 0; child = nodes.at[child].next) read(child, into);
    }
    constexpr int load_below(work_array<node> const& from, int saved) {
        nodes.push({.label = from.at[saved].label, .fixed = from.at[saved].fixed});
        int const made = nodes.used() - 1;
        for (int child = from.at[saved].first, before = -1; child >= 0; child = from.at[child].next) {
            int const next = load_below(from, child);
            (before < 0 ? nodes.at[made].first : nodes.at[before].next) = next;
            before = next;
        }
        return made;
    }
    constexpr int save(int at, work_array<node>& into) const {
        node copy = nodes.at[at];
        copy.first = copy.next = -1;
        int const saved = into.used();
        into.push(copy);
        for (int child = nodes.at[at].first, before = -1; child >= 0; child = nodes.at[child].next) {
            int const next = save(child, into);
            (before < 0 ? into.at[saved].first : into.at[before].next) = next;
            before = next;
        }
        return saved;
    }

    work_array<int> list_, children_;  ///< children that are being linked, and that are looked at: both as stacks
};

}  // namespace tilewright::detail
