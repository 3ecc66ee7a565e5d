/* Molecules, graphs and networks from memory, and the inside of objects. */
#include "data/data.h"
#include "harness.h"
#include "okra/more/objects.h"

static bool text_is(const okra_data *data, okra_int i, const char *want)
{
    okra_int length = -1;
    const char *text = okra_data_text(data, i, &length);
    return text && length == (okra_int)strlen(want) &&
           memcmp(text, want, (size_t)length) == 0;
}

static okra_status molecules(okra_data **out)
{
    static const char *const smiles[] = {"CCO ethanol", "c1ccccc1"};
    return okra_data_smiles(NULL, smiles, 2, out);
}

TEST(smiles_are_molecules)
{
    okra_data *data = NULL;
    CHECK_OK(molecules(&data));
    CHECK(okra_data_kind(data) == OKRA_GRAPHS && okra_data_count(data) == 2);
    CHECK(text_is(data, 0, "CCO ethanol") && text_is(data, 1, "c1ccccc1"));
    CHECK(okra_data_group_(data, "nodes")->offsets[1] == 3);
    CHECK(okra_data_group_(data, "edges")->offsets[2] == 8);
    okra_data_free(data);
    CHECK_ALLOCATIONS(molecules(&data), okra_data_free(data));
    CHECK_OK(okra_data_smiles(NULL, NULL, 0, &data));
    CHECK(okra_data_count(data) == 0);
    okra_data_free(data);
}

TEST(bad_smiles_are_named)
{
    okra_data *data = NULL;
    const char *const broken[] = {"C", "C("}, *const empty[] = {""};
    const char *const lines[] = {"C\nC"}, *const null[] = {NULL};
    CHECK_FAILS(okra_data_smiles(NULL, broken, 2, &data), OKRA_EFORMAT, "SMILES 1");
    CHECK_FAILS(okra_data_smiles(NULL, empty, 1, &data), OKRA_EFORMAT, "found none");
    CHECK_FAILS(okra_data_smiles(NULL, lines, 1, &data), OKRA_EFORMAT, "several lines");
    CHECK_FAILS(okra_data_smiles(NULL, null, 1, &data), OKRA_EARG, "is NULL");
    CHECK_FAILS(okra_data_smiles(NULL, NULL, 1, &data), OKRA_EARG, "are NULL");
    CHECK_FAILS(okra_data_smiles(NULL, null, -1, &data), OKRA_EARG, "negative");
}

static void count_warning(void *user, const char *text)
{
    *(int *)user += strstr(text, "SMILES 1") != NULL;
}

TEST(molecules_without_kekule_structure_warn)
{
    okra_context *ctx = NULL;
    okra_data *data = NULL;
    const char *const texts[] = {"C", "c1cccc1"};
    int warned = 0;
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, count_warning, &warned);
    CHECK_OK(okra_data_smiles(ctx, texts, 2, &data));
    CHECK(warned == 1);
    okra_data_free(data);
    okra_context_cancel(ctx);
    CHECK_FAILS(okra_data_smiles(ctx, texts, 2, &data), OKRA_ECANCELLED, NULL);
    okra_context_free(ctx);
}

/* A path of three nodes and a single node. */
static const okra_int first_node[] = {0, 3, 4}, first_edge[] = {0, 2, 2};
static const okra_int path_ends[] = {0, 1, 1, 2};
static const char *const node_labels[] = {"a", "7", "a", "b"};
static const char *const edge_labels[] = {"1", "x"};

static okra_status graphs(okra_data **out)
{
    return okra_data_graphs(first_node, node_labels, first_edge, path_ends, edge_labels,
                            2, out);
}

