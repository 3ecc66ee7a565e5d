/*
 * original_mat.c: usps_all.mat, ankurDataPoseSilhouette.mat and nips_1-17.mat, after
 * `python -m okra convert NAME.mat -o NAME.npz` beside them: arrays are in NAME.npz, each
 * sparse matrix in NAME.VARIABLE.mtx.
 */
#include "original_job.h"
#include "okra/more/objects.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static okra_status variable(const original_job *j, const char *name, okra_data **out)
{
    char spec[PAPER_PATH + 64];
    int stem = (int)(strstr(strrchr(j->from, '/'), ".mat") - j->from);
    snprintf(spec, sizeof spec, "%.*s.%s.mtx", stem, j->from, name);
    if (access(spec, R_OK) != 0) {
        snprintf(spec, sizeof spec, "%.*s.npz", stem, j->from);
        bool converted = access(spec, R_OK) == 0;
        snprintf(spec, sizeof spec, "%.*s%s:%s", stem, j->from,
                 converted ? ".npz" : ".mat",
                 name); /* .mat: the message says what to do */
    }
    return okra_data_read(j->context, spec, out);
}

okra_status original_usps_all(const original_job *j)
{
    enum { CLASSES = 10, SIDE = 16, USPS_PIXELS = SIDE * SIDE };
    okra_data *data = NULL;
    okra_int ld = 0;
    double *x = NULL, *y = NULL;
    okra_status st = variable(j, "data", &data);
    if (st == OKRA_OK &&
        (okra_data_count(data) != USPS_PIXELS || okra_data_width(data) % CLASSES != 0)) {
        st = okra_fail(
            OKRA_EFORMAT, "%s: data is %lld x %lld, expected 256 x images x 10 classes",
            j->from, (long long)okra_data_count(data), (long long)okra_data_width(data));
    }
    const double *values = st == OKRA_OK ? okra_data_values(data, &ld) : NULL;
    okra_int n = values ? okra_data_width(data) : 0, each = n / CLASSES;
    if (st == OKRA_OK) {
        x = malloc((size_t)(n * USPS_PIXELS + 1) * sizeof *x);
        y = malloc((size_t)(n + 1) * sizeof *y);
        st = x && y ? OKRA_OK : original_no_memory(j);
    }
    for (okra_int i = 0; st == OKRA_OK && i < n; i++) {
        y[i] = (double)((i / each + 1) % CLASSES);
        for (okra_int r = 0; r < SIDE; r++) {
            for (okra_int c = 0; c < SIDE; c++) {
                x[i * USPS_PIXELS + r * SIDE + c] = values[(c * SIDE + r) * ld + i];
            }
        }
    }
    okra_data_free(data);
    if (st != OKRA_OK) {
        free(x);
        free(y);
        return st;
    }
    st = original_save(j, "x.npy", x, n, USPS_PIXELS);
    okra_status other = original_save(j, "y.npy", y, n, 1);
    return st == OKRA_OK ? other : st;
}

okra_status original_poser(const original_job *j)
{
    static const char *const names[][2] = {{"Y", "train_x.npy"},
                                           {"Z", "train_y.npy"},
                                           {"Y_test", "test_x.npy"},
                                           {"Z_test", "test_y.npy"}};
    okra_status st = OKRA_OK;
    for (size_t k = 0; k < sizeof names / sizeof *names && st == OKRA_OK; k++) {
        char path[PAPER_PATH];
        okra_data *data = NULL;
        snprintf(path, sizeof path, "%s/%s", j->folder, names[k][1]);
        st = variable(j, names[k][0], &data);
        if (st == OKRA_OK) {
            st = okra_data_write(j->context, data, path);
        }
        okra_data_free(data);
    }
    return st;
}

/* ---- the co-authors of NIPS ---- */

