/*
 * link.c: okra link: ranks unknown links of a network by what is known of its nodes.
 */
#include "train/choose.h"
#include "commands.h"
#include "predict/link_job.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS link_fields
static const okra_option rows[] = {
    ROW(READ, "x", x, NULL, "FILE",
        "Descriptions of all nodes, one per row; several of them: --x for each, kernels "
        "with @1, @2, ...; a Gram matrix: nodes x nodes, with --kx precomputed"),
    ROW(READ, "nodes", nodes, "", "FILE",
        "Names of the nodes, one per line in the order of --x, or TABLE:COLUMN; without "
        "it they are called 0, 1, 2, ..."),
    ROW(READ, "edges", edges, NULL, "FILE",
        "Known edges between labelled nodes: two names a line, and perhaps a weight"),
    ROW(READ, "labelled", labelled, "", "FILE",
        "Nodes whose edges with one another are all known, one per line; without it the "
        "nodes of --edges"),
    ROW(READ, "unlabelled", unlabelled, "", "FILE",
        "The new nodes that help where --lambda2 is given, one per line; the others are "
        "unseen while learning. Without it all help"),
    ROW(READ, "y", y, "", "FILE",
        "The Gram matrix of the labelled nodes, in the order of --labelled, in place of "
        "a kernel of the known edges"),
    ROW(TEXT, "beta", beta, "1", "V|auto",
        "Time of the diffusion on the known network where --ky is not given; auto: the "
        "one of most information"),
    ROW(TEXT, "norm", norm, "auto", "V|auto",
        "The score is <h(u), h(v)> / (|h(u)| |h(v)|)^V: 0 the inner product, 1 the "
        "cosine; auto: 0.5, 0.75 or 1, by left-out links. More than 0 normalises the "
        "diffusion kernel, too"),
    ROW(BOOL, "known", known, "no", "",
        "A labelled node stands for its known place in the network, not for its "
        "prediction"),
    ROW(READ, "pairs", pairs, "all", "lu|uu|all|FILE",
        "Which pairs to rank: a labelled and a new node, two new ones, both kinds, or "
        "those of a file"),
    RANGE(INT, "top", top, "0", 0, 1e15, "K", "Keep the K best pairs (0: all)"),
    ROW(WRITTEN, "output", output, "", "FILE",
        "The ranked pairs: node_a, node_b, score; a score ranks, it is no probability"),
    RANGE(NUMBER, "fdr", fdr, "0", 0, 0.999, "V",
          "Write a list of links of which a share V at most is false on average, with "
          "p-values, in place of a ranking"),
    RANGE(NUMBER, "hold-back", hold_back, "0.3", 1e-9, 0.999, "V",
          "The share of labelled nodes that calibrates --fdr"),
    ROW(READ, "truth", truth, "", "FILE",
        "True edges, to print areas under the curves and precision at k"),
    ROW(TEXT, "at", at, "10,100,1000", "K[,K...]", "The k of precision at k"),
    ROW(WRITTEN, "network", network, "", "FILE",
        "The predicted network: the known edges and the best pairs, up to the density of "
        "the known ones"),
    ROW(WRITTEN, "plot", plot, "", "FILE.svg",
        "A picture of the predicted network, beside the true one if given"),
    /* What goes on to the library, where `auto` is not known. */
    ROW(TEXT, "kx", kx, "auto", "EXPR",
        "Kernel of the descriptions, e.g. 'rbf(sigma=4)'; auto: chosen by leave-one-out "
        "from a few that fit the kind of objects"),
    ROW(TEXT, "lambda", lambda, "auto", "V",
        "Regularisation; auto: by leave-one-out, or by five folds where that has no "
        "closed form"),
    {0}};

/* The expected precision below which a predicted network is mostly noise. */
#define WEAK 0.2

static void clear(link_job *j)
{
    okra_data_free(j->x);
    okra_data_free(j->gram);
    cli_nodes_clear(&j->nodes);
    cli_known_clear(&j->known);
    free(j->unlabelled);
    free(j->truth);
    if (j->which) {
        okra_link_list_free(j->pairs);
    } else {
        free(j->pairs);
    }
    okra_link_p_values_free(j->p_values);
    okra_link_list_free(j->network);
    okra_links_free(j->links);
    okra_selection_free(j->selection);
    free(j->command);
    okra_ranking_free(j->ranking);
    for (int k = 0; k < LINK_BASELINES; k++) {
        okra_ranking_free(j->baseline[k]);
    }
}

