/*
 * parse.c: kernel expressions by recursive descent.
 *
 *     pipe          sum { '|' transform }     takes all that stands before it; chol(...)
 *                                             and its like make that a leaf
 *     sum           product { '+' product }
 *     product       factor { '*' factor }
 *     factor        number | operand [ '@' part of a tuple ]
 *     operand       '(' pipe ')' | kernel | mean | alternatives
 *     mean          MEAN '(' pipe { ',' pipe } ')'
 *     MEAN          mean; align, align-each and align-loo in grids alone
 *     alternatives  '{' pipe { ',' pipe } '}' in grids alone
 *     kernel        name [ '(' values ')' ] | name '(' pipe { ',' name '=' value } ')'
 *     transform     name [ '(' values ')' ]
 *     values        [ name '=' ] value { ',' [ name '=' ] value }
 *
 * Numbers among the factors of a product are multiplied into one scale.
 */
#include "kernel/expression/expr.h"
#include "kernel/lowrank/lowrank.h"
#include "okra/program.h"

/* Limits of what recursion over a tree meets. */
enum { DEPTH_MOST = OKRA_PARSE_DEPTH_, NODES_MOST = 1000 };

/* An expression up to the end, ')', ',' or '}'; the place of its root. */
static okra_status parse_pipe(okra_parser_ *p, int *place);

enum { NAMES_MOST = 64 };

typedef const char *(*name_list)(size_t, const char **, const okra_option_table **);

static bool listed(name_list list, const char *name)
{
    for (size_t k = 0; list(k, NULL, NULL); k++) {
        if (strcmp(list(k, NULL, NULL), name) == 0) {
            return true;
        }
    }
    return false;
}

