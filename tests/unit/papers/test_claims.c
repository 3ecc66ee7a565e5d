/* Verdicts on claims: the rule at and beside its bounds, cells that do not count, entries
 * that have not run; and every claim of the table names an entry that there is. */
#include "../../../papers/claims.c"
#include "../../../papers/claims_table.c"

#include "harness.h"

static json_t *cell(double mean, double low, double high, const char *verdict, bool seen)
{
    json_t *c = json_pack("{s:f,s:f,s:[f,f],s:s}", "okra", mean, "paper", 1.0, "values",
                          low, high, "verdict", verdict);
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
    const paper_claim claim = {"p",      "w",  "text", "e", rule, {"t|a|c", "t|b|c"},
                               "tested", apart};
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

TEST(values)
{
    claim_verdict v;
    const char *const met = "reproduced", *const more = "beyond the paper",
                      *const less = "not reproduced", *const none = "not comparable";
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, met, false), cell(1, 1, 1, met, false)), &v),
       met);
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, more, false), cell(1, 1, 1, met, false)), &v),
       less); /* another number than the printed one is not a reproduction */
    IS(v.reason, "1 of 2 values hold, 1 better than printed");
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, more, false), cell(1, 1, 1, more, false)),
              &v),
       more);
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, more, false), cell(9.5, 1, 1, less, false)),
              &v),
       less);
    IS(v.reason, "0 of 2 values hold, 1 better than printed");
    IS(v.numbers, "1.0 (paper 1.0), 9.5 (paper 1.0)");
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, none, true), cell(1, 1, 1, none, true)), &v),
       none);
    IS(v.reason, "tuned by eye");
    IS(judged(CLAIM_VALUES, NULL,
              result("lower", cell(1, 1, 1, none, true), cell(1, 1, 1, met, false)), &v),
       met);
    IS(judged(CLAIM_VALUES, "other data",
              result("lower", cell(1, 1, 1, met, false), cell(1, 1, 1, met, false)), &v),
       none);
    IS(v.reason, "other data; here it holds");
}

TEST(orders)
{
    claim_verdict v;
    IS(judged(CLAIM_ORDER, NULL,
              result("lower", cell(1, 0.9, 1.1, "", false), cell(2, 1.8, 2.2, "", false)),
              &v),
       "reproduced");
    IS(v.numbers, "1.0 < 2.0");
    IS(judged(CLAIM_ORDER, NULL,
              result("higher", cell(1, 0.9, 1.1, "", false), cell(20, 18, 22, "", false)),
              &v),
       "not reproduced");
    IS(v.numbers, "1.0 < 20.0");
    IS(judged(CLAIM_ORDER, NULL,
              result("lower", cell(1, 0.9, 1.1, "", true), cell(2, 1.8, 2.2, "", false)),
              &v),
       "not comparable");
    IS(v.reason, "tuned by eye");
    IS(judged(CLAIM_ORDER, "other data",
              result("lower", cell(3, 3, 3, "", false), cell(2, 1.8, 2.2, "", false)),
              &v),
       "not comparable");
    IS(v.reason, "other data; here it does not hold");
    IS(judged(CLAIM_ORDER, NULL,
              result("lower", cell(1, 0.5, 1.5, "", false), cell(1.1, 1.2, 1, "", false)),
              &v),
       "not reproduced");
    IS(v.numbers, "1.0 ≈ 1.1"); /* 0.1 against 0.6 */
}

/* A table t of three rows and one column, each cell of two values. */
static const char *best_of(claim_rule rule, double b, double c, claim_verdict *out)
{
    const paper_claim claim = {
        "p", "w", "text", "e", rule, {"t|a|*", "t|b|*", "t|c|*"}, "tested", NULL};
    json_t *r = result("lower", cell(1, 0.9, 1.1, "", false),
                       cell(b, b - 0.2, b + 0.2, "", false));
    json_t *rows =
        json_object_get(json_array_get(json_object_get(r, "tables"), 0), "rows");
    json_array_append_new(rows, json_pack("{s:s,s:{s:o}}", "label", "c", "cells", "c",
                                          cell(c, c - 0.2, c + 0.2, "", false)));
    claim_judge(&claim, r, out);
    json_decref(r);
    return out->verdict;
}

TEST(the_best_of_several)
{
    claim_verdict v;
    IS(best_of(CLAIM_BEST, 3, 2, &v), "reproduced");
    IS(v.numbers, "1.0 < 3.0, < 2.0");
    IS(best_of(CLAIM_ORDER, 3, 2, &v), "not reproduced"); /* 3 is worse than 2 */
    IS(v.numbers, "1.0 < 3.0 > 2.0");
    IS(best_of(CLAIM_ORDER, 2, 3, &v), "reproduced");
    IS(best_of(CLAIM_BEST, 3, 1.05, &v), "not reproduced");
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
    const paper_claim gone = {"p", "w", "t", NULL, CLAIM_VALUES, {NULL}, "no", "no data"};
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
        CHECK(c->entry ? c->cells[0] != NULL : c->apart != NULL);
        CHECK(c->rule == CLAIM_VALUES || c->cells[1] != NULL);
        for (int k = 0; k < CLAIM_CELLS && c->cells[k]; k++) {
            const char *bar = strchr(c->cells[k], '|');
            CHECK(bar && strchr(bar + 1, '|'));
        }
    }
    CHECK(count >= 30);
}

MAIN(RUN(differences_against_their_standard_error), RUN(values), RUN(orders),
     RUN(the_best_of_several), RUN(decimals_of_the_print), RUN(what_has_not_run),
     RUN(table))
