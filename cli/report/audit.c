/*
 * audit.c: okra audit, split, explain and next. The program okra-audit, written in
 * Python, reads their flags and does the work.
 */
#include "commands.h"
#include "report/report.h"

#include <string.h>

static int run_python(cli_run *run)
{
    for (const char *const *word = (const char *const *)run->typed + 2; *word; word++) {
        if (strcmp(*word, "--help") == 0 || strcmp(*word, "-h") == 0) {
            cli_help_screen(stdout, run->command, "", "");
            return CLI_DONE;
        }
    }
    return report_start(run, OKRA_AUDIT, (const char *const *)run->typed + 2, NULL);
}

/* Tables for help, manual and completion alone: okra-audit reads the values. */
typedef struct not_read {
    const char *text;
} not_read;
#define FIELDS not_read
#define IS(type, name, preset, metavar, help) ROW(type, name, text, preset, metavar, help)
#define PAGE IS(WRITTEN, "output", "", "FILE", "Also draw the page of it (.html, .md)")

static const okra_option audit_rows[] = {
    IS(READ, "x", "", "FILE", "Training inputs"),
    IS(READ, "y", "", "FILE", "Training outputs"),
    IS(READ, "test-x", "", "FILE",
       "Test inputs; without them training pairs are left out in turn"),
    IS(READ, "test-y", "", "FILE", "Test outputs"),
    IS(READ, "model", "", "MODEL", "A model in place of a recipe"),
    IS(READ, "yhat", "", "FILE",
       "What any program predicted for --test-y, else for --y, in place of a model"),
    IS(TEXT, "metric", "", "NAME", "Also judge decoded outputs by this metric"),
    IS(READ, "groups", "", "FILE", "The group of every judged row"),
    IS(READ, "within", "", "FILE",
       "The stratum of every training row (--yhat: judged row) for controls"),
    IS(TEXT, "mass-window", "", "DA",
       "The same by exact masses of outputs, in strata of this width in Da"),
    IS(READ, "names", "", "FILE",
       "What should not tell the output: names, batches, one per training row"),
    IS(READ, "candidates", "", "FILE", "The list from which outputs are chosen"),
    IS(READ, "errors", "", "FILE",
       "Left-out errors of the settings among which was chosen, a column each"),
    IS(READ, "p-values", "", "FILE",
       "Conformal p-values of the truth, one per judged row"),
    IS(TEXT, "checks", "blind,leak,dependence,selection,guarantee,stability", "LIST",
       "Which checks, between commas"),
    IS(TEXT, "fail-on", "", "LIST",
       "Exit with 3 where one of these checks (or any) is red; any:yellow: or yellow"),
    IS(INT, "permutations", "200", "N", "Permutations of the tests"),
    PAGE,
    {0}};
static const okra_option split_rows[] = {
    CHOICE("by", text, "random", "random|groups|similarity|order|scaffold", "WHAT",
           "What stays together"),
    IS(READ, "x", "", "FILE", "Objects, for similarity, scaffold and the report"),
    IS(READ, "key", "", "FILE", "One group, time or mass per row; order: masses of --x"),
    IS(TEXT, "kx", "linear", "EXPR", "Kernel of --x"),
    IS(INT, "folds", "5", "K", "How many folds"),
    IS(INT, "inner", "0", "K", "Nested: how many inner folds, a column per outer fold"),
    IS(WRITTEN, "output", "", "FILE.csv", "The fold of every row, then the inner folds"),
    {0}};
static const okra_option explain_rows[] = {
    IS(READ, "x", "", "FILE", "Inputs"),
    IS(TEXT, "rows", "", "LIST",
       "Which, counted from 0, between commas; the first ten if not given"),
    IS(READ, "candidates", "", "FILE", "The answers; training outputs if not given"),
    IS(INT, "top", "5", "K", "How many parts and pairs to print"),
    PAGE,
    {0}};
static const okra_option next_rows[] = {
    IS(READ, "x", "", "FILE", "Inputs without outputs"),
    IS(INT, "count", "10", "K", "How many, as one batch"),
    PAGE,
    {0}};

#define IN_PYTHON(called, what, how, more, lines, takes)                              \
    {                                                                                 \
        .name = called, .purpose = what, .usage = how,                                \
        .about = more "The program okra-audit does the work; it "                     \
                      "comes with okra's Python package.\n",                          \
        .examples = lines, .own = {called, takes##_rows, 0}, .refuses = "engine bag", \
        .operand = "MODEL", .operands_most = 60, .python = true, .run = run_python,   \
    }

const cli_command cli_audit =
    IN_PYTHON("audit", "Check whether a result is real",
              "--x FILE --y FILE [--test-x FILE --test-y FILE] [flags]",
              "Blind controls, leaks, dependence, selection, guarantees and stability: a "
              "light and\none sentence a check. Other flags are those of 'okra fit', the "
              "recipe; what "
              "is not\ngiven is chosen.\n",
              "okra audit --x train_x.npy --y train_y.npy --test-x x.npy --test-y y.npy\n"
              "okra audit --model m.okra --test-x x.npy --test-y y.npy --fail-on leak\n"
              "okra audit --y y.npy --yhat predicted.npy --metric mse -o audit.html\n",
              audit);
const cli_command cli_split = IN_PYTHON(
    "split", "Divide data into fair folds",
    "--by WHAT [--x FILE] [--key FILE] --folds K -o FILE [flags]",
    "By group, similarity, order or scaffold; a report of what crosses. okra "
    "select\n--folds takes the file.\n",
    "okra split --by similarity --x mols.smi --kx 'ecfp | tanimoto' -o folds.csv\n"
    "okra split --by groups --key group.csv --folds 5 -o folds.csv\n",
    split);
const cli_command cli_explain = IN_PYTHON(
    "explain", "Show which part of an input decided", "MODEL --x FILE [flags]",
    "The share of each letter, atom, peak, column or label, and the training pairs "
    "that\ncarried the answer.\n",
    "okra explain m.okra --x x.npy --rows 0,1\n", explain);
const cli_command cli_next =
    IN_PYTHON("next", "Choose what to measure next", "MODEL --x FILE [flags]",
              "Inputs whose outputs would shrink the variance of predictions most, in "
              "batches.\n",
              "okra next m.okra --x pool.npy --count 10\n", next);
