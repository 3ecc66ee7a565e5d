/*
 * version.c: okra version: the version, and what is built in.
 */
#include "commands.h"
#include "okra/program.h"

#include <string.h>

typedef struct version_fields {
    bool build_info;
} version_fields;

#define FIELDS version_fields
static const okra_option rows[] = {
    ROW(BOOL, "build-info", build_info, "no", "",
        "What is built in, and the threads, memory and seed that a run would use"),
    {0}};

/* The lines "name: value" of the library as members. */
static void add_lines(json_t *object, const char *lines)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n"), name = strcspn(lines, ":");
        if (name < length) {
            char key[64];
            snprintf(key, sizeof key, "%.*s", (int)name, lines);
            const char *value = lines + name + 1;
            size_t skip = strspn(value, " ");
            json_object_set_new(object, key,
                                json_stringn(value + skip, length - name - 1 - skip));
        }
        lines += length + (lines[length] == '\n');
    }
}

static void add_engine(void *user, const char *name, bool runs, const char *text)
{
    json_array_append_new(
        user, json_pack("{s:s, s:b, s:s}", "name", name, "runs", runs, "text", text));
}

static void print_engine(void *user, const char *name, bool runs, const char *text)
{
    (void)user;
    printf("engine %s: %s%s\n", name, runs ? "" : "not here: ", text);
}

static int run_version(cli_run *run)
{
    version_fields f;
    TRY(cli_fields(run, &f));
    const okra_context *c = run->context;
    if (run->common.json) {
        json_t *result = json_pack("{s:s}", "version", okra_version());
        if (result && f.build_info) {
            add_lines(result, okra_build_info());
            json_t *engines = json_array();
            okra_engine_each(add_engine, engines);
            json_object_set_new(result, "engines", engines);
            json_object_set_new(result, "kernels", json_string(okra_blas_core(NULL)));
            json_object_set_new(result, "threads", json_integer(okra_context_threads(c)));
            json_object_set_new(result, "memory", json_integer(okra_context_memory(c)));
            json_object_set_new(result, "seed",
                                json_integer((json_int_t)okra_context_seed(c)));
        }
        return cli_print_json(run, result);
    }
    if (!f.build_info) {
        printf("okra %s\n", okra_version());
        return CLI_DONE;
    }
    char bytes[32];
    const char *info = okra_build_info();
    fputs(info, stdout);
    fputs(*info && cli_ends(info, "\n") ? "" : "\n", stdout);
    okra_engine_each(print_engine, NULL);
    printf("kernels: OpenBLAS for %s\n", okra_blas_core(NULL));
    printf("threads: %d\nmemory: %s\nseed: %llu\n", okra_context_threads(c),
           cli_bytes((double)okra_context_memory(c), bytes, sizeof bytes),
           (unsigned long long)okra_context_seed(c));
    return CLI_DONE;
}

const cli_command cli_version = {
    .name = "version",
    .purpose = "Show the version and what is built in",
    .usage = "[--build-info] [flags]",
    .about = "",
    .refuses = "data engine strict header bag",
    .examples = "okra version\n"
                "okra version --build-info --json\n",
    .own = {"version", rows, sizeof(version_fields)},
    .run = run_version,
};
