/*
 * paper_list.c: okra paper list: every table and figure, and how it stands with it.
 */
#include "report/paper_list.h"

#include <string.h>

static const char *const times[] = {"seconds", "minutes", "an hour"};

/* The date of the finished result, or null. */
static json_t *run_before(const paper_entry *e, const paper_settings *settings,
                          const okra_context *context, bool quick)
{
    paper_settings s = *settings;
    s.quick = quick;
    json_t *result = paper_finished(e, &s, context, true);
    json_t *date = result ? json_string(cli_text(result, "date", "")) : json_null();
    json_decref(result);
    return date;
}

static json_t *describe_entry(const paper_entry *e, const paper_settings *settings,
                              const okra_context *context)
{
    char missing[4096] = "", needs[1024];
    bool there = paper_available(e, settings, missing, sizeof missing);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:s,s:o,s:o}", "name", e->name,
                     "paper", e->paper, "title", e->title, "files",
                     e->files ? e->files : "", "original", e->original ? e->original : "",
                     "needs", paper_needs(e, needs, sizeof needs), "available", there,
                     "missing", there ? "" : missing, "quick", times[e->quick], "full",
                     times[e->full], "quick_run", run_before(e, settings, context, true),
                     "full_run", run_before(e, settings, context, false));
}

static json_t *describe_item(const paper_item *item)
{
    json_t *entries = json_array();
    for (const char *p = item->entries; p && *p;) {
        size_t width = strcspn(p, " ");
        json_array_append_new(entries, json_stringn(p, width));
        p += width + (p[width] == ' ');
    }
    return json_pack("{s:s,s:s,s:s,s:o,s:s}", "paper", item->paper, "item", item->item,
                     "title", item->title, "entries", entries, "note",
                     item->note ? item->note : "");
}

/* ---- for people ---- */

static void print_items(const json_t *items)
{
    size_t i, k;
    json_t *item, *name;
    const char *paper = "";
    json_array_foreach(items, i, item)
    {
        const char *note = cli_text(item, "note", "");
        if (strcmp(paper, cli_text(item, "paper", "")) != 0) {
            paper = cli_text(item, "paper", "");
            printf("%s\n", paper);
        }
        printf("  %-14s  %-45s", cli_text(item, "item", ""), cli_text(item, "title", ""));
        json_array_foreach(json_object_get(item, "entries"), k, name)
        {
            printf(" %s", json_string_value(name));
        }
        printf(k ? "\n" : " -\n");
        if (*note) {
            printf("  %-14s  %s%s\n", "", k ? "" : "not run: ", note);
        }
    }
}

static void print_entries(const json_t *entries)
{
    size_t i;
    json_t *e;
    printf("\nEntries\n");
    json_array_foreach(entries, i, e)
    {
        bool files = *cli_text(e, "files", "") != '\0';
        const char *quick = json_string_value(json_object_get(e, "quick_run")),
                   *full = json_string_value(json_object_get(e, "full_run"));
        printf("  %-18s%s%s\n", cli_text(e, "name", ""), cli_text(e, "needs", ""),
               !files                                          ? ""
               : json_is_true(json_object_get(e, "available")) ? ": there"
                                                               : ": not there");
        printf("  %-18squick takes %s, full %s; %s%s%s%s%s\n", "",
               cli_text(e, "quick", ""), cli_text(e, "full", ""),
               quick || full ? "run here: " : "not run here yet", quick ? "quick " : "",
               quick ? quick : "", full ? " full " : "", full ? full : "");
    }
}

int paper_list(cli_run *run, const paper_settings *settings)
{
    json_t *items = json_array(), *entries = json_array();
    for (const paper_item *item = paper_items; item->paper; item++) {
        json_array_append_new(items, describe_item(item));
    }
    for (size_t i = 0; paper_entries[i]; i++) {
        json_array_append_new(entries,
                              describe_entry(paper_entries[i], settings, run->context));
    }
    json_t *all = json_pack("{s:o,s:o}", "items", items, "entries", entries);
    if (run->common.json) {
        return cli_print_json(run, all);
    }
    print_items(items);
    print_entries(entries);
    json_decref(all);
    return CLI_DONE;
}
