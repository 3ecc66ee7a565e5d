/*
 * predict.c: okra predict: objects, weights, embeddings and ranked candidates of a model.
 */
#include "commands.h"
#include "predict/predict_job.h"
#include "predict/stream.h"
#include "train/pairs.h"
#include "okra/more/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const okra_option rows[] = {
    {"x", OKRA_OPTION_READ, offsetof(predict_fields, x), "", 1, 0, NULL, "FILE",
     "Test inputs, of the kind the model was trained on, as many files as there"},
    {"weights-in", OKRA_OPTION_READ, offsetof(predict_fields, weights_in), "", 1, 0, NULL,
     "FILE",
     "Decode these weights over the training outputs, n_test x n_train (.npy, .csv, "
     ".mtx), "
     "in the place of the model's; --x is then needed by --decode rewrite alone"},
    {"x-diagonal", OKRA_OPTION_READ, offsetof(predict_fields, x_diagonal), "", 1, 0, NULL,
     "FILE",
     "Precomputed kernel: k(x, x) of each test input, one number per row, where full, "
     "jackknife+, cv+ or a variance needs it"},
    {"output", OKRA_OPTION_WRITTEN, offsetof(predict_fields, output), "", 1, 0, NULL,
     "FILE",
     "The predicted objects; with --top K the ranked candidates as .tsv, .csv or .json"},
    {"weights", OKRA_OPTION_WRITTEN, offsetof(predict_fields, weights), "", 1, 0, NULL,
     "FILE", "The weights w(x), n_train x n_test, float64"},
    {"embedding", OKRA_OPTION_WRITTEN, offsetof(predict_fields, embedding), "", 1, 0,
     NULL, "FILE", "The explicit h(x), n_test x d, where there is one (linear outputs)"},
    {"candidates", OKRA_OPTION_READ, offsetof(predict_fields, candidates), "", 1, 0, NULL,
     "FILE",
     "Objects to choose from, or an index that 'okra index' made; the training outputs "
     "if "
     "not given"},
    {"within", OKRA_OPTION_TEXT, offsetof(predict_fields, within), "", 1, 0, NULL,
     "WINDOW",
     "Keep only candidates that match the test point: mass=10ppm, mass=0.5Da, formula; "
     "of an index also COLUMN=0.5 (so near to its own value) and COLUMN=1..3; several "
     "between commas"},
    {"about", OKRA_OPTION_READ, offsetof(predict_fields, about), "", 1, 0, NULL,
     "FILE.tsv",
     "With --within, where the test points do not tell it themselves, as spectra do: a "
     "table with a header, one line for each, of their mass, formula or COLUMN"},
    {"shortlist", OKRA_OPTION_INT, offsetof(predict_fields, shortlist), "1000", 1,
     100000000, NULL, "N", "Index with --rank: how many candidates to measure exactly"},
    {"exact", OKRA_OPTION_BOOL, offsetof(predict_fields, exact), "no", 1, 0, NULL, "",
     "Index with --rank: measure every candidate exactly"},
    {"p-values", OKRA_OPTION_BOOL, offsetof(predict_fields, p_values), "no", 1, 0, NULL,
     "",
     "With --top, add the column p_value: the share of known pairs that are at least as "
     "far from their prediction as the candidate. Training pairs, each left out, take "
     "the time of a fit or more"},
    {"known-pairs", OKRA_OPTION_CHOICE, offsetof(predict_fields, known_pairs), "auto", 1,
     0, "auto|kept|left-out", "HOW",
     "With --p-values, which pairs: those that the model keeps to calibrate with, or its "
     "training pairs, each left out; auto: the former where there are any"},
    {"ranges", OKRA_OPTION_READ, offsetof(predict_fields, ranges), "", 1, 0, NULL, "FILE",
     "Candidates of each test point: a row 'begin,end' each, counted from 0, end "
     "excluded"},
    {"report", OKRA_OPTION_WRITTEN, offsetof(predict_fields, report), "", 1, 0, NULL,
     "FILE",
     "How each search of --decode optimum went: criterion, evaluations, gradient, "
     "whether it converged; of --decode rewrite: distance, proposals, rank of the chosen "
     "one, which input was rewritten; as .tsv or .csv"},
    {"confidence", OKRA_OPTION_WRITTEN, offsetof(predict_fields, confidence), "", 1, 0,
     NULL, "FILE",
     "How sure each prediction is: distance, gap to the runner-up and, of ridge, kpca "
     "and "
     "tgp-kl alone, predictive variance; as .tsv or .csv"},
    {"probabilities", OKRA_OPTION_WRITTEN, offsetof(predict_fields, probabilities), "", 1,
     0, NULL, "FILE",
     "Class labels: the probability of each class, calibrated by left-out predictions of "
     "the training inputs; as .tsv or .csv, one column per class"},
    {"stream", OKRA_OPTION_BOOL, offsetof(predict_fields, stream), "no", 1, 0, NULL, "",
     "Answer JSON lines of standard input (--x -) on standard output, one line each, as "
     "they come"},
    {"rows", OKRA_OPTION_READ, offsetof(predict_fields, pair_rows), "", 1, 0, NULL,
     "FILE", "Model of pairs: new rows; without, those of the fit"},
    {"columns", OKRA_OPTION_READ, offsetof(predict_fields, pair_columns), "", 1, 0, NULL,
     "FILE",
     "Model of pairs: new columns; without, those of the fit. --top K writes the best "
     "columns of each row, or with --columns alone the best rows of each column"},
    CLI_SETS_ROWS(offsetof(predict_fields, sets)),
    {0}};