/* Fails at a name that no kernel, or no transform, has. */
static okra_status unknown_name(const okra_parser_ *p, size_t at, const char *name,
                                bool kernel)
{
    name_list own = kernel ? okra_kernel_name : okra_transform_name;
    name_list other = kernel ? okra_transform_name : okra_kernel_name;
    const char *names[NAMES_MOST];
    size_t count = 0;
    if (listed(other, name)) {
        return kernel ? okra_parse_fail_(p, OKRA_EARG, at,
                                         "'%s' is a transform: it follows a kernel and a "
                                         "pipe, as in linear | %s",
                                         name, name)
                      : okra_parse_fail_(p, OKRA_EARG, at,
                                         "'%s' is a kernel, expected a transform", name);
    }
    while (count < NAMES_MOST && own(count, NULL, NULL)) {
        names[count] = own(count, NULL, NULL);
        count++;
    }
    const char *near = okra_nearest(name, names, count);
    return okra_parse_fail_(
        p, OKRA_EARG, at, "unknown %s '%s'%s%s%s", kernel ? "kernel" : "transform", name,
        near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* ---- alternatives ---- */

/* Whole kernels as the values of a grid, {linear, rbf(sigma={1,2})}. Braces where a
 * kernel stands hold numbers (a factor) if every item is a number or auto, else
 * alternatives: expressions that may hold grids themselves. An alternative with lists
 * counts as many values as it has cells. */

/* The braces at the cursor hold numbers alone. */
static bool numbers(const char *s)
{
    do {
        s++; /* { or , */
        s += strspn(s, " \t\n");
        size_t length = okra_parse_number_(s, true);
        if (length == 0 && strncmp(s, "auto", 4) == 0) {
            length = 4 + strcspn(s + 4, ",} ");
        }
        if (length == 0) {
            return *s == '}' || !*s || *s == ','; /* its own message */
        }
        s += length;
        s += strspn(s, " \t\n");
    } while (*s == ',');
    return *s != '*' && *s != '|' && *s != '+';
}

/* One alternative: parsed as a kernel of its own, its lists kept in `branch`. */
static okra_status one(okra_parser_ *p, okra_grid_ **branch)
{
    FREED_BY(okra_grid_drop_) okra_grid_ *own = NULL;
    FREED_BY(okra_expr_clear_) okra_kernel kernel = {.nodes = NULL};
    okra_parser_ inner = *p;
    int root;
    ZMAKE(own, 1);
    inner.kernel = &kernel;
    inner.grid = own;
    okra_parse_next_(&inner);
    size_t begin = inner.at;
    CHK(parse_pipe(&inner, &root));
    p->at = inner.at;
    p->made = inner.made;
    size_t end = p->at;
    while (end > begin && strchr(" \t\n", p->text[end - 1])) {
        end--;
    }
    GOT(own->text = okra_strndup_(p->text + begin, end - begin));
    for (okra_int k = 0; k < own->count; k++) {
        own->axes[k].begin -= begin;
        own->axes[k].end -= begin;
    }
    *branch = TAKE(own);
    return OKRA_OK;
}

static okra_status parse_alternatives(okra_parser_ *p)
{
    enum { MOST = 100 };
    FREED_BY(okra_grid_axis_clear_) okra_grid_axis_ axis = {.begin = p->at, .node = -1};
    if (!p->grid) {
        size_t length = strcspn(p->text + axis.begin, "}") + 1;
        return okra_parse_fail_(p, OKRA_EARG, axis.begin,
                                "'%.*s' are alternatives for selection: one kernel is "
                                "needed here",
                                (int)OKRA_MIN_(length, 40), p->text + axis.begin);
    }
    PARSE_REFUSE_IF(++p->depth > DEPTH_MOST, axis.begin,
                    "more than %d parentheses within one another", DEPTH_MOST);
    ZMAKE(axis.branches, MOST);
    do {
        PARSE_REFUSE_IF(axis.branch_count == MOST, p->at, "more than %d alternatives",
                        MOST);
        p->at++; /* { or , */
        CHK(one(p, &axis.branches[axis.branch_count]));
        axis.branch_count++;
    } while (okra_parse_next_(p) == ',');
    PARSE_REFUSE_IF(p->text[p->at] != '}', p->at, "expected ',' or '}'");
    axis.end = ++p->at;
    p->depth--;
    okra_status st = okra_grid_branches_(p->grid, &axis);
    return st == OKRA_EARG ? okra_parse_point_(p, st, axis.begin) : st;
}

/* ---- the rest of the grammar ---- */

/* In the order of okra_align_how_ (model/model.h). */
const char *const okra_align_names_[] = {"align", "align-each", "align-loo", NULL};

static okra_status push(okra_parser_ *p, okra_node_ node, int *place)
{
    okra_kernel *kernel = p->kernel;
    EXTEND(kernel->nodes, kernel->count, kernel->room, 4);
    node.serial = p->made++;
    *place = kernel->count++;
    kernel->nodes[*place] = node;
    return OKRA_OK;
}

/* The name at the cursor, cut to fit; the cursor moves behind it. */
static okra_status take_name(okra_parser_ *p, const char *expected, char name[64])
{
    okra_parse_next_(p);
    size_t length = okra_parse_name_(p->text + p->at);
    PARSE_REFUSE_IF(length == 0, p->at, "expected %s", expected);
    snprintf(name, 64, "%.*s", (int)OKRA_MIN_(length, 63), p->text + p->at);
    p->at += length;
    return OKRA_OK;
}

/* ---- kernels and transforms ---- */

/* Pushes a node and reads its parameters. */
static okra_status with_params(okra_parser_ *p, okra_node_ node,
                               const okra_option_table *table, bool positional,
                               int *place)
{
    CHK(push(p, node, place));
    void *params = okra_zalloc_((okra_int)table->size, 1);
    GOT(params);
    p->kernel->nodes[*place].params = params;
    return okra_parse_params_(p, table, positional, params);
}

/* The same for a kernel of kernels, which takes over `inner`. */
static okra_status with_inner(okra_parser_ *p, okra_node_ node, okra_kernel *inner,
                              int *place)
{
    const okra_option_table *table = &node.leaf->params;
    bool word = table->rows[0].name && table->rows[0].type == OKRA_OPTION_CHOICE;
    okra_status st = with_params(p, node, table, word, place); /* bag(k, max) */
    okra_node_ *last = p->kernel->count ? &p->kernel->nodes[p->kernel->count - 1] : NULL;
    if (last && last->leaf == node.leaf && last->params &&
        !*(okra_kernel **)last->params) {
        *(okra_kernel **)last->params = inner;
    } else {
        okra_kernel_free(inner); /* the node could not be made */
    }
    return st;
}

/* Distances, and values about the mean, are the same from any origin: leaves may see
 * their rows from the middle of the training set, which leaves more digits of them. */
static bool move_origin(okra_kernel *kernel, int place)
{
    okra_node_ *node = &kernel->nodes[place];
    bool leaf = node->kind == OKRA_NODE_LEAF_ && node->leaf->distances;
    bool sum = node->kind == OKRA_NODE_SUM_;
    node->leaf = leaf ? node->leaf->distances : node->leaf;
    bool a = (sum || node->kind == OKRA_NODE_SCALE_) && move_origin(kernel, node->a);
    return (sum && move_origin(kernel, node->b)) || a || leaf;
}

static okra_status transform(okra_parser_ *p, const okra_transform_class_ *t, size_t at,
                             int *place)
{
    okra_node_ *child = &p->kernel->nodes[*place];
    okra_node_ node = {.kind = OKRA_NODE_TRANSFORM_,
                       .transform = t,
                       .a = *place,
                       .scratch = child->scratch};
    bool moves = t->distances || t == &okra_center_;
    if (moves && child->kind != OKRA_NODE_LEAF_) {
        node.moved = move_origin(p->kernel, *place);
    } else if (moves && child->leaf->distances) {
        child->leaf = child->leaf->distances;
        node.moved = true;
    }
    CHK(with_params(p, node, &t->params, t->positional, place));
    okra_status st = t->check ? t->check(p->kernel->nodes[*place].params) : OKRA_OK;
    return st == OKRA_OK ? st : okra_parse_point_(p, st, at);
}

/* '(' and the expression that a kernel of kernels begins with, a kernel of its own. */
static okra_status nested(okra_parser_ *p, const char *name, okra_kernel **out)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    okra_parser_ inner = *p;
    int root;
    PARSE_REFUSE_IF(okra_parse_next_(&inner) != '(', inner.at,
                    "%s takes a kernel first, as in %s(linear)", name, name);
    PARSE_REFUSE_IF(++inner.depth > DEPTH_MOST, inner.at,
                    "more than %d parentheses within one another", DEPTH_MOST);
    inner.at++;
    ZMAKE(kernel, 1);
    inner.kernel = kernel;
    CHK(parse_pipe(&inner, &root));
    CHK(okra_expr_text_(kernel, &kernel->text));
    PARSE_REFUSE_IF(okra_kernel_low_(kernel), inner.at,
                    "low rank within %s(...): it is for whole objects, as in %s(linear) "
                    "| chol(rank=9)",
                    name, name);
    p->at = inner.at;
    p->made = inner.made;
    *out = TAKE(kernel);
    return OKRA_OK;
}

static okra_status pair(okra_parser_ *p, okra_node_kind_ kind, int a, int b, int *place);

/* mean(A, B, ...): the sum, scaled. */
static okra_status mean(okra_parser_ *p, double *scale, int *place)
{
    int count = 0, next = 0;
    PARSE_REFUSE_IF(okra_parse_next_(p) != '(' || ++p->depth > DEPTH_MOST, p->at,
                    "expected mean(kernel, kernel, ...)");
    do {
        p->at++; /* ( or , */
        CHK(parse_pipe(p, count == 0 ? place : &next));
        if (count++ > 0) {
            CHK(pair(p, OKRA_NODE_SUM_, *place, next, place));
        }
    } while (okra_parse_next_(p) == ',');
    PARSE_REFUSE_IF(p->text[p->at] != ')', p->at, "expected ',' or ')'");
    p->at++;
    p->depth--;
    *scale /= count;
    return OKRA_OK;
}

/* Is a part of a tuple chosen, at the leaf or within it? */
static bool parted(const okra_node_ *node)
{
    const okra_kernel *inner = node->leaf->whole ? *(okra_kernel **)node->params : NULL;
    bool any = node->component > 0;
    for (int k = 0; inner && k < inner->count; k++) {
        any = any || inner->nodes[k].component > 0;
    }
    return any;
}

/* '@' and a number after a factor: its leaves (nodes from `first` on) read that part. */
static okra_status component(okra_parser_ *p, int first)
{
    enum { MOST = 64 };
    if (okra_parse_next_(p) != '@') {
        return OKRA_OK;
    }
    size_t at = p->at++;
    int number = 0;
    while (p->text[p->at] >= '0' && p->text[p->at] <= '9' && number <= MOST) {
        number = 10 * number + (p->text[p->at++] - '0');
    }
    PARSE_REFUSE_IF(number < 1 || number > MOST, at,
                    "expected the number of a part after '@', 1 to %d", MOST);
    for (int k = first; k < p->kernel->count; k++) {
        okra_node_ *node = &p->kernel->nodes[k];
        PARSE_REFUSE_IF(node->kind == OKRA_NODE_LEAF_ && parted(node), at,
                        "a part is chosen twice");
        node->component = node->kind == OKRA_NODE_LEAF_ ? number : 0;
    }
    return OKRA_OK;
}

static okra_status leaf(okra_parser_ *p, double *scale, int *place)
{
    const okra_kernel_class_ *class = NULL;
    const okra_transform_class_ *sugar = NULL;
    char name[64];
    size_t at = p->at;
    CHK(take_name(p, "a kernel, a number or '('", name));
    for (int k = 0; okra_kernel_classes_[k]; k++) {
        if (strcmp(okra_kernel_classes_[k]->name, name) == 0) {
            class = okra_kernel_classes_[k];
        }
    }
    for (const okra_sugar_ *s = okra_sugar_names_; s->name; s++) {
        if (strcmp(s->name, name) == 0) {
            class = &okra_linear_;
            sugar = s->transform;
        }
    }
    bool aligned = false;
    for (int k = 0; okra_align_names_[k]; k++) {
        aligned = aligned || strcmp(okra_align_names_[k], name) == 0;
    }
    if (aligned && !p->grid) { /* model/align.c has put numbers in its place */
        return okra_parse_fail_(p, OKRA_EARG, at,
                                "%s learns weights from inputs and outputs: it stands in "
                                "kx of okra fit and okra select",
                                name);
    }
    if (aligned || strcmp(name, "mean") == 0) {
        return mean(p, scale, place);
    }
    if (!class) {
        return unknown_name(p, at, name, true);
    }
    okra_node_ node = {.kind = OKRA_NODE_LEAF_, .leaf = class};
    if (class->nested) {
        okra_kernel *inner = NULL;
        CHK(nested(p, name, &inner));
        p->inside = true;
        CHK(with_inner(p, node, inner, place));
    } else if (sugar) {
        CHK(push(p, node, place));
        CHK(transform(p, sugar, at, place));
    } else {
        CHK(with_params(p, node, &class->params, false, place));
    }
    return OKRA_OK;
}

/* ---- sums and products ---- */

/* One factor: a number, or a grid of numbers, goes into *scale, anything else gives a
 * node. */
static okra_status factor(okra_parser_ *p, double *scale, int *place)
{
    static const okra_option row = {
        .name = "factor", .type = OKRA_OPTION_NUMBER, .low = 0, .high = DBL_MAX};
    okra_kernel *kernel = p->kernel;
    int first = kernel->count;
    char next = okra_parse_next_(p);
    const char *s = p->text + p->at;
    bool automatic = okra_parse_name_(s) == 4 && memcmp(s, "auto", 4) == 0;
    *place = -1;
    if (next == '{' && !numbers(s)) {
        okra_node_ stand_in = {.kind = OKRA_NODE_LEAF_, .leaf = &okra_linear_};
        CHK(parse_alternatives(p));
        CHK(push(p, stand_in, place));
    } else if (next == '{' || automatic || okra_parse_number_(s, true) > 0) {
        double value = 1;
        CHK(okra_parse_value_(p, "kernel expression", &row, &value));
        *scale *= value;
        return OKRA_OK;
    } else if (next == '(') {
        PARSE_REFUSE_IF(++p->depth > DEPTH_MOST, p->at,
                        "more than %d parentheses within one another", DEPTH_MOST);
        p->at++;
        CHK(parse_pipe(p, place));
        p->depth--;
        PARSE_REFUSE_IF(okra_parse_next_(p) != ')', p->at,
                        "expected '+', '*', '|' or ')'");
        p->at++;
        okra_node_ *last = &kernel->nodes[*place];
        if (last->kind == OKRA_NODE_SCALE_ || last->kind == OKRA_NODE_CONSTANT_) {
            *scale *= last->scale; /* it is the last node: take it off again */
            *place = last->kind == OKRA_NODE_SCALE_ ? last->a : -1;
            kernel->count--;
        }
    } else {
        CHK(leaf(p, scale, place));
    }
    return component(p, first);
}

static okra_status pair(okra_parser_ *p, okra_node_kind_ kind, int a, int b, int *place)
{
    const okra_node_ *nodes = p->kernel->nodes;
    int more = OKRA_MAX_(nodes[a].scratch, nodes[b].scratch);
    int less = OKRA_MIN_(nodes[a].scratch, nodes[b].scratch);
    okra_node_ node = {
        .kind = kind, .a = a, .b = b, .scratch = OKRA_MAX_(more, less + 1)};
    PARSE_REFUSE_IF(p->kernel->count >= NODES_MOST, p->at, "more than %d parts",
                    NODES_MOST);
    return push(p, node, place);
}

static okra_status product(okra_parser_ *p, int *place)
{
    double scale = 1;
    int next;
    okra_parse_next_(p);
    size_t at = p->at;
    CHK(factor(p, &scale, place));
    while (okra_parse_next_(p) == '*') {
        p->at++;
        CHK(factor(p, &scale, &next));
        if (*place >= 0 && next >= 0) {
            CHK(pair(p, OKRA_NODE_PRODUCT_, *place, next, place));
        } else if (next >= 0) {
            *place = next;
        }
    }
    PARSE_REFUSE_IF(!isfinite(scale), at, "the product of the numbers overflows");
    okra_node_ node = {.kind = OKRA_NODE_CONSTANT_, .scale = scale};
    if (*place >= 0 && scale != 1) {
        node.kind = OKRA_NODE_SCALE_;
        node.a = *place;
        node.scratch = p->kernel->nodes[*place].scratch;
    }
    return *place < 0 || scale != 1 ? push(p, node, place) : OKRA_OK;
}

/* EXPR | chol(...): the nodes of EXPR, from `first` on, become a kernel of their own. */
static okra_status low_rank(okra_parser_ *p, int kind, int first, size_t at, int *place)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *inner = NULL;
    okra_node_ node = {.kind = OKRA_NODE_LEAF_, .leaf = okra_low_classes_[kind]};
    ZMAKE(inner, 1);
    inner->room = p->kernel->count - first;
    MAKE(inner->nodes, inner->room);
    for (; inner->count < inner->room; inner->count++) {
        okra_node_ *moved = &inner->nodes[inner->count];
        *moved = p->kernel->nodes[first + inner->count];
        moved->a -= first;
        moved->b -= first;
    }
    p->kernel->count = first;
    PARSE_REFUSE_IF(okra_kernel_low_(inner), at,
                    "a kernel of low rank cannot be given another");
    CHK(okra_expr_text_(inner, &inner->text));
    okra_status st = with_inner(p, node, inner, place);
    inner = NULL;
    CHK(st);
    okra_low_ *low = &((okra_low_params_ *)p->kernel->nodes[*place].params)->low;
    low->kind = (okra_low_kind_)kind;
    st = okra_low_check_(low);
    return st == OKRA_OK ? st : okra_parse_point_(p, st, at);
}

