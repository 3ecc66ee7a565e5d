/*
 * info.c: okra info: what a model file holds.
 */
#include "train/pairs.h"
#include "commands.h"
#include "okra/program.h"

#include <string.h>
#include <sys/stat.h>

static const okra_option rows[] = {{0}};

static void print_shape(const char *name, const json_t *array)
{
    const json_t *shape = json_object_get(array, "shape");
    char sizes[64] = "";
    for (size_t i = 0; i < json_array_size(shape); i++) {
        size_t length = strlen(sizes);
        snprintf(sizes + length, sizeof sizes - length, "%s%lld", i ? " x " : "",
                 (long long)json_integer_value(json_array_get(shape, i)));
    }
    char shown[256], type[32];
    printf("  %-24s %-4s %s\n", okra_text_printable(name, shown, sizeof shown),
           okra_text_printable(cli_text(array, "dtype", ""), type, sizeof type), sizes);
}

/* Names of columns, of each part of a tuple. */
static void print_columns(const json_t *data)
{
    enum { SHOWN = 20 };
    const json_t *names = json_object_get(data, "columns"),
                 *parts = json_object_get(data, "parts");
    char line[SHOWN * 48] = "", name[44];
    size_t count = json_array_size(names), used = 0;
    for (size_t j = 0; j < count && j < SHOWN; j++) {
        const char *text = json_string_value(json_array_get(names, j));
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", j ? ", " : "",
                                 okra_text_printable(text, name, sizeof name));
    }
    if (count > 0) {
        cli_line(stdout, "  columns", "%s%s", line, count > SHOWN ? ", ..." : "");
    }
    for (size_t k = 0; k < json_array_size(parts); k++) {
        print_columns(json_array_get(parts, k));
    }
}

/* What was chosen, a line each; what is as it is by default, in one line after it. */
static void print_options(json_t *options, const okra_options *plain)
{
    const char *key;
    json_t *value;
    char line[2048] = "";
    size_t used = 0;
    json_object_foreach(options, key, value)
    {
        const char *text = json_string_value(value),
                   *preset = okra_options_get(plain, key);
        bool kernel = strcmp(key, "kx") == 0 || strcmp(key, "ky") == 0;
        if (kernel || !*text) {
            continue;
        }
        if (strcmp(key, "method") == 0 || !preset || strcmp(preset, text) != 0) {
            cli_line(stdout, key, "%s", text);
        } else if (used < sizeof line) {
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s %s",
                                     used ? ", " : "", key, text);
        }
    }
    if (used > 0) {
        cli_line(stdout, "by default", "%s", line);
    }
}

static void print(const char *path, const json_t *about, const okra_options *plain)
{
    char buffer[32];
    struct stat found;
    const char *key;
    json_t *value;
    const json_t *kernels = json_object_get(about, "kernels");
    cli_line(stdout, "model", "%s, %s", path,
             cli_bytes(stat(path, &found) == 0 ? (double)found.st_size : 0, buffer,
                       sizeof buffer));
    cli_line(stdout, "format", "version %lld, written by okra %s",
             (long long)json_integer_value(json_object_get(about, "version")),
             cli_text(about, "okra", ""));
    cli_line_data(stdout, "inputs", json_object_get(about, "x"));
    print_columns(json_object_get(about, "x"));
    cli_line_data(stdout, "outputs", json_object_get(about, "y"));
    print_columns(json_object_get(about, "y"));
    cli_line_calibration(stdout, about);
    cli_line(stdout, "kx", "%s", cli_text(kernels, "x", ""));
    cli_line(stdout, "ky", "%s", cli_text(kernels, "y", ""));
    cli_line_align(stdout, about);
    print_options(json_object_get(about, "options"), plain);
    puts("arrays");
    json_object_foreach(json_object_get(about, "arrays"), key, value)
    {
        print_shape(key, value);
    }
    json_object_foreach(json_object_get(about, "numbers"), key, value)
    {
        cli_line(stdout, key, "%.10g", json_number_value(value));
    }
}

static int run_info(cli_run *run)
{
    char buffer[4096];
    OWNED_MODEL *model = NULL;
    FREED_BY(okra_options_free_at)
    okra_options *plain = NULL; /* the method's own values */
    if (cli_pairs_is(run)) {
        return cli_pairs_info(run);
    }
    CHK(cli_load_model(run, run->operands[0], &model));
    OWNED_JSON *about = json_loads(okra_model_json(model), 0, NULL);
    if (run->common.json) {
        return cli_print_json(run, TAKE(about));
    }
    TRY(okra_fit_options(&plain));
    TRY(okra_options_set(plain, "method", cli_text(about, "method", "ridge")));
    print(cli_find(run, run->operands[0], buffer, sizeof buffer), about, plain);
    return CLI_DONE;
}

const cli_command cli_info = {
    .name = "info",
    .purpose = "Show what a model file holds, after checking all of it",
    .usage = "MODEL [flags]",
    .refuses = "engine strict header bag",
    .about = "--json prints the model's own description, model.json (pairs.json for\n"
             "pairs), as it is.\n",
    .examples = "okra info digits.okra\n"
                "okra info digits.okra --json\n",
    .own = {"info", rows, 1},
    .operands_least = 1,
    .operands_most = 1,
    .operand = "MODEL",
    .run = run_info,
};