/* ---- what goes in ---- */

static int read_ranges(cli_run *run, predict_job *j)
{
    okra_data *table = NULL;
    int status = cli_status(run, cli_read_numbers(run, j->f.ranges, &table));
    okra_int ld = 0, n = okra_data_count(j->x);
    const double *values = table ? okra_data_values(table, &ld) : NULL;
    if (status == CLI_DONE &&
        (!values || okra_data_width(table) != 2 || okra_data_count(table) != n)) {
        status = cli_failure(run,
                             "%s: expected two columns and %lld rows, one per test "
                             "point",
                             j->f.ranges, (long long)n);
    }
    j->ranges = status == CLI_DONE ? malloc((size_t)n * 2 * sizeof *j->ranges + 1) : NULL;
    for (okra_int i = 0; j->ranges && i < 2 * n && status == CLI_DONE; i++) {
        double v = values[i / 2 * ld + i % 2];
        if (v != floor(v) || fabs(v) > 9e15) {
            status = cli_failure(run, "%s: row %lld holds %g, expected a whole number",
                                 j->f.ranges, (long long)(i / 2), v);
        } else {
            j->ranges[i] = (okra_int)v;
        }
    }
    if (status == CLI_DONE && !j->ranges) {
        status = cli_failure(run, "out of memory");
    }
    okra_data_free(table);
    return status;
}

/* Rows of a Gram matrix with the self-similarities of their objects. */
static int read_diagonal(cli_run *run, predict_job *j)
{
    okra_int ld = 0, step = 0, m = okra_data_count(j->x);
    const char *file = j->f.x_diagonal;
    const double *values = okra_data_values(j->x, &ld);
    if (okra_data_kind(j->x) != OKRA_GRAM || !values) {
        return cli_usage(run,
                         "--x-diagonal is for rows of a precomputed kernel; %s holds %s",
                         j->f.x, okra_kind_name(okra_data_kind(j->x)));
    }
    int status = cli_status(run, cli_read_numbers(run, file, &j->diagonal));
    const double *self = status == CLI_DONE ? okra_data_values(j->diagonal, &step) : NULL;
    if (status == CLI_DONE && (!self || step != 1 || okra_data_count(j->diagonal) != m)) {
        status = cli_failure(run, "%s: expected one column of %lld numbers", file,
                             (long long)m);
    }
    if (status == CLI_DONE) {
        j->rows = j->x;
        j->x = NULL;
        status = cli_status(
            run, okra_data_gram(values, m, okra_data_width(j->rows), ld, self, &j->x));
    }
    return status;
}

static int load_model(cli_run *run, predict_job *j)
{
    return j->model ? CLI_DONE : cli_load_model(run, run->operands[0], &j->model);
}

/* --ranges number the lines of the file, so that none may be left out. */
static int read_candidates(cli_run *run, predict_job *j)
{
    const char *file = j->f.candidates;
    char buffer[4096];
    if (!*file || j->index || j->candidates) {
        return CLI_DONE;
    }
    if (cli_is_index(file)) {
        file = cli_find(run, file, buffer, sizeof buffer);
        return cli_status(run, okra_index_open(run->context, file, &j->index));
    }
    const okra_data *like = okra_model_outputs(j->model);
    return cli_status(run, *j->f.ranges
                               ? cli_read_like(run, file, like, &j->candidates)
                               : cli_read_candidates(run, file, like, &j->candidates));
}

