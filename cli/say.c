/*
 * say.c: messages, warnings, progress, and numbers for people.
 */
#include "cli.h"
#include "okra/program.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- interrupts ---- */

static okra_context *volatile interrupted_context;
static volatile sig_atomic_t caught;

/* Only what may be called in a signal handler. */
static size_t put_text(char *line, size_t used, size_t size, const char *text)
{
    while (*text && used + 1 < size) {
        line[used++] = *text++;
    }
    return used;
}

/* The call has not ended a second after the signal: says what it waits for. */
static void on_alarm(int number)
{
    char line[256], digits[24];
    size_t used = 0, at = sizeof digits - 1;
    okra_int size = 0;
    (void)number;
    if (!interrupted_context || !okra_context_is_primary(interrupted_context)) {
        return;
    }
    const char *doing = okra_context_doing(interrupted_context, &size);
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + size % 10);
        size /= 10;
    } while (size > 0 && at > 0);
    used = put_text(line, used, sizeof line,
                    "\nokra: interrupted; it ends when a step ends");
    if (*doing) {
        used = put_text(line, used, sizeof line, " (");
        used = put_text(line, used, sizeof line, doing);
        used = put_text(line, used, sizeof line, " of ");
        used = put_text(line, used, sizeof line, digits + at);
        used = put_text(line, used, sizeof line, " rows)");
    }
    used = put_text(line, used, sizeof line, "; interrupt again to end at once\n");
    (void)!write(STDERR_FILENO, line, used);
}

static void on_signal(int number)
{
    caught = number;
    if (!interrupted_context) {
        return;
    }
    okra_context_cancel(interrupted_context);
    if (number == SIGINT) { /* somebody waits; mpirun ends the others by SIGTERM */
        alarm(1);
    }
}

void cli_catch_signals(okra_context *context)
{
    interrupted_context = context;
    /* A second signal ends the program at once. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    struct sigaction late = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigemptyset(&late.sa_mask);
    sigaction(SIGALRM, &late, NULL);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error of its writing */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        /* What the caller had ignored (a job in the background) stays so. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
}

void cli_end_signals(void)
{
    interrupted_context = NULL;
    alarm(0);
}

int cli_signal_caught(void)
{
    return caught;
}

/* ---- messages ---- */

static bool bar_shown;

static void wipe_bar(void)
{
    if (bar_shown) {
        fputs("\r\033[K", stderr);
        bar_shown = false;
    }
}

/* Of many processes one tells what failed, and which is known at the end. */
static FILE *keeper;
static char *kept;
static size_t kept_size;

void cli_keep_messages(void)
{
    keeper = open_memstream(&kept, &kept_size);
}

void cli_end_messages(bool tell)
{
    if (keeper && fclose(keeper) == 0 && kept) {
        fputs(tell ? kept : "", stderr);
        free(kept);
    }
    keeper = NULL;
}

/* Texts of files are shown in what a terminal does not obey. */
OKRA_PRINTF(2, 0) static void say(const cli_run *run, const char *format, va_list args)
{
    FILE *out = keeper ? keeper : stderr;
    char text[4096], safe[4 * sizeof text];
    wipe_bar();
    fprintf(out, "okra %s: ", run->command->name);
    vsnprintf(text, sizeof text, format, args);
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end) {
            *end++ = '\0';
        }
        fprintf(out, "%s\n", okra_text_printable(line, safe, sizeof safe));
        line = end;
    }
}

int cli_usage(const cli_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(run, format, args);
    va_end(args);
    return CLI_USAGE;
}

int cli_failure(const cli_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(run, format, args);
    va_end(args);
    return CLI_FAILED;
}

int cli_status(const cli_run *run, okra_status status)
{
    if (status == OKRA_OK) {
        return CLI_DONE;
    }
    if (status == OKRA_ECANCELLED && caught) {
        alarm(0); /* nothing is waited for any more */
        return cli_failure(run, "interrupted");
    }
    const char *message = okra_message();
    size_t length = run->command ? strlen(run->command->name) : 0;
    if (length > 0 && strncmp(message, run->command->name, length) == 0 &&
        strncmp(message + length, ": ", 2) == 0) {
        message += length + 2; /* "okra predict: predict: ..." says it twice */
    }
    cli_failure(run, "%s", *message ? message : okra_status_text(status));
    return status == OKRA_EARG ? CLI_USAGE : CLI_FAILED;
}

