/*
 * ranked.c: okra predict --top: the best candidates of each test point, as a table.
 *
 * One table for every kind of candidates: test, rank, candidate (its row in its file),
 * distance; p_value where it is asked for; query where test points have a title; of
 * molecules mass, formula, smiles and name, of other objects the object, of vectors of an
 * index what its table calls them.
 */
#include "predict/ranked.h"
#include "predict/sets.h"
#include "okra/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cli_is_index(const char *candidates)
{
    return cli_ends(candidates, ".okx") || cli_ends(candidates, ".okx/");
}

int cli_distinct_make(cli_run *run, const okra_data *candidates, cli_distinct *out)
{
    okra_int n = okra_data_count(candidates), count = 0;
    if (okra_data_kind(candidates) == OKRA_GRAM) {
        return CLI_DONE; /* rows are known by their places alone */
    }
    MAKE(out->row, n);
    TRY(okra_candidates_distinct(candidates, out->row, &count));
    return count == n ? CLI_DONE
                      : cli_status(run, okra_data_take(candidates, out->row, count,
                                                       &out->objects));
}

void cli_distinct_clear(cli_distinct *distinct)
{
    okra_data_free(distinct->objects);
    free(distinct->row);
}

/* ---- one line ---- */

bool cli_ranked_molecules(const cli_ranking *r)
{
    char formula[128];
    return r->index ? okra_index_width(r->index) == 0
                    : okra_data_count(r->list) > 0 &&
                          *okra_data_formula(r->list, 0, formula, sizeof formula);
}

/* The first word is the SMILES, the rest a name; of a record its first line is that. */
static void split(const char *text, okra_int length, cli_ranked_row *row)
{
    const char *end = memchr(text, '\n', (size_t)length);
    okra_int word = 0;
    while (!end && word < length && text[word] != ' ' && text[word] != '\t') {
        word++;
    }
    row->smiles = row->name = text;
    row->smiles_length = word;
    while (word < length && (text[word] == ' ' || text[word] == '\t')) {
        word++;
    }
    row->name += word;
    row->name_length = (end ? end - text : length) - word;
}

static void formula_of(const cli_ranked_row *row, char *out, size_t size)
{
    okra_data *one = NULL;
    char *copy = strndup(row->smiles, (size_t)row->smiles_length);
    const char *const texts[] = {copy};
    out[0] = '\0';
    okra_status st = copy ? okra_data_smiles(NULL, texts, 1, &one) : OKRA_EMEM;
    if (st == OKRA_OK) {
        okra_data_formula(one, 0, out, size);
    } else if (st == OKRA_EMEM) {
        cli_lose();
    }
    okra_data_free(one);
    free(copy);
}

bool cli_ranked_row_of(const cli_ranking *r, okra_int i, cli_ranked_row *out)
{
    okra_int c = r->number[i], length = 0;
    *out = (cli_ranked_row){.test = i / r->top, .rank = i % r->top + 1, .name = ""};
    if (c < 0) {
        return false;
    }
    out->distance = r->distance[i];
    out->p = r->p ? r->p[i] : 0;
    if (r->index) {
        const char *text = okra_index_text(r->index, c, &length);
        out->number = c;
        out->mass = okra_index_mass(r->index, c);
        out->name = text ? text : "";
        out->name_length = length;
        if (text && okra_index_width(r->index) == 0) {
            split(text, length, out);
            formula_of(out, out->formula, sizeof out->formula);
        }
        return true;
    }
    c = r->distinct.objects ? r->distinct.row[c] : c;
    out->number = okra_data_row(r->list, c);
    out->mass = okra_data_mass(r->list, c);
    okra_data_formula(r->list, c, out->formula, sizeof out->formula);
    const char *text = okra_data_text(r->list, c, &length);
    if (text) {
        split(text, length, out);
    }
    return true;
}

/* ---- the table ---- */

/* What an object is shown as. */
typedef enum shown { NOTHING, MOLECULE, OBJECT, VECTOR, NAMED } shown;

static shown shown_as(const cli_ranking *r)
{
    okra_int length;
    if (cli_ranked_molecules(r)) {
        return MOLECULE;
    }
    if (r->index) {
        return okra_index_named(r->index) ? NAMED : NOTHING;
    }
    if (okra_data_count(r->list) > 0 && (okra_data_text(r->list, 0, &length) ||
                                         okra_data_characters(r->list, 0, &length))) {
        return OBJECT;
    }
    return r->list == okra_prediction_proposals(r->prediction) ? VECTOR : NOTHING;
}

/* Does an index of vectors know masses, which its table gave? */
static bool has_mass(const cli_ranking *r)
{
    bool mass = cli_ranked_molecules(r);
    for (int k = 0; r->index && k < okra_index_columns(r->index); k++) {
        mass |= strcmp(okra_index_column(r->index, k), "mass") == 0;
    }
    return mass;
}

static const char *title_of(const cli_ranking *r, okra_int test, okra_int *length)
{
    okra_kind kind = okra_data_kind(r->x);
    const char *text = kind == OKRA_SPECTRA || kind == OKRA_GRAPHS
                           ? okra_data_text(r->x, test, length)
                           : NULL;
    *length = text ? *length : 0;
    return text;
}

