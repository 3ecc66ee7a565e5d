/*
 * program.c: starts okra-report, the program that draws.
 */
#include "report/report.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ARGUMENTS = 128 };

/* `name` in the folders of PATH; one that is not absolute could be the current folder. */
static bool in_path(const char *name, char *file, size_t size)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        snprintf(file, size, "%.*s/%s", (int)length, at, name);
        if (*at == '/' && access(file, X_OK) == 0) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

static bool beside(char *file, size_t size)
{
    char own[PATH_MAX] = "";
    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0 || !strrchr(own, '/')) {
        return false;
    }
    *strrchr(own, '/') = '\0';
    return snprintf(file, size, "%s/okra-report", own) < (int)size &&
           access(file, X_OK) == 0;
}

/* -1: it could not be started; else its exit status, 128 + signal. */
static int run_program(const char *file, const char **arguments, bool silent)
{
    pid_t child;
    int ended = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (silent) {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    }
    fflush(NULL);
    int failed = posix_spawn(&child, file, &actions, NULL,
                             (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    while (!failed && waitpid(child, &ended, 0) < 0) {
        failed = errno == EINTR ? 0 : errno;
    }
    return failed               ? -1
           : WIFEXITED(ended)   ? WEXITSTATUS(ended)
           : WIFSIGNALED(ended) ? 128 + WTERMSIG(ended)
                                : 1;
}

/* The current folder, which Python would look into first, is taken from its path. */
#define IMPORTED \
    "import sys; sys.path[:] = [p for p in sys.path if p]; import okra_report.main"

/* What is typed before the arguments; false where there is nothing that draws. */
static bool find(char *file, size_t size, const char **first, int *count)
{
    const char *try[] = {"python3", "-c", IMPORTED, NULL};
    first[(*count)++] = "okra-report";
    if (beside(file, size) || in_path("okra-report", file, size)) {
        return true;
    }
    first[(*count)++] = "-c";
    first[(*count)++] = IMPORTED "; sys.exit(okra_report.main.main())";
    return in_path("python3", file, size) && run_program(file, try, true) == 0;
}

static int missing(const cli_run *run)
{
    return cli_failure(run,
                       "the program okra-report, which draws pages and figures, is "
                       "missing: it is neither beside okra nor in PATH, and python3 has "
                       "no okra_report. It comes with okra's Python package: pip install "
                       "okra, apt install python3-okra, or make install-python");
}

int report_check(const cli_run *run)
{
    char file[PATH_MAX];
    const char *first[4];
    int count = 0;
    return find(file, sizeof file, first, &count) ? CLI_DONE : missing(run);
}

/* The value as a file without a name, which the child inherits; NULL: no room for it. */
static FILE *as_file(const json_t *value)
{
    FILE *file = tmpfile();
    if (file && (json_dumpf(value, file, JSON_REAL_PRECISION(17) | JSON_COMPACT) != 0 ||
                 fflush(file) != 0)) {
        fclose(file);
        return NULL;
    }
    return file;
}

int report_start(const cli_run *run, const char *const *arguments, const json_t *extra)
{
    char path[PATH_MAX], name[64], given[32];
    const char *all[ARGUMENTS] = {NULL};
    int count = 0;
    if (!okra_context_is_primary(run->context)) { /* one of many processes draws */
        return CLI_DONE;
    }
    if (!find(path, sizeof path, all, &count)) {
        return missing(run);
    }
    FILE *file = extra ? as_file(extra) : NULL;
    if (extra && (!file || cli_json_lost())) {
        return cli_failure(run, "could not hand the results to okra-report: %s",
                           cli_json_lost() ? "out of memory" : strerror(errno));
    }
    snprintf(name, sizeof name, "--name=okra %s", run->command->name);
    all[count++] = name;
    if (run->common.quiet) {
        all[count++] = "--quiet";
    }
    while (*arguments && count < ARGUMENTS - 2) {
        all[count++] = *arguments++;
    }
    if (file) {
        snprintf(given, sizeof given, "/dev/fd/%d", fileno(file));
        all[count++] = given;
    }
    int status = run_program(path, all, false);
    if (file) {
        fclose(file);
    }
    if (status < 0 || status > 128) {
        return status == 128 + 2 ? CLI_FAILED
                                 : cli_failure(run, "%s did not end as it should", path);
    }
    return status ? CLI_FAILED : CLI_DONE;
}

int report_draw(const cli_run *run, const json_t *results, const char *output,
                const char *title, const char *figure)
{
    const char *arguments[] = {"-o",       output, "--title", title,
                               "--figure", figure, "--",      NULL};
    return report_start(run, arguments, results);
}
