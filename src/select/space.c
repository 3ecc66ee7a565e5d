/*
 * space.c: the grid of a selection. An axis is an option that was set; the cells are the
 * product of the axes, the last running fastest. Where the method follows a path of
 * lambdas, lambda is the last axis, so that a run of cells shares its decompositions.
 */
#include "select/select.h"

const okra_option *okra_space_row_(const char *name, const char *topic)
{
    size_t count;
    const okra_option_table *const *tables = okra_option_tables(topic, &count);
    for (size_t t = 0; t < count; t++) {
        const okra_option *row = okra_option_find_(tables[t], name, strlen(name));
        if (row) {
            return row;
        }
    }
    return NULL;
}

static okra_status parse_axis(const char *name, const char *text, okra_axis_ *axis)
{
    bool kernel = strcmp(name, "kx") == 0 || strcmp(name, "ky") == 0;
    const okra_option *row = okra_space_row_(name, "fit");
    axis->predict = !row;
    row = row ? row : okra_space_row_(name, "predict");
    REFUSE_IF(!row, OKRA_EINTERNAL, "option %s is of no table", name);
    axis->name = row->name;
    bool whole = row->type == OKRA_OPTION_INT;
    bool numeric = whole || row->type == OKRA_OPTION_NUMBER;
    okra_status st = kernel ? okra_grid_parse_(text, &axis->grid)
                            : okra_grid_plain_(name, text, numeric, whole, &axis->grid);
    if (st != OKRA_OK && kernel) {
        okra_message_prefix_("%s", name);
    }
    if (st == OKRA_OK) {
        axis->count = okra_grid_count_(axis->grid);
    }
    return st;
}

/* kx first, then ky, lambda last; others between in the order set. */
static int rank(const okra_space_ *space, const char *name)
{
    return strcmp(name, "kx") == 0                              ? 0
           : strcmp(name, "ky") == 0                            ? 1
           : strcmp(name, "lambda") == 0 && space->method->path ? 3
                                                                : 2;
}

static okra_status read_axes(okra_space_ *space, const okra_options *options)
{
    const char *name, *value;
    size_t set = 0;
    while (okra_options_each_(options, set, &value)) {
        set++;
    }
    ZMAKE(space->axes, (okra_int)set + 2);
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; (name = okra_options_each_(options, i, &value)); i++) {
            bool own = okra_option_find_(&okra_select_table_, name, strlen(name)) ||
                       strcmp(name, "method") == 0 || strcmp(name, "decode") == 0;
            if (!own && rank(space, name) == pass) {
                CHK(parse_axis(name, value, &space->axes[space->count++]));
            }
        }
        if (pass == 3 && space->method->path && !okra_options_is_set(options, "lambda")) {
            const okra_option *row =
                okra_option_find_(&space->method->options, "lambda", 6);
            if (row) {
                CHK(parse_axis("lambda", row->preset, &space->axes[space->count++]));
            }
        }
    }
    return OKRA_OK;
}

static okra_status count_cells(okra_space_ *space)
{
    space->cells = 1;
    for (size_t i = 0; i < space->count; i++) {
        const okra_axis_ *axis = &space->axes[i];
        REFUSE_IF(axis->count < 0 ||
                      __builtin_mul_overflow(space->cells, axis->count, &space->cells),
                  OKRA_EARG, "the grid has more than 2^63 cells: shorten its lists");
        /* twin kernel learning makes an output kernel of its own on every fold */
        space->ky_varies = space->ky_varies || strcmp(axis->name, "twin") == 0 ||
                           (strcmp(axis->name, "ky") == 0 && axis->count > 1);
    }
    const okra_axis_ *last = space->count ? &space->axes[space->count - 1] : NULL;
    space->path = last && space->method->path && strcmp(last->name, "lambda") == 0;
    space->lambdas = space->path ? last->count : 1;
    return OKRA_OK;
}

/* Every value of every axis is tried on the options once: ranges and names are checked
 * before any computing. */
