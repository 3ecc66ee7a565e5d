/* test_changing.c: files that another process changes, or cuts short, while they are
 * read: every reader gives what was there once, or an error, and stays within bounds. */
#include "files.h"

#include "data/files/formats.h"
#include "data/files/archive.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 5 << 18, LARGE = 8 << 20 };

/* A file is head, records until it is large, tail; then records become `other`, which has
 * more of what a reader counts in its first pass. */
typedef struct sample {
    const char *name, *head, *record, *other, *tail;
} sample;

static const sample samples[] = {
    {"x.csv", "", "1.25,2,33333333333333333333\n", "1,1,1,1,1,1,1,1,1,1,1,1,1\n\n", ""},
    {"x.tsv", "", "1.25\t2\t33333333333333333333\n", "1\t1\n1\t1\n1\t1\n1\t1\n1\t1\n1\n",
     ""},
    {"labels:y.csv", "", "alphabetagamma\n", "a\nb\nc\nd\ne\nf\ng\n\n", ""},
    {"x.svm", "", "1 1:1.000000000000 2:3\n", "1 1:1 2:1 3:1 4:1 5:1\n\n", ""},
    {"svm0:x.dat", "", "1 0:1.000000000000 2:3\n", "1 0:1 2:1 3:1 4:1 5:1\n\n", ""},
    {"x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 81918\n",
     "1 1 0.00000001\n", "1 1 1\n1 1 1\n\n\n\n", ""},
    {"x.smi", "", "CCCCCCCCCC(=O)O acid\n", "C a\nC b\nC c\nC d\nC e\n\n", ""},
    {"x.sdf", "",
     "a\n\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   "
     "0  0\nM  END\n$$$$\n",
     "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n$$$$\n\n\n\n  0  0  0  0  0 "
     " "
     "0  0  0  0  0999 V2000\n",
     ""},
    {"x.mgf", "", "BEGIN IONS\nPEPMASS=100\n100 1\n200 22222222222\nEND IONS\n\n",
     "BEGIN IONS\nPEPMASS=100\n1 1\n2 1\n3 1\n4 1\n5 1\nEND IONS\n", ""},
    {"x.msp", "",
     "Name: abc\nPrecursorMZ: 100\nNum Peaks: 2\n1 100000000\n2 22222222\n\n",
     "Name: a\nPrecursorMZ: 100\nNum Peaks: 9\n1 1\n2 1\n3 1\n4 1\n5 1\n", ""},
    {"x.txt", "", "one long line of text\n", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n\n", ""},
    {"x.fasta", "", ">name\nACGTACGTACGTACGTAC\n", ">a\nA\n>b\nC\n>c\nG\n>d\nT\n", ""},
    {"x.data", "", "1\ta\t-1\t1\t1\t0\t1\t0\t1\t0\n", "1\ta\t-1\t1\t1\t0\t1\n1\ta\t1\n",
     ""},
    {"x.graphml", "<?xml version=\"1.0\"?>\n<graphml>\n",
     "<graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/></graph>\n",
     "<graph edgedefault=\"undirected\"></graph><graph></graph><graph></graph>\n",
     "</graphml>\n"},
    {"x.edges", "", "alpha beta 0.5\n", "a b\nc d\ne f\ng\n", ""},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static char *fill(const sample *s, const char *record, size_t *size)
{
    char *text = malloc(SIZE + 4096);
    size_t used = (size_t)sprintf(text, "%s", s->head);
    while (used < SIZE) {
        used += (size_t)sprintf(text + used, "%s", record);
    }
    *size = used + (size_t)sprintf(text + used, "%s", s->tail);
    return text;
}

/* ---- somebody who changes the file ---- */

typedef struct vandal {
    char path[512], *one, *two;
    size_t size, other;
    atomic_bool stop;
    pthread_t thread;
} vandal;

static void *change(void *arg)
{
    vandal *v = arg;
    int fd = open(v->path, O_WRONLY);
    bool good = fd >= 0;
    for (int k = 0; good && !atomic_load(&v->stop); k++) {
        const char *text = k % 2 ? v->one : v->two;
        size_t size = k % 2 ? v->size : OKRA_MIN_(v->size, v->other);
        good = pwrite(fd, text, size, 0) == (ssize_t)size &&
               ftruncate(fd, k % 5 == 4 ? (off_t)v->size / 3 : (off_t)v->size) == 0;
    }
    close(fd);
    return good ? v : NULL;
}

static void begin(vandal *v, const char *path)
{
    snprintf(v->path, sizeof v->path, "%s", path);
    atomic_store(&v->stop, false);
    CHECK(pthread_create(&v->thread, NULL, change, v) == 0);
}

static void end(vandal *v)
{
    void *good = NULL;
    atomic_store(&v->stop, true);
    pthread_join(v->thread, &good);
    CHECK(good);
}

/* Reads the file again and again; how often it was said to have changed. */
static int read_often(const char *spec, int times)
{
    int changed = 0;
    for (int k = 0; k < times; k++) {
        okra_data *data = NULL;
        okra_status st = okra_data_read(NULL, spec, &data);
        CHECK((st == OKRA_OK) == (data != NULL));
        changed += st != OKRA_OK && strstr(okra_message(), "changed while it was read");
        okra_data_free(data);
    }
    return changed;
}

TEST(every_reader_stays_within_a_copy)
{
    int changed = 0;
    for (int k = 0; k < SAMPLES; k++) {
        const sample *s = &samples[k];
        const char *colon = strchr(s->name, ':'), *name = colon ? colon + 1 : s->name;
        char spec[600];
        vandal v = {.stop = false};
        v.one = fill(s, s->record, &v.size);
        v.two = fill(s, s->other, &v.other);
        files_make(name, v.one, v.size);
        snprintf(spec, sizeof spec, "%.*s%s", (int)(name - s->name), s->name,
                 files_path(name));
        okra_data *data = NULL;
        if (strcmp(name, "x.mtx") != 0 && strcmp(name, "x.edges") != 0) {
            CHECK_OK(okra_data_read(NULL, spec, &data));
        }
        okra_data_free(data);
        begin(&v, files_path(name));
        changed += read_often(spec, SOME(12));
        end(&v);
        free(v.one);
        free(v.two);
    }
#ifndef OKRA_EMULATED /* one read of each may find none */
    CHECK(changed > 0);
#endif
}

/* An archive whose arrays are numbers, and one array. */
TEST(arrays_stay_within_a_copy)
{
    static double values[SIZE / 8];
    vandal v = {.stop = false};
    okra_data *data = NULL;
    okra_writer_ *w = NULL;
    okra_zip_writer_ *zip = NULL;
    char header[OKRA_NPY_HEADER_], spec[600];
    size_t head = okra_npy_header_("<f8", SIZE / 8, 1, header);
    CHECK_OK(okra_data_dense(values, SIZE / 8, 1, 1, &data));
    CHECK_OK(okra_data_write(NULL, data, files_path("x.npy")));
    CHECK_OK(okra_writer_open_(files_path("x.npz"), &w));
    CHECK_OK(okra_zip_writer_create_(w, &zip));
    CHECK_OK(okra_zip_add_(zip, "a.npy", header, head, values, SIZE / 8, 8, 8, NULL));
    CHECK_OK(okra_zip_finish_(zip));
    okra_zip_writer_free_(zip);
    CHECK_OK(okra_writer_commit_(w));
    okra_data_free(data);
    for (int k = 0; k < 2; k++) {
        const char *path = files_path(k ? "x.npz" : "x.npy");
        FILE *f = fopen(path, "rb");
        v.one = malloc(SIZE + 4096);
        v.size = fread(v.one, 1, SIZE + 4096, f);
        v.two = calloc(1, v.other = v.size);
        fclose(f);
        snprintf(spec, sizeof spec, "%s", path);
        begin(&v, path);
        read_often(spec, SOME(12));
        end(&v);
        free(v.one);
        free(v.two);
    }
}

/* ---- what stays mapped ---- */

static okra_status sum_up(void *arg, okra_int begin, okra_int end, int worker)
{
    const okra_bytes_ *bytes = arg;
    volatile unsigned sum = 0;
    (void)worker;
    for (okra_int k = begin; k < end; k++) {
        sum = sum + bytes->p[k];
    }
    (void)sum;
    return OKRA_OK;
}

TEST(a_mapped_file_that_is_cut_is_an_error)
{
    okra_context *two = NULL;
    okra_bytes_ bytes = {0}, other = {0};
    char *text = calloc(1, LARGE);
    CHECK_OK(okra_context_create(&two));
    CHECK_OK(okra_context_set_threads(two, 2));
    files_make("cut", text, LARGE);
    files_make("whole", text, LARGE);
    CHECK_OK(okra_bytes_map_(two, files_path("cut"), 1, &bytes));
    CHECK_OK(okra_bytes_map_(two, files_path("whole"), 1, &other));
    CHECK(bytes.mapped && bytes.size == LARGE);
    CHECK_OK(okra_parallel_(two, LARGE, 1 << 16, NULL, sum_up, &bytes));
    CHECK(truncate(files_path("cut"), 5000) == 0);
    okra_status st = okra_parallel_(two, LARGE, 1 << 16, NULL, sum_up, &bytes);
    CHECK(st == OKRA_EIO && strstr(okra_message(), "cut: it was cut short"));
    CHECK(okra_cancelled_(two) == OKRA_EIO);
    okra_bytes_close_(&bytes);
    CHECK_OK(okra_parallel_(two, LARGE, 1 << 16, NULL, sum_up, &other));
    /* Within the last page there is no signal; nor is there where bytes change. */
    CHECK(truncate(files_path("whole"), LARGE - 1) == 0);
    st = okra_parallel_(two, LARGE, 1 << 16, NULL, sum_up, &other);
    CHECK(st == OKRA_EIO && strstr(okra_message(), "whole: it changed while"));
    okra_bytes_close_(&other);
    files_make("whole", text, LARGE);
    CHECK_OK(okra_bytes_map_(two, files_path("whole"), 1, &other));
    FILE *file = fopen(files_path("whole"), "r+");
    usleep(20000); /* more than a tick of the file system's clock */
    CHECK(file && fputc('x', file) == 'x' && fclose(file) == 0);
    CHECK(okra_guard_settle_() == OKRA_EIO);
    okra_bytes_close_(&other);
    CHECK_OK(okra_guard_settle_());
    okra_context_free(two);
    free(text);
}

/* An array beyond a quarter of the memory stays mapped, a table is copied to TMPDIR. */
TEST(a_small_budget_copies_to_a_file)
{
    okra_context *small = NULL;
    okra_bytes_ copy = {0}, mapped = {0};
    char *text = malloc(LARGE + 5);
    for (int k = 0; k < LARGE + 5; k++) {
        text[k] = (char)(k * 7 + k / 251);
    }
    CHECK_OK(okra_context_create(&small));
    CHECK_OK(okra_context_set_memory(small, LARGE));
    files_make("table", text, LARGE + 5);
    CHECK_OK(okra_bytes_open_(small, files_path("table"), &copy));
    CHECK_OK(okra_bytes_map_(small, files_path("table"), 0, &mapped));
    CHECK(mapped.mapped && !copy.mapped && copy.copy.file && copy.size == LARGE + 5);
    CHECK(memcmp(copy.p, text, LARGE + 5) == 0);
    CHECK(truncate(files_path("table"), 0) == 0);
    CHECK(memcmp(copy.p, text, LARGE + 5) == 0);
    okra_bytes_close_(&copy);
    okra_bytes_close_(&mapped);
    okra_context_free(small);
    free(text);
    files_clean();
}

MAIN(RUN(every_reader_stays_within_a_copy), RUN(arrays_stay_within_a_copy),
     RUN(a_mapped_file_that_is_cut_is_an_error), RUN(a_small_budget_copies_to_a_file))
