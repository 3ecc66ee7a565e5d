/*
 * run.c: the state of one entry's run: settings, finished steps, notes, result.
 */
#include "paper.h"
#include "okra/program.h"
#include "original/original.h"
#include "run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

okra_context *paper_context(paper_run *run)
{
    return run->context;
}

bool paper_quick(const paper_run *run)
{
    return run->settings->quick;
}

uint64_t paper_seed(const paper_run *run)
{
    return okra_context_seed(run->context);
}

const char *paper_path(const paper_run *run, const char *file, char *buffer, size_t size)
{
    const char *data = run->settings->data ? run->settings->data : ".";
    snprintf(buffer, size, "%s/%s", run->scratch, file);
    if (!*run->scratch || access(buffer, R_OK) != 0) {
        snprintf(buffer, size, "%s/%s", data, file);
    }
    return buffer;
}

okra_status paper_read(paper_run *run, const char *file, okra_data **out)
{
    char path[PAPER_PATH];
    return okra_data_read(run->context, paper_path(run, file, path, sizeof path), out);
}

/* ---- notes ---- */

OKRA_PRINTF(3, 0)
static void note(paper_run *run, const char *list, const char *format, va_list args)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, args);
    json_t *array = json_object_get(run->result, list);
    json_array_append_new(array, json_string(text));
}

void paper_reading(paper_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(run, "readings", format, args);
    va_end(args);
}

void paper_deviation(paper_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(run, "deviations", format, args);
    va_end(args);
}

void paper_remark(paper_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note(run, "remarks", format, args);
    va_end(args);
}

/* ---- one run ---- */

/* The next file of the entry from *p on; false at the end. */
static bool next_file(const char **p, char *file, size_t size)
{
    size_t width = *p ? strcspn(*p, " ") : 0;
    if (width > 0) {
        snprintf(file, size, "%.*s", (int)width, *p);
        *p += width + ((*p)[width] == ' ');
    }
    return width > 0;
}

static bool is_there(const char *data, const char *file)
{
    char path[PAPER_PATH];
    snprintf(path, sizeof path, "%s/%s", data ? data : ".", file);
    return data && access(path, R_OK) == 0;
}

bool paper_available(const paper_entry *entry, const paper_settings *settings,
                     char *missing, size_t size)
{
    const char *p = entry->files;
    char path[PAPER_PATH];
    while (next_file(&p, missing, size)) {
        if (!is_there(settings->data, missing) &&
            (!settings->data ||
             !paper_original(settings->data, missing, path, sizeof path))) {
            return false;
        }
    }
    return true;
}

const char *paper_needs(const paper_entry *entry, char *buffer, size_t size)
{
    const char *p = entry->files, *name = NULL;
    char file[256];
    size_t used = 0;
    snprintf(buffer, size, "built-in data");
    while (next_file(&p, file, sizeof file) && used < size) {
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", file);
        name = name ? name : paper_original_name(file);
    }
    if (entry->original && used > 0 && used < size) {
        snprintf(buffer + used, size - used,
                 name ? ", or %s as published" : " (from: %s)", entry->original);
    }
    return buffer;
}

const char *paper_temporary(void)
{
    const char *usual = getenv("TMPDIR");
    return usual && *usual ? usual : "/tmp";
}

/* Makes the files that are there in their original form alone. */
static okra_status convert(paper_run *run)
{
    const char *p = run->entry->files, *data = run->settings->data;
    char file[256], path[PAPER_PATH];
    okra_status st = OKRA_OK;
    while (st == OKRA_OK && next_file(&p, file, sizeof file)) {
        if (is_there(data, file)) {
            continue;
        }
        if (!*run->scratch) {
            int length = snprintf(run->scratch, sizeof run->scratch,
                                  "%s/okra-paper-XXXXXX", paper_temporary());
            if (length >= (int)sizeof run->scratch || !mkdtemp(run->scratch)) {
                st = okra_fail(OKRA_EIO, "%s: no folder can be made there", run->scratch);
                *run->scratch = '\0';
                return st;
            }
        }
        snprintf(path, sizeof path, "%s/%s", run->scratch, file);
        if (access(path, R_OK) != 0) {
            st = paper_convert(run->context, data, file, run->scratch);
        }
    }
    return st;
}