TEST(graphs_keep_labels_and_ends)
{
    okra_data *data = NULL;
    CHECK_OK(graphs(&data));
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const int32_t *label = okra_ragged_field_(nodes, "label")->values;
    CHECK(okra_data_count(data) == 2 && nodes->offsets[1] == 3 && nodes->offsets[2] == 4);
    CHECK(label[0] == label[2] && label[0] < 0 && label[1] == 7 && label[3] < 0);
    okra_data_free(data);
    CHECK_ALLOCATIONS(graphs(&data), okra_data_free(data));
    CHECK_OK(okra_data_graphs(first_node, NULL, first_edge, path_ends, NULL, 2, &data));
    label = okra_ragged_field_(okra_data_group_(data, "nodes"), "label")->values;
    CHECK(label[0] == 0 && label[3] == 0);
    okra_data_free(data);
}

TEST(bad_graphs_are_named)
{
    okra_data *data = NULL;
    const okra_int late[] = {1, 3}, falls[] = {0, -1}, loop[] = {0, 0}, far[] = {0, 3};
    const okra_int one_edge[] = {0, 1}, three[] = {0, 3};
    const char *const null[] = {"a", NULL, "c"};
    CHECK_FAILS(okra_data_graphs(late, NULL, one_edge, loop, NULL, 1, &data), OKRA_EARG,
                "first_node must begin with 0");
    CHECK_FAILS(okra_data_graphs(three, NULL, falls, loop, NULL, 1, &data), OKRA_EARG,
                "first_edge decreases at graph 0");
    CHECK_FAILS(okra_data_graphs(three, NULL, one_edge, loop, NULL, 1, &data), OKRA_EARG,
                "between nodes 0 and 0");
    CHECK_FAILS(okra_data_graphs(three, NULL, one_edge, far, NULL, 1, &data), OKRA_EARG,
                "between nodes 0 and 3");
    CHECK_FAILS(okra_data_graphs(three, NULL, one_edge, NULL, NULL, 1, &data), OKRA_EARG,
                "ends are NULL");
    CHECK_FAILS(okra_data_graphs(three, null, one_edge, loop, NULL, 1, &data), OKRA_EARG,
                "text 1");
    CHECK_FAILS(okra_data_graphs(three, NULL, one_edge, loop, null + 1, 1, &data),
                OKRA_EARG, "labels of edges");
    CHECK_FAILS(okra_data_graphs(three, NULL, one_edge, loop, NULL, -1, &data), OKRA_EARG,
                "negative");
    const okra_int huge[] = {0, INT64_C(1) << 25}, none[] = {0, 0};
    CHECK_FAILS(okra_data_graphs(huge, NULL, none, NULL, NULL, 1, &data), OKRA_EARG,
                "at most");
}

static okra_status nodes(okra_data **out)
{
    static const char *const names[] = {"u", "v", "w"};
    static const double weights[] = {0.5, 2};
    static const okra_int codes[] = {2, 0, 2};
    return okra_data_nodes(3, names, path_ends, weights, 2, codes, 3, out);
}

TEST(nodes_know_their_network)
{
    okra_data *data = NULL;
    CHECK_OK(nodes(&data));
    CHECK(okra_data_kind(data) == OKRA_NODES && okra_data_count(data) == 3);
    CHECK(okra_data_codes(data)[0] == 2 && okra_data_codes(data)[1] == 0);
    CHECK(text_is(data, 0, "w") && text_is(data, 1, "u"));
    CHECK(data->network->adjacency.values[0] == 0.5);
    okra_data_free(data);
    CHECK_ALLOCATIONS(nodes(&data), okra_data_free(data));
    CHECK_OK(okra_data_nodes(3, NULL, path_ends, NULL, 2, NULL, 0, &data));
    okra_int length;
    CHECK(okra_data_count(data) == 3 && okra_data_codes(data)[2] == 2);
    CHECK(!okra_data_text(data, 0, &length) && data->network->adjacency.values[0] == 1);
    okra_data_free(data);
}

