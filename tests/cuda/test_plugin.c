/*
 * The engine cuda as a plugin: the table that it hands out, and its refusals. Where there
 * is a GPU, that it opens and says what it is and what does not fit.
 */
#include "engine/engine.h"
#include "harness.h"

#include <dlfcn.h>

static const char *file;
static bool old;

static okra_status cancelled(okra_context *ctx)
{
    return okra_cancelled_(ctx);
}

static okra_int budget(const okra_context *ctx)
{
    (void)ctx;
    return 0;
}

static const okra_engine_host_ host = {.interface = OKRA_ENGINE_INTERFACE_,
                                       .fail = okra_fail_,
                                       .warn = okra_warn_,
                                       .cancelled = cancelled,
                                       .alloc = okra_alloc_,
                                       .free = okra_free_,
                                       .parallel = okra_parallel_,
                                       .workers = okra_workers_,
                                       .budget = budget,
                                       .left = budget};

static const okra_engine_class_ *verbs_for(const okra_engine_host_ *from)
{
    static void *library;
    okra_engine_plugin_fn_ *plugin = NULL;
    if (!library) {
        library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        printf("  %s\n", dlerror());
        return NULL;
    }
    void *symbol = dlsym(library, OKRA_ENGINE_PLUGIN_SYMBOL_);
    memcpy(&plugin, &symbol, sizeof plugin);
    return plugin ? plugin(from) : NULL;
}

TEST(table)
{
    okra_engine_host_ other = host;
    const okra_engine_class_ *v = verbs_for(&host);
    CHECK(v != NULL);
    if (!v) {
        return;
    }
    CHECK(v->interface == OKRA_ENGINE_INTERFACE_);
    CHECK_TEXT(v->name, "cuda");
    CHECK(v->help && v->open && v->close && v->describe && v->create && v->destroy);
    CHECK(v->gram && v->put && v->get && v->copy && v->fill && v->add_diagonal);
    CHECK(v->diagonal && v->scale && v->center && v->combine && v->row_sums && v->dot);
    CHECK(v->best && v->gemm && v->syrk && v->cholesky && v->restore && v->trsm);
    CHECK(v->eigh && v->top && v->dots);
    other.interface++;
    CHECK(verbs_for(&other) == NULL);
}

TEST(names_of_devices)
{
    const okra_engine_class_ *v = verbs_for(&host);
    static const char *const wrong[] = {"x", "-1", "1x", " 0", "0x1", "+1"};
    void *e = NULL;
    for (size_t k = 0; v && k < sizeof wrong / sizeof *wrong; k++) {
        CHECK_FAILS(v->open(&host, wrong[k], &e), OKRA_EARG,
                    "expected the number of a GPU after the colon, such as cuda:0");
        CHECK(strstr(okra_message(), wrong[k]) != NULL);
        CHECK(e == NULL);
    }
    CHECK(okra_alloc_live_blocks_() == 0);
}

/* What a GPU says of a matrix that fits on none, and of a GPU that is not there. */
static void check_open(const okra_engine_class_ *v, void *e)
{
    char text[512] = "";
    void *other = NULL;
    v->describe(e, text, sizeof text);
    printf("  %s\n", text);
    CHECK(strstr(text, "compute capability") != NULL);
    CHECK_FAILS(v->create(e, NULL, 10000000, 10000000, "the Gram matrix", &other),
                OKRA_EBUDGET,
                "the Gram matrix of 10000000 x 10000000 doubles needs 745058.06 "
                "GiB on GPU 0");
    CHECK(strstr(okra_message(), "--low-rank-x") != NULL);
    CHECK_FAILS(v->open(&host, "99", &other), OKRA_EUNSUPPORTED,
                "engine cuda:99: there is no such GPU, the last is cuda:");
    CHECK(other == NULL);
    v->close(e);
}

TEST(opening)
{
    const okra_engine_class_ *v = verbs_for(&host);
    void *e = NULL;
    okra_status st = v ? v->open(&host, "", &e) : OKRA_EINTERNAL;
    if (st == OKRA_OK) {
        CHECK(!old);
        check_open(v, e);
    } else {
        const char *want = old ? "engine cuda: the NVIDIA driver is for CUDA 10.2, CUDA "
                               : "engine cuda: ";
        CHECK(st == OKRA_EUNSUPPORTED);
        CHECK(e == NULL);
        CHECK(strncmp(okra_message(), want, strlen(want)) == 0);
        CHECK(old || strstr(okra_message(), "this machine has no NVIDIA driver") ||
              strstr(okra_message(), "the NVIDIA driver finds no GPU"));
        printf("  %s\n", okra_message());
    }
    CHECK(okra_alloc_live_blocks_() == 0);
}

int main(int argc, char **argv)
{
    file = argc > 1 ? argv[1] : "";
    old = argc > 2;
    const harness_test tests[] = {RUN(table), RUN(names_of_devices), RUN(opening)};
    return harness_main(tests, sizeof tests / sizeof *tests);
}
