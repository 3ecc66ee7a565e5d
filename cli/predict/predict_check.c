/*
 * predict_check.c: which flags of okra predict go together.
 */
#include "predict/predict_job.h"
#include "predict/stream.h"

#include <string.h>

/* Flags of ranked candidates, where none are ranked. */
static int check_unranked(const cli_run *run, const char *with)
{
    static const char *const ranks[] = {"within",      "about",     "p-values",
                                        "known-pairs", "shortlist", "exact"};
    for (int i = 0; i < 6; i++) {
        REFUSE_IF(okra_options_is_set(run->options, ranks[i]), "--%s has no use with %s",
                  ranks[i], with);
    }
    return CLI_DONE;
}

/* With sets and intervals nothing else is predicted. */
static int check_sets(const cli_run *run, const predict_fields *f)
{
    const char *others[] = {f->weights, f->embedding,  f->ranges,
                            f->report,  f->confidence, f->probabilities};
    const char *names[] = {"weights", "embedding",  "ranges",
                           "report",  "confidence", "probabilities"};
    for (int i = 0; i < 6; i++) {
        REFUSE_IF(*others[i], "--%s has no use with sets and intervals", names[i]);
    }
    REFUSE_IF(okra_options_is_set(run->library, "decode") ||
                  okra_options_is_set(run->library, "top"),
              "--decode and --top have no use with sets and intervals");
    REFUSE_IF(f->p_values, "--p-values is for ranked candidates: the p-values of sets "
                           "are written by --set-p-values FILE");
    return check_unranked(run, "sets and intervals");
}

/* What goes with ranked candidates, and with those of an index. */
static int check_ranked(const cli_run *run, const predict_fields *f)
{
    bool index = cli_is_index(f->candidates);
    bool top = okra_options_is_set(run->library, "top");
    const char *none[] = {f->weights, f->embedding,  f->ranges,
                          f->report,  f->confidence, f->probabilities};
    const char *names[] = {"weights", "embedding",  "ranges",
                           "report",  "confidence", "probabilities"};
    static const char *const own[] = {"shortlist", "exact"};
    static const char *const ranks[] = {"within", "about", "p-values", "known-pairs"};
    for (int i = 0; !index && i < 2; i++) {
        REFUSE_IF(okra_options_is_set(run->options, own[i]),
                  "--%s is for candidates of an index, NAME.okx", own[i]);
    }
    REFUSE_IF(index && !top, "an index is ranked: give --top K and a table with -o");
    for (int i = 0; !top && i < 4; i++) {
        REFUSE_IF(okra_options_is_set(run->options, ranks[i]),
                  "--%s is for ranked candidates: give --top K", ranks[i]);
    }
    for (int i = 0; i < 6; i++) {
        REFUSE_IF(*none[i] && (index || (*f->within && i >= 2)),
                  "--%s has no use with %s", names[i], index ? "an index" : "--within");
    }
    REFUSE_IF(okra_options_is_set(run->options, "within") && !*f->within,
              "--within is empty: leave it out to rank all candidates");
    REFUSE_IF(okra_options_is_set(run->options, "shortlist") && *f->within,
              "--shortlist has no use with --within: all candidates that "
              "fit are measured exactly");
    REFUSE_IF(*f->about && !*f->within, "--about has no use without --within");
    REFUSE_IF(okra_options_is_set(run->options, "known-pairs") && !f->p_values,
              "--known-pairs has no use without --p-values");
    return index && okra_options_is_set(run->library, "decode")
               ? cli_usage(run, "--decode has no use with an index")
               : CLI_DONE;
}