static int read_all(cli_run *run, predict_job *j)
{
    int status = load_model(run, j);
    if (status == CLI_DONE && *j->f.weights_in) {
        status = cli_status(run, cli_read_numbers(run, j->f.weights_in, &j->given));
    }
    if (status == CLI_DONE && *j->f.x) {
        status = cli_status(
            run, cli_read_inputs(run, j->f.x, okra_model_inputs(j->model), &j->x));
    } else if (status == CLI_DONE) { /* as many as there are inputs */
        j->x = okra_data_retain(j->given);
    }
    if (status == CLI_DONE && *j->f.x_diagonal) {
        status = read_diagonal(run, j);
    }
    status = status ? status : read_candidates(run, j);
    return status == CLI_DONE && *j->f.ranges ? read_ranges(run, j) : status;
}

/* Ranked candidates are different ones, as those of an index are; what a decoder makes up
 * is no choice among them. */
static int find_distinct(cli_run *run, predict_job *j)
{
    const char *decode = okra_options_get(run->library, "decode");
    bool all = strcmp(okra_options_get(run->library, "over-all"), "yes") == 0;
    bool chooses = !*decode || (okra_decoder_has(decode, OKRA_DECODER_CHOOSES) && !all);
    return j->ranges || j->index || !chooses
               ? CLI_DONE
               : cli_distinct_make(
                     run, j->candidates ? j->candidates : okra_model_outputs(j->model),
                     &j->distinct);
}

static int predict(cli_run *run, predict_job *j, const okra_window *window)
{
    const okra_data *set = j->distinct.objects ? j->distinct.objects : j->candidates;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = set,
                                    .ranges = j->ranges,
                                    .weights = *j->f.weights,
                                    .embedding = *j->f.embedding,
                                    .confidence = *j->f.confidence,
                                    .index = j->index,
                                    .window = window,
                                    .given = j->given};
    okra_status st =
        *j->f.output ? OKRA_OK : okra_options_set(run->library, "decode", "none");
    if (st == OKRA_OK) {
        st = okra_predict(run->context, j->model, *j->f.x ? j->x : NULL, run->library,
                          &request, &j->prediction);
    }
    return cli_status(run, st);
}

/* Predicts among the candidates that fit, writes the table and the other files. */
static int rank(cli_run *run, predict_job *j)
{
    const predict_fields *f = &j->f;
    okra_window window = {OKRA_SIZED(okra_window),
                          .within = *f->within ? f->within : NULL,
                          .shortlist = f->shortlist, .exact = f->exact};
    cli_about about = {.tests = okra_data_count(j->x)};
    bool compared = j->index || *f->within;
    int status = find_distinct(run, j);
    if (status == CLI_DONE && *f->about) {
        status = cli_about_read(run, f->about, j->index, &about, &window);
    }
    status = status ? status : predict(run, j, compared ? &window : NULL);
    status = status ? status : cli_predict_write(run, j);
    if (status == CLI_DONE) {
        const okra_data *list = okra_prediction_proposals(j->prediction);
        bool made = list != NULL;
        list = list ? list : j->candidates;
        cli_ranking r = {.file = f->output,
                         .weights = f->weights,
                         .embedding = f->embedding,
                         .model = j->model,
                         .x = j->x,
                         .prediction = j->prediction,
                         .index = j->index,
                         .list = list ? list : okra_model_outputs(j->model),
                         .distinct = j->distinct,
                         .p_values = f->p_values,
                         .known_pairs = f->known_pairs,
                         .compared = compared,
                         .ranges = j->ranges,
                         .made = made,
                         .taken = cli_predict_taken(f),
                         .begin = j->begin};
        status = cli_ranked_write(run, &r);
    }
    cli_about_clear(&about);
    return status;
}

/* Standard input line by line, where that is what is asked for; *done: that was all. */
static int stream(cli_run *run, predict_job *j, bool *done)
{
    static char spec[64]; /* it stays in j->f.x */
    const predict_fields *f = &j->f;
    const char *others[] = {f->weights,    f->embedding,  f->ranges,       f->report,
                            f->confidence, f->x_diagonal, f->probabilities};
    bool plain = !j->ranked && !cli_sets_wanted(&f->sets) && *f->output &&
                 !cli_is_index(f->candidates) && cli_stream_fits(f->x, f->output);
    for (int i = 0; i < 7; i++) {
        plain = plain && !*others[i];
    }
    if (!f->stream && !plain) {
        return CLI_DONE;
    }
    int status = load_model(run, j);
    status = status ? status : cli_status(run, cli_take_input(run, f->x));
    status = status ? status : read_candidates(run, j);
    bool top = okra_options_is_set(run->library, "top");
    if (status == CLI_DONE && top && f->stream) {
        status = find_distinct(run, j);
    }
    cli_stream s = {
        .model = j->model,
        .candidates = j->distinct.objects ? j->distinct.objects : j->candidates,
        .row = j->distinct.row,
        .x = f->x,
        .output = f->output,
        .top = top ? strtoll(okra_options_get(run->library, "top"), NULL, 10) : 0};
    bool whole = false;
    status = status ? status : cli_stream_check(run, &s, f->stream);
    if (status == CLI_DONE) {
        status = f->stream ? cli_stream_json(run, &s)
                           : cli_stream_text(run, &s, &whole, spec, sizeof spec);
    }
    *done = !whole;
    run->input_taken = run->input_taken && !whole; /* read_all takes it */
    j->f.x = whole ? spec : j->f.x;
    return status;
}

