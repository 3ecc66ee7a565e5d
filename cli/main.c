/*
 * main.c: okra COMMAND [flags]: finds the command, reads its flags, sets up the run.
 */
#include "cli.h"
#include "okra/program.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The right code of the matrix library.
 *
 * OpenBLAS chooses its code when it is loaded, before main. Where it took that of a very
 * old processor because it does not know this one (okra_blas_core), the program sets
 * OPENBLAS_CORETYPE and starts itself again with the same arguments; OKRA_RESTARTED keeps
 * it from doing so twice. Where that cannot be done the library warns.
 *
 * The program is started by its path, so that the process keeps its name; where the file
 * was deleted or replaced meanwhile, by the kernel's link to what runs. */

/* Whether it was started as `ld.so okra ...`, whose arguments are not the program's. */
static bool through_loader(const char *file)
{
    const char *name = strrchr(file, '/');
    return name && strncmp(name, "/ld-", 4) == 0;
}

static void restart(char **argv)
{
    const char *better;
    char file[PATH_MAX] = "";
    okra_blas_core(&better);
    if (!better || getenv("OKRA_RESTARTED") ||
        readlink("/proc/self/exe", file, sizeof file - 1) <= 0 || through_loader(file) ||
        setenv("OPENBLAS_CORETYPE", better, 1) != 0 ||
        setenv("OKRA_RESTARTED", "1", 1) != 0) {
        return;
    }
    execv(file, argv);
    execv("/proc/self/exe", argv);
    unsetenv("OPENBLAS_CORETYPE"); /* it did not work: the library will say so */
}

static int unknown_command(const char *name)
{
    const char *names[64];
    size_t count = 0;
    for (; cli_commands[count] && count < 64; count++) {
        names[count] = cli_commands[count]->name;
    }
    const char *near = okra_nearest(name, names, count);
    if (near) {
        fprintf(stderr, "okra: there is no command '%s'; did you mean '%s'?\n", name,
                near);
    } else {
        fprintf(stderr, "okra: there is no command '%s'; 'okra help' lists them\n", name);
    }
    return CLI_USAGE;
}

/* Threads, memory, seed and callbacks of the library's context. */
static okra_status set_up(cli_run *run)
{
    cli_common *c = &run->common;
    okra_context *context = run->context;
    okra_int bytes = 0;
    CHK(okra_options_read(run->options, &cli_common_table, c));
    CHK(okra_context_set_threads(context, (int)c->threads));
    if (*c->memory) {
        CHK(okra_parse_bytes(c->memory, &bytes));
        CHK(okra_context_set_memory(context, bytes));
    }
    CHK(c->strict ? okra_context_set_strict(context, 1) : OKRA_OK);
    if (c->header != 0) { /* of auto|yes|no */
        CHK(okra_context_set_header(context, c->header == 1 ? 1 : -1));
    }
    if (!c->help && strcmp(c->engine, "host") != 0) {
        CHK(okra_context_set_engine(context, c->engine));
    }
    if (okra_context_processes(context) > 1) {
        cli_keep_messages();
        okra_context_set_distributed(context, true);
    }
    if (!okra_context_is_primary(context)) {
        c->quiet = true;
        if (!freopen("/dev/null", "w", stdout)) {
            return OKRA_EIO;
        }
    }
    if (c->seed != 0) {
        okra_context_set_seed(context, (uint64_t)c->seed);
    }
    okra_context_set_warning(context, cli_on_warning, run);
    if (!c->quiet) {
        okra_context_set_progress(context, cli_on_progress, run);
    }
    return OKRA_OK;
}

static bool is_method(const char *name)
{
    const char *known;
    for (size_t i = 0; (known = okra_method_name(i, NULL, NULL)) != NULL; i++) {
        if (strcmp(known, name) == 0) {
            return true;
        }
    }
    return false;
}

static int help(cli_run *run)
{
    const char *method = run->library ? okra_options_get(run->library, "method") : NULL;
    const char *decode = run->library ? okra_options_get(run->library, "decode") : NULL;
    if (method && !is_method(method)) {
        return cli_usage(run, "there is no method '%s'; 'okra help methods' lists them",
                         method);
    }
    bool typed = method && okra_options_is_set(run->library, "method");
    cli_help_screen(stdout, run->command, typed ? method : "", decode ? decode : "");
    return CLI_DONE;
}

static int run_command(cli_run *run, int argc, char **argv)
{
    TRY(okra_context_create(&run->context));
    if (!run->command->python) {
        CHK(cli_parse(run, argc, argv));
        TRY(set_up(run));
        if (run->common.help) {
            return help(run);
        }
        CHK(cli_check_required(run));
    }
    CHK(cli_check_same(run));
    cli_catch_signals(run->context);
    return run->command->run(run);
}

/* The end of one of many processes, or of the only one. What was printed must be whole
 * and have arrived. */
static int end(const cli_run *run, int status)
{
    if (cli_json_lost() && status == CLI_DONE) {
        status = cli_failure(run, "out of memory: what was printed is not whole");
    }
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == CLI_DONE) {
        status = cli_failure(run, "standard output: %s", strerror(errno));
    }
    okra_status failed = status == CLI_DONE ? OKRA_OK : OKRA_EINTERNAL;
    bool talks = true;
    if (okra_context_finish_together(run->context, failed, &talks) != OKRA_OK &&
        status == CLI_DONE) {
        status = cli_status(run, OKRA_ECANCELLED);
    }
    cli_end_messages(talks);
    return status;
}

int main(int argc, char **argv)
{
    restart(argv);
    setlocale(LC_CTYPE, ""); /* what the terminal can show; numbers stay as in C */
    if (argc < 2) {
        cli_help(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    int skip = 2;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        name = "help";
    } else if (strcmp(name, "--version") == 0 || strcmp(name, "--build-info") == 0) {
        skip = strcmp(name, "--version") == 0 ? 2 : 1;
        name = "version";
    }
    cli_run run = {.command = cli_find_command(name), .typed = argv};
    if (!run.command) {
        return unknown_command(name);
    }
    /* OpenBLAS's own exit would wait for ever. */
    if (okra_blas_check() != OKRA_OK) {
        fprintf(stderr, "okra: %s\n", okra_message());
        _exit(CLI_FAILED);
    }
    cli_watch_json();
    int status = end(&run, run_command(&run, argc - skip, argv + skip));
    cli_end_signals();
    int caught = cli_signal_caught();
    okra_options_free(run.options);
    okra_options_free(run.library);
    okra_context_free(run.context);
    return caught && status != CLI_DONE ? 128 + caught : status;
}
