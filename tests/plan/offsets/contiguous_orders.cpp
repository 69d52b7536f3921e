#include <tilewright/plan/offsets/contiguous_orders.hpp>

#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "catch.hpp"

// Orders in which sets are contiguous: by hand, and against all orders of few things.

using tilewright::detail::contiguous_orders;
using tilewright::detail::log2_of;
using tilewright::detail::work_array;

namespace {

using order = std::vector<int>;
using orders = std::set<order>;

/// All orders that a tree stands for, from a node down.
orders all_of(contiguous_orders const& tree, int at) {
    contiguous_orders::node const& n = tree.nodes.at[at];
    if (n.label >= 0) return {{n.label}};
    std::vector<orders> children;
    for (int child = n.first; child >= 0; child = tree.nodes.at[child].next) children.push_back(all_of(tree, child));
    std::vector<int> places(children.size());
    std::iota(places.begin(), places.end(), 0);
    orders all;
    do {
        orders joined{{}};
        for (int const place : places) {
            orders longer;
            for (order const& left : joined) {
                for (order const& right : children[place]) {
                    order both = left;
                    both.insert(both.end(), right.begin(), right.end());
                    longer.insert(both);
                }
            }
            joined = longer;
        }
        all.insert(joined.begin(), joined.end());
        if (n.fixed) std::reverse(places.begin(), places.end());
    } while (n.fixed ? places.front() != 0 : std::next_permutation(places.begin(), places.end()));
    return all;
}
orders all_of(contiguous_orders const& tree) { return all_of(tree, tree.root); }

order first(int count) {
    order labels(static_cast<std::size_t>(count));
    std::iota(labels.begin(), labels.end(), 0);
    return labels;
}
/// Marks, with room for labels below `most`.
struct marks {
    marks(std::vector<int> const& labels, int most) : is(most) {
        for (int const label : labels) is.at[label] = true;
    }
    work_array<char> is;
};
bool gather(contiguous_orders& tree, std::vector<int> const& labels) {
    marks const chosen(labels, 16);
    if (!tree.can_gather(chosen.is)) return false;
    tree.gather();
    return true;
}
/// Of orders, those in which the chosen labels are contiguous.
orders contiguous(orders const& all, std::vector<int> const& labels) {
    orders kept;
    for (order const& each : all) {
        int begin = -1, end = -1;
        for (int at = 0; at < static_cast<int>(each.size()); ++at) {
            if (std::find(labels.begin(), labels.end(), each[at]) == labels.end()) continue;
            begin = begin < 0 ? at : begin, end = at + 1;
        }
        if (end - begin == static_cast<int>(labels.size())) kept.insert(each);
    }
    return kept;
}

}  // namespace

