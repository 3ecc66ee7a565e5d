/* Verdicts on claims: the rule at and beside its bounds, cells that do not count, entries
 * that have not run; and every claim of the table names an entry that there is. */
#include "../../../papers/claims.c"
#include "../../../papers/claims_table.c"

#include "harness.h"

/* Two values around a mean, z from a printed 1.0. */
static json_t *cell(double mean, double low, double high, double z, bool seen)
{
    json_t *c = json_pack("{s:f,s:f,s:f,s:[f,f],s:f,s:s}", "okra", mean, "paper", 1.0,
                          "paper_sd", 0.1, "values", low, high, "z", z, "verdict",
                          seen ? "not comparable" : "");
    if (seen) {
        json_object_set_new(c, "seen", json_true());
        json_object_set_new(c, "why", json_string("tuned by eye"));
    }
    return c;
}

/* A table t of two rows a and b and one column; `a`, `b` are stolen. */
static json_t *result(const char *better, json_t *a, json_t *b)
{
    return json_pack("{s:s,s:[{s:s,s:s,s:[s],s:[{s:s,s:{s:o}},{s:s,s:{s:o}}]}]}", "mode",
                     "full", "tables", "id", "t", "better", better, "columns", "c",
                     "rows", "label", "a", "cells", "c", a, "label", "b", "cells", "c",
                     b);
}

static const char *judged(claim_rule rule, const char *apart, json_t *r,
                          claim_verdict *out)
{
    const paper_claim claim = {
        .rule = rule, .entry = "e", .apart = apart, .cells = {"t|a|c", "t|b|c"}};
    claim_judge(&claim, r, out);
    json_decref(r);
    return out->verdict;
}

#define IS(a, b) CHECK(strcmp((a), (b)) == 0)

TEST(differences_against_their_standard_error)
{
    const double a[] = {1, 2, 3}, near[] = {1.5, 2, 3.1}, far[] = {2, 3.5, 4},
                 wide[] = {0, 2, 5};
    CHECK(claim_better(a, far, 3, true)); /* 1.17 against 0.17 */
    CHECK(!claim_better(far, a, 3, true));
    CHECK(claim_better(far, a, 3, false));
    CHECK(!claim_better(a, near, 3, true)); /* 0.2 against twice 0.153 */
    CHECK(!claim_better(a, wide, 3, true)); /* 0.33 against twice 0.88 */
    const double just[] = {1.5, 2, 3.45};   /* 0.3167 against twice 0.1590 */
    CHECK(!claim_better(a, just, 3, true));
    const double past[] = {1.5, 2.01, 3.45}; /* 0.32 against twice 0.1558 */
    CHECK(claim_better(a, past, 3, true));
    CHECK(!claim_better(a, a, 3, true) && !claim_better(a, far, 0, true));
    CHECK(claim_better(a, far, 1, true));
}

static const char printed[] = "reproduced as printed";

TEST(values)
{
    claim_verdict v;
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, 2, false), cell(1, 1, 1, -2, false)), &v),
       printed);
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, -2.01, false), cell(9.5, 1, 1, 0, false)),
              &v),
       "undecided"); /* another number than the printed one is no reproduction */
    IS(v.reason, "values hold in 1 of 2");
    IS(v.numbers, "1.0 (paper 1.0, z -2.0), 9.5 (paper 1.0, z +0.0)");
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, 0, true), cell(1, 1, 1, 0, true)), &v),
       "not comparable");
    IS(v.reason, "tuned by eye");
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, 5, true), cell(1, 1, 1, 0, false)), &v),
       printed);
    IS(judged(CLAIM_VALUES, "other data",
              result("lower", cell(1, 1, 1, 0, false), cell(1, 1, 1, 0, false)), &v),
       "not comparable");
    IS(v.reason, "other data; here it holds");
    IS(judged(CLAIM_VALUES, "other data",
              result("lower", cell(1, 1, 1, -9, false), cell(1, 1, 1, -9, false)), &v),
       "not comparable"); /* better, too */
    IS(v.reason, "other data; here it does not hold");
    for (int far = 0; far < 3; far++) { /* other data make cells not comparable: by z */
        json_t *a = cell(1, 1, 1, far == 1 ? 2.1 : -2, false);
        json_t *b = cell(1, 1, 1, 0.5, far == 2);
        json_object_set_new(a, "verdict", json_string("not comparable"));
        json_object_set_new(b, "verdict", json_string("not comparable"));
        IS(judged(CLAIM_VALUES, "other data", result("lower", a, b), &v),
           "not comparable");
        IS(v.reason,
           far == 1 ? "other data; here it does not hold" : "other data; here it holds");
    }
}

