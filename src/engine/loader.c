/*
 * loader.c: engines by name. `host` is built in; NAME is a plugin, libokra-NAME.so, from
 * the folder of this library or from one of OKRA_ENGINE_PATH, folders with absolute paths
 * between colons. Nothing is ever loaded from a relative path, the current directory
 * among them, and an engine that cannot run is an error: there is no falling back.
 */
#include "engine/engine.h"
#include "okra/more/group.h"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

static const okra_engine_ built_in = {.verbs = &okra_engine_host_class_};

static const okra_engine_ *assumed = &built_in;

void okra_engine_assume_(okra_context *ctx)
{
    const okra_engine_ *engine = ctx ? ctx->engine : NULL;
    assumed = engine ? engine : &built_in;
}

const okra_engine_ *okra_engine_of_(const okra_context *ctx)
{
    return ctx && ctx->engine ? ctx->engine : assumed;
}

bool okra_engine_is_host_(const okra_context *ctx)
{
    return okra_engine_of_(ctx)->verbs == &okra_engine_host_class_;
}

/* ---- what the library offers ---- */

static okra_status cancelled(okra_context *ctx)
{
    return okra_cancelled_(ctx);
}

static okra_int budget(const okra_context *ctx)
{
    return ctx ? ctx->memory : 0;
}

static const okra_engine_host_ offered = {
    .interface = OKRA_ENGINE_INTERFACE_,
    .fail = okra_fail_,
    .warn = okra_warn_,
    .cancelled = cancelled,
    .alloc = okra_alloc_,
    .free = okra_free_,
    .parallel = okra_parallel_,
    .workers = okra_workers_,
    .budget = budget,
    .left = okra_memory_left_,
};

/* ---- where plugins are looked for ---- */

enum { PATH = 4096 };

/* The folder of this library, or "": it is not known. By the kernel's map of the process:
 * the loader would give what a program was called by, which its caller chooses. */
static void own_folder(char out[PATH])
{
    char *found = NULL;
    out[0] = '\0';
    if (okra_library_folder_(&found) == OKRA_OK && strlen(found) < PATH) {
        strcpy(out, found);
    }
    okra_free_(found);
}

/* The k-th folder into out: false, there are no more. */
static bool folder(int k, char out[PATH])
{
    const char *list = secure_getenv("OKRA_ENGINE_PATH");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length > 0 && length < PATH && k-- == 0) {
            memcpy(out, list, length);
            out[length] = '\0';
            return true;
        }
        list += length + (list[length] == ':');
    }
    if (k == 0) {
        own_folder(out);
        return true;
    }
    return false;
}

static okra_status check_name(const char *name)
{
    size_t good = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return good == strlen(name) && good > 0 && good < 64
               ? OKRA_OK
               : okra_fail_(OKRA_EARG,
                            "engine is '%s', expected NAME or NAME:DEVICE, NAME in small "
                            "letters, digits, - and _",
                            name);
}

/* The file of the plugin, and the number of its folder; OKRA_EUNSUPPORTED where there is
 * none. Folders with relative paths are passed over, and told of where nothing is found.
 */
static okra_status find(const char *name, char out[PATH + 128], int *number)
{
    char from[PATH], own[PATH], relative[PATH] = "";
    for (*number = 0; folder(*number, from); ++*number) {
        if (from[0] && from[0] != '/') {
            snprintf(relative, sizeof relative, "%s", from);
            continue;
        }
        snprintf(out, PATH + 128, "%s/libokra-%s.so", from, name);
        if (from[0] && access(out, F_OK) == 0) {
            return OKRA_OK;
        }
    }
    REFUSE_IF(relative[0], OKRA_EARG, "OKRA_ENGINE_PATH: '%s' is not an absolute path",
              relative);
    own_folder(own);
    return okra_fail_(OKRA_EUNSUPPORTED,
                      "engine %s: there is no libokra-%s.so in %s or OKRA_ENGINE_PATH",
                      name, name, own[0] ? own : "the folder of the library");
}

/* ---- opening ---- */

void okra_engine_drop_(void *arg)
{
    okra_engine_ *engine = arg;
    if (engine && atomic_fetch_sub(&engine->references, 1) == 1) {
        if (engine->state && engine->verbs->close) {
            engine->verbs->close(engine->state);
        }
        if (engine->library) {
            dlclose(engine->library);
        }
        okra_free_(engine);
    }
}

static okra_status load(const char *name, okra_engine_ *engine)
{
    char file[PATH + 128];
    okra_engine_plugin_fn_ *plugin = NULL;
    int number;
    CHK(find(name, file, &number));
    engine->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    REFUSE_IF(!engine->library, OKRA_EUNSUPPORTED, "engine %s: %s", name, dlerror());
    void *symbol = dlsym(engine->library, OKRA_ENGINE_PLUGIN_SYMBOL_);
    REFUSE_IF(!symbol, OKRA_EUNSUPPORTED,
              "engine %s: %s is no engine of okra: it has no %s", name, file,
              OKRA_ENGINE_PLUGIN_SYMBOL_);
    memcpy(&plugin, &symbol, sizeof plugin);
    engine->verbs = plugin(&offered);
    REFUSE_IF(!engine->verbs || engine->verbs->interface != OKRA_ENGINE_INTERFACE_,
              OKRA_EVERSION,
              "engine %s: %s is for interface %u of engines, this library has %u", name,
              file, engine->verbs ? engine->verbs->interface : 0, OKRA_ENGINE_INTERFACE_);
    return OKRA_OK;
}

