/*
 * nodes.c: names of nodes, and the lists and pairs that are written with them.
 */
#include "predict/nodes.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lines of words ---- */

typedef struct lines {
    const cli_run *run;
    const char *path; /* as the user wrote it */
    FILE *file;
    char *line;
    size_t room;
    long number, found; /* of lines, and of those with words */
    char *word[4];
    int words;
} lines;

static int lines_open(cli_run *run, const char *path, lines *l)
{
    char buffer[4096];
    l->path = path;
    TRY(cli_take_input(run, path));
    l->file = strcmp(path, "-") == 0
                  ? stdin
                  : fopen(cli_find(run, path, buffer, sizeof buffer), "r");
    return l->file ? CLI_DONE : cli_failure(run, "%s: %s", path, strerror(errno));
}

static void lines_close(lines *l)
{
    if (l->file && l->file != stdin) {
        fclose(l->file);
    }
    free(l->line);
}

/* The words of the next line that has any; false at the end. */
static bool lines_next(lines *l)
{
    static const char between[] = " \t,\r\n";
    while (getline(&l->line, &l->room, l->file) >= 0) {
        l->number++;
        l->words = 0;
        for (char *p = l->line + strspn(l->line, between); *p && l->words < 4;
             p += strspn(p, between)) {
            l->word[l->words++] = p;
            p += strcspn(p, between);
            if (*p) {
                *p++ = '\0';
            }
        }
        if (l->words > 0 && l->word[0][0] != '#') {
            l->found++;
            return true;
        }
    }
    return false;
}

OKRA_PRINTF(2, 3) static int fault(const lines *l, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return cli_failure(l->run, "%s: line %ld: %s", l->path, l->number, text);
}

/* ---- names ---- */

static char **sorted_names; /* what the comparison below looks at */

static int by_name(const void *a, const void *b)
{
    return strcmp(sorted_names[*(const okra_int *)a], sorted_names[*(const okra_int *)b]);
}

static int sort_names(const cli_run *run, const char *path, cli_nodes *n)
{
    MAKE(n->order, n->count);
    for (okra_int i = 0; i < n->count; i++) {
        n->order[i] = i;
    }
    sorted_names = n->names;
    qsort(n->order, (size_t)n->count, sizeof *n->order, by_name);
    for (okra_int i = 1; i < n->count; i++) {
        if (by_name(&n->order[i - 1], &n->order[i]) == 0) {
            return cli_failure(run, "%s: two nodes are called '%s'", path,
                               n->names[n->order[i]]);
        }
    }
    return CLI_DONE;
}

/* A column of a table, TABLE:COLUMN. */
static int read_names(cli_run *run, const char *spec, cli_nodes *out)
{
    OWNED_DATA *data = NULL;
    char typed[4096], number[32];
    snprintf(typed, sizeof typed, "labels:%s", spec + 7 * !strncmp(spec, "labels:", 7));
    TRY(cli_read(run, typed, &data));
    if (okra_data_count(data) != out->count) {
        return cli_failure(run, "%s: %lld names, but --x has %lld nodes", spec,
                           (long long)okra_data_count(data), (long long)out->count);
    }
    MAKE(out->names, out->count);
    for (okra_int i = 0; i < out->count; i++) {
        const char *text = okra_data_text(data, i, NULL);
        snprintf(number, sizeof number, "%lld", (long long)okra_data_codes(data)[i]);
        GOT(out->names[i] = strdup(text ? text : number));
    }
    return sort_names(run, spec, out);
}

int cli_nodes_read(cli_run *run, const char *path, okra_int count, cli_nodes *out)
{
    FREED_BY(lines_close) lines l = {.run = run};
    char buffer[4096];
    okra_int found = 0;
    *out = (cli_nodes){.count = count};
    if (!*path) {
        return CLI_DONE;
    }
    if (strchr(path, ':') && access(cli_find(run, path, buffer, sizeof buffer), F_OK)) {
        return read_names(run, path, out);
    }
    CHK(lines_open(run, path, &l));
    MAKE(out->names, count);
    while (lines_next(&l)) {
        if (l.words > 1) {
            return fault(&l, "expected one name, found '%s' after '%s'", l.word[1],
                         l.word[0]);
        }
        if (found == count) {
            return fault(&l, "more names than the %lld nodes of --x", (long long)count);
        }
        GOT(out->names[found++] = strdup(l.word[0]));
    }
    return found < count ? cli_failure(run, "%s: %lld names, but --x has %lld nodes",
                                       path, (long long)found, (long long)count)
                         : sort_names(run, path, out);
}