TEST_CASE("two sets that overlap leave one row, in two directions") {
    contiguous_orders tree;
    tree.start(first(3));
    CHECK(all_of(tree).size() == 6);
    REQUIRE(gather(tree, {0, 1}));
    CHECK(all_of(tree) == orders{{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}});
    REQUIRE(gather(tree, {1, 2}));
    CHECK(all_of(tree) == orders{{0, 1, 2}, {2, 1, 0}});
    CHECK_FALSE(gather(tree, {0, 2}));
    CHECK(all_of(tree) == orders{{0, 1, 2}, {2, 1, 0}});
}
TEST_CASE("what takes a place may be in any order there, and is apart from the rest") {
    contiguous_orders tree;
    tree.start(first(3));
    REQUIRE(gather(tree, {0, 1}));
    tree.replace(marks({0, 1}, 16).is, order{3, 4});
    CHECK(all_of(tree) == orders{{3, 4, 2}, {4, 3, 2}, {2, 3, 4}, {2, 4, 3}});
}
TEST_CASE("what is taken away leaves the orders of the others, and what is added lies beside them") {
    contiguous_orders tree;
    tree.start(first(4));
    REQUIRE(gather(tree, {0, 1}));
    REQUIRE(gather(tree, {1, 2}));
    tree.remove(marks({1}, 16).is);
    CHECK(all_of(tree) == orders{{0, 2, 3}, {2, 0, 3}, {3, 0, 2}, {3, 2, 0}});
    tree.add(5);
    CHECK(all_of(tree).size() == 12);  // {0, 2}, 3 and 5 in any order
    CHECK(contiguous(all_of(tree), {0, 2}) == all_of(tree));
}
TEST_CASE("an order is chosen by keys as far as the tree has it, and a tree that was saved comes back") {
    contiguous_orders tree;
    tree.start(first(4));
    REQUIRE(gather(tree, {0, 1}));
    REQUIRE(gather(tree, {1, 2}));
    work_array<contiguous_orders::node> saved(0);
    int const at = tree.save(saved);
    work_array<std::int64_t> keys(4);
    for (int label = 0; label < 4; ++label) keys.at[label] = 10 - label;
    contiguous_orders again;
    again.load(saved, at);
    again.sort(keys);
    work_array<int> read(0);
    again.read(read);
    CHECK(order(read.begin(), read.begin() + read.used()) == order{3, 2, 1, 0});
    CHECK(all_of(again) == all_of(tree));
}
TEST_CASE("a logarithm is near enough, and orders are counted") {
    CHECK(log2_of(1) == 0);
    CHECK(log2_of(1024) == 2560);
    CHECK(std::abs(log2_of(3) - 406) <= 1);           // 256 log2(3) = 405.7
    CHECK(std::abs(log2_of(1'000'000) - 5103) <= 2);  // 256 log2(10^6) = 5102.6
    contiguous_orders tree;
    tree.start(first(4));
    CHECK(tree.freedom() == log2_of(2) + log2_of(3) + log2_of(4));  // 24
    REQUIRE(gather(tree, {0, 1}));
    CHECK(tree.freedom() == log2_of(2) + log2_of(3) + log2_of(2));  // 12: three things, of which one has two orders
    REQUIRE(gather(tree, {1, 2}));
    CHECK(tree.freedom() == 256 + log2_of(2));  // 4: a row of three, and one beside it
}
TEST_CASE("a tree stands for all orders in which drawn sets are contiguous, and for no others") {
    std::mt19937 random(1);
    int gathered = 0, refused = 0;
    for (int draw = 0; draw < 600; ++draw) {
        int const count = 3 + static_cast<int>(random() % 4);
        contiguous_orders tree;
        tree.start(first(count));
        orders wanted = all_of(tree);
        std::vector<int> chosen;
        for (int set = 0; set < 4; ++set) {
            std::vector<int> drawn;
            for (int label = 0; label < count; ++label) {
                if (random() % 2 != 0) drawn.push_back(label);
            }
            if (drawn.empty()) continue;
            orders const left = contiguous(wanted, drawn);
            INFO("draw " << draw << ", set " << set);
            REQUIRE(gather(tree, drawn) == !left.empty());
            (left.empty() ? refused : gathered)++;
            if (!left.empty()) wanted = left, chosen = drawn;
            REQUIRE(all_of(tree) == wanted);
        }
        if (chosen.empty() || contiguous(wanted, chosen) != wanted) continue;
        orders replaced;
        for (order const& each : wanted) {
            for (bool const turned : {false, true}) {
                order with;
                bool put = false;
                for (int const label : each) {
                    bool const old = std::find(chosen.begin(), chosen.end(), label) != chosen.end();
                    if (!old) with.push_back(label);
                    if (old && !put) with.push_back(turned ? 9 : 8), with.push_back(turned ? 8 : 9), put = true;
                }
                replaced.insert(with);
            }
        }
        tree.replace(marks(chosen, 16).is, order{8, 9});
        REQUIRE(all_of(tree) == replaced);
        order const& pick = *std::next(replaced.begin(), static_cast<std::ptrdiff_t>(random() % replaced.size()));
        work_array<std::int64_t> keys(16);
        for (std::size_t at = 0; at < pick.size(); ++at) keys.at[pick[at]] = static_cast<std::int64_t>(at);
        tree.sort(keys);
        work_array<int> read(0);
        tree.read(read);
        REQUIRE(order(read.begin(), read.begin() + read.used()) == pick);
    }
    CHECK((gathered > 1000 && refused > 100));
}
TEST_CASE("trees have the same signature where they stand for the same orders, and only there") {
    std::map<std::uint64_t, orders> orders_of;
    std::map<orders, std::uint64_t> signature_of;
    std::mt19937 random(2);
    for (int draw = 0; draw < 500; ++draw) {
        contiguous_orders tree;
        order labels = first(5);
        std::shuffle(labels.begin(), labels.end(), random);
        tree.start(labels);
        for (int set = 0; set < 3; ++set) {
            std::vector<int> drawn;
            for (int label = 0; label < 5; ++label) {
                if (random() % 2 != 0) drawn.push_back(label);
            }
            if (!drawn.empty()) gather(tree, drawn);
        }
        orders const all = all_of(tree);
        INFO("draw " << draw);
        REQUIRE(orders_of.try_emplace(tree.signature(), all).first->second == all);
        REQUIRE(signature_of.try_emplace(all, tree.signature()).first->second == tree.signature());
    }
    CHECK(signature_of.size() > 50);
    CHECK(signature_of.size() < 400);  // many have been met again
}