void cli_on_warning(void *user, const char *text)
{
    const cli_run *run = user;
    enum { LAST = 4, LONG = 1024 };
    static char last[LAST][LONG];
    static int next;
    bool told = run->common.quiet, note = strncmp(text, "note: ", 6) == 0;
    /* Training set and candidates may have the same to tell: once will do. */
    for (int k = 0; k < LAST; k++) {
        told = told || strncmp(text, last[k], LONG - 1) == 0;
    }
    if (!told) {
        snprintf(last[next], LONG, "%s", text);
        next = (next + 1) % LAST;
        wipe_bar();
        fprintf(stderr, "okra: %s%s\n", note ? "" : "warning: ", text + (note ? 6 : 0));
    }
}

void cli_warn(cli_run *run, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_on_warning(run, text);
}

/* ---- progress ---- */

/* Phases within phases: a selection has candidates, each of which has a Gram matrix and a
 * decomposition. The outermost has the bar; the innermost is printed beside it. */
enum { PHASES = 4, BAR_WIDTH = 30 };

typedef struct phase {
    char what[48];
    okra_int done, total, begun; /* begun: what was done when it was first told */
    double begin;
} phase;

static phase phases[PHASES];
static int depth;

/* The phase of this name, those within it ended; or a new one within the present. */
static phase *enter(const char *what, okra_int done, okra_int total)
{
    for (int i = 0; i < depth; i++) {
        phase *p = &phases[i];
        if (strcmp(p->what, what) == 0) {
            depth = i + 1;
            if (done < p->done || total != p->total) { /* it began again */
                *p = (phase){.total = total, .begun = done, .begin = cli_now()};
                snprintf(p->what, sizeof p->what, "%s", what);
            }
            return p;
        }
    }
    depth = depth < PHASES ? depth + 1 : PHASES;
    phase *p = &phases[depth - 1];
    *p = (phase){.total = total, .begun = done, .begin = cli_now()};
    snprintf(p->what, sizeof p->what, "%s", what);
    return p;
}

/* At the speed so far: ", 3.2 s left", or nothing before there is a speed. */
static void time_left(const phase *p, double now, char *out, size_t size)
{
    char left[32];
    out[0] = '\0';
    if (p->done > p->begun && now - p->begin > 0.1) {
        double each = (now - p->begin) / (double)(p->done - p->begun);
        cli_seconds(each * (double)(p->total - p->done), left, sizeof left);
        snprintf(out, size, ", %s left", left);
    }
}

static void draw(double now)
{
    const phase *outer = &phases[0], *inner = &phases[depth - 1];
    double share = (double)outer->done / (double)outer->total;
    char bar[BAR_WIDTH + 1], left[48];
    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)(share * BAR_WIDTH));
    bar[BAR_WIDTH] = '\0';
    time_left(outer, now, left, sizeof left);
    fprintf(stderr, "\r\033[K%s [%s] %3.0f %%%s", outer->what, bar, 100 * share, left);
    if (inner != outer) {
        time_left(inner, now, left, sizeof left);
        fprintf(stderr, " (%s %.0f %%%s)", inner->what,
                100 * (double)inner->done / (double)inner->total, left);
    }
    fflush(stderr);
    bar_shown = true;
}

void cli_on_progress(void *user, const char *what, okra_int done, okra_int total)
{
    static double last;
    static int shown = -1;
    const cli_run *run = user;
    if (shown < 0) {
        shown = isatty(STDERR_FILENO);
    }
    if (run->common.quiet || total <= 0 || !shown) {
        return;
    }
    phase *p = enter(what, done, total);
    p->done = done;
    if (done >= total) {
        depth = (int)(p - phases);
        if (depth == 0) {
            wipe_bar();
        }
        return;
    }
    double now = cli_now();
    if (!bar_shown || now - last >= 0.1) {
        last = now;
        draw(now);
    }
}

