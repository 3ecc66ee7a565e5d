/*
 * drugs.c: molecules, their activities in cell lines, and random choices of labelled
 * ones.
 */
#include "drugs.h"
#include "okra/more/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mus[DRUG_MUS] = {DRUG_MU_1, DRUG_MU_2, DRUG_MU_3};

/* ---- data ---- */

static bool readable(paper_run *run, const char *smiles)
{
    okra_data *one = NULL;
    bool good = okra_data_smiles(paper_context(run), &smiles, 1, &one) == OKRA_OK;
    okra_data_free(one);
    return good;
}

/* Rows and SMILES of the molecules that are active in a line and have a structure; the
 * table has a few that chemistry does not know (an element Z). */
static okra_status read_table(paper_run *run, okra_int most, char **smiles,
                              okra_int *rows, okra_int *count)
{
    char path[1024], line[4096];
    FILE *f = fopen(paper_path(run, "nci60/molecules.tsv", path, sizeof path), "r");
    if (!f) {
        return okra_fail(OKRA_EIO, "%s cannot be opened", path);
    }
    okra_status st = OKRA_OK;
    *count = 0;
    while (st == OKRA_OK && *count < most && fgets(line, sizeof line, f)) {
        char *fields[7] = {line}, *at = line;
        for (int k = 1; k < 7 && at; k++) {
            at = strchr(at, '\t');
            fields[k] = at ? ++at : NULL;
        }
        if (!fields[6] || fields[2][0] != '1' || fields[6][0] == '-') {
            continue;
        }
        fields[6][strcspn(fields[6], "\r\n")] = '\0';
        if (readable(run, fields[6])) {
            rows[*count] = strtoll(fields[0], NULL, 10);
            smiles[*count] = strdup(fields[6]);
            st = smiles[*count] ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for SMILES");
            *count += st == OKRA_OK;
        }
    }
    fclose(f);
    return st;
}

static okra_status gram(paper_run *run, char **smiles, drugs *t)
{
    okra_data *molecules = NULL;
    okra_kernel *kernel = NULL;
    okra_status st = okra_data_smiles(paper_context(run), (const char *const *)smiles,
                                      t->n, &molecules);
    if (st == OKRA_OK) {
        st = okra_kernel_parse("paths(m=6) | tanimoto", &kernel);
    }
    if (st == OKRA_OK) {
        st = okra_gram(paper_context(run), kernel, molecules, NULL, t->K, t->n);
    }
    okra_kernel_free(kernel);
    okra_data_free(molecules);
    return st;
}

okra_status drugs_load(paper_run *run, drugs *t)
{
    enum { TABLE_MOST = 5000 };
    okra_int most = paper_quick(run) ? 400 : TABLE_MOST, ld = 0;
    char **smiles = calloc(TABLE_MOST, sizeof *smiles);
    okra_int *rows = malloc(TABLE_MOST * sizeof *rows);
    okra_data *activity = NULL;
    okra_status st = smiles && rows ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory");
    if (st == OKRA_OK) {
        st = read_table(run, most, smiles, rows, &t->n);
    }
    if (st == OKRA_OK) {
        st = paper_read(run, "nci60/activity.npy", &activity);
    }
    size_t n = (size_t)t->n;
    t->K = malloc((n * n + 1) * sizeof *t->K);
    t->Y = malloc((n * LINES + 1) * sizeof *t->Y);
    if (st == OKRA_OK && !(t->K && t->Y)) {
        st = okra_fail(OKRA_EMEM, "no memory for %zu molecules", n);
    }
    const double *values = st == OKRA_OK ? okra_data_values(activity, &ld) : NULL;
    for (okra_int i = 0; values && i < t->n * LINES; i++) {
        t->Y[i] = values[rows[i / LINES] * ld + i % LINES] / 10;
    }
    if (st == OKRA_OK) {
        st = gram(run, smiles, t);
    }
    for (okra_int i = 0; smiles && i < TABLE_MOST; i++) {
        free(smiles[i]);
    }
    free(smiles);
    free(rows);
    okra_data_free(activity);
    return st;
}

void drugs_clear(drugs *t)
{
    free(t->K);
    free(t->Y);
}

/* ---- one random choice of the labelled molecules ---- */

/* M of the labelled molecules, and A_2 = (mu L_M + (1 - mu) I)^-1 for mu: this is the
 * regularised Laplacian kernel of the graph, over 1 - mu. */
static okra_status relate(paper_run *run, const drug_draw *d, int form, double *M)
{
    okra_data *y = NULL;
    okra_status st =
        okra_data_dense(d->Y + form * PARTS * LINES, d->labelled, LINES, WIDTH, &y);
    if (st == OKRA_OK) {
        st = okra_task_graph(paper_context(run), y, 0, M);
    }
    okra_data_free(y);
    return st;
}

