/*
 * spectra.c: collections of tandem mass spectra, built from files and from memory.
 */
#include "data/spectra/spectra.h"
#include "okra/more/objects.h"

okra_status okra_spectra_begin_(okra_spectra_builder_ *b)
{
    static const okra_field_ peaks[] = {{"mz", OKRA_FIELD_DOUBLE, 1, NULL},
                                        {"intensity", OKRA_FIELD_DOUBLE, 1, NULL}};
    static const okra_field_ ion[] = {{"precursor", OKRA_FIELD_DOUBLE, 1, NULL},
                                      {"mass", OKRA_FIELD_DOUBLE, 1, NULL}};
    static const okra_field_ text[] = {{"text", OKRA_FIELD_BYTE, 1, NULL}};
    *b = (okra_spectra_builder_){0};
    CHK(okra_ragged_begin_(&b->peaks, "peaks", 2, peaks));
    CHK(okra_ragged_begin_(&b->ion, "ion", 2, ion));
    CHK(okra_ragged_begin_(&b->names, "names", 1, text));
    return okra_ragged_begin_(&b->texts, "texts", 1, text);
}

void okra_spectra_abandon_(okra_spectra_builder_ *b)
{
    okra_ragged_abandon_(&b->peaks);
    okra_ragged_abandon_(&b->ion);
    okra_ragged_abandon_(&b->names);
    okra_ragged_abandon_(&b->texts);
    FREE(b->peak, b->text);
    *b = (okra_spectra_builder_){0};
}

void okra_spectra_drop_(okra_spectra_builder_ *b)
{
    b->count = b->length = 0;
}

okra_status okra_spectra_peak_(okra_spectra_builder_ *b, double mz, double intensity)
{
    REFUSE_IF(!(mz > 0) || !(mz <= OKRA_MZ_MOST_), OKRA_EFORMAT,
              "m/z is %g, expected a number above 0%s", mz,
              mz > 0 ? " and at most 1e9" : "");
    REFUSE_IF(!(intensity >= 0) || !isfinite(intensity), OKRA_EFORMAT,
              "the intensity is %g, expected at least 0", intensity);
    REFUSE_IF(b->count == OKRA_PEAKS_MOST_, OKRA_EFORMAT,
              "more than %d peaks in one spectrum", OKRA_PEAKS_MOST_);
    EXTEND(b->peak, b->count, b->room, 128);
    if (intensity > 0) {
        b->peak[b->count++] = (okra_peak_){mz, intensity};
    }
    return OKRA_OK;
}

static void trim(const char **p, size_t *length)
{
    while (*length > 0 && (**p == ' ' || **p == '\t' || **p == '\r')) {
        (*p)++;
        (*length)--;
    }
    while (*length > 0 && ((*p)[*length - 1] == ' ' || (*p)[*length - 1] == '\t' ||
                           (*p)[*length - 1] == '\r')) {
        (*length)--;
    }
}

static okra_status put_text(okra_spectra_builder_ *b, const char *text, size_t length)
{
    REFUSE_IF(b->length + (okra_int)length > OKRA_META_MOST_, OKRA_EFORMAT,
              "more than %d bytes about one spectrum", OKRA_META_MOST_);
    if (b->length + (okra_int)length > b->text_room) {
        okra_int room = OKRA_MAX_(2 * b->text_room, b->length + (okra_int)length + 512);
        RESIZE(b->text, room);
        b->text_room = room;
    }
    memcpy(b->text + b->length, text, length);
    b->length += (okra_int)length;
    return OKRA_OK;
}

okra_status okra_spectra_about_(okra_spectra_builder_ *b, const char *key,
                                size_t key_length, const char *value, size_t length)
{
    char name[64];
    trim(&key, &key_length);
    trim(&value, &length);
    okra_meta_key_(key, key_length, name);
    if (key_length == 0 || length == 0) {
        return OKRA_OK; /* nothing is said */
    }
    CHK(put_text(b, name, strlen(name)));
    CHK(put_text(b, "=", 1));
    CHK(put_text(b, value, length));
    return put_text(b, "\n", 1);
}

OKRA_ORDER_(by_mz, okra_peak_, OKRA_UP_(mz))

/* Ascending, peaks of the same m/z as one. */
static okra_int sort_peaks(okra_peak_ *peak, okra_int count)
{
    okra_int kept = 0;
    for (okra_int k = 1; k < count; k++) {
        if (peak[k].mz < peak[k - 1].mz) {
            qsort(peak, (size_t)count, sizeof *peak, by_mz);
            break;
        }
    }
    for (okra_int k = 0; k < count; k++) {
        if (kept > 0 && peak[k].mz == peak[kept - 1].mz) {
            peak[kept - 1].intensity += peak[k].intensity;
        } else {
            peak[kept++] = peak[k];
        }
    }
    return kept;
}

static okra_status push_all(okra_spectra_builder_ *b, okra_int peaks, const double ion[2])
{
    okra_int length = 0;
    const char *title = okra_meta_find_(b->text, b->length, "TITLE", &length);
    const void *name[] = {title}, *text[] = {b->text}, *about[] = {&ion[0], &ion[1]};
    for (okra_int k = 0; k < peaks; k++) {
        const void *element[] = {&b->peak[k].mz, &b->peak[k].intensity};
        REFUSE_IF(!isfinite(b->peak[k].intensity), OKRA_EFORMAT,
                  "intensities add up to infinity");
        CHK(okra_ragged_push_(&b->peaks, element));
    }
    CHK(okra_ragged_push_(&b->ion, about));
    CHK(okra_ragged_push_many_(&b->names, title ? length : 0, name));
    CHK(okra_ragged_push_many_(&b->texts, b->length, text));
    CHK(okra_ragged_close_(&b->peaks));
    CHK(okra_ragged_close_(&b->ion));
    CHK(okra_ragged_close_(&b->names));
    return okra_ragged_close_(&b->texts);
}

