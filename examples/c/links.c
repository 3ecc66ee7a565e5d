/*
 * links.c: unknown links of a network. Twelve people are described by two numbers each;
 * who knows whom is known among the first eight. The likeliest links of the other four
 * are found.
 *
 *     cc links.c $(pkg-config --cflags --libs okra) -o links && ./links
 */
#include <okra/okra.h>
#include <okra/more/link.h>

#include <math.h>
#include <stdio.h>

enum { PEOPLE = 12, LABELLED = 8 };

int main(void)
{
    /* two circles of friends: one near (0, 0), one near (3, 3); they take turns */
    double place[PEOPLE][2];
    okra_int labelled[LABELLED];
    okra_link edges[LABELLED * LABELLED], *found = NULL;
    okra_int edge_count = 0, count = 0;
    for (int i = 0; i < PEOPLE; i++) {
        place[i][0] = 3 * (i % 2) + 0.1 * i;
        place[i][1] = 3 * (i % 2) - 0.1 * i;
    }
    for (int i = 0; i < LABELLED; i++) {
        labelled[i] = i;
        for (int j = i % 2; j < i; j += 2) {
            edges[edge_count++] = (okra_link){i, j, 1};
        }
    }

    okra_data *x = NULL;
    okra_options *options = NULL;
    okra_links *links = NULL;
    okra_link_task task = {.labelled = labelled,
                           .labelled_count = LABELLED,
                           .edges = edges,
                           .edge_count = edge_count};
    okra_status st = okra_data_dense(&place[0][0], PEOPLE, 2, 2, &x);
    task.x = x;
    st = st ? st : okra_fit_options(&options);
    st = st ? st : okra_options_set(options, "kx", "rbf(sigma=1)");
    st = st ? st : okra_link_fit(NULL, &task, options, NULL, &links);
    st =
        st ? st
           : okra_link_rank(NULL, links, OKRA_LINK_NEW_NEW, 2, -INFINITY, &found, &count);
    if (st) {
        fprintf(stderr, "%s\n", okra_message());
    }
    for (okra_int i = 0; !st && i < count; i++) {
        printf("%lld knows %lld\n", (long long)found[i].a, (long long)found[i].b);
    }
    okra_link_list_free(found);
    okra_links_free(links);
    okra_options_free(options);
    okra_data_free(x);
    return st ? 1 : 0;
}
