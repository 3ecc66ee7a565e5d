/*
 * spectra_field.c: a field of spectra in their place, and spectra written as MGF.
 *
 * spectra.mgf:smiles are the molecules, spectra.mgf:mass and spectra.mgf:pepmass numbers,
 * labels:spectra.mgf:KEY and strings:spectra.mgf:KEY whatever a key says. The objects
 * stay those of the file, so a spectrum without the field is an error. But
 * spectra.mgf:known are the spectra whose molecules can be read, and
 * spectra.mgf:known-smiles these molecules; the others are told and left out of both.
 */
#include "data/graphs.h"
#include "data/spectra/spectra.h"
#include "okra/more/objects.h"

#include <inttypes.h>
#include <string.h>

static okra_status absent(const okra_source_ *s, okra_int line)
{
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": the spectrum has no field '%s'",
                      line, s->part);
}

/* The molecule of spectrum i; OKRA_EFORMAT: there is none that can be read. */
static okra_status molecule_of(const okra_source_ *s, const okra_int *lines,
                               const okra_data *data, okra_int i, okra_molecule_ *m,
                               bool *kekule)
{
    okra_int length = 0;
    const char *text = okra_data_about(data, i, "SMILES", &length);
    CHK(okra_cancelled_(s->ctx));
    REFUSE_IF(!text, OKRA_EFORMAT, "line %" PRId64 ": the spectrum has no field 'smiles'",
              lines[i]);
    okra_status st = okra_smiles_parse_(text, (size_t)length, 1, m);
    st = st == OKRA_OK ? okra_molecule_perceive_(m, kekule) : st;
    if (st == OKRA_EFORMAT) {
        okra_message_prefix_("line %" PRId64 ": the SMILES of the spectrum", lines[i]);
    }
    return st;
}

/* all: one that cannot be read is an error: the objects stay those of the file. */
static okra_status molecules(const okra_source_ *s, const okra_int *lines,
                             const okra_data *data, bool all, okra_data **out)
{
    okra_status st = OKRA_OK;
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ b = {0};
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    okra_faults_ faults = {.ctx = s->ctx, .name = s->name};
    okra_int odd = 0, odd_first = 0, length = 0;
    CHK(okra_graphs_begin_(&b, true));
    for (okra_int i = 0; i < data->n; i++) {
        bool kekule = true;
        st = molecule_of(s, lines, data, i, &m, &kekule);
        if (st == OKRA_EFORMAT && !all && faults.count + 1 < data->n) {
            CHK(okra_fault_(&faults, st));
            continue;
        }
        CHK(st);
        odd_first = !kekule && odd == 0 ? lines[i] : odd_first;
        odd += !kekule;
        const char *text = okra_data_about(data, i, "SMILES", &length);
        CHK(okra_graphs_molecule_(&b, &m, text, (size_t)length));
    }
    okra_faults_end_(&faults, "molecules", data->n - faults.count);
    okra_warn_unkekulised_(s, odd, odd_first);
    return okra_graphs_finish_(&b, s->name, out);
}

/* The spectra whose molecules can be read: the same ones that `molecules` keeps. */
static okra_status known(const okra_source_ *s, const okra_int *lines,
                         const okra_data *data, okra_data **out)
{
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    OWNED okra_int *kept = NULL;
    okra_int count = 0;
    bool kekule;
    MAKE(kept, data->n);
    for (okra_int i = 0; i < data->n; i++) {
        okra_status st = molecule_of(s, lines, data, i, &m, &kekule);
        bool left_out = st == OKRA_EFORMAT && okra_context_strict_(s->ctx) == 0 &&
                        (count > 0 || i + 1 < data->n);
        CHK(left_out ? OKRA_OK : st);
        kept[count] = i;
        count += !left_out;
    }
    if (count < data->n) {
        okra_warn_(s->ctx, "%s: %lld of %lld spectra tell no molecule and are left out",
                   s->name, (long long)(data->n - count), (long long)data->n);
    }
    return okra_data_take(data, kept, count, out);
}

