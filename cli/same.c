/*
 * same.c: a file that a command writes may be none that it reads, and none that it writes
 * otherwise: that is refused before any work. Devices and pipes may be named twice. Which
 * flags read and write, the option tables say.
 */
#include "cli.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 };

/* The folder of a path is the same, and the name in it. */
static bool same_place(const char *a, const char *b)
{
    const char *names[2] = {a, b};
    struct stat folders[2];
    for (int i = 0; i < 2; i++) {
        char folder[PATH];
        const char *slash = strrchr(names[i], '/');
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - names[i]) : 1,
                 slash ? names[i] : ".");
        names[i] = slash ? slash + 1 : names[i];
        if (stat(folder, &folders[i]) != 0) {
            return false;
        }
    }
    return strcmp(names[0], names[1]) == 0 && folders[0].st_dev == folders[1].st_dev &&
           folders[0].st_ino == folders[1].st_ino;
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat first, second;
    bool one = stat(a, &first) == 0, other = stat(b, &second) == 0;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0 || one != other) {
        return false;
    }
    return one ? S_ISREG(first.st_mode) && first.st_dev == second.st_dev &&
                     first.st_ino == second.st_ino
               : same_place(a, b);
}

static bool same_shard(const char *path, const char *pattern)
{
    glob_t found = {0};
    bool same = false;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            same = same || cli_same_file(path, found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return same;
}

static bool same_of_list(const cli_run *run, const char *path, const char *list)
{
    char line[PATH];
    struct stat about;
    bool same = false;
    FILE *f = stat(list, &about) == 0 && S_ISREG(about.st_mode) ? fopen(list, "r") : NULL;
    while (f && !same && fgets(line, sizeof line, f)) {
        char found[PATH];
        line[strcspn(line, "\r\n")] = '\0';
        same = *line && cli_same_file(path, cli_find(run, line, found, sizeof found));
    }
    if (f) {
        fclose(f);
    }
    return same;
}

/* Whether a file is read: "PATH", "labels:PATH", "PATH:COLUMN", "list:PATH", ... */
static bool is_read(const cli_run *run, const char *path, const char *spec)
{
    char buffer[PATH], name[PATH];
    const char *types = cli_find(run, spec, buffer, sizeof buffer);
    path = cli_without_types(path);
    snprintf(name, sizeof name, "%s", cli_without_types(types));
    bool same = cli_same_file(path, spec) || cli_same_file(path, name) ||
                (strncmp(types, "shards:", 7) == 0 && same_shard(path, name)) ||
                (strncmp(types, "list:", 5) == 0 && same_of_list(run, path, name));
    char *colon = strrchr(name, ':');
    if (colon) {
        *colon = '\0';
    }
    return same || (colon && cli_same_file(path, name));
}

/* The same of several, one per line. */
static bool are_read(const cli_run *run, const char *path, const char *specs)
{
    char one[PATH];
    bool same = false;
    for (const char *p = specs; *p && !same; p += strspn(p, "\n")) {
        int length = (int)strcspn(p, "\n");
        same = snprintf(one, sizeof one, "%.*s", length, p) < (int)sizeof one &&
               is_read(run, path, one);
        p += length;
    }
    return same;
}

/* Files that an expression names: "metric(file=PATH)", "matrix:PATH", "file(PATH)". What
 * else stands there is no file that exists. */
static bool is_told(const cli_run *run, const char *path, const char *expression)
{
    char one[PATH];
    bool same = false;
    for (const char *p = strpbrk(expression, "=:("); p && !same; p = strpbrk(p, "=:(")) {
        int length = (int)strcspn(++p, ",)| \n");
        same = snprintf(one, sizeof one, "%.*s", length, p) < (int)sizeof one &&
               access(one, F_OK) == 0 && is_read(run, path, one);
    }
    return same;
}

/* A flag that was given, and its value. */
typedef struct naming {
    const okra_option *row;
    const char *value;
} naming;

/* The flags that were given, at most `most` of them. */
static size_t gather(const cli_run *run, naming *list, size_t most)
{
    size_t count = 0;
    cli_tables t = cli_tables_of(run->command);
    for (const okra_option *row; count < most && (row = cli_next_row(&t));) {
        const okra_options *options =
            t.table > CLI_OWN_TABLES ? run->library : run->options;
        bool text = row->type == OKRA_OPTION_TEXT || row->type == OKRA_OPTION_READ ||
                    row->type == OKRA_OPTION_WRITTEN;
        bool given = text && okra_options_is_set(options, row->name);
        const char *value = given ? okra_options_get(options, row->name) : "";
        if (*value && t.all[t.table - 1] != &cli_common_table) {
            list[count++] = (naming){row, value};
        }
    }
    return count;
}

/* "-o", "--weights" */
static const char *flag_of(const naming *n, char buffer[64])
{
    char letter[] = {cli_short(n->row->name), '\0'};
    snprintf(buffer, 64, "%s%s", *letter ? "-" : "--", *letter ? letter : n->row->name);
    return buffer;
}

static int also(const cli_run *run, const naming *n, const char *of)
{
    char flag[64];
    return cli_usage(run, "%s %s is also the file of %s: name another", flag_of(n, flag),
                     n->value, of);
}

/* Two flags that name one file to write, or standard output twice; or one to read. */
static int check_two(const cli_run *run, const naming *n, const naming *other)
{
    char flags[2][64];
    okra_option_type type = other->row->type;
    bool both = strcmp(n->value, "-") == 0 && strcmp(other->value, "-") == 0;
    REFUSE_IF(type == OKRA_OPTION_WRITTEN &&
                  (both || cli_same_file(cli_without_types(n->value),
                                         cli_without_types(other->value))),
              "%s and %s both name '%s'", flag_of(n, flags[0]), flag_of(other, flags[1]),
              n->value);
    bool read = type == OKRA_OPTION_READ   ? are_read(run, n->value, other->value)
                : type == OKRA_OPTION_TEXT ? is_told(run, n->value, other->value)
                                           : false;
    return read ? also(run, n, flag_of(other, flags[1])) : CLI_DONE;
}

/* A flag of a command that Python reads; others than its own are those of okra fit. */
static const okra_option *typed_row(const cli_run *run, const char *name)
{
    cli_tables fit = cli_tables_of(cli_find_command("fit"));
    const okra_option *row = cli_row_in(&run->command->own, name);
    row = row ? row : cli_row_in(&cli_common_table, name);
    for (size_t i = 0; i < fit.count && !row; i++) {
        row = cli_row_in(fit.all[i], name);
    }
    return row;
}

/* The same flags of a command whose words Python reads; the rest are operands. */
static size_t gather_typed(cli_run *run, naming *list, size_t most)
{
    size_t count = 0;
    run->common.data = "";
    for (char **word = run->typed + 2; *word && count < most; word++) {
        char name[64] = "output";
        const char *value = *word + 2;
        bool flag = strncmp(*word, "-o", 2) == 0;
        if (**word != '-' || !(*word)[1]) {
            run->operands[run->operand_count] = *word;
            run->operand_count += run->operand_count < 63;
            continue;
        }
        if (strncmp(*word, "--", 2) == 0) {
            int length = (int)strcspn(value, "=");
            flag = snprintf(name, sizeof name, "%.*s", length, value) < (int)sizeof name;
            value += length;
        }
        const okra_option *row = flag ? typed_row(run, name) : NULL;
        if (!*name || (row && row->type == OKRA_OPTION_BOOL)) { /* "--" is none */
            continue;
        }
        value = *value ? value + (*value == '=') : flag && word[1] ? *++word : "";
        if (row == cli_row_in(&cli_common_table, "data")) {
            run->common.data = value;
        } else if (row && *value) {
            list[count++] = (naming){row, value};
        }
    }
    return count;
}

int cli_check_same(cli_run *run)
{
    enum { MOST = 256 };
    naming list[MOST];
    size_t count =
        run->command->python ? gather_typed(run, list, MOST) : gather(run, list, MOST);
    int status = CLI_DONE;
    for (size_t i = 0; i < count; i++) {
        if (list[i].row->type != OKRA_OPTION_WRITTEN) {
            continue;
        }
        for (size_t k = 0; k < count && status == CLI_DONE; k++) {
            bool told = k == i || (list[k].row->type == OKRA_OPTION_WRITTEN && k < i);
            status = told ? CLI_DONE : check_two(run, &list[i], &list[k]);
        }
        for (int k = 0; k < run->operand_count && !run->command->replaces; k++) {
            if (status == CLI_DONE && is_read(run, list[i].value, run->operands[k])) {
                status = also(run, &list[i], run->command->operand);
            }
        }
    }
    return status;
}
