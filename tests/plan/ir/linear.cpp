#include <tilewright/plan/ir/linear.hpp>

#include "catch.hpp"

// Sums of variables with coefficients.

using namespace tilewright::ir;

TEST_CASE("terms are ordered by variable, and those that cancel are gone") {
    linear form;
    form.add(3, 7);
    form.add(2, 1);
    form.add(5, 4);
    form.add(0, 9);
    REQUIRE(form.count == 3);
    CHECK((form.terms[0].variable == 1 && form.terms[1].variable == 4 && form.terms[2].variable == 7));
    CHECK((form.coefficient_of(1) == 2 && form.coefficient_of(4) == 5 && form.coefficient_of(7) == 3 && form.coefficient_of(9) == 0));
    form.add(-5, 4);
    REQUIRE(form.count == 2);
    CHECK((form.terms[0].variable == 1 && form.terms[1].variable == 7));
    form.add(4, 7);
    CHECK(form.coefficient_of(7) == 7);
}
TEST_CASE("a form is added so many times, with its constant") {
    linear form, other;
    form.constant = 1, other.constant = 4;
    form.add(2, 0);
    other.add(1, 0);
    other.add(3, 5);
    form.add(other, -2);  // 1 + 2 v0 - 8 - 2 v0 - 6 v5
    CHECK(form.constant == -7);
    CHECK(form.count == 1);
    CHECK(form.coefficient_of(5) == -6);
}
TEST_CASE("terms are compared without the constant") {
    linear a, b;
    a.add(2, 3), b.add(2, 3);
    a.constant = 1, b.constant = 9;
    CHECK(a.same_terms(b));
    b.add(1, 3);
    CHECK_FALSE(a.same_terms(b));
    b.add(-1, 3);
    b.add(1, 4);
    CHECK_FALSE(a.same_terms(b));
}
TEST_CASE("a thirteenth variable marks an overflow, which later additions keep") {
    linear form;
    for (int variable = 0; variable < linear::most; ++variable) form.add(1, variable);
    CHECK(form.count == linear::most);
    form.add(1, 3);  // is there already
    CHECK(form.count == linear::most);
    form.add(1, linear::most);
    CHECK(form.overflown);
    form.add(-2, 3);
    CHECK(form.overflown);
    linear sum;
    sum.add(form);
    CHECK(sum.overflown);
}