void cli_nodes_clear(cli_nodes *n)
{
    for (okra_int i = 0; n->names && i < n->count; i++) {
        free(n->names[i]);
    }
    free(n->names);
    free(n->order);
    *n = (cli_nodes){0};
}

const char *cli_node_name(const cli_nodes *nodes, okra_int node, char *buffer)
{
    if (nodes->names) {
        return nodes->names[node];
    }
    snprintf(buffer, 32, "%lld", (long long)node);
    return buffer;
}

/* -1: no such node */
static okra_int find(const cli_nodes *n, const char *word)
{
    if (!n->names) {
        char *end = NULL;
        long long number = strtoll(word, &end, 10);
        return *end || end == word || number < 0 || number >= n->count ? -1 : number;
    }
    okra_int low = 0, high = n->count;
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        bool below = strcmp(n->names[n->order[middle]], word) < 0;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    bool is = low < n->count && strcmp(n->names[n->order[low]], word) == 0;
    return is ? n->order[low] : -1;
}

static int find_or_say(const lines *l, const cli_nodes *n, const char *word,
                       okra_int *node)
{
    *node = find(n, word);
    if (*node >= 0) {
        return CLI_DONE;
    }
    return n->names
               ? fault(l, "there is no node '%s'", word)
               : fault(l, "there is no node '%s': expected 0 to %lld, or --nodes FILE",
                       word, (long long)n->count - 1);
}

/* ---- lists and pairs ---- */

int cli_nodes_list(cli_run *run, const cli_nodes *nodes, const char *path,
                   okra_int **list, okra_int *count)
{
    FREED_BY(lines_close) lines l = {.run = run};
    OWNED bool *seen = NULL;
    *count = 0;
    CHK(lines_open(run, path, &l));
    MAKE(seen, nodes->count);
    MAKE(*list, nodes->count); /* each comes once */
    while (lines_next(&l)) {
        okra_int node = -1;
        if (l.words > 1) {
            return fault(&l, "expected one node, found '%s' after '%s'", l.word[1],
                         l.word[0]);
        }
        CHK(find_or_say(&l, nodes, l.word[0], &node));
        if (seen[node]) {
            return fault(&l, "node '%s' comes twice", l.word[0]);
        }
        seen[node] = true;
        (*list)[(*count)++] = node;
    }
    return CLI_DONE;
}

/* Neither word of the first line is a node or a number: say so where the rest is good. */
static bool headings(const lines *l, const cli_nodes *nodes, char told[200])
{
    bool are = l->found == 1 && l->words >= 2 && find(nodes, l->word[0]) < 0 &&
               (l->words < 3 || !isdigit((unsigned char)*l->word[2])) &&
               find(nodes, l->word[1]) < 0 && !isdigit((unsigned char)*l->word[0]);
    if (are && strcmp(l->word[0], "node_a") != 0) { /* what okra link itself writes */
        snprintf(told, 200, "line %ld (%.60s, %.60s) is taken as headings", l->number,
                 l->word[0], l->word[1]);
    }
    return are;
}

/* One line as a pair with a < b. */
static int read_pair(const lines *l, const cli_nodes *nodes, const bool *member,
                     const char *kind, okra_link *out)
{
    okra_int ends[2];
    char *end = NULL;
    if (l->words < 2 || l->words > 3) {
        return fault(l, "expected two nodes and perhaps a number, found %s",
                     l->words < 2 ? "one word" : "more");
    }
    for (int i = 0; i < 2; i++) {
        CHK(find_or_say(l, nodes, l->word[i], &ends[i]));
        if (member && !member[ends[i]]) {
            return fault(l, "node '%s' is no %s node", l->word[i], kind);
        }
    }
    if (ends[0] == ends[1]) {
        return fault(l, "node '%s' with itself", l->word[0]);
    }
    bool weighted = kind && l->words == 3;
    double value = weighted ? strtod(l->word[2], &end) : 1;
    if (weighted && (*end || end == l->word[2] || !(value > 0) || isinf(value))) {
        return fault(l, "the weight is '%s', expected a positive number", l->word[2]);
    }
    bool turn = ends[0] > ends[1];
    *out = (okra_link){ends[turn], ends[!turn], value};
    return CLI_DONE;
}