OKRA_DROPS_(drop_engine, okra_engine_, okra_engine_drop_)

static okra_status open_engine(const char *name, const char *device, okra_engine_ **out)
{
    FREED_BY(drop_engine) okra_engine_ *engine = NULL;
    CHK(check_name(name));
    ZMAKE(engine, 1);
    atomic_init(&engine->references, 1);
    CHK(load(name, engine));
    if (engine->verbs->open) {
        CHK(engine->verbs->open(&offered, device, &engine->state));
    }
    *out = TAKE(engine);
    return OKRA_OK;
}

okra_status okra_context_set_engine(okra_context *context, const char *text)
{
    FREED_BY(drop_engine) okra_engine_ *engine = NULL;
    char name[65];
    NOT_NULL(context, text);
    size_t length = strcspn(text, ":");
    const char *device = text + length + (text[length] == ':');
    snprintf(name, sizeof name, "%.*s", (int)OKRA_MIN_(length, sizeof name - 1), text);
    bool host = strcmp(name, okra_engine_host_class_.name) == 0;
    REFUSE_IF(host && *device, OKRA_EARG, "engine host has no devices, '%s' found",
              device);
    if (!host) {
        CHK(open_engine(name, device, &engine));
    }
    okra_processes_ group = {.threads = okra_context_threads(context),
                             .memory = okra_context_memory(context),
                             .memory_given = context->memory > 0,
                             .agree = engine ? engine->verbs->agree : NULL,
                             .state = engine ? engine->state : NULL};
    bool many = engine && engine->verbs->join;
    if (many) {
        CHK(engine->verbs->join(engine->state, context, &group));
    }
    okra_context_hold_engine_(context, engine, okra_engine_drop_);
    engine = NULL;
    if (many) {
        context->group = group;
        context->threads = group.threads;
        context->memory = group.memory;
    }
    return OKRA_OK;
}

/* ---- listing ---- */

static void tell(okra_engine_fn fn, void *user, const char *name)
{
    okra_engine_ *engine = NULL;
    char text[512] = "";
    if (open_engine(name, "", &engine) != OKRA_OK) {
        const char *why = okra_message();
        snprintf(text, sizeof text, "engine %s: ", name);
        size_t skip = strncmp(why, text, strlen(text)) == 0 ? strlen(text) : 0;
        fn(user, name, false, why + skip);
        return;
    }
    if (engine->verbs->describe) {
        engine->verbs->describe(engine->state, text, sizeof text);
    }
    fn(user, name, true, text[0] ? text : engine->verbs->help ? engine->verbs->help : "");
    okra_engine_drop_(engine);
}

static const char *const known[] = {"cuda", "mpi"}; /* told of where absent too */
enum { KNOWN = sizeof known / sizeof *known };

static bool is_known(const char *name)
{
    for (size_t i = 0; i < KNOWN; i++) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Would `--engine name` take the one of folder k? A file of another name is none. */
static bool is_of(const char *name, int k)
{
    char file[PATH + 128];
    int first;
    return check_name(name) == OKRA_OK && find(name, file, &first) == OKRA_OK &&
           first == k;
}

/* The engines of folder k that are not known by name. */
static void tell_folder(okra_engine_fn fn, void *user, int k, const char *path)
{
    static const char begin[] = "libokra-", end[] = ".so";
    DIR *dir = path[0] == '/' ? opendir(path) : NULL;
    for (const struct dirent *at; dir && (at = readdir(dir)) != NULL;) {
        char name[64];
        size_t length = strlen(at->d_name), extra = sizeof begin + sizeof end - 2;
        if (strncmp(at->d_name, begin, sizeof begin - 1) == 0 && length > extra &&
            length < extra + sizeof name &&
            strcmp(at->d_name + length - (sizeof end - 1), end) == 0) {
            snprintf(name, sizeof name, "%.*s", (int)(length - extra),
                     at->d_name + sizeof begin - 1);
            if (!is_known(name) && is_of(name, k)) {
                tell(fn, user, name);
            }
        }
    }
    if (dir) {
        closedir(dir);
    }
}

void okra_engine_each(okra_engine_fn fn, void *user)
{
    char path[PATH];
    if (!fn) {
        return;
    }
    fn(user, okra_engine_host_class_.name, true, okra_engine_host_class_.help);
    for (size_t i = 0; i < KNOWN; i++) {
        tell(fn, user, known[i]);
    }
    for (int k = 0; folder(k, path); k++) {
        tell_folder(fn, user, k, path);
    }
}