TEST(bad_networks_are_named)
{
    okra_data *data = NULL;
    const okra_int twice[] = {0, 1, 1, 0}, outside[] = {3};
    const double zero[] = {1, 0};
    const char *const null[] = {"a", NULL, "c"};
    CHECK_FAILS(okra_data_nodes(3, NULL, twice, NULL, 2, NULL, 0, &data), OKRA_EFORMAT,
                "comes twice");
    CHECK_FAILS(okra_data_nodes(3, NULL, path_ends, zero, 2, NULL, 0, &data),
                OKRA_EFORMAT, "edge 1");
    CHECK_FAILS(okra_data_nodes(3, NULL, path_ends, NULL, 2, outside, 1, &data),
                OKRA_EFORMAT, "node 3");
    CHECK_FAILS(okra_data_nodes(3, null, path_ends, NULL, 2, NULL, 0, &data), OKRA_EARG,
                "text 1");
    CHECK_FAILS(okra_data_nodes(3, NULL, NULL, NULL, 2, NULL, 0, &data), OKRA_EARG,
                "ends are NULL");
    CHECK_FAILS(okra_data_nodes(-1, NULL, NULL, NULL, 0, NULL, 0, &data), OKRA_EARG,
                "negative");
}

TEST(the_inside_of_other_kinds)
{
    okra_data *data[5] = {NULL};
    const okra_int indptr[] = {0, 1}, indices[] = {2}, offsets[] = {0, 1, 3};
    const okra_int codes[] = {1, 0}, *columns = NULL;
    const double value[] = {5, 6, 7, 8, 9, 10}, *values = NULL;
    const unsigned char packed[] = {5};
    const char *const names[] = {"no", "yes"};
    okra_int length = -1;
    CHECK_OK(okra_data_sparse(indptr, indices, value, 1, 3, &data[0]));
    CHECK_OK(okra_data_sequences(offsets, value, NULL, 2, 2, &data[1]));
    CHECK_OK(okra_data_bits(packed, 1, 3, 1, &data[2]));
    CHECK_OK(okra_data_labels(codes, 2, names, 2, &data[3]));
    CHECK_OK(okra_data_tuple((okra_data *const[]){data[1], data[3]}, 2, &data[4]));
    CHECK(okra_data_compressed(data[0], &columns, &values)[1] == 1);
    CHECK(columns[0] == 2 && values[0] == 5);
    const double *rows = okra_data_vectors(data[1], 1, &length);
    CHECK(length == 2 && rows[0] == 7 && rows[3] == 10);
    CHECK(okra_data_words(data[2], &length)[0] == 5 && length == 1);
    CHECK(text_is(data[3], 0, "yes") && text_is(data[3], 1, "no"));
    CHECK(okra_data_kind(okra_data_part(data[4], 1)) == OKRA_LABELS);
    CHECK(!okra_data_part(data[4], 2) && !okra_data_part(data[4], -1));
    for (int k = 0; k < 5; k++) {
        CHECK(k == 0 || !okra_data_compressed(data[k], &columns, &values));
        CHECK(k == 1 || !okra_data_vectors(data[k], 0, &length));
        CHECK(k == 2 || !okra_data_words(data[k], &length));
        CHECK(k == 3 || !okra_data_text(data[k], 0, &length));
        CHECK(k == 4 || !okra_data_part(data[k], 0));
    }
    CHECK(!okra_data_vectors(data[1], 2, &length));
    CHECK(!okra_data_text(data[3], -1, &length) && !okra_data_text(data[3], 2, &length));
    for (int k = 0; k < 5; k++) {
        okra_data_free(data[k]);
    }
}

MAIN(RUN(smiles_are_molecules), RUN(bad_smiles_are_named),
     RUN(molecules_without_kekule_structure_warn), RUN(graphs_keep_labels_and_ends),
     RUN(bad_graphs_are_named), RUN(nodes_know_their_network),
     RUN(bad_networks_are_named), RUN(the_inside_of_other_kinds))
