/*
 * test_graph_files.c: GraphML, edge lists and matrices of networks.
 */
#include "files.h"

#include "data/graphs.h"

static const char two_graphs[] =
    "<?xml version=\"1.0\"?>\n<graphml>\n"
    "<key id=\"d0\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n"
    "<key id=\"d1\" for=\"all\" attr.name=\"other\" attr.type=\"string\"/>\n"
    "<graph id=\"first\" edgedefault=\"undirected\">\n"
    "<node id=\"a\"><data key=\"d0\">C&lt;</data><data key=\"d1\">no</data></node>\n"
    "<node id=\"b\"><data key=\"d0\">7</data></node>\n"
    "<edge source=\"a\" target=\"b\"/>\n"
    "</graph>\n<graph><node id=\"a\"/></graph>\n</graphml>\n";

TEST(graphml_is_read_and_written)
{
    okra_data *data = NULL;
    CHECK_OK(files_text("", "a.graphml", two_graphs, &data));
    for (int round = 0; round < 2 && data; round++) {
        const int32_t *label = data->groups[0].fields[0].values;
        CHECK(data->n == 2 && data->groups[0].offsets[1] == 2 &&
              data->groups[0].offsets[2] == 3 && data->groups[1].offsets[2] == 1);
        CHECK(label[0] == -1 && label[1] == 7 && label[2] == 0);
        CHECK_TEXT((const char *)data->groups[3].fields[0].values, "C<");
        CHECK_OK(okra_data_write(NULL, data, files_path("b.graphml")));
        okra_data_free(data);
        data = NULL;
        CHECK_OK(okra_data_read(NULL, files_path("b.graphml"), &data));
    }
    okra_data_free(data);
}

static void altered(const char *from, const char *to, const char *message)
{
    char text[2 * sizeof two_graphs];
    const char *at = strstr(two_graphs, from);
    okra_data *data = NULL;
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - two_graphs), two_graphs, to,
             at + strlen(from));
    CHECK_FAILS(files_text("", "a.graphml", text, &data), OKRA_EFORMAT, message);
    okra_data_free(data);
}

TEST(broken_graphml)
{
    altered("undirected", "directed", "line 5, character 1: expected edgedefault");
    altered("target=\"b\"", "target=\"c\"",
            "line 8, character 1: an edge to a node that");
    altered("target=\"b\"", "target=\"a\"", "an edge from a node to itself");
    altered("target=\"b\"", "", "an edge without two ends");
    altered("<node id=\"b\">", "<node id=\"a\">", "this id is there already");
    altered("<node id=\"b\">", "<node>", "a node without an id");
    altered("<edge source=\"a\" target=\"b\"/>",
            "<edge source=\"a\" target=\"b\"/><edge source=\"b\" target=\"a\"/>",
            "line 8: the edge is there already");
    altered("<edge ", "<edge directed=\"true\" ", "directed edge");
    altered("<edge source=\"a\" target=\"b\"/>", "<graph/>", "within a graph");
    altered("<edge source=\"a\" target=\"b\"/>", "<hyperedge/>", "hyperedges");
    altered("</graph>", "", "line 10");
    altered("<graphml>", "<!DOCTYPE x [<!ENTITY y \"z\">]><graphml>", "document type");
    altered("C&lt;", "C\xff", "line 6");
    altered("</graphml>", "<graphml>", "line 12");
}

TEST(graphml_element_without_end)
{
    size_t size = (size_t)40 << 20;
    char *text = malloc(size);
    okra_data *data = NULL;
    memset(text, 'x', size);
    memcpy(text, "<graphml a=\"", 12);
    okra_alloc_reset_peak_();
    okra_int before = okra_alloc_live_bytes_();
    CHECK_FAILS(files_read("", "long.graphml", "", text, size, &data), OKRA_EFORMAT,
                "16 million");
    /* the file, and twice the limit for expat's growing buffer */
    CHECK(okra_alloc_peak_bytes_() - before < (okra_int)(40 + 72) << 20);
    free(text);
}

