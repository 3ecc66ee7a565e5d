/*
 * spectra.h: collections of tandem mass spectra, built spectrum by spectrum.
 *
 * An object of kind OKRA_SPECTRA has the groups
 *     peaks   mz, intensity (double): m/z ascend strictly, both are above 0
 *     ion     one element: precursor (m/z), mass (of the molecule, neutral); 0: not known
 *     names   what the spectrum is called (uint8)
 *     texts   what the file says about it, as lines KEY=VALUE (uint8)
 * Keys are in capitals. Those that formats call by several names have one of them:
 * TITLE, PEPMASS, ADDUCT, CHARGE, IONMODE, FORMULA, SMILES, INCHIKEY.
 */
#ifndef OKRA_SPECTRA_H_
#define OKRA_SPECTRA_H_

#include "data/files/formats.h"

enum {
    OKRA_PEAKS_MOST_ = 1 << 20, /* of one spectrum                      */
    OKRA_META_MOST_ = 1 << 20,  /* bytes about one spectrum             */
    OKRA_MZ_MOST_ = 1000000000, /* a larger m/z is a mistake            */
};

typedef struct okra_peak_ {
    double mz, intensity;
} okra_peak_;

typedef struct okra_spectra_builder_ {
    okra_ragged_builder_ peaks, ion, names, texts;
    /* The spectrum at hand. */
    okra_peak_ *peak;
    okra_int count, room;
    char *text;
    okra_int length, text_room;
} okra_spectra_builder_;

/* Whoever begins abandons in the end, also where this fails. */
okra_status okra_spectra_begin_(okra_spectra_builder_ *b);
/* OKRA_EFORMAT where the numbers cannot be those of a peak; intensity 0 is no peak. */
okra_status okra_spectra_peak_(okra_spectra_builder_ *b, double mz, double intensity);
/* What is said about the spectrum: blanks around both are dropped. */
okra_status okra_spectra_about_(okra_spectra_builder_ *b, const char *key,
                                size_t key_length, const char *value, size_t length);
/* Lines KEY=VALUE with the one names of keys, as okra_data_about gives them. */
okra_status okra_spectra_text_(okra_spectra_builder_ *b, const char *text, size_t length);
/* Ends the spectrum: sorts its peaks, finds its ion; OKRA_EFORMAT: it cannot be one, and
 * is forgotten. */
okra_status okra_spectra_close_(okra_spectra_builder_ *b);
/* Forgets the spectrum at hand. */
void okra_spectra_drop_(okra_spectra_builder_ *b);
okra_status okra_spectra_finish_(okra_spectra_builder_ *b, const char *source,
                                 okra_data **out);
void okra_spectra_abandon_(okra_spectra_builder_ *b);

/* One spectrum as kernels see it. */
typedef struct okra_spectrum_view_ {
    const double *mz, *intensity;
    okra_int count;
    double precursor, mass; /* 0: not known */
} okra_spectrum_view_;
okra_spectrum_view_ okra_spectrum_view_of_(const okra_data *data, okra_int i);

/* ---- what is said about a spectrum ---- */

/* The one name of a key, in `out`: capitals, blanks as underscores. */
void okra_meta_key_(const char *key, size_t length, char out[64]);
/* The value of a key (its one name) among lines KEY=VALUE; NULL: there is none. */
const char *okra_meta_find_(const char *text, okra_int size, const char *key,
                            okra_int *length);
/* The mass M of a molecule whose ion has that m/z, by an adduct such as [M+H]+, [2M-H]-
 * or M+Na, whose charge stands elsewhere, 0: not; 0: the adduct is not understood. */
double okra_adduct_mass_(const char *adduct, size_t length, double mz, double told);
/* ---- broken records ---- */

/* Records of a file that are left out, told and counted, unless the context is strict. */
typedef struct okra_faults_ {
    okra_context *ctx;
    const char *name; /* of the file */
    okra_int count;
    int level; /* what the strictness must be above for a stop */
} okra_faults_;
/* A record failed with `st`. OKRA_OK: it was told of, go on. */
okra_status okra_fault_(okra_faults_ *faults, okra_status st);
/* "FILE: 3 of 80 spectra are left out". */
void okra_faults_end_(const okra_faults_ *faults, const char *what, okra_int kept);

#endif