/* ---- numbers for people ---- */

const char *cli_bytes(double bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(buffer, size, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return buffer;
}

const char *cli_seconds(double seconds, char *buffer, size_t size)
{
    if (seconds < 1) {
        snprintf(buffer, size, "%.0f ms", 1000 * seconds);
    } else if (seconds < 120) {
        snprintf(buffer, size, "%.1f s", seconds);
    } else {
        long whole = (long)seconds;
        snprintf(buffer, size, "%ld min %ld s", whole / 60, whole % 60);
    }
    return buffer;
}

double cli_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Names and values may come from a file: a terminal obeys none of them. */
void cli_line(FILE *out, const char *name, const char *format, ...)
{
    char line[4096], safe[4 * sizeof line], shown[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    wipe_bar();
    fprintf(out, "%-14s %s\n", okra_text_printable(name, shown, sizeof shown),
            okra_text_printable(line, safe, sizeof safe));
}

void cli_line_data(FILE *out, const char *name, const json_t *about)
{
    const char *kind = json_string_value(json_object_get(about, "kind"));
    long long count = json_integer_value(json_object_get(about, "count")),
              width = json_integer_value(json_object_get(about, "width"));
    if (width > 0) {
        cli_line(out, name, "%s, %lld of width %lld", kind, count, width);
    } else {
        cli_line(out, name, "%s, %lld", kind, count);
    }
}

void cli_line_calibration(FILE *out, const json_t *about)
{
    const json_t *pairs = json_object_get(json_object_get(about, "calibration"), "y");
    if (pairs) {
        cli_line(out, "calibration", "%lld pairs held back",
                 (long long)json_integer_value(json_object_get(pairs, "count")));
    }
}

/* Valid JSON on the standard output; what a terminal would obey, DEL, C1 and changes of
 * direction or line in a string, as \uNNNN. */
static void put_json(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    for (; *p; p++) {
        unsigned code = *p == 0x7f ? 0x7fu : 0;
        if (*p == 0xc2 && p[1] < 0xa0) {
            code = p[1];
        } else if (*p == 0xe2 && (p[1] == 0x80 || p[1] == 0x81)) {
            unsigned c = 0x2000u | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
            bool obeyed = c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
                          (c >= 0x2066 && c <= 0x2069);
            code = obeyed ? c : 0;
        }
        if (code) {
            printf("\\u%04X", code);
            p += code > 0xff ? 2 : code > 0x7f;
        } else {
            putchar(*p);
        }
    }
    putchar('\n');
}

int cli_print_json(const cli_run *run, json_t *value)
{
    char *text =
        value ? json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(value);
    if (!text || cli_json_lost()) {
        cli_json_free(text);
        return cli_failure(run, "could not make the JSON: out of memory");
    }
    wipe_bar();
    put_json(text);
    cli_json_free(text);
    return CLI_DONE;
}

const char *cli_text(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : otherwise;
}

void cli_put_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_./:,+=@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++) {
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    }
    fputc('\'', out);
}

/* What was typed, so that it can be typed again. */
static json_t *typed(const cli_run *run)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    json_t *value = NULL;
    if (out) {
        fprintf(out, "okra");
        for (char **word = run->typed + 1; *word; word++) {
            fputc(' ', out);
            cli_put_word(out, *word);
        }
        value = fclose(out) == 0 && text ? json_string(text) : NULL;
    }
    free(text);
    return value ? value : json_string("okra");
}

json_t *cli_result(const cli_run *run, const char *kind, const char *name,
                   const char *title)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%d", &utc);
    return json_pack("{s:s,s:i,s:s,s:s,s:s,s:o,s:s,s:I,s:[],s:[],s:[],s:[],s:[]}", "okra",
                     okra_version(), "format", 1, "kind", kind, "name", name, "title",
                     title, "command", typed(run), "date", date, "seed",
                     (json_int_t)run->common.seed, "tables", "figures", "readings",
                     "deviations", "remarks");
}
