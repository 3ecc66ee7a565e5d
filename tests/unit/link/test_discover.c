/* Lists of links with a controlled share of false ones, on simulated networks. */
#include "harness.h"
#include "okra/okra.h"
#include "okra/more/link.h"
#include "okra/program.h"

enum { NODES = 150, LABELLED = 90 };

/* Nodes in classes; inputs are noisy indicators of the class. */
typedef struct scene {
    okra_data *nodes, *x;
    okra_link *edges;
    okra_int edge_count, labelled[LABELLED], known_count;
    okra_link *known;
    double values[NODES * 6];
} scene;

static void make(uint64_t seed, double noise, scene *s)
{
    okra_random_ r = okra_random_create_(seed, 9);
    okra_int order[NODES];
    bool in[NODES] = {false};
    CHECK_OK(okra_synthetic_network(seed, NODES, 6, 0.5, 0.01, &s->nodes));
    CHECK_OK(okra_link_edges(s->nodes, &s->edges, &s->edge_count));
    for (int i = 0; i < NODES; i++) {
        order[i] = i;
        for (int j = 0; j < 6; j++) {
            s->values[i * 6 + j] = (i * 6 / NODES == j) + noise * okra_random_normal_(&r);
        }
    }
    okra_random_shuffle_(&r, NODES, order);
    for (int k = 0; k < LABELLED; k++) {
        s->labelled[k] = order[k];
        in[order[k]] = true;
    }
    s->known = malloc((size_t)(s->edge_count + 1) * sizeof *s->known);
    s->known_count = 0;
    for (okra_int k = 0; k < s->edge_count; k++) {
        if (in[s->edges[k].a] && in[s->edges[k].b]) {
            s->known[s->known_count++] = s->edges[k];
        }
    }
    CHECK_OK(okra_data_dense(s->values, NODES, 6, 6, &s->x));
}

static void clear(scene *s)
{
    okra_data_free(s->nodes);
    okra_data_free(s->x);
    okra_link_list_free(s->edges);
    free(s->known);
}

static bool is_edge(const scene *s, okra_int a, okra_int b)
{
    for (okra_int k = 0; k < s->edge_count; k++) {
        const okra_link *e = &s->edges[k];
        if ((e->a == a && e->b == b) || (e->a == b && e->b == a)) {
            return true;
        }
    }
    return false;
}

static okra_options *options(void)
{
    okra_options *o = NULL;
    CHECK_OK(okra_fit_options(&o));
    CHECK_OK(okra_options_set(o, "kx", "rbf(sigma=0.7)"));
    CHECK_OK(okra_options_set(o, "lambda", "0.5"));
    return o;
}

/* The share of false links in the list of one network, 0 for an empty list. */
static double false_share(uint64_t seed, double fdr, okra_link_pairs which,
                          okra_int *found)
{
    scene s;
    okra_link *list = NULL;
    double *p = NULL;
    okra_int count = 0, wrong = 0;
    okra_context *ctx = NULL;
    okra_options *o = options();
    make(seed, 0.2, &s);
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_seed(ctx, seed);
    okra_link_task task = {s.x, s.labelled, LABELLED, s.known, s.known_count, NULL};
    CHECK_OK(okra_link_discover(ctx, &task, o, NULL, which, fdr, 0.3, &list, &p, &count));
    for (okra_int k = 0; k < count; k++) {
        bool a = false, b = false;
        for (int i = 0; i < LABELLED; i++) {
            a = a || s.labelled[i] == list[k].a;
            b = b || s.labelled[i] == list[k].b;
        }
        CHECK(!(a && b) &&
              (which == OKRA_LINK_ALL || (a || b) == (which == OKRA_LINK_LABELLED_NEW)));
        CHECK(p[k] > 0 && p[k] <= fdr && (k == 0 || p[k] >= p[k - 1]));
        wrong += !is_edge(&s, list[k].a, list[k].b);
    }
    *found += count;
    okra_link_list_free(list);
    okra_link_p_values_free(p);
    okra_options_free(o);
    okra_context_free(ctx);
    clear(&s);
    return count > 0 ? (double)wrong / (double)count : 0;
}

/* Half of the pairs inside a class are linked, which no score can tell apart: a list of
 * more than a few links at fdr 0.1 would be wrong. At 0.6 there is a list. */
TEST(the_share_of_false_links_stays_below_the_target)
{
    const double targets[] = {0.1, 0.6};
    for (int t = 0; t < 2; t++) {
        double sum = 0;
        okra_int found = 0;
        for (uint64_t seed = 0; seed < 10; seed++) {
            sum += false_share(seed, targets[t], OKRA_LINK_ALL, &found);
        }
        CHECK(sum / 10 <= targets[t] + 0.03);
        CHECK(t == 0 || found > 1000);
    }
}

TEST(kinds_of_pairs)
{
    okra_int found = 0;
    false_share(3, 0.6, OKRA_LINK_LABELLED_NEW, &found);
    CHECK(found > 0);
    false_share(3, 0.6, OKRA_LINK_NEW_NEW, &found);
}

TEST(refusals_and_failures)
{
    scene s;
    okra_link *list = NULL;
    okra_int count = 0;
    okra_options *o = options();
    okra_context *ctx = NULL;
    make(1, 0.2, &s);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    okra_link_task task = {s.x, s.labelled, LABELLED, s.known, s.known_count, NULL};
    CHECK_FAILS(okra_link_discover(NULL, &task, o, NULL, OKRA_LINK_ALL, 0, 0.3, &list,
                                   NULL, &count),
                OKRA_EARG, "fdr is 0");
    CHECK_FAILS(okra_link_discover(NULL, &task, o, NULL, OKRA_LINK_ALL, 0.1, 0.001, &list,
                                   NULL, &count),
                OKRA_ESHAPE, "held back");
    CHECK_FAILS(okra_link_discover(NULL, NULL, o, NULL, OKRA_LINK_ALL, 0.1, 0.3, &list,
                                   NULL, &count),
                OKRA_EARG, "NULL");
    task.edge_count = 0;
    CHECK_FAILS(okra_link_discover(NULL, &task, o, NULL, OKRA_LINK_ALL, 0.1, 0.3, &list,
                                   NULL, &count),
                OKRA_ESHAPE, "no known edge");
    okra_options_free(o);
    okra_context_free(ctx);
    clear(&s);
}

MAIN(RUN(the_share_of_false_links_stays_below_the_target), RUN(kinds_of_pairs),
     RUN(refusals_and_failures))