/* counts (words x papers) as compressed rows of papers. */
static okra_status nips_words(const original_job *j, const okra_data *counts)
{
    const okra_int *column;
    const double *value;
    const okra_int *row = okra_data_compressed(counts, &column, &value);
    okra_int words = okra_data_count(counts), papers = okra_data_width(counts),
             total = row[words];
    double *begin = calloc((size_t)papers + 2, sizeof *begin),
           *word = malloc((size_t)(total + 1) * sizeof *word),
           *times = malloc((size_t)(total + 1) * sizeof *times);
    if (!begin || !word || !times) {
        free(begin);
        free(word);
        free(times);
        return original_no_memory(j);
    }
    for (okra_int k = 0; k < total; k++) {
        begin[column[k] + 2]++;
    }
    for (okra_int p = 2; p <= papers + 1; p++) {
        begin[p] += begin[p - 1];
    }
    /* begin[p + 1] is where paper p begins; filling moves it to where the paper ends. */
    for (okra_int w = 0; w < words; w++) {
        for (okra_int k = row[w]; k < row[w + 1]; k++) {
            okra_int to = (okra_int)begin[column[k] + 1]++;
            word[to] = (double)w;
            times[to] = value[k];
        }
    }
    okra_status st = original_save(j, "doc_indptr.npy", begin, papers + 1, 1),
                other = original_save(j, "doc_words.npy", word, total, 1);
    st = st == OKRA_OK ? other : st;
    other = original_save(j, "doc_counts.npy", times, total, 1);
    return st == OKRA_OK ? other : st;
}

/* Papers with their authors, and pairs of authors with how many papers they share. */
static okra_status nips_authors(const original_job *j, const okra_data *written)
{
    const okra_int *author;
    const double *value;
    const okra_int *paper = okra_data_compressed(written, &author, &value);
    okra_int papers = okra_data_count(written), authors = okra_data_width(written);
    unsigned short *shared = calloc((size_t)(authors * authors) + 1, sizeof *shared);
    FILE *list = original_create(j, "papers.tsv"),
         *edges = original_create(j, "edges.tsv");
    if (shared && list && edges) {
        fprintf(list, "paper\tyear\tauthors\n");
        fprintf(edges, "i\tj\tpapers\n");
        for (okra_int p = 0; p < papers; p++) {
            fprintf(list, "%lld\t-\t", (long long)p);
            for (okra_int k = paper[p]; k < paper[p + 1]; k++) {
                fprintf(list, "%s%lld", k > paper[p] ? " " : "", (long long)author[k]);
                for (okra_int l = paper[p]; l < k; l++) {
                    shared[author[l] * authors + author[k]]++;
                }
            }
            fprintf(list, "\n");
        }
        for (okra_int a = 0; a < authors * authors; a++) {
            if (shared[a]) {
                fprintf(edges, "%lld\t%lld\t%u\n", (long long)(a / authors),
                        (long long)(a % authors), shared[a]);
            }
        }
    }
    okra_status st = shared ? OKRA_OK : original_no_memory(j),
                first = original_close(j, list), second = original_close(j, edges);
    free(shared);
    return st != OKRA_OK ? st : first != OKRA_OK ? first : second;
}

okra_status original_nips(const original_job *j)
{
    okra_data *counts = NULL, *written = NULL;
    okra_status st = variable(j, "counts", &counts);
    if (st == OKRA_OK) {
        st = variable(j, "docs_authors", &written);
    }
    if (st == OKRA_OK && (okra_data_kind(counts) != OKRA_SPARSE ||
                          okra_data_kind(written) != OKRA_SPARSE ||
                          okra_data_width(counts) != okra_data_count(written))) {
        st = okra_fail(OKRA_EFORMAT,
                       "%s: expected sparse counts of words x papers and docs_authors of "
                       "papers x authors",
                       j->from);
    }
    if (st == OKRA_OK) {
        st = nips_words(j, counts);
    }
    if (st == OKRA_OK) {
        st = nips_authors(j, written);
    }
    okra_data_free(counts);
    okra_data_free(written);
    return st;
}