/* ---- what goes in ---- */

static int check(const cli_run *run, link_job *j)
{
    const link_fields *f = &j->f;
    j->which = strcmp(f->pairs, "lu") == 0    ? OKRA_LINK_LABELLED_NEW
               : strcmp(f->pairs, "uu") == 0  ? OKRA_LINK_NEW_NEW
               : strcmp(f->pairs, "all") == 0 ? OKRA_LINK_ALL
                                              : (okra_link_pairs)0;
    REFUSE_IF(!*f->output && !*f->truth && !*f->network && !*f->plot,
              "nothing to do: give -o, --truth, --network or --plot a file");
    REFUSE_IF(*f->plot && !cli_ends(f->plot, ".svg"),
              "--plot is '%s', expected a name in .svg", f->plot);
    REFUSE_IF(!j->which && (*f->network || *f->plot),
              "--network and --plot take whole kinds of pairs: --pairs "
              "lu, uu or all");
    REFUSE_IF(f->fdr > 0 && (!j->which || !*f->output || f->top > 0),
              "--fdr writes a list of its own: it needs -o and --pairs lu, "
              "uu or all, and --top has no use");
    REFUSE_IF(f->fdr == 0 && okra_options_is_set(run->options, "hold-back"),
              "--hold-back has no use without --fdr");
    REFUSE_IF(okra_options_is_set(run->options, "at") && !*f->truth,
              "--at has no use without --truth");
    REFUSE_IF(*f->unlabelled && !okra_options_is_set(run->library, "lambda2"),
              "--unlabelled has no use without --lambda2");
    REFUSE_IF(okra_options_is_set(run->options, "beta") &&
                  (*f->y || okra_options_is_set(run->library, "ky")),
              "--beta is of the diffusion kernel that stands in for --ky: "
              "it has no use with %s",
              *f->y ? "--y" : "--ky");
    CHK(cli_check_writable(run, f->output));
    CHK(cli_check_writable(run, f->network));
    CHK(cli_check_writable(run, f->plot));
    return *f->plot ? report_check(run) : CLI_DONE;
}

static int read_all(cli_run *run, link_job *j)
{
    const link_fields *f = &j->f;
    bool gram = okra_kernel_has(okra_options_get(run->library, "kx"), OKRA_KERNEL_GIVEN);
    CHK(cli_read_gram(run, f->x, gram, &j->x));
    CHK(cli_nodes_read(run, f->nodes, okra_data_count(j->x), &j->nodes));
    CHK(cli_known_read(run, &j->nodes, f->labelled, f->edges, &j->known));
    if (*f->unlabelled) {
        CHK(cli_nodes_list(run, &j->nodes, f->unlabelled, &j->unlabelled,
                           &j->unlabelled_count));
        if (j->unlabelled_count == 0) {
            return cli_failure(run, "%s names no node", f->unlabelled);
        }
    }
    CHK(*f->y ? cli_read_gram(run, f->y, true, &j->gram) : CLI_DONE);
    if (*f->truth) {
        CHK(cli_nodes_pairs(run, &j->nodes, f->truth, NULL, NULL, &j->truth,
                            &j->truth_count));
    }
    return j->which ? CLI_DONE
                    : cli_nodes_pairs(run, &j->nodes, f->pairs, NULL, NULL, &j->pairs,
                                      &j->pair_count);
}

/* ---- the work ---- */

