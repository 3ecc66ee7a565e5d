/*
 * expr.c: parsed kernels, and grids of them.
 */
#include "kernel/expr.h"
#include "kernel/kernels.h"

#include <string.h>

/* ---- kernels ----------------------------------------------------------------------- */

/* Text parameters that are not defaults belong to the node. */
static void free_texts(const okra_option_table *table, char *params)
{
    for (const okra_option *row = table->rows; row->name; row++) {
        char **field = (char **)(void *)(params + row->offset);
        if (row->type == OKRA_OPTION_TEXT && *field != row->preset) {
            okra_free_(*field);
        }
    }
}

static void clear(okra_kernel *kernel)
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
    okra_free_(kernel->nodes);
    okra_free_(kernel->text);
}

okra_status okra_kernel_parse(const char *text, okra_kernel **out)
{
    okra_status st = OKRA_OK;
    okra_kernel *kernel = NULL;

    if (!text || !out) {
        FAIL(OKRA_EARG, "okra_kernel_parse: %s is NULL", text ? "out" : "text");
    }
    ZALLOC(kernel, 1);
    TRY(okra_expr_parse_(text, NULL, kernel));
    TRY(okra_expr_text_(kernel, &kernel->text));
    *out = kernel;
    kernel = NULL;
done:
    okra_kernel_free(kernel);
    return st;
}

void okra_kernel_free(okra_kernel *kernel)
{
    if (kernel) {
        clear(kernel);
        okra_free_(kernel);
    }
}

const char *okra_kernel_text(const okra_kernel *kernel)
{
    return kernel->text;
}

bool okra_kernel_is_linear_(const okra_kernel *kernel, double *scale)
{
    const okra_node_ *node = &kernel->nodes[kernel->count - 1];
    bool scaled = node->kind == OKRA_NODE_SCALE_;
    const okra_node_ *inner = scaled ? &kernel->nodes[node->a] : node;
    *scale = scaled ? node->scale : 1;
    return inner->kind == OKRA_NODE_LEAF_ && inner->leaf == &okra_linear_ &&
           inner->component == 0;
}

unsigned okra_kernel_kinds_(const okra_kernel *kernel)
{
    unsigned kinds = ~0u;
    for (int k = 0; k < kernel->count; k++) {
        kinds &=
            kernel->nodes[k].kind == OKRA_NODE_LEAF_ ? kernel->nodes[k].leaf->kinds : ~0u;
    }
    return kinds;
}

/* ---- grids ------------------------------------------------------------------------- */

typedef struct axis {
    size_t begin, end; /* where it stands in the text */
    char **values;
    okra_int count;
} axis;

struct okra_grid_ {
    char *text;
    axis *axes;
    okra_int count;
};

okra_status okra_grid_add_(okra_grid_ *grid, size_t begin, size_t end, char **values,
                           okra_int count)
{
    axis *grown = okra_realloc_(grid->axes, grid->count + 1, sizeof *grown);
    if (!grown) {
        return OKRA_EMEM;
    }
    grid->axes = grown;
    grid->axes[grid->count++] = (axis){begin, end, values, count};
    return OKRA_OK;
}

okra_status okra_grid_parse_(const char *text, okra_grid_ **out)
{
    okra_status st = OKRA_OK;
    okra_grid_ *grid = NULL;
    okra_kernel kernel = {.nodes = NULL};

    ZALLOC(grid, 1);
    grid->text = okra_strdup_(text);
    if (!grid->text) {
        st = OKRA_EMEM;
        goto done;
    }
    TRY(okra_expr_parse_(text, grid, &kernel));
    *out = grid;
    grid = NULL;
done:
    clear(&kernel);
    okra_grid_free_(grid);
    return st;
}

void okra_grid_free_(okra_grid_ *grid)
{
    if (!grid) {
        return;
    }
    for (okra_int k = 0; k < grid->count; k++) {
        for (okra_int v = 0; v < grid->axes[k].count; v++) {
            okra_free_(grid->axes[k].values[v]);
        }
        okra_free_(grid->axes[k].values);
    }
    okra_free_(grid->axes);
    okra_free_(grid->text);
    okra_free_(grid);
}

okra_int okra_grid_count_(const okra_grid_ *grid)
{
    okra_int count = 1;
    for (okra_int k = 0; k < grid->count; k++) {
        if (__builtin_mul_overflow(count, grid->axes[k].count, &count)) {
            return -1;
        }
    }
    return count;
}

/* The last axis runs fastest. */
okra_status okra_grid_text_(const okra_grid_ *grid, okra_int cell, char **text)
{
    okra_status st = OKRA_OK;
    okra_int cells = okra_grid_count_(grid), size = (okra_int)strlen(grid->text) + 1;
    const char **chosen = NULL;
    char *built = NULL;

    if (cell < 0 || cell >= cells) {
        FAIL(OKRA_EARG, "cell %lld is asked of a grid of %lld", (long long)cell,
             (long long)cells);
    }
    ALLOC(chosen, grid->count);
    for (okra_int k = grid->count - 1; k >= 0; k--) {
        chosen[k] = grid->axes[k].values[cell % grid->axes[k].count];
        cell /= grid->axes[k].count;
        size += (okra_int)strlen(chosen[k]);
    }
    ALLOC(built, size);
    size_t from = 0, to = 0;
    for (okra_int k = 0; k < grid->count; k++) {
        size_t before = grid->axes[k].begin - from, length = strlen(chosen[k]);
        memcpy(built + to, grid->text + from, before);
        memcpy(built + to + before, chosen[k], length);
        to += before + length;
        from = grid->axes[k].end;
    }
    memcpy(built + to, grid->text + from, strlen(grid->text + from) + 1);
    *text = built;
done:
    okra_free_(chosen);
    return st;
}
