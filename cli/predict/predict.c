/*
 * predict.c: okra predict: objects, weights, embeddings and ranked candidates of a model.
 */
#include "commands.h"
#include "predict/predict_job.h"
#include "predict/stream.h"
#include "train/pairs.h"
#include "okra/more/pairs.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS predict_fields
static const okra_option rows[] = {
    ROW(READ, "x", x, "", "FILE",
        "Test inputs: same kind and number of files as in training"),
    ROW(READ, "weights-in", weights_in, "", "FILE",
        "Decode these weights over the training outputs, n_test x n_train (.npy, .csv, "
        ".mtx), in the place of the model's; --x is then needed by --decode rewrite "
        "alone"),
    ROW(READ, "x-diagonal", x_diagonal, "", "FILE",
        "Precomputed kernel: k(x, x) of each test input, one number per row, where full, "
        "jackknife+, cv+ or a variance needs it"),
    ROW(WRITTEN, "output", output, "", "FILE",
        "The predicted objects; with --top K the ranked candidates as .tsv, .csv or "
        ".json"),
    ROW(WRITTEN, "weights", weights, "", "FILE",
        "The weights w(x), n_train x n_test, float64"),
    ROW(WRITTEN, "embedding", embedding, "", "FILE",
        "The explicit h(x), n_test x d, where there is one (linear outputs)"),
    ROW(READ, "candidates", candidates, "", "FILE",
        "Objects to choose from, or an index that 'okra index' made; the training "
        "outputs if not given"),
    ROW(TEXT, "within", within, "", "WINDOW",
        "Keep only candidates that match the test point: mass=10ppm, mass=0.5Da, "
        "formula; of an index also COLUMN=0.5 (at most this far from its own value) and "
        "COLUMN=1..3; several between commas"),
    ROW(READ, "about", about, "", "FILE.tsv",
        "With --within, where the test points do not tell it themselves, as spectra do: "
        "a table with a header, one line for each, of their mass, formula or COLUMN"),
    RANGE(INT, "shortlist", shortlist, "1000", 1, 100000000, "N",
          "Index with --rank: how many candidates to measure exactly"),
    ROW(BOOL, "exact", exact, "no", "",
        "Index with --rank: measure every candidate exactly"),
    ROW(BOOL, "p-values", p_values, "no", "",
        "With --top, add the column p_value: the share of known pairs that are at least "
        "as far from their prediction as the candidate. Training pairs, each left out, "
        "take the time of a fit or more"),
    CHOICE("known-pairs", known_pairs, "auto", "auto|kept|left-out", "HOW",
           "With --p-values, which pairs: those that the model keeps to calibrate with, "
           "or its training pairs, each left out; auto: the former where there are any"),
    ROW(READ, "ranges", ranges, "", "FILE",
        "Candidates of each test point: a row 'begin,end' each, counted from 0, end "
        "excluded"),
    ROW(WRITTEN, "report", report, "", "FILE",
        "How each search of --decode optimum went: criterion, evaluations, gradient, "
        "whether it converged; of --decode rewrite: distance, proposals, rank of the "
        "chosen one, which input was rewritten; as .tsv or .csv"),
    ROW(WRITTEN, "confidence", confidence, "", "FILE",
        "How sure each prediction is: distance, gap to the runner-up and, of ridge, kpca "
        "and tgp-kl alone, predictive variance; as .tsv or .csv"),
    ROW(WRITTEN, "probabilities", probabilities, "", "FILE",
        "Class labels: the probability of each class, calibrated by left-out predictions "
        "of the training inputs; as .tsv or .csv, one column per class"),
    ROW(BOOL, "stream", stream, "no", "",
        "Answer JSON lines of standard input (--x -) on standard output, one line each, "
        "as they come"),
    ROW(READ, "rows", pair_rows, "", "FILE",
        "Model of pairs: new rows; without, those of the fit"),
    ROW(READ, "columns", pair_columns, "", "FILE",
        "Model of pairs: new columns; without, those of the fit. --top K writes the best "
        "columns of each row, or with --columns alone the best rows of each column"),
    RANGE(NUMBER, "set", sets.set, "0", 0, 1, "ALPHA",
          "Write every candidate that cannot be excluded: the set holds the truth with "
          "probability 1 - ALPHA"),
    RANGE(NUMBER, "interval", sets.interval, "0", 0, 1, "ALPHA",
          "Vectors: an interval of each coordinate that holds the truth with probability "
          "1 - ALPHA, and the radius of a ball for the whole vector"),
    RANGE(NUMBER, "reject", sets.reject, "0", 0, 1, "ALPHA",
          "Answer only where the set of level ALPHA is a single candidate: at most a "
          "share ALPHA of all test inputs gets a wrong answer"),
    ROW(WRITTEN, "bounds", sets.bounds, "", "FILE", "Intervals as .npy, n_test x d x 2"),
    ROW(WRITTEN, "set-p-values", sets.p_values, "", "FILE",
        "The p-values of all candidates, n_test x candidates"),
    ROW(TEXT, "conformal", sets.conformal, "auto", "HOW",
        "split (needs a model fitted with --calibration, or --calibrate-x and "
        "--calibrate-y), full, jackknife+ or cv+ (ridge); auto: split where there are "
        "pairs for it, else full"),
    ROW(TEXT, "conformal-score", sets.score, "auto", "SCORE",
        "distance, normalized, residual (full), rank or a metric (split); auto: "
        "normalized, and of split distance where that makes smaller sets of left-out "
        "training pairs"),
    RANGE(INT, "conformal-folds", sets.folds, "10", 2, 1e9, "N", "Folds of cv+"),
    ROW(READ, "calibrate-x", sets.calibrate_x, "", "FILE",
        "Inputs that the fit has not seen, for split"),
    ROW(READ, "calibrate-y", sets.calibrate_y, "", "FILE", "Their outputs"),
    ROW(READ, "groups", sets.groups, "", "FILE",
        "Labels of the pairs that calibrate: the guarantee holds in every group; "
        "`class`: the outputs themselves"),
    ROW(READ, "test-groups", sets.test_groups, "", "FILE",
        "Labels of the test inputs, with --groups FILE"),
    ROW(TEXT, "group-cuts", sets.cuts, "", "V[,V...]",
        "--groups and --test-groups are numbers, such as a mass: cut them into groups at "
        "these values"),
    ROW(READ, "shift-weights", sets.weights, "", "FILE",
        "Covariate shift: density of the test inputs over that of the pairs that "
        "calibrate, one number per pair"),
    ROW(READ, "test-shift-weights", sets.test_weights, "", "FILE",
        "The same for the test inputs"),
    ROW(READ, "truth", sets.truth, "", "FILE",
        "True outputs of the test inputs: tell how many sets and intervals hold them; "
        "with --json a result for okra report"),
    {0}};

