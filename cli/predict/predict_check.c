/*
 * predict_check.c: which flags of okra predict go together.
 */
#include "predict/predict_job.h"
#include "predict/stream.h"

#include <string.h>

/* Flags of these names, between spaces, where they were given; `why` follows the name. */
static int refuse_flags(const cli_run *run, const char *names, const char *why)
{
    char name[32];
    for (; *names; names += strspn(names, " ")) {
        int length = (int)strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", length, names);
        REFUSE_IF(okra_options_is_set(run->options, name) &&
                      *okra_options_get(run->options, name),
                  "--%s %s", name, why);
        names += length;
    }
    return CLI_DONE;
}

#define RANKS "within about p-values known-pairs "
#define OF_INDEX "shortlist exact "
#define DECODED "ranges report confidence probabilities "
#define WHOLE "weights embedding "

/* With sets and intervals nothing else is predicted. */
static int check_sets(const cli_run *run, const predict_fields *f)
{
    const char *why = "has no use with sets and intervals";
    CHK(refuse_flags(run, WHOLE DECODED, why));
    REFUSE_IF(okra_options_is_set(run->library, "decode") ||
                  okra_options_is_set(run->library, "top"),
              "--decode and --top have no use with sets and intervals");
    REFUSE_IF(f->p_values, "--p-values is for ranked candidates: the p-values of sets "
                           "are written by --set-p-values FILE");
    return refuse_flags(run, RANKS OF_INDEX, why);
}

/* What goes with ranked candidates, and with those of an index. */
static int check_ranked(const cli_run *run, const predict_fields *f)
{
    bool index = cli_is_index(f->candidates);
    bool top = okra_options_is_set(run->library, "top");
    CHK(refuse_flags(run, index ? "" : OF_INDEX,
                     "is for candidates of an index, NAME.okx"));
    REFUSE_IF(index && !top, "an index is ranked: give --top K and a table with -o");
    CHK(refuse_flags(run, top ? "" : RANKS, "is for ranked candidates: give --top K"));
    CHK(refuse_flags(run, index ? WHOLE DECODED : "", "has no use with an index"));
    CHK(refuse_flags(run, *f->within ? DECODED : "", "has no use with --within"));
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
    const char *why = "has no use with --stream";
    REFUSE_IF(strcmp(f->x, "-") != 0,
              "--stream answers standard input: --x is '%s', expected -", f->x);
    CHK(refuse_flags(run, WHOLE DECODED "x-diagonal", why));
    CHK(strcmp(f->output, "-") != 0 ? refuse_flags(run, "output", why) : CLI_DONE);
    const char *decode = okra_options_get(run->library, "decode");
    REFUSE_IF(okra_decoder_has(decode, OKRA_DECODER_NOTHING),
              "--decode %s gives no objects: --stream has none to give", decode);
    REFUSE_IF(cli_sets_wanted(&f->sets) || cli_is_index(f->candidates),
              "--stream gives objects and ranked candidates: sets, intervals "
              "and an index have no use");
    return refuse_flags(run, RANKS OF_INDEX, why);
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
    CHK(cli_sets_check(run, &f->sets));
    REFUSE_IF(cli_sets_wanted(&f->sets) && cli_is_index(f->candidates),
              "--set and --interval do not take an index: --top K ranks "
              "it, --p-values with p-values");
    if (cli_sets_wanted(&f->sets)) {
        return check_sets(run, f);
    }
    CHK(check_ranked(run, f));
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
    const char *files[] = {f->output,     f->weights,       f->embedding,
                           f->confidence, f->probabilities, f->report};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        CHK(cli_check_writable(run, files[i]));
    }
    return CLI_DONE;
}
