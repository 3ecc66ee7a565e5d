/*
 * expr.c: parsed kernels, and their canonical text: every parameter written, numbers in
 * the fewest digits that read back the same, parentheses only where they matter, short
 * names for linear | transform. A number whose default is 0 (not given) and that is 0 is
 * left out.
 */
#include "kernel/expression/expr.h"
#include "kernel/positions/position.h"

/* ---- text ---- */

typedef struct builder {
    char *text;
    okra_int size, room;
} builder;

OKRA_PRINTF(2, 3) static okra_status put(builder *b, const char *format, ...)
{
    for (;;) {
        va_list args;
        va_start(args, format);
        int length = vsnprintf(b->text ? b->text + b->size : NULL,
                               (size_t)(b->room - b->size), format, args);
        va_end(args);
        if (length < b->room - b->size) {
            b->size += length;
            return OKRA_OK;
        }
        okra_int room = 2 * b->room + length + 64;
        RESIZE(b->text, room);
        b->room = room;
    }
}

/* The value of a field; "" for a number that was not given. */
static const char *value_text(const okra_option *row, const char *field, char buffer[32])
{
    switch (row->type) {
    case OKRA_OPTION_NUMBER: {
        double x = *(const double *)(const void *)field;
        buffer[0] = 0;
        if (x != 0 || !row->preset || strcmp(row->preset, "0") != 0) {
            okra_double_text_(x, buffer);
        }
        return buffer;
    }
    case OKRA_OPTION_INT:
        snprintf(buffer, 32, "%lld", (long long)*(const okra_int *)(const void *)field);
        return buffer;
    case OKRA_OPTION_BOOL:
        return *(const bool *)(const void *)field ? "yes" : "no";
    case OKRA_OPTION_TEXT:
    case OKRA_OPTION_READ:
    case OKRA_OPTION_WRITTEN:
        return *(const char *const *)(const void *)field;
    case OKRA_OPTION_CHOICE: {
        const char *p = row->choices;
        for (int k = *(const int *)(const void *)field; k > 0; k--) {
            p = strchr(p, '|') + 1;
        }
        snprintf(buffer, 32, "%.*s", (int)strcspn(p, "|"), p);
        return buffer;
    }
    }
    return "";
}

/* `before` stands before the first of them: "(", or "," after a nested expression. */
static okra_status params_after(builder *b, const char *before,
                                const okra_option_table *table, const char *params)
{
    char buffer[32];
    for (const okra_option *row = table->rows; row->name; row++) {
        const char *value = value_text(row, params + row->offset, buffer);
        if (*value) {
            CHK(put(b, "%s%s=%s", before, row->name, value));
            before = ",";
        }
    }
    return put(b, "%s", *before == ',' ? ")" : "");
}

/* The numbers in order, up to the last that was given. */
static okra_status listed_params(builder *b, const okra_option_table *table,
                                 const char *params)
{
    char buffer[32];
    int last = 0;
    for (int k = 0; table->rows[k].name; k++) {
        const okra_option *row = &table->rows[k];
        last = *value_text(row, params + row->offset, buffer) ? k : last;
    }
    for (int k = 0; k <= last; k++) {
        const okra_option *row = &table->rows[k];
        const char *value = value_text(row, params + row->offset, buffer);
        CHK(put(b, "%s%s", k == 0 ? "(" : ",", *value ? value : "0"));
    }
    return put(b, ")");
}

static const char *short_name(const okra_kernel *kernel, const okra_node_ *node)
{
    const okra_node_ *child = &kernel->nodes[node->a];
    bool linear = child->kind == OKRA_NODE_LEAF_ &&
                  (child->leaf == &okra_linear_ || child->leaf == okra_linear_.distances);
    for (const okra_sugar_ *s = okra_sugar_names_; linear && s->name; s++) {
        if (s->transform == node->transform) {
            return s->name;
        }
    }
    return NULL;
}

/* How tightly a text of this node binds: pipe < sum < product < single. */
enum { PIPE, SUM, PRODUCT, SINGLE };

static int level_of(const okra_kernel *kernel, const okra_node_ *node)
{
    switch (node->kind) {
    case OKRA_NODE_TRANSFORM_:
        return short_name(kernel, node) ? SINGLE : PIPE;
    case OKRA_NODE_SUM_:
        return SUM;
    case OKRA_NODE_PRODUCT_:
    case OKRA_NODE_SCALE_:
        return PRODUCT;
    case OKRA_NODE_LEAF_:
        return node->leaf->whole && !node->component ? PIPE : SINGLE;
    case OKRA_NODE_CONSTANT_:
        break;
    }
    return SINGLE;
}

static okra_status write_node(builder *b, const okra_kernel *kernel, int place,
                              int level);