/* A field of a table: what would break it, or what a terminal would obey, becomes \xNN.
 */
static void print_text(FILE *out, const char *text, okra_int length, char separator)
{
    size_t size = (size_t)length;
    char *copy = cli_alloc(size + 1, 1), *safe = cli_alloc(4 * size + 8, 1);
    if (copy && safe && size > 0) {
        memcpy(copy, text, size);
        okra_text_printable(copy, safe, 4 * size + 8);
        bool quoted = separator == ',' && strpbrk(safe, ",\"");
        fputs(quoted ? "\"" : "", out);
        for (const char *p = safe; *p; p++) {
            fputs(quoted && *p == '"' ? "\"" : "", out);
            if (*p == '\t') {
                fputs("\\x09", out);
            } else {
                fputc(*p, out);
            }
        }
        fputs(quoted ? "\"" : "", out);
    }
    free(copy);
    free(safe);
}

static okra_int place_of(const cli_ranking *r, okra_int i)
{
    return r->distinct.objects ? r->distinct.row[r->number[i]] : r->number[i];
}

static void print_table(const cli_ranking *r, FILE *out, char s)
{
    okra_int length = 0;
    shown how = shown_as(r);
    bool titled = r->tests > 0 && title_of(r, 0, &length), mass = has_mass(r);
    fprintf(out, "test%crank%ccandidate%cdistance", s, s, s);
    const char *const columns[] = {r->p ? "p_value" : NULL,
                                   titled ? "query" : NULL,
                                   mass ? "mass" : NULL,
                                   how == MOLECULE ? "formula" : NULL,
                                   how == MOLECULE ? "smiles" : NULL,
                                   how == MOLECULE || how == NAMED ? "name" : NULL,
                                   how == OBJECT || how == VECTOR ? "object" : NULL};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        if (columns[k]) {
            fprintf(out, "%c%s", s, columns[k]);
        }
    }
    fputc('\n', out);
    for (okra_int i = 0; i < r->tests * r->top; i++) {
        cli_ranked_row row;
        if (!cli_ranked_row_of(r, i, &row)) {
            continue;
        }
        fprintf(out, "%lld%c%lld%c%lld%c%.17g", (long long)row.test, s,
                (long long)row.rank, s, (long long)row.number, s, row.distance);
        if (r->p) {
            fprintf(out, "%c%.6g", s, row.p);
        }
        if (titled) {
            const char *title = title_of(r, row.test, &length);
            fputc(s, out);
            print_text(out, title ? title : "", length, s);
        }
        if (mass) {
            fprintf(out, "%c%.6f", s, row.mass);
        }
        if (how == MOLECULE) {
            fprintf(out, "%c%s%c", s, row.formula, s);
            print_text(out, row.smiles, row.smiles_length, s);
        }
        fputs(how == NOTHING ? "" : s == ',' ? "," : "\t", out);
        if (how == MOLECULE || how == NAMED) {
            print_text(out, row.name, row.name_length, s);
        } else if (how == OBJECT) {
            cli_print_object(out, r->list, place_of(r, i), s);
        } else if (how == VECTOR) {
            cli_print_vector(out, r->list, place_of(r, i));
        }
        fputc('\n', out);
    }
}

static void set_text(json_t *one, const char *key, const char *text, okra_int length)
{
    json_t *value = json_stringn(text, (size_t)length);
    json_object_set_new(one, key, value ? value : json_string(""));
}

