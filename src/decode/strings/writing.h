/*
 * writing.h: the search for the string nearest to a prediction, by single edits, under
 * the kernels of string_prediction.h.
 */
#ifndef OKRA_WRITING_H_
#define OKRA_WRITING_H_

#include "decode/results.h"
#include "decode/propose.h"
#include "decode/strings/string_prediction.h"

enum { OKRA_FRONT_ = 1024 };

/* How strings are searched. */
typedef struct okra_string_search_ {
    const okra_data *y;         /* the training outputs */
    okra_starts_ *starts;       /* those to begin from */
    int32_t *alphabet, *edited; /* distinct letters, ascending; space for one string */
    okra_int letters;
    okra_int longest, known; /* letters of a string, of a training output at most */
    bool one_length;         /* none is inserted or deleted */
    okra_int width, rounds;  /* strings that are kept, and expansions at most */
    bool empty;              /* strings with l(y,y) <= 0 are allowed */
    bool every;              /* OKRA_FRONT_ of each length at most: all are looked at */
    okra_string_kernel_ *written; /* where the kernel is one of those, else NULL */
    double sigma,
        scale; /* median.c: of the kernel scale exp(-d/sigma); sigma 0: the loss */
} okra_string_search_;

/* Who is shown the single edits of a string. */
typedef struct okra_edited_ {
    void *user;
    /* Another letter at a place of y: all of them are to be looked at. */
    okra_status (*replace)(void *user, okra_word_ y, okra_int at);
    /* y, whose first `kept` letters are those of the string. */
    okra_status (*offer)(void *user, okra_word_ y, okra_int kept);
} okra_edited_;
/* Letters replaced, neighbours exchanged, letters deleted and, where there are fewer than
 * `longest`, inserted (a place of -1 that is replaced); one_length: the first two alone.
 * e: room for y and one letter more, where they are shown. */
okra_status okra_edits_of_(okra_word_ y, bool one_length, okra_int longest, int32_t *e,
                           const okra_edited_ *to) OKRA_CHECK;

/* The best strings of every row, code points, and their distances; norm[r] = w_r'Lw_r.
 * more: one a row, to begin from too, in letters. */
okra_status okra_write_(okra_context *ctx, const okra_string_search_ *how,
                        const okra_word_ *more, const okra_block_ *block,
                        const double *norm, const okra_results_ *results) OKRA_CHECK;

#endif