TEST(edge_lists)
{
    okra_data *data = NULL;
    CHECK_OK(files_text("", "a.edges", "# header\nb a\na\tc 0.5\nd\n", &data));
    CHECK(data->kind == OKRA_NODES && data->n == 4);
    CHECK_TEXT(data->network->names[0], "b");
    CHECK_TEXT(data->network->names[3], "d");
    CHECK(data->network->adjacency.indptr[4] == 4);
    okra_data_free(data);
    data = NULL;
    /* numbers are put in order; commas and columns of tables do as well */
    CHECK_OK(files_text("nodes:", "a.csv", "10,2\n2,9\n", &data));
    CHECK_TEXT(data->network->names[0], "2");
    CHECK_TEXT(data->network->names[2], "10");
    okra_data_free(data);
    data = NULL;
    /* headers of tables: a weight that is no number, or names above numbers */
    const char *tables[] = {"i\tj\tpapers\n10\t2\t3\n2\t9\t1\n", "i\tj\n10\t2\n2\t9\n",
                            "i\tj\tw\n"};
    for (int k = 0; k < 3; k++) {
        CHECK_OK(files_text("nodes:", "a.tsv", tables[k], &data));
        CHECK(data->n == (k < 2 ? 3 : 0));
        CHECK(k == 2 || strcmp(data->network->names[0], "2") == 0);
        okra_data_free(data);
        data = NULL;
    }
    CHECK_OK(files_text("nodes:", "a.tsv", "i\tj\na\tb\n", &data)); /* names: no header */
    CHECK(data->n == 4);
    okra_data_free(data);
    data = NULL;
    CHECK_FAILS(files_text("nodes:", "a.tsv", "i\t1\tw\n", &data), OKRA_EFORMAT,
                "line 1, character 5: the weight");
    char part[300];
    snprintf(part, sizeof part, ":%.290s", files_make("list.txt", "c\nb\nc\n", 6));
    CHECK_OK(files_read("nodes:", "a.tsv", part, "a\tb\nb\tc\n", 8, &data));
    CHECK(data->n == 3 && data->codes[0] == 2 && data->codes[1] == 1);
    CHECK_OK(okra_data_write(NULL, data, files_path("out.txt")));
    okra_data_free(data);
    data = NULL;
    snprintf(part, sizeof part, ":%.290s", files_make("list.txt", "c\nx\n", 4));
    CHECK_FAILS(files_read("nodes:", "a.tsv", part, "a\tb\nb\tc\n", 8, &data),
                OKRA_EFORMAT, "line 2, character 1: no node");
    snprintf(part, sizeof part, ":%.290s", files_make("list.txt", "c\n\n", 3));
    CHECK_FAILS(files_read("nodes:", "a.tsv", part, "a\tb\nb\tc\n", 8, &data),
                OKRA_EFORMAT, "empty line");
    CHECK_FAILS(files_text("", "a.edges", "a b\nb b\n", &data), OKRA_EFORMAT,
                "line 2, character 3: an edge from a node to itself");
    CHECK_FAILS(files_text("", "a.edges", "a b\nb c\nb a\n", &data), OKRA_EFORMAT,
                "line 3");
    CHECK_FAILS(files_text("", "a.edges", "a b\n\n", &data), OKRA_EFORMAT,
                "line 2, character 1");
    CHECK_FAILS(files_text("", "a.edges", "a b x\n", &data), OKRA_EFORMAT,
                "line 1, character 5: the weight");
    CHECK_FAILS(files_text("", "a.edges", "a b -1\n", &data), OKRA_EFORMAT, "line 1");
    CHECK_FAILS(files_text("", "a.edges", "a b 1 2\n", &data), OKRA_EFORMAT,
                "line 1, character 7");
    CHECK_FAILS(files_text("", "a.edges", "a \xfe\n", &data), OKRA_EFORMAT, "UTF-8");
    CHECK_FAILS(files_text("gram:", "a.edges", "a b\n", &data), OKRA_EARG, "does not go");
}

TEST(matrices_of_weights)
{
    okra_data *data = NULL;
    CHECK_OK(files_text("nodes:", "a.mtx",
                        "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n"
                        "3 1 2.5\n",
                        &data));
    CHECK(data->n == 3 && data->network->adjacency.values[1] == 2.5);
    CHECK(!data->network->names);
    CHECK_OK(okra_data_write(NULL, data, files_path("out.txt")));
    okra_data_free(data);
    data = NULL;
    CHECK_FAILS(
        files_text("nodes:", "a.mtx",
                   "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 1\n",
                   &data),
        OKRA_EFORMAT, "row 1, column 0, counted from 0: the matrix is not");
    CHECK_FAILS(
        files_text("nodes:", "a.mtx",
                   "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 2 1\n",
                   &data),
        OKRA_EFORMAT, "row 1, column 1");
    CHECK_FAILS(
        files_text("nodes:", "a.mtx",
                   "%%MatrixMarket matrix coordinate real general\n2 3 1\n2 1 1\n",
                   &data),
        OKRA_EFORMAT, "square");
}

static okra_status read_again(const char *spec, okra_data **out)
{
    return okra_data_read(NULL, spec, out);
}

TEST(allocations_may_fail)
{
    char spec[600];
    okra_data *data = NULL;
    snprintf(spec, sizeof spec, "%s",
             files_make("x.graphml", two_graphs, strlen(two_graphs)));
    CHECK_ALLOCATIONS(read_again(spec, &data), okra_data_free(data));
    snprintf(spec, sizeof spec, "%s", files_make("x.edges", "a b\nb c\n", 8));
    CHECK_ALLOCATIONS(read_again(spec, &data), okra_data_free(data));
    files_clean();
}

MAIN(RUN(graphml_is_read_and_written), RUN(broken_graphml),
     RUN(graphml_element_without_end), RUN(edge_lists), RUN(matrices_of_weights),
     RUN(allocations_may_fail))
