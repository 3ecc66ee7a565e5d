/*
 * index.c: okra index: features of many candidates, computed once.
 */
#include "commands.h"

#include <string.h>

typedef struct index_fields {
    const char *ky, *output, *model, *columns, *table;
    okra_int rank, shard;
    bool check;
} index_fields;

#define FIELDS index_fields
static const okra_option rows[] = {
    ROW(WRITTEN, "output", output, "", "NAME", "The index to make, a folder NAME.okx"),
    ROW(TEXT, "ky", ky, "", "EXPR",
        "The output kernel, its features hashed: 'ecfp(bits=2048) | tanimoto'; that of "
        "the model if not given"),
    ROW(READ, "model", model, "", "MODEL", "The model that candidates will be ranked by"),
    RANGE(INT, "rank", rank, "0", 0, 65536, "N",
          "With --model: store N numbers per candidate (low rank), so that millions can "
          "be ranked without a window"),
    ROW(TEXT, "columns", columns, "", "LIST",
        "Columns of numbers of FILE.tsv to keep for --within, between commas"),
    ROW(READ, "table", table, "", "FILE.tsv",
        "Vectors: a table with a header, one line per vector: the column name, and those "
        "of --columns (mass sorts the index)"),
    RANGE(INT, "shard", shard, "250000", 1, 100000000, "N",
          "Candidates in one file of the index at most"),
    ROW(BOOL, "check", check, "no", "", "FILE is an index: read all of it and check it"),
    {0}};

static int tell(const cli_run *run, const index_fields *f, const okra_index_report *r,
                double seconds)
{
    char buffer[64];
    if (run->common.json) {
        return cli_print_json(
            run,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:f}",
                      "output", f->output, "lines", (json_int_t)r->lines, "kept",
                      (json_int_t)r->kept, "broken", (json_int_t)r->broken, "repeated",
                      (json_int_t)r->repeated, "apart", (json_int_t)r->apart, "massless",
                      (json_int_t)r->massless, "shards", (json_int_t)r->shards, "resumed",
                      (json_int_t)r->resumed, "whole", r->whole, "width",
                      (json_int_t)r->width, "seconds", seconds));
    }
    if (!run->common.quiet) {
        cli_line(stdout, "candidates", "%lld of %lld %s", (long long)r->kept,
                 (long long)r->lines, r->width > 0 ? "vectors" : "lines");
        cli_line(stdout, "broken", "%lld", (long long)r->broken);
        if (r->width == 0) {
            cli_line(stdout, "repeated", "%lld%s", (long long)r->repeated,
                     r->whole ? "" : " (looked for in parts of the file alone)");
            cli_line(stdout, "without mass", "%lld", (long long)r->massless);
        }
        cli_line(stdout, "shards", "%lld, %lld of them from an earlier run",
                 (long long)r->shards, (long long)r->resumed);
        cli_line(stdout, "output", "%s", f->output);
        cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    }
    return CLI_DONE;
}

static int check_index(cli_run *run)
{
    FREED_BY(okra_index_free_at) okra_index *index = NULL;
    bool bits;
    TRY(okra_index_open(run->context, run->operands[0], &index));
    TRY(okra_index_check(run->context, index));
    if (!run->common.quiet) {
        cli_line(stdout, "candidates", "%lld", (long long)okra_index_count(index));
        const char *kernel = okra_index_kernel(index, &bits);
        okra_int width = okra_index_width(index);
        cli_line(stdout, "kernel", "%s%s", kernel,
                 bits || width > 0 ? "" : " (no features kept)");
        if (width > 0) {
            cli_line(stdout, "vectors", "of %lld numbers", (long long)width);
        }
        cli_line(stdout, "low rank", "%lld", (long long)okra_index_rank(index));
        for (int k = 0; k < okra_index_columns(index); k++) {
            cli_line(stdout, "column", "%s", okra_index_column(index, k));
        }
        cli_line(stdout, "checksums", "right");
    }
    return CLI_DONE;
}

static int run_index(cli_run *run)
{
    index_fields f;
    OWNED_MODEL *model = NULL;
    char source[4096], path[4096], table[4096];
    double begin = cli_now();
    TRY(cli_fields(run, &f));
    if (f.check) {
        return check_index(run);
    }
    REFUSE_IF(!*f.output, "-o NAME is missing: the index to make");
    REFUSE_IF(!*f.ky && !*f.model, "--ky or --model is missing: which features to keep");
    REFUSE_IF(f.rank > 0 && !*f.model, "--rank needs --model");
    if (*f.model) {
        TRY(okra_model_load(run->context, cli_find(run, f.model, path, sizeof path),
                            &model));
    }
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    okra_index_request request = {
        OKRA_SIZED(okra_index_request),
        .source = cli_find(run, run->operands[0], source, sizeof source),
        .path = f.output,
        .ky = *f.ky ? f.ky : NULL,
        .model = model,
        .rank = f.rank,
        .shard = f.shard,
        .columns = f.columns,
        .table = *f.table ? cli_find(run, f.table, table, sizeof table) : NULL};
    TRY(okra_index_build(run->context, &request, &report));
    return tell(run, &f, &report, cli_now() - begin);
}

const cli_command cli_index = {
    .name = "index",
    .purpose = "Prepare candidate molecules or vectors for ranking",
    .usage = "FILE.smi|FILE.tsv|FILE.npy --ky EXPR -o NAME.okx [flags]",
    .about = "Each line is a SMILES, a name may follow; or FILE.tsv is a table whose "
             "header has\nthe column smiles. Masses, formulas, and the features of an "
             "output kernel whose leaves\nare hashed (bits=N), are computed once and "
             "kept, sorted by mass;\n'okra predict --candidates NAME.okx' maps them. "
             "okra skips lines\nthat it cannot parse, and reports their count; a "
             "repeated molecule is "
             "kept once.\nFILE.npy (or dense:FILE) holds "
             "candidates that are vectors, which are kept as they are.\nAn interrupted "
             "run leaves NAME.okx.part and goes on from there.\n",
    .examples =
        "okra index candidates.smi --ky 'ecfp(bits=2048) | tanimoto' -o candidates.okx\n"
        "okra index candidates.smi --model spectra.okra --rank 128 -o candidates.okx\n"
        "okra index candidates.tsv --model spectra.okra --columns logp -o "
        "candidates.okx\n"
        "okra index vectors.npy --ky 'rbf(sigma=2)' --table about.tsv --columns year -o "
        "vectors.okx\n"
        "okra index candidates.okx --check\n",
    .own = {"index", rows, sizeof(index_fields)},
    .refuses = "seed engine bag",
    .operands_least = 1,
    .operands_most = 1,
    .operand = "FILE.smi",
    .run = run_index,
};
