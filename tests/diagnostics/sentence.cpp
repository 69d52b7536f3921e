#include <limits>
#include <tilewright/base/label_text.hpp>
#include <tilewright/diagnostics/sentence.hpp>
#include <tilewright/diagnostics/text.hpp>

#include "catch.hpp"

using namespace tilewright;

namespace {
std::string said(verdict const& refusal) { return sentence_of(refusal).letters.elements; }
}  // namespace

TEST_CASE("a sentence has the names, numbers, parts and the directive of its verdict") {
    verdict v;
    v.kind = verdict_kind::memory_overflow;
    v.names = {"spad"};
    v.facts = {ir::fact{ir::fact_kind::need, 81920}, ir::fact{ir::fact_kind::have, 65536}};
    v.shares = {ir::share{"A", 65536}, ir::share{"B", 16384}};
    v.share_count = 2;
    CHECK(said(v) == "memory `spad` needs 81920 of 65536 bytes: A 65536, B 16384");
    v.ordinal = 4;
    v.line = 23;
    v.directive = directive_kind::cache_read;
    CHECK(said(v) == "memory `spad` needs 81920 of 65536 bytes: A 65536, B 16384 [cache_read, directive 4, line 23]");
    CHECK(to_string(v) == said(v) + "; " + advice_of(v.kind));
}

TEST_CASE("versions are counted, and a bank is named where there are several") {
    verdict v;
    v.kind = verdict_kind::memory_overflow;
    v.names = {"vtcm"};
    v.facts = {ir::fact{ir::fact_kind::need, 49152}, ir::fact{ir::fact_kind::have, 32768}};
    v.shares = {ir::share{"A", 16384, 2}, ir::share{"B", 16384}};
    v.share_count = 2;
    CHECK(said(v) == "memory `vtcm` needs 49152 of 32768 bytes: A 2x16384, B 16384");
    v.names[1] = "A";
    v.facts[2] = {ir::fact_kind::limit, 2};
    v.facts[3] = {ir::fact_kind::bank, 0};
    CHECK(said(v) == "memory `vtcm` (bank 0) needs 49152 of 32768 bytes: A 2x16384, B 16384; at most 2 versions of `A` fit");
}

TEST_CASE("a rule is a sentence in the sentence, and a name that is not there leaves no trace") {
    verdict v;
    v.kind = verdict_kind::transfer_region;
    v.broken = ir::rule::row_without_parts;
    v.names = {"mvin", "A"};
    v.facts = {ir::fact{ir::fact_kind::need, -134}, ir::fact{ir::fact_kind::limit, std::numeric_limits<std::int64_t>::min()}};
    CHECK(said(v) ==
          "transfer `mvin` cannot move the region of `A`: its rows go in pieces of -134 bytes or more, a call takes -9223372036854775808");
    v = {};
    v.kind = verdict_kind::loop_order;
    v.broken = ir::rule::vectorized_reduction;
    v.names = {"k"};
    CHECK(said(v) == "loop `k`: lanes would change the order of a sum of floats");
    v.names = {"k", "C"};
    CHECK(said(v) == "loop `k`: lanes would change the order of a sum of floats (`C`)");
}

TEST_CASE("a name that was cut shows where, and how long it was") {
    ir::label const name = "a_name_of_more_than_twenty_three_letters";
    CHECK(name.cut());
    CHECK(name.full_size() == 40);
    CHECK(name.str() == "a_name_of_more_than_twe~");
    CHECK(name.beginning().str() == "a_name_of_more_~");
    CHECK(name != ir::label("a_name_of_more_than_twenty_three_lettersX"));
    CHECK(!ir::label("just_twenty_three_chars").cut());
    CHECK(ir::label("just_twenty_three_chars").full_size() == 23);
}

TEST_CASE("every verdict has a sentence and a way out that begins with its name") {
    for (int kind = 1; kind < static_cast<int>(verdict_kind::count); ++kind) {
        auto const which = static_cast<verdict_kind>(kind);
        std::string name = name_of(which);
        for (char& letter : name) letter = letter == '_' ? ' ' : letter;
        CHECK(std::string(advice_of(which)).rfind(name + ": ", 0) == 0);
        verdict v;
        v.kind = which;
        CHECK(!said(v).empty());
    }
}

TEST_CASE("what helps against a verdict depends on why it is given") {
    verdict v;
    v.kind = verdict_kind::no_transfer;
    v.names = {"C", "dram", "acc"};
    CHECK(advice_of(v) == std::string(advice_of(v.kind)));
    v.names[3] = "C";
    CHECK(said(v) == "`C`: no transfer copies from `dram` to `acc` to go on with a sum");
    CHECK(advice_of(v) == std::string("no transfer: put the loops of the sum inside of its cache_write, or declare one that loads sums"));

    v.kind = verdict_kind::transfer_mismatch;
    v.broken = ir::rule::changing_the_data;
    CHECK(advice_of(v) == std::string(advice_of(v.kind)));
    v.broken = ir::rule::other_memories;
    CHECK(advice_of(v) ==
          std::string("transfer mismatch: name one that leads there, or list the memory of arguments first in machine(...)"));

    v.kind = verdict_kind::intrinsic_mismatch;
    CHECK(advice_of(v) == std::string(advice_of(v.kind)));
    for (ir::rule moved : {ir::rule::other_index, ir::rule::dimensions_in_one}) {
        v.broken = moved;
        CHECK(advice_of(v) == std::string("intrinsic mismatch: compute what it declares; tile(...) names outer loops first"));
    }
}