static okra_status check_values(const okra_space_ *space)
{
    okra_status st = OKRA_OK;
    FREED_BY(okra_setting_free_) okra_setting_ setting = {NULL, 0};
    FREED_BY(okra_options_drop_) okra_options *fit = NULL, *predict = NULL;
    OWNED char *text = NULL;
    CHK(okra_space_setting_(space, 0, &setting));
    CHK(okra_space_options_(space, &setting, &fit, &predict));
    for (size_t i = 0; i < space->count; i++) {
        const okra_axis_ *axis = &space->axes[i];
        okra_int most = OKRA_MIN_(axis->count, 100000);
        for (okra_int k = 0; k < most; k++) {
            CHK(okra_grid_text_(axis->grid, k, &text));
            CHK(okra_options_set(axis->predict ? predict : fit, axis->name, text));
            if (i < 2 && !strstr(text, "auto") && !okra_align_asked_(text) &&
                (strcmp(axis->name, "kx") == 0 || strcmp(axis->name, "ky") == 0)) {
                okra_kernel *kernel = NULL;
                st = okra_kernel_parse(text, &kernel);
                okra_kernel_free(kernel);
                if (st != OKRA_OK) {
                    okra_message_prefix_("%s", axis->name);
                    return st;
                }
            }
            okra_free_at_(&text);
        }
    }
    CHK(okra_method_check_(fit, space->method));
    return okra_decoder_check_(predict, space->decoder);
}

const char *okra_space_decode_(const okra_space_ *space)
{
    return space->decoder->argument ? space->decode : space->decoder->name;
}

okra_status okra_space_create_(const okra_options *options, okra_space_ **out)
{
    FREED_BY(okra_space_drop_) okra_space_ *space = NULL;
    ZMAKE(space, 1);
    CHK(okra_method_choose_(okra_options_get(options, "method"), &space->method));
    const char *decode = okra_options_get(options, "decode");
    space->decoder = okra_decoder_default_(false, false);
    CHK(*decode ? okra_decoder_choose_(decode, &space->decoder) : OKRA_OK);
    space->decode_set = *decode;
    REFUSE_IF(strlen(decode) >= sizeof space->decode, OKRA_EARG,
              "decode has more than %d characters", (int)sizeof space->decode - 1);
    memcpy(space->decode, decode, strlen(decode) + 1);
    CHK(read_axes(space, options));
    CHK(count_cells(space));
    CHK(check_values(space));
    *out = TAKE(space);
    return OKRA_OK;
}

void okra_space_free_(okra_space_ *space)
{
    if (space) {
        for (size_t i = 0; i < space->count; i++) {
            okra_grid_free_(space->axes[i].grid);
        }
        FREE(space->axes, space);
    }
}

okra_status okra_space_narrow_(const okra_space_ *space, okra_int cell, okra_space_ **out,
                               okra_int *within)
{
    FREED_BY(okra_space_drop_) okra_space_ *narrow = NULL;
    OWNED char *text = NULL;
    ZMAKE(narrow, 1);
    *narrow = *space;
    narrow->axes = NULL;
    narrow->count = 0;
    ZMAKE(narrow->axes, (okra_int)space->count);
    *within = 0;
    okra_int below = space->cells;
    for (size_t i = 0; i < space->count; i++) {
        const okra_axis_ *from = &space->axes[i];
        okra_axis_ *axis = &narrow->axes[narrow->count];
        below /= from->count;
        okra_int at = cell / below % from->count;
        okra_grid_ *grid = from->grid;
        *axis = *from;
        axis->grid = NULL;
        narrow->count++;
        do { /* alternatives may hold alternatives */
            okra_free_at_(&text);
            CHK(okra_grid_narrow_(grid, at, &text, &at));
            okra_grid_drop_(&axis->grid);
            CHK(parse_axis(from->name, text, axis));
            grid = axis->grid;
        } while (okra_grid_branched_(grid));
        *within = *within * axis->count + at;
    }
    CHK(count_cells(narrow));
    *out = TAKE(narrow);
    return OKRA_OK;
}

/* ---- settings ---- */

okra_status okra_space_setting_(const okra_space_ *space, okra_int cell,
                                okra_setting_ *out)
{
    FREED_BY(okra_setting_free_) okra_setting_ s = {NULL, space->count};
    ZMAKE(s.text, (okra_int)space->count);
    for (size_t i = space->count; i-- > 0;) {
        const okra_axis_ *axis = &space->axes[i];
        CHK(okra_grid_text_(axis->grid, cell % axis->count, &s.text[i]));
        cell /= axis->count;
    }
    *out = TAKE(s);
    return OKRA_OK;
}

okra_int okra_space_places_(const okra_space_ *space)
{
    okra_int places = 0;
    for (size_t a = 0; a < space->count; a++) {
        places += space->axes[a].grid->count;
    }
    return places;
}