static okra_status close_spectrum(okra_spectra_builder_ *b)
{
    double ion[2] = {0, 0}, sum = 0;
    for (okra_int k = 0; k < b->count; k++) {
        sum += b->peak[k].intensity;
    }
    REFUSE_IF(b->count == 0, OKRA_EFORMAT, "the spectrum has no peaks");
    REFUSE_IF(!isfinite(sum), OKRA_EFORMAT, "the intensities add up to infinity");
    CHK(okra_meta_ion_(b->text, b->length, ion));
    return push_all(b, sort_peaks(b->peak, b->count), ion);
}

okra_status okra_spectra_close_(okra_spectra_builder_ *b)
{
    okra_status st = close_spectrum(b);
    okra_spectra_drop_(b);
    return st;
}

okra_status okra_spectra_finish_(okra_spectra_builder_ *b, const char *source,
                                 okra_data **out)
{
    okra_ragged_builder_ *parts[] = {&b->peaks, &b->ion, &b->names, &b->texts, NULL};
    okra_status st = okra_ragged_data_(OKRA_SPECTRA, parts, source, out);
    okra_spectra_abandon_(b);
    return st;
}

okra_spectrum_view_ okra_spectrum_view_of_(const okra_data *data, okra_int i)
{
    const okra_ragged_ *peaks = &data->groups[0], *ion = &data->groups[1];
    okra_int begin = peaks->offsets[i], at = ion->offsets[i];
    return (okra_spectrum_view_){(const double *)peaks->fields[0].values + begin,
                                 (const double *)peaks->fields[1].values + begin,
                                 peaks->offsets[i + 1] - begin,
                                 ((const double *)ion->fields[0].values)[at],
                                 ((const double *)ion->fields[1].values)[at]};
}

/* ---- from memory, and what a program may see ---- */

/* Lines "KEY=VALUE" that a program gives. */
static okra_status add_about(okra_spectra_builder_ *b, const char *text)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n"), equals = strcspn(line, "=\n");
        REFUSE_IF(length > 0 && equals == length, OKRA_EFORMAT, "'%.*s' is not KEY=VALUE",
                  (int)OKRA_MIN_(length, 40), line);
        if (length > 0) {
            CHK(okra_spectra_about_(b, line, equals, line + equals + 1,
                                    length - equals - 1));
        }
        line += length + (line[length] == '\n');
    }
    return OKRA_OK;
}

static okra_status add_spectrum(okra_spectra_builder_ *b, const double *mz,
                                const double *intensity, okra_int count,
                                const char *about)
{
    for (okra_int k = 0; k < count; k++) {
        CHK(okra_spectra_peak_(b, mz[k], intensity[k]));
    }
    if (about) {
        CHK(add_about(b, about));
    }
    return okra_spectra_close_(b);
}

okra_status okra_data_spectra(const okra_int *offsets, const double *mz,
                              const double *intensity, const char *const *about,
                              okra_int n, okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_spectra_abandon_) okra_spectra_builder_ b = {0};
    REFUSE_IF(n < 0 || !offsets || offsets[0] != 0 ||
                  ((!mz || !intensity) && offsets[n] > 0),
              OKRA_EARG, "spectra: %s",
              n < 0                       ? "their number is negative"
              : !offsets || *offsets != 0 ? "the offsets must begin with 0"
                                          : "m/z or intensities are NULL");
    CHK(okra_spectra_begin_(&b));
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(offsets[i + 1] < offsets[i], OKRA_EARG,
                  "spectra: the offsets fall at %" PRId64, i);
        CHK(okra_at_(add_spectrum(&b, mz + offsets[i], intensity + offsets[i],
                                  offsets[i + 1] - offsets[i], about ? about[i] : NULL),
                     "spectrum %" PRId64 " (counted from 0)", i));
    }
    return okra_spectra_finish_(&b, "memory", out);
}

okra_int okra_data_peaks(const okra_data *data, okra_int i, const double **mz,
                         const double **intensity)
{
    if (!data || data->kind != OKRA_SPECTRA || i < 0 || i >= data->n) {
        return 0;
    }
    okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
    GIVE(mz, v.mz);
    GIVE(intensity, v.intensity);
    return v.count;
}

const char *okra_data_about(const okra_data *data, okra_int i, const char *key,
                            okra_int *length)
{
    if (!data || i < 0 || i >= data->n || !length) {
        return NULL;
    }
    data = okra_bag_first_(data, &i);
    if (data->kind != OKRA_SPECTRA) {
        return NULL;
    }
    const okra_ragged_ *texts = okra_data_group_(data, "texts");
    const char *text = (const char *)texts->fields[0].values + texts->offsets[i];
    okra_int size = texts->offsets[i + 1] - texts->offsets[i];
    char name[64];
    if (!key) {
        *length = size;
        return text;
    }
    okra_meta_key_(key, strlen(key), name);
    return okra_meta_find_(text, size, name, length);
}
