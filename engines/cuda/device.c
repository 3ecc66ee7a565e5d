/*
 * device.c: opening and closing the engine, and saying what went wrong.
 *
 * Making the handles of cuBLAS and cuSOLVER takes longer than a small fit. So an engine
 * that is closed is parked, without its arena, and the next one of that GPU takes it up;
 * one is kept for each GPU until the process ends.
 */
#include "gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

okra_status gpu_failed_(const gpu_ *g, cudaError_t error, const char *what)
{
    (void)cudaGetLastError(); /* what can be forgotten is forgotten */
    if (error == cudaErrorMemoryAllocation) {
        return g->host->fail(OKRA_EMEM,
                             "engine cuda: %s: out of memory on GPU %d (%s); a low rank "
                             "(--low-rank-x) needs less, --engine host uses the host's",
                             what, g->device, g->about.name);
    }
    return g->host->fail(OKRA_EINTERNAL, "engine cuda: %s: %s (%s) on GPU %d (%s)", what,
                         cudaGetErrorString(error), cudaGetErrorName(error), g->device,
                         g->about.name);
}

okra_status gpu_blas_failed_(const gpu_ *g, cublasStatus_t error, const char *what)
{
    if (error == CUBLAS_STATUS_ALLOC_FAILED) {
        return gpu_failed_(g, cudaErrorMemoryAllocation, what);
    }
    return g->host->fail(OKRA_EINTERNAL, "engine cuda: %s: cuBLAS says %s", what,
                         cublasGetStatusString(error));
}

okra_status gpu_solver_failed_(const gpu_ *g, cusolverStatus_t error, const char *what)
{
    if (error == CUSOLVER_STATUS_ALLOC_FAILED) {
        return gpu_failed_(g, cudaErrorMemoryAllocation, what);
    }
    return g->host->fail(OKRA_EINTERNAL, "engine cuda: %s: cuSOLVER returned status %d",
                         what, (int)error);
}

/* ---- which GPU ---- */

static okra_status no_gpu(const okra_engine_host_ *host, cudaError_t error)
{
    int driver = 0, runtime = 0;
    (void)cudaGetLastError();
    if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice) {
        (void)cudaDriverGetVersion(&driver);
        (void)cudaRuntimeGetVersion(&runtime);
        if (driver == 0) {
            return host->fail(OKRA_EUNSUPPORTED,
                              "engine cuda: this machine has no NVIDIA "
                              "driver; --engine host needs none");
        }
        if (driver < runtime) {
            return host->fail(OKRA_EUNSUPPORTED,
                              "engine cuda: the NVIDIA driver is for CUDA %d.%d, CUDA "
                              "%d.%d or newer is needed",
                              driver / 1000, driver % 1000 / 10, runtime / 1000,
                              runtime % 1000 / 10);
        }
        return host->fail(OKRA_EUNSUPPORTED,
                          "engine cuda: the NVIDIA driver finds no GPU; "
                          "--engine host needs none");
    }
    return host->fail(OKRA_EUNSUPPORTED, "engine cuda: no GPU can be used: %s (%s)",
                      cudaGetErrorString(error), cudaGetErrorName(error));
}

static okra_status choose(const okra_engine_host_ *host, const char *device, int *out)
{
    char *end = NULL;
    int count = 0;
    long number = strtol(device, &end, 10);
    if (device[0] != '\0' && (device[0] < '0' || device[0] > '9' || *end != '\0')) {
        return host->fail(OKRA_EARG,
                          "engine cuda:%s: expected the number of a GPU after the colon, "
                          "such as cuda:0",
                          device);
    }
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        return no_gpu(host, error != cudaSuccess ? error : cudaErrorNoDevice);
    }
    if (number >= count) {
        return host->fail(OKRA_EUNSUPPORTED,
                          "engine cuda:%s: there is no such GPU, the last is "
                          "cuda:%d",
                          device, count - 1);
    }
    *out = (int)number;
    return OKRA_OK;
}

okra_status gpu_use_(const gpu_ *g)
{
    okra_status st = OKRA_OK;
    GPU_TRY(cudaSetDevice(g->device), "choosing the GPU");
done:
    return st;
}