static okra_status write_leaf(builder *b, const okra_node_ *node)
{
    const okra_kernel_class_ *leaf = node->leaf;
    const char *inner = leaf->nested ? (*(okra_kernel **)node->params)->text : "";
    const char *open = leaf->whole && node->component ? "(" : "";
    bool after = leaf->nested && !leaf->whole;
    if (leaf->whole) { /* EXPR | chol(...) */
        CHK(put(b, "%s%s | ", open, inner));
    }
    CHK(put(b, "%s%s%s", leaf->name, after ? "(" : "", after ? inner : ""));
    CHK(params_after(b, after ? "," : "(", &leaf->params, node->params));
    CHK(put(b, "%s", *open ? ")" : ""));
    return node->component ? put(b, "@%d", node->component) : OKRA_OK;
}

static okra_status write_transform(builder *b, const okra_kernel *kernel,
                                   const okra_node_ *node)
{
    const okra_transform_class_ *t = node->transform;
    const char *name = short_name(kernel, node);
    if (!name) {
        CHK(write_node(b, kernel, node->a, PIPE));
        CHK(put(b, " | "));
    }
    CHK(put(b, "%s", name ? name : t->name));
    CHK(t->positional ? listed_params(b, &t->params, node->params)
                      : params_after(b, "(", &t->params, node->params));
    int component = name ? kernel->nodes[node->a].component : 0;
    return component ? put(b, "@%d", component) : OKRA_OK;
}

static okra_status write_node(builder *b, const okra_kernel *kernel, int place, int level)
{
    const okra_node_ *node = &kernel->nodes[place];
    bool enclosed = level_of(kernel, node) < level;
    bool sum = node->kind == OKRA_NODE_SUM_;
    char number[32];
    CHK(put(b, "%s", enclosed ? "(" : ""));
    switch (node->kind) {
    case OKRA_NODE_LEAF_:
        CHK(write_leaf(b, node));
        break;
    case OKRA_NODE_TRANSFORM_:
        CHK(write_transform(b, kernel, node));
        break;
    case OKRA_NODE_CONSTANT_:
    case OKRA_NODE_SCALE_:
        okra_double_text_(node->scale, number);
        CHK(put(b, "%s", number));
        if (node->kind == OKRA_NODE_SCALE_) {
            CHK(put(b, "*"));
            CHK(write_node(b, kernel, node->a, PRODUCT));
        }
        break;
    case OKRA_NODE_SUM_:
    case OKRA_NODE_PRODUCT_:
        CHK(write_node(b, kernel, node->a, sum ? SUM : PRODUCT));
        CHK(put(b, "%s", sum ? " + " : "*"));
        /* The right operand, if of the same kind, keeps its parentheses. */
        CHK(write_node(b, kernel, node->b, sum ? PRODUCT : SINGLE));
        break;
    }
    return put(b, "%s", enclosed ? ")" : "");
}

okra_status okra_expr_text_(const okra_kernel *kernel, char **text)
{
    builder b = {NULL, 0, 0};
    OWNS(&b.text);
    CHK(write_node(&b, kernel, kernel->count - 1, PIPE));
    *text = TAKE(b.text);
    return OKRA_OK;
}

/* ---- kernels ---- */

/* Text parameters that are not defaults belong to the node. */
static void free_texts(const okra_option_table *table, char *params)
{
    for (const okra_option *row = table->rows; row->name; row++) {
        char **field = (char **)(void *)(params + row->offset);
        bool text = row->type == OKRA_OPTION_TEXT || row->type == OKRA_OPTION_READ;
        if (text && *field != row->preset) {
            okra_free_(*field);
        }
    }
}

void okra_expr_clear_(okra_kernel *kernel)
{
    for (int k = 0; k < kernel->count; k++) {
        okra_node_ *node = &kernel->nodes[k];
        if (node->leaf && node->leaf->nested && node->params) {
            okra_kernel_free(*(okra_kernel **)node->params);
        }
        if (node->params) {
            free_texts(node->leaf ? &node->leaf->params : &node->transform->params,
                       node->params);
            okra_free_(node->params);
        }
    }
    FREE(kernel->nodes, kernel->text);
}

okra_status okra_kernel_parse(const char *text, okra_kernel **out)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    NOT_NULL(text, out);
    ZMAKE(kernel, 1);
    CHK(okra_expr_parse_(text, NULL, kernel));
    CHK(okra_expr_text_(kernel, &kernel->text));
    *out = TAKE(kernel);
    return OKRA_OK;
}

void okra_kernel_free(okra_kernel *kernel)
{
    if (kernel) {
        okra_expr_clear_(kernel);
        okra_free_(kernel);
    }
}

/* The kernel inside a nested leaf, or NULL. */
static okra_kernel *inside(const okra_node_ *node)
{
    return node->kind == OKRA_NODE_LEAF_ && node->leaf->nested
               ? *(okra_kernel *const *)node->params
               : NULL;
}

