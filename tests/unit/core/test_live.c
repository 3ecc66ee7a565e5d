/* The handles that callers hold, against a plain list of them. */
#include "core/live.h"
#include "harness.h"

#include <pthread.h>

enum { MANY = 3000, KIND = 3, OTHER = 4 };

/* Addresses are all that counts: as those of okra_alloc_. */
static _Alignas(64) char room[64 * MANY];

static const void *place(okra_int i)
{
    return room + 64 * i;
}

/* Called by several threads, which must not count checks. */
static void make(const void *handle, int kind)
{
    bool place_for_it = okra_expect_(1) == OKRA_OK;
    okra_born_(&handle, place_for_it, place_for_it, kind);
}

static bool lives(const void *handle, int kind)
{
    return !okra_dead_("f", "x", handle, kind, "okra_data");
}

TEST(made_and_given_back)
{
    const void *a = place(0);
    CHECK(lives(NULL, KIND) && !lives(a, KIND));
    CHECK_TEXT(okra_message(),
               "f: x is no okra_data that lives: it was freed, or okra did "
               "not make it");
    make(a, KIND);
    CHECK(lives(a, KIND) && !lives(a, OTHER) && !lives(room + 1, KIND));
    CHECK(!okra_died_("f", a, OTHER, "okra_model") && lives(a, KIND));
    make(a, KIND); /* retained */
    CHECK(okra_died_("f", a, KIND, "okra_data") && lives(a, KIND));
    CHECK(okra_died_("f", a, KIND, "okra_data") && !lives(a, KIND));
    CHECK(!okra_died_("f", a, KIND, "okra_data"));
    CHECK(strstr(okra_message(), "f: this okra_data is not the caller's"));
    CHECK(!okra_died_("f", NULL, KIND, "okra_data"));
    const void *none = NULL;
    CHECK_OK(okra_expect_(2));
    okra_born_(&none, true, 1, KIND); /* a result that may be NULL */
    okra_born_(NULL, true, 1, KIND);  /* nowhere to be written */
    CHECK_OK(okra_expect_(1));
    okra_born_(&a, false, 1, KIND); /* the call failed */
    CHECK(!lives(a, KIND));
    const void *all[3] = {a, NULL, place(1)};
    make(a, KIND);
    CHECK(okra_dead_any_("f", "x", all, 3, KIND, "okra_data"));
    CHECK(!okra_dead_any_("f", "x", all, 2, KIND, "okra_data"));
    CHECK(!okra_dead_any_("f", "x", NULL, 2, KIND, "okra_data"));
    CHECK(okra_died_("f", a, KIND, "okra_data"));
    CHECK_FAILS(okra_expect_(SIZE_MAX), OKRA_EMEM, NULL);
}

TEST(lent_and_gone_with_its_owners)
{
    const void *model = place(0), *other = place(1), *data = place(2), *part = place(3);
    make(model, OTHER);
    make(other, OTHER);
    for (int k = 0; k < 2; k++) { /* twice the same is one loan */
        CHECK(okra_lent_(model, OTHER, data, KIND));
        CHECK(okra_lent_(other, OTHER, data, KIND));
        CHECK(okra_lent_(data, KIND, part, KIND));
    }
    CHECK(okra_lent_(model, OTHER, NULL, KIND) && okra_lent_(NULL, OTHER, data, KIND));
    CHECK(!okra_died_("f", data, KIND, "okra_data") && lives(data, KIND));
    CHECK(okra_died_("f", model, OTHER, "okra_model"));
    CHECK(lives(data, KIND) && lives(part, KIND));
    make(part, KIND);
    CHECK(okra_died_("f", other, OTHER, "okra_model"));
    CHECK(!lives(data, KIND) && lives(part, KIND));
    CHECK(okra_died_("f", part, KIND, "okra_data") && !lives(part, KIND));
}

/* Random turns; the table grows, and what is gone leaves no trace in it. */
TEST(random_turns_against_a_list)
{
    static int held[MANY];
    okra_random_ r = okra_random_create_(1, 1);
    okra_int wrong = 0;
    for (okra_int turn = 0; turn < 400 * (okra_int)SOME(500); turn++) {
        okra_int span = turn / 4000 % 2 ? MANY : 40, i = okra_random_below_(&r, span);
        bool more = okra_random_uniform_(&r) < 0.5;
        if (more) {
            make(place(i), KIND);
            held[i]++;
        } else {
            bool had = held[i] > 0;
            wrong += okra_died_("f", place(i), KIND, "okra_data") != had;
            held[i] -= had;
        }
        okra_int j = okra_random_below_(&r, MANY);
        wrong += lives(place(j), KIND) != (held[j] > 0);
    }
    for (okra_int i = 0; i < MANY; i++) {
        for (; held[i] > 0; held[i]--) {
            wrong += !okra_died_("f", place(i), KIND, "okra_data");
        }
        wrong += lives(place(i), KIND);
    }
    CHECK(wrong == 0);
}

static void *worker(void *at)
{
    okra_int first = *(okra_int *)at, *wrong = at;
    *wrong = 0;
    for (okra_int turn = 0; turn < 20 * (okra_int)SOME(500); turn++) {
        const void *mine = place(first + 4 * (turn % (MANY / 8)));
        make(mine, KIND);
        *wrong += !lives(mine, KIND) || !lives(place(MANY - 1), KIND);
        *wrong += !okra_died_("f", mine, KIND, "okra_data") || lives(mine, KIND);
    }
    return NULL;
}

TEST(several_threads)
{
    pthread_t threads[4];
    okra_int at[4] = {0, 1, 2, 3};
    make(place(MANY - 1), KIND);
    for (int k = 0; k < 4; k++) {
        CHECK(pthread_create(&threads[k], NULL, worker, &at[k]) == 0);
    }
    for (int k = 0; k < 4; k++) {
        pthread_join(threads[k], NULL);
        CHECK(at[k] == 0);
    }
    CHECK(okra_died_("f", place(MANY - 1), KIND, "okra_data"));
}

MAIN(RUN(made_and_given_back), RUN(lent_and_gone_with_its_owners),
     RUN(random_turns_against_a_list), RUN(several_threads))