int cli_by_ends(const void *p, const void *q)
{
    const okra_link *x = p, *y = q;
    int a = (x->a > y->a) - (x->a < y->a);
    return a ? a : (x->b > y->b) - (x->b < y->b);
}

/* Sorted, each pair once. */
static void merge(const cli_run *run, const char *path, okra_link *list, okra_int *count)
{
    okra_int kept = 0;
    if (*count > 0) {
        qsort(list, (size_t)*count, sizeof *list, cli_by_ends);
    }
    for (okra_int k = 0; k < *count; k++) {
        if (kept == 0 || cli_by_ends(&list[kept - 1], &list[k]) != 0) {
            list[kept++] = list[k];
        }
    }
    if (kept < *count && !run->common.quiet) {
        fprintf(stderr, "okra: warning: %s: %lld pairs come again and are left out\n",
                path, (long long)(*count - kept));
    }
    *count = kept;
}

int cli_nodes_pairs(cli_run *run, const cli_nodes *nodes, const char *path,
                    const bool *member, const char *kind, okra_link **list,
                    okra_int *count)
{
    FREED_BY(lines_close) lines l = {.run = run};
    okra_int room = 0;
    char told[200] = "";
    *count = 0;
    CHK(lines_open(run, path, &l));
    while (lines_next(&l)) {
        if (headings(&l, nodes, told)) {
            continue;
        }
        if (*count == room) {
            room = room ? 2 * room : 1024;
            okra_link *larger = realloc(*list, (size_t)room * sizeof **list);
            GOT(larger);
            *list = larger;
        }
        CHK(read_pair(&l, nodes, member, kind, *list + *count));
        (*count)++;
    }
    if (*told) {
        fprintf(stderr, "okra: %s: %s\n", path, told);
    }
    merge(run, path, *list, count);
    return CLI_DONE;
}

/* ---- the known part of a network ---- */

int cli_known_read(cli_run *run, const cli_nodes *nodes, const char *labelled,
                   const char *edges, cli_known *out)
{
    MAKE(out->member, nodes->count);
    if (*labelled) {
        CHK(cli_nodes_list(run, nodes, labelled, &out->labelled, &out->labelled_count));
        for (okra_int k = 0; k < out->labelled_count; k++) {
            out->member[out->labelled[k]] = true;
        }
        return cli_nodes_pairs(run, nodes, edges, out->member, "labelled", &out->edges,
                               &out->edge_count);
    }
    CHK(cli_nodes_pairs(run, nodes, edges, NULL, "", &out->edges, &out->edge_count));
    MAKE(out->labelled, nodes->count);
    for (okra_int k = 0; k < out->edge_count; k++) {
        out->member[out->edges[k].a] = out->member[out->edges[k].b] = true;
    }
    for (okra_int i = 0; i < nodes->count; i++) {
        if (out->member[i]) {
            out->labelled[out->labelled_count++] = i;
        }
    }
    return CLI_DONE;
}

void cli_known_clear(cli_known *known)
{
    free(known->labelled);
    free(known->member);
    free(known->edges);
}

okra_link_task cli_known_task(const cli_known *known, const okra_data *x,
                              const okra_data *gram)
{
    return (okra_link_task){
        x, known->labelled, known->labelled_count, known->edges, known->edge_count, gram};
}

int cli_beta(const cli_run *run, const char *text, double *beta)
{
    char *end = NULL;
    *beta = 0;
    if (strcmp(text, "auto") != 0) {
        *beta = strtod(text, &end);
        REFUSE_IF(*end || end == text || !(*beta > 0) || isinf(*beta),
                  "--beta is '%s', expected a positive number or auto", text);
    }
    return CLI_DONE;
}

int cli_norm(const cli_run *run, const char *text, double *norm)
{
    char *end = NULL;
    *norm = 0.75; /* until left-out links tell */
    if (strcmp(text, "auto") != 0) {
        *norm = strtod(text, &end);
        REFUSE_IF(*end || end == text || !(*norm >= 0 && *norm <= 1),
                  "--norm is '%s', expected a number from 0 to 1, or auto", text);
    }
    return CLI_DONE;
}

int cli_read_gram(cli_run *run, const char *spec, bool gram, okra_data **out)
{
    char typed[4096];
    bool add = gram && strncmp(spec, "gram:", 5) != 0;
    snprintf(typed, sizeof typed, "%s%s", add ? "gram:" : "", spec);
    return cli_status(run, gram ? cli_read(run, typed, out)
                                : cli_read_inputs(run, spec, NULL, out));
}