/* Flags that make no sense line by line. */
static int check_stream(const cli_run *run, const predict_fields *f)
{
    const char *others[] = {f->output, f->weights,    f->embedding,  f->ranges,
                            f->report, f->confidence, f->x_diagonal, f->probabilities};
    const char *names[] = {"output", "weights",    "embedding",  "ranges",
                           "report", "confidence", "x-diagonal", "probabilities"};
    REFUSE_IF(strcmp(f->x, "-") != 0,
              "--stream answers standard input: --x is '%s', expected -", f->x);
    for (int i = 0; i < 8; i++) {
        REFUSE_IF(*others[i] && strcmp(others[i], "-") != 0,
                  "--%s has no use with --stream", names[i]);
    }
    const char *decode = okra_options_get(run->library, "decode");
    REFUSE_IF(okra_decoder_has(decode, OKRA_DECODER_NOTHING),
              "--decode %s gives no objects: --stream has none to give", decode);
    REFUSE_IF(cli_sets_wanted(&f->sets) || cli_is_index(f->candidates),
              "--stream gives objects and ranked candidates: sets, intervals "
              "and an index have no use");
    return check_unranked(run, "--stream");
}

int cli_predict_check(const cli_run *run, predict_job *j)
{
    const predict_fields *f = &j->f;
    REFUSE_IF(!*f->x && !*f->weights_in, "--x FILE is missing: the test inputs");
    REFUSE_IF(
        *f->weights_in && (f->stream || cli_sets_wanted(&f->sets) || *f->probabilities ||
                           *f->confidence || f->p_values),
        "--weights-in gives objects, embeddings and ranked candidates: sets, "
        "intervals, p-values, probabilities, --confidence and --stream have no use");
    REFUSE_IF(okra_context_processes(run->context) > 1 &&
                  (f->stream || strcmp(f->x, "-") == 0 || cli_ends(f->x, ":-")),
              "standard input reaches one of %d processes alone: --x needs "
              "a file",
              okra_context_processes(run->context));
    if (f->stream) {
        return check_stream(run, f);
    }
    int wrong = cli_sets_check(run, &f->sets);
    REFUSE_IF(!wrong && cli_sets_wanted(&f->sets) && cli_is_index(f->candidates),
              "--set and --interval do not take an index: --top K ranks "
              "it, --p-values with p-values");
    if (wrong || cli_sets_wanted(&f->sets)) {
        return wrong ? wrong : check_sets(run, f);
    }
    wrong = check_ranked(run, f);
    if (wrong) {
        return wrong;
    }
    REFUSE_IF(!*f->output && !*f->weights && !*f->embedding && !*f->probabilities,
              "nothing to write: give -o, --weights, --embedding or --probabilities");
    j->ranked = okra_options_is_set(run->library, "top");
    REFUSE_IF(j->ranked && !cli_ends(f->output, ".tsv") && !cli_ends(f->output, ".csv") &&
                  !cli_ends(f->output, ".json") && strcmp(f->output, "-") != 0,
              "--top writes a table of ranked candidates: -o is '%s', "
              "expected a name in .tsv, .csv or .json",
              f->output);
    const char *decode = okra_options_get(run->library, "decode");
    bool none = okra_decoder_has(decode, OKRA_DECODER_NOTHING);
    REFUSE_IF(!*f->output &&
                  (*f->candidates || *f->ranges || *f->report || *f->confidence ||
                   (!none && okra_options_is_set(run->library, "decode"))),
              "nothing is decoded without -o: --decode, --candidates, "
              "--ranges, --report and --confidence have no use");
    REFUSE_IF(*f->report && *decode && !okra_decoder_has(decode, OKRA_DECODER_REPORTS),
              "--report is for --decode optimum and rewrite, not %s", decode);
    REFUSE_IF(*f->output && none, "--decode %s gives no objects: -o has no use", decode);
    int status = cli_check_writable(run, f->output);
    status = status ? status : cli_check_writable(run, f->weights);
    status = status ? status : cli_check_writable(run, f->embedding);
    status = status ? status : cli_check_writable(run, f->confidence);
    status = status ? status : cli_check_writable(run, f->probabilities);
    return status ? status : cli_check_writable(run, f->report);
}