static bool is_pairs(cli_run *run)
{
    char buffer[4096];
    return okra_pairs_is(run->context,
                         cli_find(run, run->operands[0], buffer, sizeof buffer));
}

static int run_predict(cli_run *run)
{
    bool streamed = false;
    predict_job j = {.begin = cli_now()};
    int status = cli_status(run, cli_fields(run, &j.f));
    if (status == CLI_DONE && !*j.f.x &&
        (*j.f.pair_rows || *j.f.pair_columns || is_pairs(run))) {
        bool top = okra_options_is_set(run->library, "top");
        return cli_pairs_predict(
            run, j.f.pair_rows, j.f.pair_columns,
            top ? strtoll(okra_options_get(run->library, "top"), NULL, 10) : 0,
            j.f.sets.interval, j.f.output);
    }
    if (status == CLI_DONE && (*j.f.pair_rows || *j.f.pair_columns)) {
        status =
            cli_usage(run, "--rows and --columns are for a model of pairs, without --x");
    }
    if (status == CLI_DONE) {
        status = cli_predict_check(run, &j);
    }
    if (status == CLI_DONE) {
        status = stream(run, &j, &streamed);
    }
    if (status == CLI_DONE && streamed) {
        goto done;
    }
    if (status == CLI_DONE) {
        status = read_all(run, &j);
    }
    if (status == CLI_DONE && cli_sets_wanted(&j.f.sets)) {
        status = cli_sets_write(run, &j.f.sets, j.model, j.x, j.candidates, j.f.output);
    } else if (status == CLI_DONE && j.ranked) {
        status = rank(run, &j);
    } else if (status == CLI_DONE) {
        status = predict(run, &j, NULL);
        status = status == CLI_DONE ? cli_predict_write(run, &j) : status;
        status = status == CLI_DONE ? cli_predict_tell(run, &j) : status;
    }
done:
    okra_prediction_free(j.prediction);
    okra_model_free(j.model);
    okra_data_free(j.x);
    okra_data_free(j.given);
    okra_data_free(j.rows);
    okra_data_free(j.diagonal);
    okra_data_free(j.candidates);
    okra_index_free(j.index);
    cli_distinct_clear(&j.distinct);
    free(j.ranges);
    return status;
}

const cli_command cli_predict = {
    .name = "predict",
    .purpose = "Predict the outputs of new inputs with a model file",
    .usage = "MODEL --x FILE -o FILE [flags]",
    .about =
        "A prediction is a point of the output feature space; --decode says how it "
        "becomes\nan object. With --top K the file -o holds the K best candidates of "
        "each test point\nin columns test, rank, candidate, distance; then query, the "
        "name "
        "of the test point,\nand mass, formula, smiles and name of molecules, or object. "
        "Test points are counted\nfrom 0, ranks from 1; candidate is the row in its "
        "file, "
        "from 0; the distance is the\nsquared distance in feature space. Of equal "
        "candidates the first stands for all, and\nof equal distances the lower row "
        "comes "
        "first.\n",
    .gathers = " x candidates calibrate-x calibrate-y ",
    .examples =
        "okra predict digits.okra --x test_x.npy -o predicted.npy\n"
        "okra predict digits.okra --x test_x.npy --top 5 -o ranked.tsv\n"
        "okra predict digits.okra --x test_x.npy --weights w.npy\n"
        "okra predict m.okra --x new.mgf --candidates c.okx --within mass=10ppm "
        "--top 9 -o r.tsv\n"
        "okra predict iris.okra --x test.csv --probabilities p.csv -o classes.csv\n"
        "okra predict words.okra --x test.txt --set 0.1 -o sets.tsv\n"
        "okra predict curve.okra --x test_x.csv --interval 0.1 -o bounds.csv\n"
        "producer | okra predict curve.okra --x - -o - | consumer\n"
        "okra predict curve.okra --x - --stream\n",
    .own = {"predict", rows, sizeof(predict_fields)},
    .topic = "predict",
    .common = " x output candidates top decode set interval ",
    .operands_least = 1,
    .operands_most = 1,
    .operand = "MODEL",
    .run = run_predict,
};
