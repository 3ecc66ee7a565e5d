/*
 * figure_grid.c: heat maps, and images in rows.
 */
#include "report/figure.h"

#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- heat maps ---- */

static const char *tick(const json_t *names, size_t index, char *buffer, size_t size)
{
    const json_t *item = json_array_get(names, index);
    snprintf(buffer, size, "%.3g", figure_at(names, index)); /* more does not fit */
    return json_is_string(item) ? json_string_value(item) : buffer;
}

/* The best finite value by the figure's direction; NaN if nothing says which. */
static double best_of(const json_t *values, const char *better)
{
    size_t i;
    json_t *row;
    double best = (double)NAN;
    json_array_foreach(values, i, row)
    {
        for (size_t j = 0; *better && j < json_array_size(row); j++) {
            double v = figure_at(row, j);
            bool first = !isfinite(best) && isfinite(v);
            if (first || (strcmp(better, "lower") == 0 ? v < best : v > best)) {
                best = v;
            }
        }
    }
    return best;
}

/* The longest name of a list, as drawn: a letter is about 6.6 wide. */
static double widest(const json_t *names)
{
    size_t most = 0;
    char text[32];
    for (size_t i = 0; i < json_array_size(names); i++) {
        size_t length = strlen(tick(names, i, text, sizeof text));
        most = length > most ? length : most;
    }
    return 6.6 * (double)most;
}

/* At most so many letters, dots for what is left out. */
static void cut(char *text, size_t most)
{
    if (strlen(text) > most && most > 3) {
        memcpy(text + most - 3, "...", 4);
    }
}

/* Names below the columns: as many as have room, the first and every so many-th. */
static void name_columns(FILE *out, const json_t *xs, double left, double width,
                         double bottom)
{
    char text[32];
    size_t each = (size_t)fmax(1, ceil((widest(xs) + 8) / width));
    for (size_t j = 0; j < json_array_size(xs); j += each) {
        figure_text(out, left + width * ((double)j + 0.5), bottom + 16, "middle", "soft",
                    tick(xs, j, text, sizeof text));
    }
}

bool figure_heatmap(FILE *out, const json_t *figure, bool alone, char *why, size_t size)
{
    const json_t *values = json_object_get(figure, "values");
    const json_t *xs = json_object_get(figure, "x"), *ys = json_object_get(figure, "y");
    size_t rows = json_array_size(ys), cols = json_array_size(xs);
    if (rows == 0 || cols == 0 || json_array_size(values) != rows) {
        snprintf(why, size, "it has %zu rows of values for %zu by %zu places",
                 json_array_size(values), rows, cols);
        return false;
    }
    double left = fmin(fmax(90, widest(ys) + 12), 0.45 * FIGURE_WIDTH);
    double top = 20, width = (FIGURE_WIDTH - left - 20) / (double)cols;
    double height = fmin(40, fmax(14, 300 / (double)rows)),
           bottom = top + height * (double)rows;
    figure_scale s = figure_scale_empty(false);
    double best = best_of(values, figure_string(figure, "better", ""));
    char text[32], name[256];
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) {
            figure_scale_take(&s, figure_at(json_array_get(values, i), j));
        }
    }
    figure_scale_finish(&s, 0, 100);
    figure_begin(out, FIGURE_WIDTH, bottom + 50, figure_string(figure, "title", ""),
                 alone);
    for (size_t i = 0; i < rows; i++) {
        double y = top + height * (double)i;
        snprintf(name, sizeof name, "%s", tick(ys, i, text, sizeof text));
        cut(name, (size_t)((left - 12) / 6.6));
        figure_text(out, left - 6, y + height / 2 + 4, "end", "soft", name);
        for (size_t j = 0; j < cols; j++) {
            double v = figure_at(json_array_get(values, i), j),
                   x = left + width * (double)j;
            double share = isfinite(v) ? figure_scale_at(&s, v) : 0;
            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                    "fill=\"var(--high)\" fill-opacity=\"%.2f\"%s/>\n",
                    x, y, width - 1, height - 1, share / 100,
                    v == best ? " stroke=\"var(--s1)\" stroke-width=\"3\"" : "");
            if (isfinite(v) && width > 36) {
                fprintf(out,
                        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" "
                        "font-size=\"11\" style=\"fill:var(--%s)\">%s</text>\n",
                        x + width / 2, y + height / 2 + 4, share > 55 ? "page" : "ink",
                        figure_number(v, text, sizeof text));
            }
        }
    }
    name_columns(out, xs, left, width, bottom);
    figure_text(out, (left + FIGURE_WIDTH) / 2, bottom + 38, "middle", "",
                figure_string(figure, "x_label", ""));
    figure_text(out, 4, 14, "start", "", figure_string(figure, "y_label", ""));
    figure_end(out);
    return true;
}

/* ---- images ---- */

static void big_endian(unsigned char *to, unsigned long value)
{
    for (int i = 0; i < 4; i++) {
        to[i] = (unsigned char)(value >> (24 - 8 * i));
    }
}

/* A PNG chunk: length, type, data, CRC of type and data. Returns the bytes written. */
static size_t chunk(unsigned char *to, const char *type, const unsigned char *data,
                    size_t length)
{
    big_endian(to, length);
    memcpy(to + 4, type, 4);
    if (length > 0) {
        memcpy(to + 8, data, length);
    }
    big_endian(to + 8 + length, crc32(0, to + 4, (unsigned)length + 4));
    return length + 12;
}

