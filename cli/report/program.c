/*
 * program.c: starts the programs that are written in Python: okra-report, which draws,
 * and okra-audit, which judges results.
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

static bool beside(const char *name, char *file, size_t size)
{
    char own[PATH_MAX] = "";
    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0 || !strrchr(own, '/')) {
        return false;
    }
    *strrchr(own, '/') = '\0';
    return snprintf(file, size, "%s/%s", own, name) < (int)size &&
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
#define PACKAGE(module) \
    "import sys; sys.path[:] = [p for p in sys.path if p]; import " module
#define PROGRAM(name, module, does)                         \
    {                                                       \
        name, module, does, PACKAGE(module),                \
            PACKAGE(module) "; sys.exit(" module ".main())" \
    }

static const struct {
    const char *name, *module, *does, *try, *run;
} programs[] = {PROGRAM("okra-report", "okra_report.main", "draws pages and figures"),
                PROGRAM("okra-audit", "okra.checks.main", "judges results")};

/* What is typed before the arguments; false where there is no such program. */
static bool find(report_program p, char *file, size_t size, const char **first,
                 int *count)
{
    const char *try[] = {"python3", "-c", programs[p].try, NULL};
    first[(*count)++] = programs[p].name;
    if (beside(*first, file, size) || in_path(*first, file, size)) {
        return true;
    }
    first[(*count)++] = "-c";
    first[(*count)++] = programs[p].run;
    return in_path("python3", file, size) && run_program(file, try, true) == 0;
}

static int missing(const cli_run *run, report_program p)
{
    return cli_failure(
        run,
        "the program %s, which %s, is missing: it is neither beside okra "
        "nor in PATH, and python3 has no %.*s. It comes with okra's Python "
        "package: pip install okra, apt install python3-okra, or make "
        "install-python",
        programs[p].name, programs[p].does, (int)strlen(programs[p].module) - 5,
        programs[p].module);
}

int report_check(const cli_run *run)
{
    char file[PATH_MAX];
    const char *first[4];
    int count = 0;
    return find(OKRA_REPORT, file, sizeof file, first, &count)
               ? CLI_DONE
               : missing(run, OKRA_REPORT);
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

int report_start(const cli_run *run, report_program p, const char *const *arguments,
                 const json_t *extra)
{
    char path[PATH_MAX], name[64], given[32];
    const char *all[ARGUMENTS] = {NULL};
    int count = 0;
    if (!okra_context_is_primary(run->context)) { /* one of many processes draws */
        return CLI_DONE;
    }
    if (!find(p, path, sizeof path, all, &count)) {
        return missing(run, p);
    }
    FILE *file = extra ? as_file(extra) : NULL;
    if (extra && (!file || cli_json_lost())) {
        return cli_failure(run, "could not hand the results to %s: %s", *all,
                           cli_json_lost() ? "out of memory" : strerror(errno));
    }
    snprintf(name, sizeof name, "--name=okra %s", run->command->name);
    all[count++] = p == OKRA_AUDIT ? run->command->name : name;
    if (run->common.quiet && p == OKRA_REPORT) {
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
    return p == OKRA_AUDIT ? status : status ? CLI_FAILED : CLI_DONE;
}

int report_draw(const cli_run *run, const json_t *results, const char *output,
                const char *title, const char *figure)
{
    const char *arguments[] = {"-o",       output, "--title", title,
                               "--figure", figure, "--",      NULL};
    return report_start(run, OKRA_REPORT, arguments, results);
}
