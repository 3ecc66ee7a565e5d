/*
 * pairs_text.c: the kernel of pairs as a text, V * E1 * E2 + ...: E1 of rows, E2 of
 * columns, V a number. Both are kernel expressions of their own. A pipe, a sum or a
 * product inside one stands in parentheses: (ecfp | tanimoto) * (zero-one | normalize).
 */
#include "select/pairs.h"
#include "select/rules.h"

/* The end of what begins at `at` and reaches to `mark` outside parentheses. */
static const char *reach(const char *from, char mark)
{
    int depth = 0;
    const char *at = from;
    for (; *at; at++) {
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        bool exponent = at > from && (at[-1] == 'e' || at[-1] == 'E') && mark == '+';
        if (*at == mark && depth == 0 && !exponent) {
            break;
        }
    }
    return at;
}

static char *trimmed(const char *from, const char *to)
{
    while (from < to && *from == ' ') {
        from++;
    }
    while (to > from && to[-1] == ' ') {
        to--;
    }
    return okra_strndup_(from, (size_t)(to - from));
}

static okra_status read_factor(okra_context *ctx, okra_pairs *pairs, char *text,
                               int *place)
{
    const char *names[] = {"rows", "columns"};
    OWNED char *chosen = NULL;
    char *end = NULL;
    double number = strtod(text, &end);
    if (*text && !*end) {
        REFUSE_IF(!(number > 0 && number < 1e300), OKRA_EARG,
                  "kernel of pairs: the factor %s, expected a number above 0", text);
        pairs->scale[pairs->terms] *= number;
        return OKRA_OK;
    }
    REFUSE_IF(
        *place == 2, OKRA_EARG,
        "kernel of pairs: '%s' is a third kernel in one product, expected 'E1 * E2', "
        "of rows and of columns; a product inside one side stands in parentheses",
        text);
    REFUSE_IF(*reach(text, '|'), OKRA_EARG,
              "kernel of pairs: '%s' has a pipe outside parentheses, expected (%s)", text,
              text);
    const okra_data *data = pairs->side[*place];
    if (strcmp(text, "auto") == 0) {
        CHK(okra_at_(okra_rule_middle_(ctx, data, &chosen), "%s", names[*place]));
    }
    okra_pair_side_ *side = &pairs->of[*place][pairs->terms];
    CHK(okra_at_(okra_kernel_choose(ctx, chosen ? chosen : text, data, &side->kernel),
                 "%s", names[*place]));
    ++*place;
    return OKRA_OK;
}

static okra_status read_term(okra_context *ctx, okra_pairs *pairs, const char *from,
                             const char *to)
{
    OWNED char *term = trimmed(from, to);
    int place = 0;
    GOT(term);
    REFUSE_IF(pairs->terms == OKRA_PAIR_TERMS_, OKRA_EARG,
              "kernel of pairs: more than %d products", OKRA_PAIR_TERMS_);
    pairs->scale[pairs->terms] = 1;
    for (const char *at = term;; at++) {
        const char *end = reach(at, '*');
        OWNED char *factor = trimmed(at, end);
        GOT(factor);
        CHK(read_factor(ctx, pairs, factor, &place));
        at = end;
        if (!*end) {
            break;
        }
    }
    REFUSE_IF(
        place < 2, OKRA_EARG,
        "kernel of pairs: '%s' has %s, expected 'E1 * E2', a kernel of rows and one "
        "of columns",
        term, place ? "one kernel" : "no kernel");
    pairs->terms++;
    return OKRA_OK;
}

okra_status okra_pairs_parse_(okra_context *ctx, const char *text, okra_pairs *pairs)
{
    text = !text || strcmp(text, "auto") == 0 ? "auto * auto" : text;
    for (const char *at = text;; at++) {
        const char *end = reach(at, '+');
        CHK(read_term(ctx, pairs, at, end));
        at = end;
        if (!*end) {
            return OKRA_OK;
        }
    }
}
