/*
 * topics.c: okra help TOPIC: which kernels, methods, decoders, metrics and file formats
 * there are, all of a kind or one by its name; all from the tables.
 */
#include "commands.h"
#include "okra/program.h"

#include <string.h>

enum { WIDTH = CLI_HELP_WIDTH };

bool cli_help_low_rank(const char *name)
{
    static const char list[] = " twin low-rank low-rank-x low-rank-y solver cg-tolerance "
                               "cg-iterations checkpoint ";
    char spaced[80];
    snprintf(spaced, sizeof spaced, " %s ", name);
    return strstr(list, spaced) != NULL;
}

typedef const char *(*lister)(size_t index, const char **help,
                              const okra_option_table **parameters);

/* All of them, or the one of a name (NULL: all) after a line that says what it is. */
static void list(FILE *out, lister next, const char *prefix, const char *one,
                 const char *what)
{
    const char *help, *name;
    const okra_option_table *parameters;
    for (size_t i = 0; (name = next(i, &help, &parameters)); i++) {
        if (one && strcmp(one, name) != 0) {
            continue;
        }
        if (one) {
            fprintf(out, "%s%s':\n\n", what, name);
        }
        fprintf(out, "%s\n", name);
        fputs("    ", out);
        cli_wrap(out, help, 4, 4, WIDTH);
        if (parameters) {
            cli_help_rows(out, parameters, prefix);
        }
    }
}

static void help_kernels(FILE *out)
{
    fputs("A kernel is written as an expression:\n"
          "  name(param=value,...)     rbf(sigma=4)   linear   poly(degree=3,coef0=1)\n"
          "  0.5*A + 0.5*B,  A * B     sums, products, scalings; ( ) groups\n"
          "  A | normalize | rbf(...)  a pipe transforms the values of the Gram matrix\n"
          "\nKernels:\n\n",
          out);
    list(out, okra_kernel_name, "", NULL, NULL);
    fputs("\nTransformations, after a pipe:\n\n", out);
    list(out, okra_transform_name, "", NULL, NULL);
}

static const struct {
    okra_trait trait;
    const char *text;
} traits[] = {
    {OKRA_TRAIT_MISSING, "outputs with missing values"},
    {OKRA_TRAIT_UNLABELLED, "inputs without outputs"},
    {OKRA_TRAIT_LOW_RANK, "low rank without n x n matrices"},
    {OKRA_TRAIT_PATH, "several lambdas together"},
    {OKRA_TRAIT_LEAVE_OUT, "leaving out in closed form"},
    {OKRA_TRAIT_VARIANCE, "variance of a prediction"},
    {OKRA_TRAIT_WEIGHTS, "weights of pairs"},
    {OKRA_TRAIT_LINKS, "links alone"},
};

static void help_methods(FILE *out)
{
    fputs("Methods of 'okra fit --method NAME', with their flags:\n\n", out);
    list(out, okra_method_name, "--", NULL, NULL);
    fputs("\nWhat they can do:\n\n", out);
    for (size_t t = 0; t < sizeof traits / sizeof *traits; t++) {
        fprintf(out, "  %s:", traits[t].text);
        const char *name;
        for (size_t i = 0; (name = okra_method_name(i, NULL, NULL)) != NULL; i++) {
            if (okra_method_has(name, traits[t].trait)) {
                fprintf(out, " %s", name);
            }
        }
        fputc('\n', out);
    }
}

static void help_decoders(FILE *out)
{
    fputs("Decoders of 'okra predict --decode NAME', with their flags:\n\n", out);
    list(out, okra_decoder_name, "--", NULL, NULL);
}

static void help_metrics(FILE *out)
{
    fputs("Metrics of 'okra score --metric NAME:param=value,...':\n\n", out);
    list(out, okra_metric_name, "", NULL, NULL);
}

static void help_formats(FILE *out)
{
    fputs(
        "A file's extension tells its format; 'type:FILE' overrides it; '-' is standard\n"
        "input or output.\n\n",
        out);
    fputs(okra_data_formats(), out);
    fputs(cli_ends(okra_data_formats(), "\n") ? "" : "\n", out);
}