static json_t *new_result(const paper_entry *entry, const paper_settings *settings,
                          uint64_t seed)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%d", &utc);
    return json_pack("{s:s,s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:s,s:[],s:[],s:[],s:[],s:[]}",
                     "okra", okra_version(), "format", 1, "kind", "paper", "name",
                     entry->name, "paper", entry->paper, "title", entry->title, "date",
                     date, "command", settings->command ? settings->command : "", "seed",
                     (json_int_t)seed, "mode", settings->quick ? "quick" : "full",
                     "tables", "figures", "readings", "deviations", "remarks");
}

/* A run may take an hour: that its result can be kept is known before. */
static okra_status make_folder(okra_context *context, const char *folder)
{
    struct stat found;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return okra_fail(OKRA_EIO, "%s: the folder of results cannot be made: %s", folder,
                         strerror(errno));
    }
    if (stat(folder, &found) == 0 && !S_ISDIR(found.st_mode)) {
        return okra_fail(OKRA_EIO, "%s: is a file, expected the folder of results",
                         folder);
    }
    if (access(folder, W_OK | X_OK) != 0) {
        return okra_fail(OKRA_EIO, "%s: results cannot be written there: %s", folder,
                         strerror(errno));
    }
    /* The writer's own view of it: is it, or is on the way, a stranger's link? */
    char path[PAPER_PATH];
    okra_file *none = NULL;
    int fd = -1;
    snprintf(path, sizeof path, "%s/unfinished", folder);
    okra_status st = okra_file_open(context, path, &none, &fd);
    return st == OKRA_OK ? okra_file_close(none, false) : st;
}

/* Again while other processes were computing steps of it. */
static okra_status run_whole(paper_run *run)
{
    okra_status st = OKRA_OK;
    bool again = true;
    while (again) {
        json_decref(run->result);
        run->result = new_result(run->entry, run->settings, paper_seed(run));
        paper_stamp(run->result, run->context, run->settings->engine);
        st = run->entry->run(run);
        again = st != OKRA_ECANCELLED && json_object_size(run->passed) > 0;
        if (again) {
            paper_steps_await(run);
        }
    }
    return st;
}

okra_status paper_execute(okra_context *context, const paper_entry *entry,
                          const paper_settings *settings, json_t **json)
{
    paper_run run = {
        .context = context, .entry = entry, .settings = settings, .claims = -1};
    char missing[PAPER_PATH];
    if (!paper_available(entry, settings, missing, sizeof missing)) {
        return okra_fail(OKRA_EIO,
                         "%s needs %s in the data folder (%s); give it by --data DIR or "
                         "OKRA_DATA",
                         entry->name, missing,
                         settings->data ? settings->data : "none was found");
    }
    okra_status st = make_folder(context, settings->results);
    if (st != OKRA_OK) {
        return st;
    }
    st = paper_steps_open(&run);
    run.begin = paper_now();
    if (st == OKRA_OK) {
        st = convert(&run);
    }
    if (st == OKRA_OK) {
        st = run_whole(&run);
    }
    if (*run.scratch) {
        paper_convert_clean(run.scratch);
    }
    if (st == OKRA_OK) {
        json_object_set_new(run.result, "seconds", json_real(paper_spent(&run)));
        *json = run.result;
    } else {
        json_decref(run.result);
    }
    paper_steps_close(&run);
    return st;
}

void paper_result_path(const paper_entry *entry, const paper_settings *settings,
                       char *path, size_t size)
{
    snprintf(path, size, "%s/%s-%s.json", settings->results, entry->name,
             settings->quick ? "quick" : "full");
}

json_t *paper_finished(const paper_entry *entry, const paper_settings *settings,
                       const okra_context *context, bool any)
{
    char path[PAPER_PATH];
    paper_result_path(entry, settings, path, sizeof path);
    json_t *result = json_load_file(path, 0, NULL);
    const char *source = json_string_value(json_object_get(result, "source"));
    json_int_t seed = json_integer_value(json_object_get(result, "seed"));
    if (!json_is_array(json_object_get(result, "tables")) ||
        (uint64_t)seed != okra_context_seed(context) ||
        (!any && (!source || strcmp(source, paper_source()) != 0))) {
        json_decref(result);
        return NULL;
    }
    return result;
}

json_t *paper_left_out(const paper_entry *entry, const paper_settings *settings)
{
    char text[1100], needs[1024];
    json_t *result = new_result(entry, settings, 0);
    snprintf(text, sizeof text, "left out: it needs %s in the data folder",
             paper_needs(entry, needs, sizeof needs));
    json_array_append_new(json_object_get(result, "remarks"), json_string(text));
    json_object_set_new(result, "left_out", json_true());
    return result;
}