TEST(one_draw_without_a_spread)
{
    claim_verdict v;
    json_t *r = result("lower", cell(1, 1, 1, 1, false), cell(1, 1, 1, 1, false));
    json_t *t = json_array_get(json_object_get(r, "tables"), 0);
    json_object_set_new(t, "one_draw", json_true());
    for (size_t i = 0; i < 2; i++) {
        json_t *row = json_array_get(json_object_get(t, "rows"), i);
        json_object_set_new(json_object_get(json_object_get(row, "cells"), "c"),
                            "paper_sd", json_null());
    }
    IS(judged(CLAIM_VALUES, NULL, r, &v), "undecided");
}

/* A claim on row a whose other reading, or whose bound, is row b. */
static const char *otherwise(claim_rule rule, int tried, bool bound, const char *better,
                             double z_a, double z_b, bool seen, claim_verdict *out)
{
    const paper_claim claim = {.rule = rule,
                               .entry = "e",
                               .cells = {"t|a|c"},
                               .other = {bound ? NULL : "t|b|c"},
                               .bound = bound ? "t|b|c" : NULL,
                               .reading = "another reading",
                               .tried = tried};
    json_t *r = result(better, cell(1, 1, 1, z_a, false), cell(2, 1, 1, z_b, seen));
    claim_judge(&claim, r, out);
    json_decref(r);
    return out->verdict;
}

TEST(other_readings_and_bounds)
{
    claim_verdict v;
    IS(otherwise(CLAIM_VALUES, 7, false, "lower", 3, 1, false, &v),
       "reproduced under a found reading");
    IS(v.reason, "another reading; one of 7 readings tried with the print in sight");
    IS(v.numbers, "2.0 (paper 1.0, z +1.0). As printed: 1.0 (paper 1.0, z +3.0)");
    IS(otherwise(CLAIM_VALUES, 0, false, "lower", 3, 1, false, &v),
       "reproduced after one constant");
    IS(v.reason, "another reading");
    IS(otherwise(CLAIM_VALUES, 7, false, "lower", 1, 1, false, &v), printed);
    IS(otherwise(CLAIM_VALUES, 7, false, "lower", 3, 3, false, &v), "undecided");
    IS(otherwise(CLAIM_VALUES, 7, false, "lower", 3, 1, true, &v),
       "undecided"); /* what was seen cannot reproduce */
    /* As printed it cannot be judged: the other reading alone counts. */
    const paper_claim loose = {.rule = CLAIM_VALUES,
                               .entry = "e",
                               .cells = {"t|b|c", "t|b|c"},
                               .other = {"t|a|c", "t|a|c"},
                               .reading = "another",
                               .tried = 4};
    json_t *r = result("lower", cell(1, 1, 1, 3, false), cell(2, 1, 1, 1, true));
    claim_judge(&loose, r, &v);
    json_decref(r);
    IS(v.verdict, "undecided");
    CHECK(
        strstr(v.reason, "values hold in 0 of 2 under the other reading; as printed, "));
    IS(otherwise(CLAIM_VALUES, 0, true, "lower", 9, 2.1, true, &v), "fails");
    IS(v.reason,
       "the best of all settings tried, chosen on test data: 2.0 (paper 1.0, z +2.1)");
    IS(otherwise(CLAIM_VALUES, 0, true, "lower", 9, 1.9, true, &v), "undecided");
    IS(otherwise(CLAIM_VALUES, 0, true, "higher", -9, -2.1, true, &v), "fails");
    IS(otherwise(CLAIM_VALUES, 0, true, "higher", -9, 2.1, true, &v), "undecided");
    IS(otherwise(CLAIM_VALUES, 0, true, "lower", 0, 9, true, &v), printed);
}

