/*
 * ridge_cg_file.c: the checkpoint of conjugate gradients: a sealed zip archive of one
 * entry, a header of eight 64-bit numbers and the arrays of the state as they lie in
 * memory. It is replaced as a whole, so that a kill leaves the one before.
 */
#include "method/ridge/ridge_cg.h"

#include "data/files/zip.h"

#include <string.h>
#include <unistd.h>

static const char ENTRY[] = "okra-cg-1";

okra_status okra_cg_state_create_(okra_context *ctx, okra_int m, okra_int d,
                                  okra_cg_state_ *out)
{
    okra_status st = OKRA_OK;
    okra_cg_state_ s = {.m = m, .d = d};
    double **blocks[] = {&s.X, &s.R, &s.P};
    for (int i = 0; i < 3; i++) {
        TRY(okra_doubles_(ctx, m, d, "conjugate gradients", blocks[i]));
    }
    ZALLOC(s.rho, d);
    ZALLOC(s.norm, d);
    ZALLOC(s.mean, d);
    *out = s;
    return OKRA_OK;
done:
    okra_cg_state_clear_(&s);
    return st;
}

void okra_cg_state_clear_(okra_cg_state_ *s)
{
    okra_free_(s->X);
    okra_free_(s->R);
    okra_free_(s->P);
    okra_free_(s->rho);
    okra_free_(s->norm);
    okra_free_(s->mean);
    *s = (okra_cg_state_){0};
}

typedef struct header {
    uint64_t problem;
    okra_int m, d, steps;
    uint64_t unused[4];
} header;

enum { ARRAYS = 6 };

static void arrays(const okra_cg_state_ *s, double *p[ARRAYS], okra_int count[ARRAYS])
{
    double *all[ARRAYS] = {s->X, s->R, s->P, s->rho, s->norm, s->mean};
    for (int i = 0; i < ARRAYS; i++) {
        p[i] = all[i];
        count[i] = i < 3 ? s->m * s->d : s->d;
    }
}

okra_status okra_cg_state_save_(const okra_cg_state_ *s, const char *path,
                                uint64_t problem)
{
    FREED_BY(okra_writer_drop_) okra_writer_ *file = NULL;
    FREED_BY(okra_zip_writer_drop_) okra_zip_writer_ *zip = NULL;
    header h = {.problem = problem, .m = s->m, .d = s->d, .steps = s->steps};
    double *p[ARRAYS];
    okra_int count[ARRAYS];
    char name[32];
    arrays(s, p, count);
    CHK(okra_writer_open_(path, &file));
    CHK(okra_zip_writer_create_(file, &zip));
    CHK(okra_zip_add_(zip, ENTRY, &h, sizeof h, NULL, 0, 0, 0, NULL));
    for (int i = 0; i < ARRAYS; i++) {
        name[0] = (char)('a' + i);
        name[1] = '\0';
        CHK(okra_zip_add_(zip, name, NULL, 0, p[i], 1, (size_t)count[i] * 8,
                          (size_t)count[i] * 8, NULL));
    }
    CHK(okra_zip_finish_(zip));
    okra_writer_ *whole = file;
    file = NULL;
    return okra_writer_commit_(whole);
}

static okra_status entry(const okra_context *ctx, const okra_zip_ *zip, const char *name,
                         okra_int bytes, void *out)
{
    const unsigned char *found = NULL;
    okra_int size = 0, at = okra_zip_find_(zip, name);
    OWNED void *owned = NULL;
    if (at >= 0) {
        CHK(okra_zip_entry_(ctx, zip, at, &found, &size, &owned));
    }
    if (at < 0 || size != bytes) {
        return okra_fail_(OKRA_EFORMAT, "it is no checkpoint of a fit");
    }
    memcpy(out, found, (size_t)bytes);
    return OKRA_OK;
}

okra_status okra_cg_state_load_(const okra_context *ctx, const char *path,
                                uint64_t problem, okra_cg_state_ *s, bool *found)
{
    okra_status st = OKRA_OK;
    okra_zip_ *zip = NULL;
    header h;
    double *p[ARRAYS];
    okra_int count[ARRAYS];
    *found = access(path, F_OK) == 0;
    if (!*found) {
        return OKRA_OK;
    }
    TRY(okra_zip_open_(ctx, path, &zip));
    TRY(okra_zip_check_seal_(zip));
    TRY(entry(ctx, zip, ENTRY, sizeof h, &h));
    if (h.problem != problem || h.m != s->m || h.d != s->d || h.steps < 0) {
        FAIL(OKRA_EARG, "it is the checkpoint of another fit: other data or options; "
                        "remove it, or name another file");
    }
    arrays(s, p, count);
    for (int i = 0; i < ARRAYS; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        TRY(entry(ctx, zip, name, count[i] * 8, p[i]));
    }
    s->steps = h.steps;
done:
    if (st == OKRA_EFORMAT || st == OKRA_EARG) {
        okra_message_prefix_("checkpoint %s", path);
    }
    okra_zip_close_(zip);
    return st;
}