/* ---- what goes in ---- */

static int read_ranges(cli_run *run, predict_job *j)
{
    char expected[80];
    okra_int n = okra_data_count(j->x);
    snprintf(expected, sizeof expected,
             "expected two columns and %lld rows, one per test point", (long long)n);
    return cli_read_whole(run, j->f.ranges, 2, &n, expected, &j->ranges);
}

/* Rows of a Gram matrix with the self-similarities of their objects. */
static int read_diagonal(cli_run *run, predict_job *j)
{
    okra_int ld = 0, step = 0, m = okra_data_count(j->x);
    const char *file = j->f.x_diagonal;
    const double *values = okra_data_values(j->x, &ld);
    REFUSE_IF(okra_data_kind(j->x) != OKRA_GRAM || !values,
              "--x-diagonal is for rows of a precomputed kernel; %s holds %s", j->f.x,
              okra_kind_name(okra_data_kind(j->x)));
    TRY(cli_read_numbers(run, file, &j->diagonal));
    const double *self = okra_data_values(j->diagonal, &step);
    if (!self || step != 1 || okra_data_count(j->diagonal) != m) {
        return cli_failure(run, "%s: expected one column of %lld numbers", file,
                           (long long)m);
    }
    j->rows = TAKE(j->x);
    return cli_status(
        run, okra_data_gram(values, m, okra_data_width(j->rows), ld, self, &j->x));
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
    const predict_fields *f = &j->f;
    CHK(load_model(run, j));
    TRY(*f->weights_in ? cli_read_numbers(run, f->weights_in, &j->given) : OKRA_OK);
    if (*f->x) {
        TRY(cli_read_inputs(run, f->x, okra_model_inputs(j->model), &j->x));
    } else { /* as many as there are inputs */
        j->x = okra_data_retain(j->given);
    }
    CHK(*f->x_diagonal ? read_diagonal(run, j) : CLI_DONE);
    CHK(read_candidates(run, j));
    return *f->ranges ? read_ranges(run, j) : CLI_DONE;
}