TEST(orders)
{
    claim_verdict v;
    IS(judged(CLAIM_ORDER, NULL,
              result("lower", cell(1, 0.9, 1.1, 0, false), cell(2, 1.8, 2.2, 0, false)),
              &v),
       printed);
    IS(v.numbers, "1.0 < 2.0");
    IS(judged(CLAIM_ORDER, NULL,
              result("higher", cell(1, 0.9, 1.1, 0, false), cell(20, 18, 22, 0, false)),
              &v),
       "fails");
    IS(v.reason, "the order is reversed");
    IS(v.numbers, "1.0 < 20.0");
    IS(judged(CLAIM_ORDER, NULL,
              result("lower", cell(1, 0.9, 1.1, 0, true), cell(2, 1.8, 2.2, 0, false)),
              &v),
       "not comparable");
    IS(v.reason, "tuned by eye");
    IS(judged(CLAIM_ORDER, "other data",
              result("lower", cell(3, 3, 3, 0, false), cell(2, 1.8, 2.2, 0, false)), &v),
       "not comparable");
    IS(v.reason, "other data; here it does not hold");
    IS(judged(CLAIM_ORDER, NULL,
              result("lower", cell(1, 0.5, 1.5, 0, false), cell(1.1, 1.2, 1, 0, false)),
              &v),
       "undecided");
    IS(v.numbers, "1.0 ≈ 1.1"); /* 0.1 against 0.6 */
}

/* A table t of three rows and one column, each cell of two values. */
static const char *best_of(claim_rule rule, double b, double c, claim_verdict *out)
{
    const paper_claim claim = {
        .rule = rule, .entry = "e", .cells = {"t|a|*", "t|b|*", "t|c|*"}};
    json_t *r =
        result("lower", cell(1, 0.9, 1.1, 0, false), cell(b, b - 0.2, b + 0.2, 0, false));
    json_t *rows =
        json_object_get(json_array_get(json_object_get(r, "tables"), 0), "rows");
    json_array_append_new(rows, json_pack("{s:s,s:{s:o}}", "label", "c", "cells", "c",
                                          cell(c, c - 0.2, c + 0.2, 0, false)));
    claim_judge(&claim, r, out);
    json_decref(r);
    return out->verdict;
}

TEST(the_best_of_several)
{
    claim_verdict v;
    IS(best_of(CLAIM_BEST, 3, 2, &v), printed);
    IS(v.numbers, "1.0 < 3.0, < 2.0");
    IS(best_of(CLAIM_ORDER, 3, 2, &v), "fails"); /* 3 is worse than 2 */
    IS(v.numbers, "1.0 < 3.0 > 2.0");
    IS(best_of(CLAIM_ORDER, 2, 3, &v), printed);
    IS(best_of(CLAIM_BEST, 3, 1.05, &v), "undecided");
    IS(v.numbers, "1.0 < 3.0, ≈ 1.1");
}

TEST(decimals_of_the_print)
{
    CHECK(claim_decimals(0.0798) == 4 && claim_decimals(88.5) == 1);
    CHECK(claim_decimals(73) == 0 && claim_decimals(0) == 0);
    CHECK(claim_decimals(0.21508) == 4 && claim_decimals(-0.35) == 2);
}

TEST(what_has_not_run)
{
    claim_verdict v;
    const paper_claim gone = {.apart = "no data"};
    IS(judged(CLAIM_VALUES, NULL, NULL, &v), "not run");
    IS(judged(CLAIM_ORDER, NULL, json_pack("{s:s}", "mode", "quick"), &v), "not run");
    IS(judged(CLAIM_ORDER, NULL, json_pack("{s:s,s:b}", "mode", "full", "left_out", 1),
              &v),
       "not run");
    IS(judged(CLAIM_ORDER, NULL, json_pack("{s:s}", "mode", "full"), &v),
       "not comparable");
    IS(v.reason, "the result has no such cells");
    claim_judge(&gone, NULL, &v);
    IS(v.verdict, "not comparable");
    IS(v.reason, "no data");
}

TEST(table)
{
    int count = 0;
    for (const paper_claim *c = paper_claims; c->paper; c++, count++) {
        CHECK(c->where && c->text && c->tested);
        CHECK(c->entry ? c->cells[0] != NULL || c->other[0] != NULL : c->apart != NULL);
        CHECK(c->rule == CLAIM_VALUES || c->cells[1] != NULL);
        CHECK(!c->other[0] || (c->reading && c->doing));
        CHECK(!c->apart || c->doing); /* whose doing it is that it is not compared */
        CHECK(!strstr(c->tested, "the same")); /* every row can be quoted alone */
        for (int k = 0; k < CLAIM_CELLS && c->cells[k]; k++) {
            const char *bar = strchr(c->cells[k], '|');
            CHECK(bar && strchr(bar + 1, '|'));
        }
    }
    CHECK(count >= 30);
}

MAIN(RUN(differences_against_their_standard_error), RUN(values),
     RUN(one_draw_without_a_spread), RUN(other_readings_and_bounds), RUN(orders),
     RUN(the_best_of_several), RUN(decimals_of_the_print), RUN(what_has_not_run),
     RUN(table))
