/*
 * update_low.c: models of low rank whose pairs come and go. They hold a basis in place of
 * their training inputs, and sums over the pairs (method/ridge/ridge_sum.c), to which
 * moments of the pairs that come are added; those of pairs that go are subtracted, for
 * which their inputs must be given again.
 */
#include "model/update.h"

bool okra_update_is_low_(const okra_model *m)
{
    double rank;
    return m->training->waves || (okra_bag_get_number_(m->bag, "x.rank", &rank) &&
                                  !okra_kernel_low_(m->training->kx));
}

/* The pairs of one side, as a problem on the maps of `whole`. */
static okra_problem_ part(const okra_problem_ *whole, const okra_data *x,
                          const okra_data *y)
{
    okra_problem_ p = *whole;
    p.n = y->n;
    p.unlabelled = 0;
    p.x = x;
    p.y = y;
    p.features = whole->features ? y->values : NULL;
    p.features_ld = y->ld;
    p.weights = y->weights;
    return p;
}

static okra_status check_low(const okra_update_job_ *j)
{
    const okra_update_request *r = &j->request;
    const okra_training_ *t = j->model->training;
    okra_int rows, cols;
    REFUSE_IF(!okra_bag_get_(j->model->bag, "moments.C", &rows, &cols), OKRA_EUNSUPPORTED,
              "update: the model is of low rank and holds a basis, not its training "
              "inputs: fit it with keep-moments, or fit anew");
    REFUSE_IF(r->remove_count > 0 && !r->removed_x, OKRA_EARG,
              "update: a model of low rank holds no training inputs: give those of the "
              "rows that go as well (removed-x)");
    REFUSE_IF(r->removed_x && r->removed_x->n != r->remove_count, OKRA_ESHAPE,
              "update: %lld rows are to go, and there are inputs of %lld",
              (long long)r->remove_count, (long long)r->removed_x->n);
    if (r->y && (r->y->kind != t->y->kind || r->y->d != t->y->d)) {
        char a[96], b[96];
        return okra_fail_(OKRA_ESHAPE, "y has %s, the model was fitted on %s",
                          okra_data_describe_(r->y, a, sizeof a),
                          okra_data_describe_(t->y, b, sizeof b));
    }
    REFUSE_IF(r->remove_count > 0 && t->map_y && t->map_y->index, OKRA_EUNSUPPORTED,
              "update: the basis of the outputs is among the training pairs, so that "
              "none can go");
    return OKRA_OK;
}

/* What is subtracted must be what was added. */
static okra_status check_removed(const okra_update_job_ *j)
{
    const okra_update_request *r = &j->request;
    const okra_data *x = r->removed_x;
    okra_mat_ keys = okra_bag_mat_(j->model->bag, "moments.keys");
    for (okra_int i = 0; keys.p && i < r->remove_count; i++) {
        REFUSE_IF(okra_data_key_(x, i) != keys.p[r->remove[i]], OKRA_EARG,
                  "update: object %lld (counted from 0) of removed-x is not the input of "
                  "training pair %lld, which is to go",
                  (long long)i, (long long)r->remove[i]);
    }
    return OKRA_OK;
}

/* `removed_x` is in the order of the request, and so are these outputs. */
static okra_status removed_outputs(const okra_update_job_ *j, okra_data **out)
{
    return okra_data_take(j->model->training->y, j->request.remove,
                          j->request.remove_count, out);
}

okra_status okra_update_low_(okra_update_job_ *j)
{
    const okra_update_request *r = &j->request;
    const char *file = NULL;
    FREED_BY(okra_data_drop_) okra_data *gone = NULL;
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    okra_problem_ less = {0}, more = {0};
    CHK(check_low(j));
    j->x = okra_data_retain(j->model->training->x);
    CHK(okra_update_join_(j->model->training->y, j->order, j->kept, r->y, &j->y));
    CHK(okra_model_options_(j->model, &j->options, &file));
    CHK(okra_update_training_(j, false));
    if (j->training->waves) {
        CHK(okra_model_kernel_text_(j->model, &j->training->waves_text));
    }
    CHK(okra_map_load_over_(j->ctx, j->training->kx, j->training->x, j->model->bag,
                            "basis", "kx", &map));
    okra_problem_ whole = okra_training_problem_(j->training, j->x, map);
    whole.unlabelled = 0; /* x is the basis */
    if (r->remove_count > 0) {
        CHK(check_removed(j));
        CHK(removed_outputs(j, &gone));
        less = part(&whole, r->removed_x, gone);
    }
    if (r->y) {
        more = part(&whole, r->x, r->y);
    }
    const okra_bag_ *const bags[] = {j->model->bag};
    okra_sum_ sum = {.bags = bags,
                     .count = 1,
                     .removed = j->removed,
                     .removed_count = r->remove_count,
                     .less = gone ? &less : NULL,
                     .more = r->y ? &more : NULL,
                     .whole = &whole};
    CHK(okra_bag_create_(&j->bag));
    CHK(okra_solution_sum_(j->ctx, &sum, j->options, j->bag));
    CHK(okra_update_common_(j->model->bag, j->bag));
    j->change.drift = sum.drift;
    j->change.done = true;
    return OKRA_OK;
}