/* Ranked candidates are different ones; what a decoder makes up is none of them. */
static int find_distinct(cli_run *run, predict_job *j)
{
    const char *given = okra_options_get(run->library, "decode"),
               *own = okra_model_option(j->model, "decode");
    bool all = strcmp(okra_options_get(run->library, "over-all"), "yes") == 0;
    bool chooses = *given ? okra_decoder_has(given, OKRA_DECODER_CHOOSES) && !all
                          : !own || j->candidates || *j->f.within ||
                                !okra_decoder_has(own, OKRA_DECODER_MAKES_UP);
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
    TRY(*j->f.output ? OKRA_OK : okra_options_set(run->library, "decode", "none"));
    return cli_status(run, okra_predict(run->context, j->model, *j->f.x ? j->x : NULL,
                                        run->library, &request, &j->prediction));
}

/* Predicts among the candidates that fit, writes the table and the other files. */
static int rank(cli_run *run, predict_job *j)
{
    const predict_fields *f = &j->f;
    okra_window window = {OKRA_SIZED(okra_window),
                          .within = *f->within ? f->within : NULL,
                          .shortlist = f->shortlist, .exact = f->exact};
    FREED_BY(cli_about_clear) cli_about about = {.tests = okra_data_count(j->x)};
    bool compared = j->index || *f->within;
    CHK(find_distinct(run, j));
    CHK(*f->about ? cli_about_read(run, f->about, j->index, &about, &window) : CLI_DONE);
    CHK(predict(run, j, compared ? &window : NULL));
    CHK(cli_predict_write(run, j));
    const okra_data *made = okra_prediction_proposals(j->prediction);
    cli_ranking r = {.file = f->output,
                     .weights = f->weights,
                     .embedding = f->embedding,
                     .model = j->model,
                     .x = j->x,
                     .prediction = j->prediction,
                     .index = j->index,
                     .list = made            ? made
                             : j->candidates ? j->candidates
                                             : okra_model_outputs(j->model),
                     .distinct = j->distinct,
                     .p_values = f->p_values,
                     .known_pairs = f->known_pairs,
                     .compared = compared,
                     .ranges = j->ranges,
                     .made = made != NULL,
                     .taken = cli_predict_taken(f),
                     .begin = j->begin};
    return cli_ranked_write(run, &r);
}

/* --top, 0: not given. */
static okra_int top_of(const cli_run *run)
{
    bool top = okra_options_is_set(run->library, "top");
    return top ? strtoll(okra_options_get(run->library, "top"), NULL, 10) : 0;
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
    CHK(load_model(run, j));
    TRY(cli_take_input(run, f->x));
    CHK(read_candidates(run, j));
    CHK(top_of(run) && f->stream ? find_distinct(run, j) : CLI_DONE);
    cli_stream s = {.model = j->model,
                    .candidates =
                        j->distinct.objects ? j->distinct.objects : j->candidates,
                    .row = j->distinct.row,
                    .x = f->x,
                    .output = f->output,
                    .top = top_of(run)};
    bool whole = false;
    CHK(cli_stream_check(run, &s, f->stream));
    int status = f->stream ? cli_stream_json(run, &s)
                           : cli_stream_text(run, &s, &whole, spec, sizeof spec);
    *done = !whole;
    run->input_taken = run->input_taken && !whole; /* read_all takes it */
    j->f.x = whole ? spec : j->f.x;
    return status;
}

static void clear(predict_job *j)
{
    okra_prediction_free(j->prediction);
    okra_model_free(j->model);
    okra_data_free(j->x);
    okra_data_free(j->given);
    okra_data_free(j->rows);
    okra_data_free(j->diagonal);
    okra_data_free(j->candidates);
    okra_index_free(j->index);
    cli_distinct_clear(&j->distinct);
    free(j->ranges);
}

static int run_predict(cli_run *run)
{
    bool streamed = false;
    FREED_BY(clear) predict_job j = {.begin = cli_now()};
    TRY(cli_fields(run, &j.f));
    bool pairs = *j.f.pair_rows || *j.f.pair_columns;
    if (!*j.f.x && (pairs || cli_pairs_is(run))) {
        return cli_pairs_predict(run, j.f.pair_rows, j.f.pair_columns, top_of(run),
                                 j.f.sets.interval, j.f.output);
    }
    REFUSE_IF(pairs, "--rows and --columns are for a model of pairs, without --x");
    CHK(cli_predict_check(run, &j));
    CHK(stream(run, &j, &streamed));
    if (streamed) {
        return CLI_DONE;
    }
    CHK(read_all(run, &j));
    if (cli_sets_wanted(&j.f.sets)) {
        return cli_sets_write(run, &j.f.sets, j.model, j.x, j.candidates, j.f.output);
    }
    if (j.ranked) {
        return rank(run, &j);
    }
    CHK(predict(run, &j, NULL));
    CHK(cli_predict_write(run, &j));
    return cli_predict_tell(run, &j);
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