/* FROM | AS: the class that stands for it takes the leaf's place. */
static const okra_kernel_class_ *piped(const okra_parser_ *p, int place, const char *name)
{
    const okra_node_ *node = &p->kernel->nodes[place];
    bool alone = node->kind == OKRA_NODE_LEAF_ && place + 1 == p->kernel->count;
    for (int k = 0; alone && okra_kernel_classes_[k]; k++) {
        const okra_kernel_class_ *class = okra_kernel_classes_[k];
        if (class->from == node->leaf && class->as && strcmp(class->as, name) == 0) {
            return class;
        }
    }
    return NULL;
}

static okra_status replace_leaf(okra_parser_ *p, const okra_kernel_class_ *class,
                                int *place)
{
    okra_node_ node = {.kind = OKRA_NODE_LEAF_,
                       .leaf = class,
                       .component = p->kernel->nodes[*place].component};
    okra_free_(p->kernel->nodes[*place].params);
    p->kernel->count--;
    return with_params(p, node, &class->params, false, place);
}

static okra_status parse_pipe(okra_parser_ *p, int *place)
{
    int next, first = p->kernel->count;
    char name[64];
    CHK(product(p, place));
    while (okra_parse_next_(p) == '+') {
        p->at++;
        CHK(product(p, &next));
        CHK(pair(p, OKRA_NODE_SUM_, *place, next, place));
    }
    while (okra_parse_next_(p) == '|') {
        int k = 0, low = 0;
        p->at++;
        okra_parse_next_(p);
        size_t at = p->at;
        CHK(take_name(p, "a transform", name));
        const okra_kernel_class_ *class = piped(p, *place, name);
        if (class) {
            CHK(replace_leaf(p, class, place));
            continue;
        }
        while (okra_transform_classes_[k] &&
               strcmp(okra_transform_classes_[k]->name, name) != 0) {
            k++;
        }
        while (okra_low_classes_[low] &&
               strcmp(okra_low_classes_[low]->name, name) != 0) {
            low++;
        }
        const okra_transform_class_ *found = okra_transform_classes_[k];
        if (!found && !okra_low_classes_[low]) {
            return unknown_name(p, at, name, false);
        }
        PARSE_REFUSE_IF(p->kernel->count >= NODES_MOST, at, "more than %d parts",
                        NODES_MOST);
        CHK(found ? transform(p, found, at, place) : low_rank(p, low, first, at, place));
    }
    return OKRA_OK;
}

okra_status okra_expr_parse_(const char *text, okra_grid_ *grid, okra_kernel *kernel)
{
    okra_parser_ parser = {.text = text, .grid = grid, .kernel = kernel}, *p = &parser;
    int place;
    CHK(parse_pipe(p, &place));
    PARSE_REFUSE_IF(text[p->at], p->at, "expected '+', '*', '|' or the end");
    return OKRA_OK;
}
