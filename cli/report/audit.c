/*
 * audit.c: okra audit, split, explain and next. The program okra-audit, written in
 * Python, reads their flags and does the work.
 */
#include "commands.h"
#include "report/report.h"

static int run_python(cli_run *run)
{
    return report_start(run, OKRA_AUDIT, (const char *const *)run->typed + 2, NULL);
}

static const okra_option none[] = {{0}};

#define IN_PYTHON(called, what, how, more, lines)                      \
    {                                                                  \
        .name = called, .purpose = what, .usage = how,                 \
        .about = more "'okra " called " --help' lists the flags. The " \
                      "program okra-audit does the work;\nit comes "   \
                      "with okra's Python package.\n",                 \
        .examples = lines, .own = {called, none, 0},                   \
        .refuses = "engine strict memory threads", .operand = "FILE",  \
        .operands_most = 60, .python = true, .run = run_python,        \
    }

const cli_command cli_audit =
    IN_PYTHON("audit", "Check whether a result is real",
              "--x FILE --y FILE [--test-x FILE --test-y FILE] [flags]",
              "Blind controls, leaks, dependence, selection, guarantees and stability: a "
              "light and\none sentence a check.\n",
              "okra audit --x train_x.npy --y train_y.npy --test-x x.npy --test-y y.npy\n"
              "okra audit --model m.okra --test-x x.npy --test-y y.npy --fail-on leak\n"
              "okra audit --y y.npy --yhat predicted.npy --metric mse -o audit.html\n");
const cli_command cli_split = IN_PYTHON(
    "split", "Divide data into fair folds",
    "--by WHAT [--x FILE] [--key FILE] --folds K -o FILE [flags]",
    "By group, similarity, order or scaffold; a report of what crosses. okra "
    "select\n--folds takes the file.\n",
    "okra split --by similarity --x mols.smi --kx 'tanimoto(ecfp)' -o folds.csv\n"
    "okra split --by groups --key group.csv --folds 5 -o folds.csv\n");
const cli_command cli_explain = IN_PYTHON(
    "explain", "Show which part of an input decided", "MODEL --x FILE [flags]",
    "The share of each letter, atom, peak, column or label, and the training pairs "
    "that\ncarried the answer.\n",
    "okra explain m.okra --x x.npy --rows 0,1\n");
const cli_command cli_next =
    IN_PYTHON("next", "Choose what to measure next", "MODEL --x FILE [flags]",
              "Inputs whose outputs would shrink the variance of predictions most, in "
              "batches.\n",
              "okra next m.okra --x pool.npy --count 10\n");