static okra_status begin(gpu_ *g)
{
    okra_status st = OKRA_OK;

    GPU_TRY(cudaGetDeviceProperties(&g->about, g->device), "asking about the GPU");
    if (g->about.major < 8) {
        st =
            g->host->fail(OKRA_EUNSUPPORTED,
                          "engine cuda: GPU %d (%s) has compute capability %d.%d, 8.0 or "
                          "newer is needed",
                          g->device, g->about.name, g->about.major, g->about.minor);
        goto done;
    }
    TRY(gpu_use_(g));
    GPU_TRY(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), "a stream");
    GPU_TRY(cudaStreamCreateWithFlags(&g->copies, cudaStreamNonBlocking), "a stream");
    for (int k = 0; k < 2; k++) {
        GPU_TRY(cudaEventCreateWithFlags(&g->freed[k], cudaEventDisableTiming), "events");
        GPU_TRY(cudaEventCreateWithFlags(&g->worked[k], cudaEventDisableTiming),
                "events");
    }
    GPU_TRY(cudaHostAlloc(&g->notes, GPU_NOTES_, cudaHostAllocDefault),
            "pinned host memory");
    GPU_TRY(cudaMalloc(&g->workspace, GPU_WORKSPACE_), "the workspace of cuBLAS");
    GPU_TRY(cudaMalloc((void **)&g->info, sizeof *g->info), "one number");
    BLAS_TRY(cublasCreate(&g->blas), "opening cuBLAS");
    BLAS_TRY(cublasSetStream(g->blas, g->stream), "opening cuBLAS");
    /* After the stream, which sets it back. */
    BLAS_TRY(cublasSetWorkspace(g->blas, g->workspace, GPU_WORKSPACE_), "opening cuBLAS");
    BLAS_TRY(cublasSetAtomicsMode(g->blas, CUBLAS_ATOMICS_NOT_ALLOWED), "opening cuBLAS");
    SOLVER_TRY(cusolverDnCreate(&g->solver), "opening cuSOLVER");
    SOLVER_TRY(cusolverDnSetStream(g->solver, g->stream), "opening cuSOLVER");
    SOLVER_TRY(cusolverDnSetDeterministicMode(g->solver, CUSOLVER_DETERMINISTIC_RESULTS),
               "opening cuSOLVER");
    SOLVER_TRY(cusolverDnCreateParams(&g->params), "opening cuSOLVER");
done:
    return st;
}

static void end(gpu_ *g)
{
    if (!g) {
        return;
    }
    (void)cudaSetDevice(g->device);
    if (g->stream) {
        (void)cudaStreamSynchronize(g->stream);
    }
    if (g->params) {
        (void)cusolverDnDestroyParams(g->params);
    }
    if (g->solver) {
        (void)cusolverDnDestroy(g->solver);
    }
    if (g->blas) {
        (void)cublasDestroy(g->blas);
    }
    for (int k = 0; k < 2; k++) {
        (void)cudaFreeHost(g->stage[k]);
        if (g->freed[k]) {
            (void)cudaEventDestroy(g->freed[k]);
        }
        if (g->worked[k]) {
            (void)cudaEventDestroy(g->worked[k]);
        }
    }
    (void)cudaFreeHost(g->notes);
    (void)cudaFree(g->info);
    (void)cudaFree(g->workspace);
    if (g->copies) {
        (void)cudaStreamDestroy(g->copies);
    }
    if (g->stream) {
        (void)cudaStreamDestroy(g->stream);
    }
    (void)cudaGetLastError();
    free(g);
}

enum { GPUS = 64 };
static gpu_ *parked[GPUS];
static pthread_mutex_t parking = PTHREAD_MUTEX_INITIALIZER;

/* What is parked for the GPU; g: is parked there, and what was there is returned. */
static gpu_ *exchange(int device, gpu_ *g)
{
    gpu_ *before = NULL;
    if (device >= GPUS) {
        return g;
    }
    (void)pthread_mutex_lock(&parking);
    before = parked[device];
    parked[device] = g;
    (void)pthread_mutex_unlock(&parking);
    return before;
}

okra_status gpu_open_(const okra_engine_host_ *host, const char *device, void **e)
{
    okra_status st = OKRA_OK;
    gpu_ *g = NULL;
    int number = 0;

    TRY(choose(host, device, &number));
    g = exchange(number, NULL);
    if (!g) {
        /* Not of the library's allocator, which counts what is not given back. */
        g = calloc(1, sizeof *g);
        if (!g) {
            st = host->fail(OKRA_EMEM, "out of memory: %zu bytes", sizeof *g);
            goto done;
        }
        g->host = host;
        g->device = number;
        TRY(begin(g));
    }
    g->host = host;
    *e = g;
    g = NULL;
done:
    end(g);
    return st;
}

void gpu_close_(void *e)
{
    gpu_ *g = e;
    (void)cudaSetDevice(g->device);
    /* After an error that does not pass, everything fails: nothing to keep. */
    bool sound = cudaStreamSynchronize(g->stream) == cudaSuccess;
    (void)cudaFree(g->arena);
    g->arena = NULL;
    g->arena_bytes = g->used = 0;
    end(sound ? exchange(g->device, g) : g);
}

void gpu_describe_(void *e, char *text, size_t size)
{
    const gpu_ *g = e;
    int driver = 0, blas = 0, solver[3] = {0, 0, 0};
    size_t room = 0, total = 0;
    libraryPropertyType part[3] = {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};

    (void)cudaSetDevice(g->device);
    (void)cudaMemGetInfo(&room, &total);
    (void)cudaDriverGetVersion(&driver);
    (void)cublasGetVersion(g->blas, &blas);
    for (int k = 0; k < 3; k++) {
        (void)cusolverGetProperty(part[k], &solver[k]);
    }
    snprintf(text, size,
             "%s (cuda:%d, compute capability %d.%d), %.1f of %.1f GiB free, driver for "
             "CUDA %d.%d, cuBLAS %d.%d.%d, cuSOLVER %d.%d.%d",
             g->about.name, g->device, g->about.major, g->about.minor,
             (double)room / 0x1p30, (double)total / 0x1p30, driver / 1000,
             driver % 1000 / 10, blas / 10000, blas / 100 % 100, blas % 100, solver[0],
             solver[1], solver[2]);
}