/* The pairs of a file, scored and sorted; against the truth if there is one. */
static int rank_given(cli_run *run, link_job *j)
{
    OWNED double *score = NULL;
    OWNED unsigned char *positive = NULL;
    TRY(okra_link_score(run->context, j->links, j->pairs, j->pair_count));
    MAKE(score, j->pair_count);
    MAKE(positive, j->pair_count);
    for (okra_int k = 0; k < j->pair_count; k++) {
        score[k] = j->pairs[k].value;
        positive[k] = link_is_true(j, &j->pairs[k]);
    }
    if (*j->f.truth) {
        TRY(okra_ranking_create(j->pair_count, score, positive, &j->ranking));
    }
    if (j->pair_count > 0) {
        qsort(j->pairs, (size_t)j->pair_count, sizeof *j->pairs, link_by_value);
    }
    if (j->f.top > 0 && j->f.top < j->pair_count) {
        j->pair_count = j->f.top;
    }
    return CLI_DONE;
}

/* As many of the best pairs as make the new part as dense as the known one. The precision
 * to expect is that of as large a share of the labelled pairs. */
static int predict_network(cli_run *run, link_job *j)
{
    FREED_BY(okra_ranking_free_at) okra_ranking *training = NULL;
    TRY(okra_link_training(run->context, j->links, &training, &j->left_out));
    double n = (double)j->known.labelled_count, edges = (double)j->known.edge_count;
    double density = edges / (n * (n - 1) / 2);
    double wanted = density * (double)okra_link_count(j->links, j->which);
    okra_int count = wanted < 1 ? 1 : (okra_int)(wanted + 0.5);
    j->precision = okra_ranking_precision(training, j->known.edge_count);
    TRY(okra_link_rank(run->context, j->links, j->which, count, -(double)INFINITY,
                       &j->network, &j->network_count));
    if (j->left_out && j->precision < WEAK) {
        cli_warn(run,
                 "the ranking is weak: about %.0f of the %lld predicted links are "
                 "expected to be right",
                 j->precision * (double)j->network_count, (long long)j->network_count);
    }
    return CLI_DONE;
}

/* Against the truth, and beside what needs no description of nodes. */
static int evaluate(cli_run *run, link_job *j)
{
    int best = 0;
    TRY(okra_link_evaluate(run->context, j->links, j->which, j->truth, j->truth_count,
                           &j->ranking));
    for (int k = 0; k < LINK_BASELINES; k++) {
        TRY(okra_link_evaluate_baseline(run->context, j->links, j->which,
                                        (okra_link_baseline)k, j->truth, j->truth_count,
                                        &j->baseline[k]));
        if (okra_ranking_auc_pr(j->baseline[k]) >
            okra_ranking_auc_pr(j->baseline[best])) {
            best = k;
        }
    }
    if (okra_ranking_positives(j->ranking) > 0 &&
        okra_ranking_auc_pr(j->baseline[best]) > okra_ranking_auc_pr(j->ranking)) {
        cli_warn(run,
                 "'%s' ranks these links better (AUC-PR %.4f against %.4f): the "
                 "descriptions tell little of them",
                 link_baselines[best], okra_ranking_auc_pr(j->baseline[best]),
                 okra_ranking_auc_pr(j->ranking));
    }
    return CLI_DONE;
}

/* What is left open is chosen. */
static int choose_norm(cli_run *run, const link_job *j, const okra_link_task *task,
                       okra_link_settings *settings)
{
    char text[32];
    if (strcmp(j->f.norm, "auto") != 0) {
        return CLI_DONE;
    }
    TRY(okra_link_norm(run->context, task, run->library, settings, &settings->norm));
    snprintf(text, sizeof text, "%g", settings->norm);
    return cli_status(run, okra_options_set(run->options, "norm", text));
}

static int choose(cli_run *run, link_job *j, const okra_link_task *task,
                  okra_link_settings *settings)
{
    choose_open open = {j->f.kx, "linear", j->f.lambda, NULL};
    if (!choose_needed(run, &open)) {
        return choose_norm(run, j, task, settings);
    }
    TRY(choose_links(run, task, settings, &j->selection));
    CHK(choose_norm(run, j, task, settings));
    j->command = choose_command(run, NULL);
    GOT(j->command);
    if (j->selection) {
        choose_summary(j->selection, j->known.labelled_count, j->chosen,
                       sizeof j->chosen);
    } else {
        snprintf(j->chosen, sizeof j->chosen, "a guess: nothing could be left out");
    }
    return CLI_DONE;
}

