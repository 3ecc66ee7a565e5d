/*
 * text_files.c: text files that are written whole or not at all.
 */
#include "cli.h"

#include "okra/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cli_file {
    FILE *stream;
    okra_file *file; /* NULL: standard output */
    char *path;
};

cli_file *cli_file_open(const cli_run *run, const char *path)
{
    int fd = -1;
    cli_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        cli_failure(run, "out of memory");
        return NULL;
    }
    file->stream = stdout;
    if (strcmp(path, "-") == 0) {
        return file;
    }
    okra_status st = okra_file_open(run->context, path, &file->file, &fd);
    int own = st == OKRA_OK ? dup(fd) : -1;
    if (st != OKRA_OK) {
        cli_status(run, st);
    } else if (own >= 0 && (file->stream = fdopen(own, "w"))) {
        return file;
    } else {
        cli_failure(run, "%s: %s", path, strerror(errno));
    }
    st = st == OKRA_OK ? okra_file_close(file->file, false) : st;
    free(file->path);
    free(file);
    return NULL;
}

FILE *cli_file_stream(cli_file *file)
{
    return file->stream;
}

int cli_file_close(const cli_run *run, cli_file *file, int status)
{
    if (status == CLI_DONE && cli_json_lost()) {
        status = cli_failure(run, "%s: out of memory", file->path);
    }
    if (file->file) {
        bool good = fflush(file->stream) == 0 && !ferror(file->stream);
        good = fclose(file->stream) == 0 && good;
        if (status == CLI_DONE && !good) {
            status = cli_failure(run, "%s: %s", file->path, strerror(errno));
        }
        okra_status st = okra_file_close(file->file, status == CLI_DONE);
        status = status == CLI_DONE ? cli_status(run, st) : status;
    }
    free(file->path);
    free(file);
    return status;
}

int cli_table_open(const cli_run *run, const char *path, const char *heading,
                   cli_table *table)
{
    table->mark = cli_ends(path, ".csv") ? ',' : '\t';
    table->file = cli_file_open(run, path);
    if (!table->file) {
        return CLI_FAILED;
    }
    table->out = table->file->stream;
    for (; *heading; heading++) {
        fputc(*heading == ',' ? table->mark : *heading, table->out);
    }
    return CLI_DONE;
}