static void help_flags(FILE *out)
{
    fputs("Flags of every command:\n\n", out);
    cli_help_rows(out, &cli_common_table, "--");
}

static void help_low_rank(FILE *out)
{
    size_t count = 0;
    const okra_option_table *const *tables = okra_option_tables("fit", &count);
    fputs("Flags of 'okra fit' and 'okra select' for large training sets, where kernels "
          "are\n"
          "of low rank, and for kernels that are learned:\n\n",
          out);
    for (size_t i = 0; i < 2 && i < count; i++) { /* those of fit, then of ridge */
        for (const okra_option *row = tables[i]->rows; row && row->name; row++) {
            if (cli_help_low_rank(row->name)) {
                cli_help_row(out, row, "--");
            }
        }
    }
}

static const struct {
    const char *name;
    void (*print)(FILE *out);
} topics[] = {
    {"kernels", help_kernels},   {"methods", help_methods}, {"decoders", help_decoders},
    {"metrics", help_metrics},   {"formats", help_formats}, {"flags", help_flags},
    {"low-rank", help_low_rank},
};
enum { TOPICS = sizeof topics / sizeof *topics };

/* ---- one kernel, method, decoder or metric ---- */

static const struct {
    lister next;
    const char *prefix, *what;
} things[] = {
    {okra_method_name, "--", "Method, as in 'okra fit --method "},
    {okra_kernel_name, "", "Kernel, as in 'okra fit --kx "},
    {okra_transform_name, "", "Transformation of a kernel, as in 'KERNEL | "},
    {okra_decoder_name, "--", "Decoder, as in 'okra predict --decode "},
    {okra_metric_name, "", "Metric, as in 'okra score --metric "},
};
enum { THINGS = sizeof things / sizeof *things };

/* All that have the name. */
static bool help_thing(FILE *out, const char *name)
{
    bool found = false;
    for (size_t k = 0; k < THINGS; k++) {
        const char *help, *one;
        const okra_option_table *parameters;
        for (size_t i = 0; (one = things[k].next(i, &help, &parameters)); i++) {
            if (strcmp(one, name) == 0) {
                fputs(found ? "\n" : "", out);
                list(out, things[k].next, things[k].prefix, name, things[k].what);
                found = true;
            }
        }
    }
    return found;
}

void cli_each_topic(FILE *out, void (*each)(FILE *out, const char *name))
{
    const char *help, *one;
    const okra_option_table *parameters;
    for (size_t i = 0; i < TOPICS; i++) {
        each(out, topics[i].name);
    }
    for (size_t k = 0; k < THINGS; k++) {
        for (size_t i = 0; (one = things[k].next(i, &help, &parameters)); i++) {
            each(out, one);
        }
    }
}

static int unknown_topic(const cli_run *run, const char *name)
{
    const char *names[512], *help, *one;
    const okra_option_table *parameters;
    size_t count = 0;
    for (; count < TOPICS; count++) {
        names[count] = topics[count].name;
    }
    for (size_t i = 0; cli_commands[i] && count < 512; i++) {
        names[count++] = cli_commands[i]->name;
    }
    for (size_t k = 0; k < THINGS; k++) {
        for (size_t i = 0; (one = things[k].next(i, &help, &parameters)) && count < 512;
             i++) {
            names[count++] = one;
        }
    }
    const char *near = okra_nearest(name, names, count);
    return near ? cli_usage(run, "there is no topic '%s'; did you mean '%s'?", name, near)
                : cli_usage(
                      run,
                      "there is no topic '%s'; expected a command, kernels, methods, "
                      "decoders, metrics, formats, flags, low-rank, or the name of one",
                      name);
}

int cli_help_topic(const cli_run *run, FILE *out, const char *name)
{
    for (size_t i = 0; i < TOPICS; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            topics[i].print(out);
            return CLI_DONE;
        }
    }
    return help_thing(out, name) ? CLI_DONE : unknown_topic(run, name);
}