static void print_json(const cli_ranking *r, FILE *out)
{
    const char *comma = "";
    shown how = shown_as(r);
    bool mass = has_mass(r);
    fputc('[', out);
    for (okra_int i = 0; i < r->tests * r->top; i++) {
        cli_ranked_row row;
        okra_int length = 0;
        if (!cli_ranked_row_of(r, i, &row)) {
            continue;
        }
        const char *title = title_of(r, row.test, &length);
        json_t *one = json_pack("{s:I, s:I, s:I, s:f}", "test", (json_int_t)row.test,
                                "rank", (json_int_t)row.rank, "candidate",
                                (json_int_t)row.number, "distance", row.distance);
        if (r->p) {
            json_object_set_new(one, "p_value", json_real(row.p));
        }
        if (title) {
            set_text(one, "query", title, length);
        }
        if (mass) {
            json_object_set_new(one, "mass", json_real(row.mass));
        }
        if (how == MOLECULE) {
            json_object_set_new(one, "formula", json_string(row.formula));
            set_text(one, "smiles", row.smiles, row.smiles_length);
        }
        if (how == MOLECULE || how == NAMED) {
            set_text(one, "name", row.name, row.name_length);
        } else if (how != NOTHING) {
            json_object_set_new(one, "object",
                                how == OBJECT ? cli_object_text(r->list, place_of(r, i))
                                              : cli_object_json(r->list, place_of(r, i)));
        }
        fprintf(out, "%s\n  ", comma);
        json_dumpf(one, out, JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
        json_decref(one);
        comma = ",";
    }
    fputs("\n]\n", out);
}

/* ---- p-values, and what is printed ---- */

/* auto: by pairs that the model keeps for it, else by its training pairs, left out. */
static int find_p_values(cli_run *run, cli_ranking *r)
{
    bool kept = okra_model_calibration(r->model, NULL, NULL) > 0;
    r->left_out = r->known_pairs == CLI_KNOWN_LEFT_OUT ||
                  (r->known_pairs == CLI_KNOWN_AUTO && !kept);
    if (!r->p_values) {
        return CLI_DONE;
    }
    MAKE(r->p, r->tests * r->top);
    return cli_status(run, okra_conformal_distances(run->context, r->model, r->left_out,
                                                    r->distance, r->tests * r->top, r->p,
                                                    &r->pairs));
}

static okra_int candidates_of(const cli_ranking *r)
{
    return r->index              ? okra_index_count(r->index)
           : r->distinct.objects ? okra_data_count(r->distinct.objects)
                                 : okra_data_count(r->list);
}

static int tell_json(cli_run *run, const cli_ranking *r, double compared, double seconds)
{
    double error = okra_prediction_error(r->prediction);
    json_t *result = cli_result(run, "ranked", "ranked", "Candidates, best first");
    json_t *own =
        json_pack("{s:s, s:I, s:I, s:I, s:f, s:I, s:o, s:s, s:I, s:s, s:f}", "model",
                  run->operands[0], "n", (json_int_t)okra_model_count(r->model), "tests",
                  (json_int_t)r->tests, "candidates", (json_int_t)candidates_of(r),
                  "compared", compared, "without_candidates", (json_int_t)r->empty,
                  "error", isfinite(error) ? json_real(error) : json_null(), "p_values",
                  !r->p         ? "none"
                  : r->left_out ? "left out"
                                : "kept",
                  "pairs", (json_int_t)r->pairs, "output", r->file, "seconds", seconds);
    int status = cli_ranked_figures(run, r, json_object_get(result, "figures"));
    json_object_update(result, own);
    json_decref(own);
    if (*r->weights) {
        json_object_set_new(result, "weights", json_string(r->weights));
    }
    if (*r->embedding) {
        json_object_set_new(result, "embedding", json_string(r->embedding));
    }
    if (status == CLI_DONE) {
        return cli_print_json(run, result);
    }
    json_decref(result);
    return status;
}

static int tell(cli_run *run, const cli_ranking *r)
{
    char buffer[64];
    double compared = 0, seconds = cli_now() - r->begin;
    double error = okra_prediction_error(r->prediction);
    for (okra_int i = 0; i < r->tests; i++) {
        compared += r->made       ? 0
                    : r->compared ? (double)okra_prediction_compared(r->prediction, i)
                    : r->ranges   ? (double)(r->ranges[2 * i + 1] - r->ranges[2 * i])
                                  : (double)candidates_of(r);
    }
    if (r->taken) {
        return CLI_DONE;
    }
    if (run->common.json) {
        return tell_json(run, r, compared, seconds);
    }
    if (run->common.quiet) {
        return CLI_DONE;
    }
    cli_line(stdout, "tests", "%lld", (long long)r->tests);
    if (r->made) {
        cli_line(stdout, "candidates", "%lld, made up by the decoder",
                 (long long)candidates_of(r));
    } else {
        cli_line(stdout, "candidates", "%lld, compared with a test point %.1f",
                 (long long)candidates_of(r),
                 r->tests > 0 ? compared / (double)r->tests : 0);
    }
    if (r->empty > 0) {
        cli_line(stdout, "without", "%lld tests fit no candidate", (long long)r->empty);
    }
    if (error > 0) {
        cli_line(stdout, "low rank",
                 "squared distances of the shortlist were off by %.2g at most", error);
    }
    if (r->p) {
        cli_line(stdout, "p-values", "by %lld pairs, %s", (long long)r->pairs,
                 r->left_out ? "left out" : "kept");
    }
    cli_line(stdout, "output", "%s", r->file);
    if (*r->weights) {
        cli_line(stdout, "weights", "%s", r->weights);
    }
    if (*r->embedding) {
        cli_line(stdout, "embedding", "%s", r->embedding);
    }
    cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    return CLI_DONE;
}

static int write_ranked(cli_run *run, cli_ranking *r)
{
    cli_table t;
    CHK(find_p_values(run, r));
    CHK(cli_table_open(run, r->file, "", &t));
    if (cli_ends(r->file, ".json")) {
        print_json(r, t.out);
    } else {
        print_table(r, t.out, t.mark);
    }
    CHK(cli_file_close(run, t.file, CLI_DONE));
    return tell(run, r);
}

int cli_ranked_write(cli_run *run, cli_ranking *r)
{
    r->tests = okra_prediction_count(r->prediction);
    r->number = okra_prediction_index(r->prediction, &r->top);
    r->distance = okra_prediction_distance(r->prediction, &r->top);
    for (okra_int i = 0; i < r->tests; i++) {
        r->empty += r->top == 0 || r->number[i * r->top] < 0;
    }
    int status = write_ranked(run, r);
    free(TAKE(r->p));
    return status;
}