bool okra_kernel_files_(const okra_kernel *kernel)
{
    bool files = false;
    for (int k = 0; k < kernel->count && !files; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        const okra_kernel *inner = inside(node);
        files = (node->kind == OKRA_NODE_LEAF_ &&
                 okra_option_find_(&node->leaf->params, "file", 4)) ||
                (inner && okra_kernel_files_(inner));
    }
    return files;
}

void okra_kernel_close_(okra_kernel *kernel)
{
    kernel->closed = true;
    for (int k = 0; k < kernel->count; k++) {
        okra_kernel *inner = inside(&kernel->nodes[k]);
        if (inner) {
            okra_kernel_close_(inner);
        }
    }
}

okra_status okra_kernel_parse_kept_(const char *text, okra_kernel **out)
{
    okra_status st = okra_kernel_parse(text, out);
    if (st == OKRA_OK) {
        okra_kernel_close_(*out);
    }
    return st == OKRA_EARG ? OKRA_EFORMAT : st;
}

const char *okra_kernel_text(const okra_kernel *kernel)
{
    return kernel ? kernel->text : NULL;
}

/* The leaf of the kernel, where it is one leaf times a constant. */
static const okra_kernel_class_ *only_leaf(const okra_kernel *kernel, double *scale)
{
    const okra_node_ *node = &kernel->nodes[kernel->count - 1];
    for (*scale = 1; node->kind == OKRA_NODE_SCALE_; node = &kernel->nodes[node->a]) {
        *scale *= node->scale;
    }
    return node->kind == OKRA_NODE_LEAF_ && node->component == 0 ? node->leaf : NULL;
}

okra_shape_ okra_kernel_shape_(const okra_kernel *kernel, double *scale)
{
    const okra_kernel_class_ *leaf = only_leaf(kernel, scale);
    return leaf ? leaf->shape : OKRA_SHAPE_ANY_;
}

bool okra_kernel_is_linear_(const okra_kernel *kernel, double *scale)
{
    const okra_kernel_class_ *leaf = only_leaf(kernel, scale);
    return leaf && leaf->shape == OKRA_SHAPE_INNER_;
}

bool okra_kernel_by_counts_(const okra_kernel *kernel)
{
    bool yes = !okra_kernel_centers_(kernel);
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        bool linear = node->leaf == &okra_linear_ ||
                      node->leaf == okra_linear_.distances; /* below rbf */
        yes = yes && (node->kind != OKRA_NODE_LEAF_ || (linear && node->component == 0));
    }
    return yes;
}

bool okra_kernel_is_metric_(const okra_kernel *kernel)
{
    double scale;
    const okra_kernel_class_ *leaf = only_leaf(kernel, &scale);
    return leaf == &okra_metric_ || leaf == &okra_tasks_;
}

const okra_kernel *okra_kernel_inner_(const okra_kernel *kernel)
{
    double scale;
    const okra_position_params_ *params = kernel->nodes[kernel->count - 1].params;
    return only_leaf(kernel, &scale) == &okra_position_ && kernel->count == 1 &&
                   !params->map
               ? params->inner
               : NULL;
}

unsigned okra_kernel_kinds_(const okra_kernel *kernel)
{
    unsigned kinds = ~0u;
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        bool leaf = node->kind == OKRA_NODE_LEAF_;
        kinds &= !leaf               ? ~0u
                 : node->leaf->whole ? okra_kernel_kinds_(*(okra_kernel **)node->params)
                                     : node->leaf->kinds;
    }
    return kinds;
}

bool okra_kernel_means_(const okra_kernel *kernel)
{
    bool means = false;
    for (int k = 0; k < kernel->count; k++) {
        means = means || okra_node_centers_(&kernel->nodes[k]);
    }
    return means;
}

/* Does a kernel of elements learn from them? It is bound to them anew. */
static bool learns(const okra_kernel *inner)
{
    bool yes = okra_kernel_follows_(inner);
    for (int k = 0; k < inner->count; k++) {
        const okra_kernel_class_ *leaf = inner->nodes[k].leaf;
        yes = yes || leaf == &okra_standardize_ || leaf == &okra_tasks_ ||
              (leaf && leaf->from == &okra_standardize_);
    }
    return yes;
}

bool okra_kernel_follows_(const okra_kernel *kernel)
{
    bool yes = okra_kernel_means_(kernel);
    for (int k = 0; k < kernel->count && !yes; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        const okra_position_params_ *p = node->params;
        yes = node->leaf && (node->leaf->follows || ((node->leaf == &okra_position_ ||
                                                      node->leaf == &okra_patches_ ||
                                                      node->leaf == &okra_bag_) &&
                                                     (p->map || learns(p->inner))));
    }
    return yes;
}

bool okra_kernel_centers_(const okra_kernel *kernel)
{
    return okra_kernel_means_(kernel) || okra_kernel_low_(kernel);
}