static okra_status operator_of(paper_run *run, const double *M, double mu, double *A)
{
    enum { PAIRS = LINES * (LINES - 1) / 2 };
    okra_int ends[2 * PAIRS], count = 0;
    double weights[PAIRS];
    char text[64];
    okra_data *nodes = NULL;
    okra_kernel *kernel = NULL;
    for (okra_int i = 0; i < LINES; i++) {
        for (okra_int j = 0; j < i; j++) {
            if (M[i * LINES + j] > 0) {
                weights[count] = M[i * LINES + j];
                ends[2 * count] = i;
                ends[2 * count++ + 1] = j;
            }
        }
    }
    snprintf(text, sizeof text, "regularized-laplacian(sigma2=%.17g)", mu / (1 - mu));
    okra_status st = okra_data_nodes(LINES, NULL, ends, weights, count, NULL, 0, &nodes);
    if (st == OKRA_OK) {
        st = okra_kernel_parse(text, &kernel);
    }
    if (st == OKRA_OK) {
        st = okra_gram(paper_context(run), kernel, nodes, NULL, A, LINES);
    }
    for (int i = 0; st == OKRA_OK && i < LINES * LINES; i++) {
        A[i] /= 1 - mu;
    }
    okra_kernel_free(kernel);
    okra_data_free(nodes);
    return st;
}

/* The operator of all blocks goes to a file: a block of the diagonal each. */
static okra_status write_operator(paper_run *run, drug_draw *d)
{
    okra_status st = OKRA_OK;
    double *A = calloc((size_t)BLOCKS * LINES * LINES, sizeof *A);
    int length = snprintf(d->file, sizeof d->file, "%s/okra-operator-XXXXXX.csv",
                          paper_temporary());
    int handle = length < (int)sizeof d->file ? mkstemps(d->file, 4) : -1;
    FILE *f = handle >= 0 ? fdopen(handle, "w") : NULL;
    if (!A || !f) {
        st = okra_fail(OKRA_EIO, "%s cannot be written", d->file);
    }
    for (int b = 0; st == OKRA_OK && b < BLOCKS; b++) {
        double *block = A + b * LINES * LINES;
        if (b % PARTS == 0) {
            for (int i = 0; i < LINES; i++) {
                block[i * (LINES + 1)] = 1;
            }
        } else {
            st = operator_of(run, d->M[b / PARTS], mus[b % PARTS - 1], block);
        }
    }
    for (int i = 0; st == OKRA_OK && i < WIDTH; i++) {
        for (int j = 0; j < WIDTH; j++) {
            double value = i / LINES == j / LINES
                               ? A[(i / LINES * LINES + i % LINES) * LINES + j % LINES]
                               : 0;
            fprintf(f, "%s%.17g", j ? "," : "", value);
        }
        fputc('\n', f);
    }
    if (f && fclose(f) != 0 && st == OKRA_OK) {
        st = okra_fail(OKRA_EIO, "%s cannot be written", d->file);
    }
    free(A);
    return st;
}

void drug_draw_clear(drug_draw *d)
{
    if (d->file[0]) {
        remove(d->file);
    }
    free(d->K);
    free(d->Y);
    free(d->self);
}

okra_status drug_draw_make(paper_run *run, const drugs *t, okra_int labelled,
                           uint64_t seed, drug_draw *d)
{
    size_t n = (size_t)t->n;
    okra_int *order = NULL;
    okra_status st = network_shuffle(seed, t->n, &order);
    *d = (drug_draw){.labelled = labelled,
                     .K = malloc(n * n * sizeof(double)),
                     .Y = malloc(n * WIDTH * sizeof(double)),
                     .self = malloc(n * sizeof(double))};
    if (st == OKRA_OK && !(d->K && d->Y && d->self)) {
        st = okra_fail(OKRA_EMEM, "no memory for %zu molecules", n);
    }
    if (st != OKRA_OK) {
        free(order);
        return st;
    }
    double mean[LINES] = {0};
    for (okra_int i = 0; i < labelled * LINES; i++) {
        mean[i % LINES] += t->Y[order[i / LINES] * LINES + i % LINES] / (double)labelled;
    }
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < t->n; j++) {
            d->K[i * t->n + j] = t->K[order[i] * t->n + order[j]];
        }
        for (okra_int j = 0; j < WIDTH; j++) {
            bool centred = j / LINES >= PARTS;
            d->Y[i * WIDTH + j] =
                t->Y[order[i] * LINES + j % LINES] - (centred ? mean[j % LINES] : 0);
        }
        d->self[i] = t->K[order[i] * (t->n + 1)];
    }
    free(order);
    for (int form = 0; st == OKRA_OK && form < FORMS; form++) {
        st = relate(run, d, form, d->M[form]);
    }
    return st == OKRA_OK ? write_operator(run, d) : st;
}