static void base64(FILE *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        unsigned v = (unsigned)bytes[i] << 16 |
                     (i + 1 < count ? (unsigned)bytes[i + 1] << 8 : 0) |
                     (i + 2 < count ? (unsigned)bytes[i + 2] : 0);
        fputc(digits[v >> 18 & 63], out);
        fputc(digits[v >> 12 & 63], out);
        fputc(i + 1 < count ? digits[v >> 6 & 63] : '=', out);
        fputc(i + 2 < count ? digits[v & 63] : '=', out);
    }
}

bool figure_png(FILE *out, const double *values, int rows, int cols, double low,
                double high)
{
    static const unsigned char signature[] = {0x89, 'P',  'N',  'G',
                                              '\r', '\n', 0x1a, '\n'};
    size_t raw = (size_t)rows * ((size_t)cols + 1);
    uLongf packed = compressBound((uLong)raw);
    unsigned char *lines = cli_alloc(1, raw), *data = cli_alloc(1, packed),
                  *png = cli_alloc(1, packed + 100);
    unsigned char header[13] = {0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0}; /* 8 bits, grey */
    bool good = lines && data && png;
    for (int i = 0; good && i < rows; i++) {
        unsigned char *line = lines + (size_t)i * ((size_t)cols + 1);
        line[0] = 0; /* no filter */
        for (int j = 0; j < cols; j++) {
            double share = (values[i * cols + j] - low) / (high - low);
            line[j + 1] = (unsigned char)(255 * fmin(1, fmax(0, share)) + 0.5);
        }
    }
    if (good && compress(data, &packed, lines, (uLong)raw) == Z_OK) {
        size_t used = sizeof signature;
        memcpy(png, signature, used);
        big_endian(header, (unsigned long)cols);
        big_endian(header + 4, (unsigned long)rows);
        used += chunk(png + used, "IHDR", header, sizeof header);
        used += chunk(png + used, "IDAT", data, packed);
        used += chunk(png + used, "IEND", NULL, 0);
        fputs("data:image/png;base64,", out);
        base64(out, png, used);
    }
    free(lines);
    free(data);
    free(png);
    return good;
}

static bool one_image(FILE *out, const json_t *flat, int rows, int cols, double low,
                      double high, double x, double y, double side)
{
    double *values = cli_alloc((size_t)rows * (size_t)cols, sizeof *values);
    bool good = values && json_array_size(flat) == (size_t)rows * (size_t)cols;
    for (size_t i = 0; good && i < json_array_size(flat); i++) {
        values[i] = figure_at(flat, i);
    }
    if (good) {
        fprintf(out,
                "<image class=\"pixel\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                "height=\"%.1f\" preserveAspectRatio=\"none\" href=\"",
                x, y, side, side * rows / cols);
        good = figure_png(out, values, rows, cols, low, high);
        fputs("\"/>\n", out);
    }
    free(values);
    return good;
}

bool figure_images(FILE *out, const json_t *figure, bool alone, char *why, size_t size)
{
    const json_t *lines = json_object_get(figure, "images");
    const json_t *names = json_object_get(figure, "columns");
    int rows = (int)json_integer_value(json_object_get(figure, "rows"));
    int cols = (int)json_integer_value(json_object_get(figure, "cols"));
    size_t count = json_array_size(lines), across = json_array_size(names);
    if (rows < 1 || cols < 1 || rows > 4096 || cols > 4096 || count == 0 || across == 0) {
        snprintf(why, size, "it has %zu rows of %zu images of %d by %d", count, across,
                 rows, cols);
        return false;
    }
    double low = json_number_value(json_object_get(figure, "low"));
    double high = json_number_value(json_object_get(figure, "high"));
    /* Rows of the result fill columns of the page, as many as fit, and images grow until
     * these fill its width. */
    double side = 56, gap = 8, block = (double)across * (side + gap) + 20;
    size_t blocks = (size_t)fmax(1, floor(FIGURE_WIDTH / block));
    blocks = blocks < count ? blocks : count;
    size_t down = (count + blocks - 1) / blocks;
    blocks = (count + down - 1) / down;
    double room = (FIGURE_WIDTH / (double)blocks - 20) / (double)across - gap;
    side = fmin(fmax(room, side), 160);
    block = (double)across * (side + gap) + 20;
    double line = side * rows / cols + gap;
    high = high > low ? high : low + 1;
    figure_begin(out, fmax(FIGURE_WIDTH, block), 30 + line * (double)down,
                 figure_string(figure, "title", ""), alone);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        size_t column = i / down;
        double x = block * (double)column, y = 24 + line * (double)(i % down);
        for (size_t j = 0; good && j < across; j++) {
            double at = x + (side + gap) * (double)j;
            const char *name = json_string_value(json_array_get(names, j));
            if (i % down == 0) {
                figure_text(out, at + side / 2, 14, "middle", "soft", name ? name : "");
            }
            good = one_image(out, json_array_get(json_array_get(lines, i), j), rows, cols,
                             low, high, at, y, side);
        }
    }
    figure_end(out);
    if (!good) {
        snprintf(why, size, "an image has not %d x %d values", rows, cols);
    }
    return good;
}