static int work(cli_run *run, link_job *j)
{
    const link_fields *f = &j->f;
    okra_link_task task = cli_known_task(&j->known, j->x, j->gram);
    okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .known = f->known,
                                   .unlabelled = j->unlabelled,
                                   .unlabelled_count = j->unlabelled_count};
    CHK(cli_beta(run, f->beta, &settings.beta));
    CHK(cli_norm(run, f->norm, &settings.norm));
    if (j->which && j->known.labelled_count == okra_data_count(j->x)) {
        cli_warn(
            run,
            "all %lld nodes are labelled, which leaves no pair unknown: --labelled FILE "
            "names the nodes whose edges are all known, --pairs FILE pairs to rank",
            (long long)j->known.labelled_count);
    }
    CHK(choose(run, j, &task, &settings));
    j->norm = settings.norm;
    TRY(okra_link_fit(run->context, &task, run->library, &settings, &j->links));
    if (!j->which) {
        return rank_given(run, j);
    }
    if (f->fdr > 0) {
        TRY(okra_link_discover(run->context, &task, run->library, &settings, j->which,
                               f->fdr, f->hold_back, &j->pairs, &j->p_values,
                               &j->pair_count));
    } else if (*f->output) {
        TRY(okra_link_rank(run->context, j->links, j->which, f->top, -(double)INFINITY,
                           &j->pairs, &j->pair_count));
    }
    CHK(*f->truth ? evaluate(run, j) : CLI_DONE);
    return *f->network || *f->plot ? predict_network(run, j) : CLI_DONE;
}

static int check_at(const cli_run *run, const char *list)
{
    for (const char *p = list; *p;) {
        char *end = NULL;
        long long k = strtoll(p, &end, 10);
        REFUSE_IF(end == p || k < 1 || (*end && (*end != ',' || !end[1])),
                  "--at is '%s', expected numbers from 1 between commas", list);
        p = *end ? end + 1 : end;
    }
    return CLI_DONE;
}

static int run_link(cli_run *run)
{
    FREED_BY(clear) link_job j = {.which = 0};
    double begin = cli_now();
    TRY(cli_fields(run, &j.f));
    choose_open typed = {j.f.kx, "auto", j.f.lambda, NULL};
    TRY(choose_pass_on(run, &typed));
    CHK(check(run, &j));
    CHK(check_at(run, j.f.at));
    CHK(read_all(run, &j));
    CHK(work(run, &j));
    j.seconds = cli_now() - begin;
    CHK(link_write(run, &j));
    if (run->common.json) {
        return cli_print_json(run, link_json(run, &j));
    }
    if (!run->common.quiet) {
        link_print(&j);
    }
    return CLI_DONE;
}

const cli_command cli_link = {
    .name = "link",
    .purpose = "Rank the unknown links of a network",
    .usage = "--x FILE --edges FILE [--labelled FILE] -o RANKED.tsv [flags]",
    .about =
        "okra chooses a kernel and lambda that you do not give. It prints the full "
        "command,\nso that you can repeat it without the search.\n\nThe edges among some "
        "nodes, the labelled ones, are known; every node has a\ndescription. A method "
        "learns from "
        "descriptions to places in the known network,\nand the score of a pair says how "
        "similar two predictions are (--norm).\nA score ranks pairs and is no "
        "probability. Both ends are predicted, also of labelled\nnodes, unless --known "
        "is given. A known network in several pieces is fine: pieces\nhave similarity 0. "
        "An edge that comes again, either way round, counts once.\nWith --lambda2 the "
        "new nodes help as inputs without outputs.\n",
    .examples = "okra link --x features.npy --edges known.tsv -o ranked_links.tsv\n"
                "okra link --x features.npy --edges known.tsv --labelled nodes.txt \\\n"
                "    --kx 'rbf(sigma=4)' --lambda 0.1 --top 1000 -o ranked_links.tsv\n"
                "okra link --x K.npy --kx precomputed --edges known.tsv --pairs lu \\\n"
                "    --truth all.tsv --network predicted.tsv --plot network.svg\n",
    .gathers = " x ",
    .refuses = "bag",
    .own = {"link", rows, sizeof(link_fields)},
    .topic = "fit",
    .common = " x nodes edges labelled top output truth kx lambda method ",
    .run = run_link,
};
