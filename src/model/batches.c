/*
 * batches.c: test inputs in blocks through the input kernel and the method.
 *
 * A block of m rows holds k(x_r, train_c), m x N, and what the method makes of it. The
 * weights w(x) = B k_x of kernel methods read the n x n matrix B once a block, so blocks
 * are made as tall as the memory budget allows (okra_block_rows_).
 */
#include "model/model.h"
#include "okra/more/objects.h"

okra_form_ okra_model_form_(const okra_model *model)
{
    return okra_method_form_(model->method, model->store);
}

void okra_model_solution_(const okra_model *m, okra_solution_ *out)
{
    if (m->method->solution) {
        m->method->solution(m->store, m->training->y->n, out);
    } else {
        okra_solution_plain_(m->store, m->training->y->n, out);
        out->kind = OKRA_SOLUTION_NONE_;
        out->has_factor = false;
        out->noise = -1;
    }
}

bool okra_model_low_(const okra_model *m)
{
    double rank;
    return m->training->waves || (okra_store_get_number_(m->store, "x.rank", &rank) &&
                                  !okra_kernel_low_(m->training->kx));
}

okra_int okra_model_width_(const okra_model *model)
{
    return okra_model_form_(model) == OKRA_FORM_EMBEDDING
               ? model->method->width(model->store)
               : model->training->y->n;
}

okra_status okra_model_settle_(okra_context *ctx, const okra_model *model)
{
    /* Components are read entry by entry. */
    return okra_matrix_to_host_(ctx, model->store,
                                okra_method_compares_(model->method)->components != NULL);
}

static const char block_name[] = "a block of test rows against the training inputs";

/* Does the method take the block where the engine makes it? */
static bool on_engine(const okra_batches_ *walk)
{
    return okra_method_takes_(walk->model->method, OKRA_TAKES_LARGE_) &&
           !walk->model->training->waves;
}

okra_status okra_batches_open_(okra_context *ctx, const okra_model *model,
                               const okra_data *x, okra_int extra, okra_batches_ *walk)
{
    const okra_training_ *t = model->training;
    okra_int inputs = t->waves ? 2 * t->x->n : t->x->n;
    FREED_BY(okra_batches_close_)
    okra_batches_ w = {.model = model, .tests = x->n, .columns = inputs};
    CHK(okra_model_settle_(ctx, model));
    CHK(okra_data_align(ctx, x, t->x, &w.x));
    CHK(okra_test_side_create_(ctx, t->bound_x, w.x, &w.other));
    if (okra_method_takes_(model->method, OKRA_TAKES_SELF_)) {
        MAKE(w.self, w.tests);
        MAKE(w.train_self, t->x->n);
        CHK(okra_test_side_diagonal_(ctx, t->bound_x, w.other, w.self));
        CHK(okra_trained_kernel_diagonal_(ctx, t->bound_x, w.train_self));
    }
    okra_criterion_ criterion;
    const okra_compares_ *compares = okra_method_compares_(model->method);
    if (compares->criterion) {
        CHK(compares->criterion(model->store, t->y->n, &criterion));
        w.extra_cols = 1 + criterion.neighbours;
    }
    /* Another engine gets the candidates anew for each block. */
    okra_int most = okra_engine_is_host_(ctx) ? 64 << 20 : 1 << 30;
    okra_int width = inputs + okra_model_width_(model) + extra + w.extra_cols;
    w.rows = okra_block_rows_of_(ctx, most, w.tests, width);
    if (w.extra_cols > 0) {
        CHK(okra_doubles_(ctx, w.rows, w.extra_cols, "what a criterion needs", &w.extra));
    }
    CHK(okra_entries_create_(ctx, t->bound_x, w.other, &w.entries));
    if (!on_engine(&w)) {
        CHK(okra_doubles_(ctx, w.rows, inputs, block_name, &w.K));
    }
    *walk = TAKE(w);
    return OKRA_OK;
}

void okra_batches_close_(okra_batches_ *walk)
{
    okra_sent_clear_(&walk->sent);
    okra_matrix_free_(walk->large);
    okra_entries_free_(walk->entries);
    okra_test_side_free_(walk->other);
    okra_data_free(walk->x);
    FREE(walk->self, walk->train_self, walk->K, walk->extra);
    *walk = (okra_batches_){0};
}

static okra_status query(okra_context *ctx, okra_batches_ *walk, okra_int first,
                         okra_int m, okra_query_ *out)
{
    const okra_training_ *t = walk->model->training;
    *out = (okra_query_){.m = m,
                         .n = t->y->n,
                         .Kx = okra_mat_of_(walk->K, m, walk->columns),
                         .self = walk->self ? walk->self + first : NULL,
                         .train_self = walk->train_self,
                         .extra = okra_mat_of_(walk->extra, m, walk->extra_cols),
                         .x = walk->x,
                         .first = first,
                         .kx = t->bound_x,
                         .sent = &walk->sent};
    if (!on_engine(walk)) {
        CHK(okra_matrix_gram_host_(ctx, walk->entries, first,
                                   okra_mat_part_(out->Kx, 0, m, 0, t->x->n)));
        if (t->waves) {
            okra_waves_(out->Kx);
        }
        return OKRA_OK;
    }
    if (!walk->large || walk->large->rows != m) {
        okra_matrix_drop_(&walk->large);
        CHK(okra_matrix_create_(ctx, m, walk->columns, block_name, &walk->large));
    }
    CHK(okra_matrix_gram_(ctx, walk->entries, first, walk->large));
    out->K = walk->large;
    return OKRA_OK;
}

okra_status okra_batches_predict_(okra_context *ctx, okra_batches_ *walk, okra_int first,
                                  okra_mat_ out)
{
    okra_query_ q;
    REFUSE_IF(!walk->model->method->predict, OKRA_EUNSUPPORTED,
              "method %s scores links between nodes and predicts no outputs",
              walk->model->method->name);
    CHK(query(ctx, walk, first, out.rows, &q));
    return walk->model->method->predict(ctx, walk->model->store, &q, out);
}

okra_status okra_batches_link_(okra_context *ctx, okra_batches_ *walk, okra_int first,
                               bool labelled, okra_mat_ P, okra_mat_ Q)
{
    okra_query_ q;
    CHK(query(ctx, walk, first, P.rows, &q));
    return walk->model->method->linker->factors(ctx, walk->model->store, &q,
                                                labelled ? first : -1, P, Q);
}

okra_status okra_batches_embed_(okra_context *ctx, okra_batches_ *walk, okra_int first,
                                okra_mat_ out)
{
    okra_query_ q;
    CHK(query(ctx, walk, first, out.rows, &q));
    return walk->model->method->embed(ctx, walk->model->store, &q, out);
}