okra_int okra_space_digit_(const okra_space_ *space, okra_int cell, size_t axis,
                           okra_int place)
{
    for (size_t i = space->count - 1; i > axis; i--) {
        cell /= space->axes[i].count;
    }
    const okra_grid_ *grid = space->axes[axis].grid;
    cell %= space->axes[axis].count;
    for (okra_int k = grid->count - 1; k > place; k--) {
        cell /= grid->axes[k].count;
    }
    return cell % grid->axes[place].count;
}

/* The text of an axis with numbers in some of its places. */
static okra_status axis_at(const okra_space_ *space, okra_int cell, size_t axis,
                           const double *numbers, char **text)
{
    enum { DIGITS = 32 };
    const okra_grid_ *grid = space->axes[axis].grid;
    okra_int places = grid->count;
    OWNED const char **chosen = NULL;
    OWNED char *room = NULL;
    MAKE(chosen, places);
    MAKE(room, places * DIGITS);
    for (okra_int p = 0; p < places; p++) {
        chosen[p] = grid->axes[p].values[okra_space_digit_(space, cell, axis, p)];
        if (!isnan(numbers[p])) {
            snprintf(room + p * DIGITS, DIGITS, "%.6g", numbers[p]);
            chosen[p] = room + p * DIGITS;
        }
    }
    return okra_grid_build_(grid, chosen, text);
}

okra_status okra_space_at_(const okra_space_ *space, okra_int cell, const double *numbers,
                           const okra_setting_ *base, okra_setting_ *out)
{
    FREED_BY(okra_setting_free_) okra_setting_ s = {NULL, 0};
    CHK(base ? okra_setting_copy_(base, &s) : okra_space_setting_(space, cell, &s));
    for (size_t a = 0; numbers && a < space->count; a++) {
        okra_int places = space->axes[a].grid->count;
        bool moved = false;
        for (okra_int p = 0; p < places; p++) {
            moved = moved || !isnan(numbers[p]);
        }
        if (moved) {
            okra_free_at_(&s.text[a]);
            CHK(axis_at(space, cell, a, numbers, &s.text[a]));
        }
        numbers += places;
    }
    *out = TAKE(s);
    return OKRA_OK;
}

okra_status okra_setting_copy_(const okra_setting_ *from, okra_setting_ *to)
{
    FREED_BY(okra_setting_free_) okra_setting_ s = {NULL, from->count};
    ZMAKE(s.text, (okra_int)s.count);
    for (size_t i = 0; i < s.count; i++) {
        GOT(s.text[i] = okra_strdup_(from->text[i]));
    }
    *to = TAKE(s);
    return OKRA_OK;
}

void okra_setting_free_(okra_setting_ *setting)
{
    for (size_t i = 0; setting->text && i < setting->count; i++) {
        okra_free_(setting->text[i]);
    }
    okra_free_at_(&setting->text);
}

okra_status okra_space_options_(const okra_space_ *space, const okra_setting_ *setting,
                                okra_options **fit, okra_options **predict)
{
    FREED_BY(okra_options_drop_) okra_options *f = NULL, *p = NULL;
    OWNED char *decode = NULL;
    CHK(okra_fit_options(&f));
    CHK(okra_predict_options(&p));
    CHK(okra_options_set(f, "method", space->method->name));
    if (space->decode_set) {
        CHK(okra_cut_text_(okra_space_decode_(space), (double)NAN, &decode));
        CHK(okra_options_set(p, "decode", decode));
        CHK(okra_options_set(f, "decode", decode));
    }
    for (size_t i = 0; i < space->count; i++) {
        const okra_axis_ *axis = &space->axes[i];
        CHK(okra_options_set(axis->predict ? p : f, axis->name, setting->text[i]));
    }
    GIVE(fit, TAKE(f));
    GIVE(predict, TAKE(p));
    return OKRA_OK;
}

const char *okra_space_value_(const okra_space_ *space, const okra_setting_ *setting,
                              const char *option)
{
    for (size_t i = 0; i < space->count; i++) {
        if (strcmp(space->axes[i].name, option) == 0) {
            return setting->text[i];
        }
    }
    return strcmp(option, "method") == 0   ? space->method->name
           : strcmp(option, "decode") == 0 ? okra_space_decode_(space)
                                           : NULL;
}