/* mass: of the molecule, as the ion tells it; others: the first number of the value. */
static okra_status numbers(const okra_source_ *s, const char *key, const okra_int *lines,
                           const okra_data *data, okra_data **out)
{
    OWNED double *values = NULL;
    MAKE(values, data->n);
    for (okra_int i = 0; i < data->n; i++) {
        okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
        values[i] = strcmp(key, "MASS") == 0 ? v.mass : v.precursor;
        if (!(values[i] > 0)) {
            CHK(absent(s, lines[i]));
        }
    }
    return okra_data_adopt_dense_(&values, data->n, 1, s->name, out);
}

static okra_status texts_of(const okra_source_ *s, const okra_int *lines,
                            const okra_data *data, okra_data **out)
{
    FREED_BY(okra_texts_free_) okra_texts_ texts = {0};
    okra_int length = 0;
    for (okra_int i = 0; i < data->n; i++) {
        const char *text = okra_data_about(data, i, s->part, &length);
        CHK(text ? OKRA_OK : absent(s, lines[i]));
        CHK(okra_texts_add_(&texts, text, text + length));
    }
    CHK(okra_texts_done_(&texts));
    if (s->how == OKRA_HOW_LABELS_) {
        CHK(okra_labels_from_texts_(texts.pointers, texts.count, s->name, out));
    } else {
        CHK(okra_data_strings((const char *const *)texts.pointers, texts.count, out));
        CHK(okra_data_rename_(out, s->name));
    }
    return OKRA_OK;
}

okra_status okra_spectra_field_(const okra_source_ *s, const okra_int *lines,
                                okra_data **data)
{
    okra_data *made = NULL;
    char key[64];
    okra_meta_key_(s->part, strlen(s->part), key);
    if (s->how == OKRA_HOW_LABELS_ || s->how == OKRA_HOW_STRINGS_) {
        CHK(texts_of(s, lines, *data, &made));
    } else if (strcmp(key, "SMILES") == 0) {
        CHK(molecules(s, lines, *data, true, &made));
    } else if (strcmp(key, "KNOWN_SMILES") == 0) {
        CHK(molecules(s, lines, *data, false, &made));
    } else if (strcmp(key, "KNOWN") == 0) {
        CHK(known(s, lines, *data, &made));
    } else if (strcmp(key, "MASS") == 0 || strcmp(key, "PEPMASS") == 0) {
        CHK(numbers(s, key, lines, *data, &made));
    } else {
        return okra_fail_(
            OKRA_EARG,
            "the field '%s' is text: put labels: or strings: before the file; smiles, "
            "known, known-smiles, mass and pepmass go without",
            s->part);
    }
    okra_data_free(*data);
    *data = made;
    return OKRA_OK;
}

/* ---- back as MGF ---- */

okra_status okra_write_mgf_(okra_writer_ *w, const okra_data *data)
{
    REFUSE_IF(data->kind != OKRA_SPECTRA, OKRA_EUNSUPPORTED,
              "%s cannot be written as spectra", okra_kind_name(data->kind));
    for (okra_int i = 0; i < data->n; i++) {
        okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
        okra_int length = 0;
        const char *about = okra_data_about(data, i, NULL, &length);
        CHK(okra_writer_printf_(w, "BEGIN IONS\n"));
        CHK(okra_writer_put_(w, about, (size_t)length));
        for (okra_int k = 0; k < v.count; k++) {
            char mz[OKRA_NUMBER_TEXT_], height[OKRA_NUMBER_TEXT_];
            CHK(okra_writer_printf_(w, "%s %s\n", okra_double_text_(v.mz[k], mz),
                                    okra_double_text_(v.intensity[k], height)));
        }
        CHK(okra_writer_printf_(w, "END IONS\n\n"));
    }
    return OKRA_OK;
}
