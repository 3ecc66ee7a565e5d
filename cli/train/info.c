/*
 * info.c: okra info: what a model file holds.
 */
#include "commands.h"

#include <string.h>
#include <sys/stat.h>

static const okra_option rows[] = {{0}};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

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
           okra_text_printable(text_of(array, "dtype"), type, sizeof type), sizes);
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

static void print(const char *path, const json_t *about)
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
             text_of(about, "okra"));
    cli_line_data(stdout, "inputs", json_object_get(about, "x"));
    print_columns(json_object_get(about, "x"));
    cli_line_data(stdout, "outputs", json_object_get(about, "y"));
    print_columns(json_object_get(about, "y"));
    cli_line_calibration(stdout, about);
    cli_line(stdout, "kx", "%s", text_of(kernels, "x"));
    cli_line(stdout, "ky", "%s", text_of(kernels, "y"));
    cli_line_align(stdout, about);
    json_object_foreach(json_object_get(about, "options"), key, value)
    {
        if (strcmp(key, "kx") != 0 && strcmp(key, "ky") != 0) {
            cli_line(stdout, key, "%s", json_string_value(value));
        }
    }
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
    okra_model *model = NULL;
    const char *path = cli_find(run, run->operands[0], buffer, sizeof buffer);
    int status = cli_status(run, okra_model_load(run->context, path, &model));
    if (status == CLI_DONE && run->common.json) {
        status = cli_print_json(run, json_loads(okra_model_json(model), 0, NULL));
    } else if (status == CLI_DONE) {
        json_t *about = json_loads(okra_model_json(model), 0, NULL);
        print(path, about);
        json_decref(about);
    }
    okra_model_free(model);
    return status;
}

const cli_command cli_info = {
    .name = "info",
    .purpose = "Show what a model file holds, after checking all of it",
    .usage = "MODEL [flags]",
    .refuses = "engine strict",
    .about =
        "With --json the model's own description, model.json, is printed as it is.\n",
    .examples = "okra info digits.okra\n"
                "okra info digits.okra --json\n",
    .own = {"info", rows, 1},
    .operands_least = 1,
    .operands_most = 1,
    .operand = "MODEL",
    .run = run_info,
};
