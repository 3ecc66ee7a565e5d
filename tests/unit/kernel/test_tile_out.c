/*
 * Tiles on their way to a Gram matrix: every number arrives, nothing beside it changes.
 *
 * Streaming stores come in pairs where the place allows it, so sizes and places are odd
 * and even, smaller and larger than a strip.
 */
#include "harness.h"
#include "kernel/gram/trained_kernel.h"

enum { TOP = 3, UNTOUCHED = -7 };

static double value(okra_int r, okra_int c)
{
    return 1000.0 * (double)r + (double)c;
}

static double *filled(okra_int count)
{
    double *p = okra_alloc_(count, sizeof *p);
    for (okra_int i = 0; i < count; i++) {
        p[i] = UNTOUCHED;
    }
    return p;
}

/* How many places do not hold what they should: inside the part at (TOP, left) the value
 * of the tile's row and column (exchanged if turned), outside of it UNTOUCHED. */
static okra_int wrong(okra_mat_ to, okra_mat_ part, okra_int left, bool turned)
{
    okra_int count = 0;
    for (okra_int i = 0; i < to.rows; i++) {
        for (okra_int j = 0; j < to.cols; j++) {
            okra_int r = i - TOP, c = j - left;
            bool inside = r >= 0 && r < part.rows && c >= 0 && c < part.cols;
            double want = !inside ? UNTOUCHED : turned ? value(c, r) : value(r, c);
            count += to.p[i * to.ld + j] != want;
        }
    }
    return count;
}

static void store(okra_int rows, okra_int cols, okra_int left, bool turned, bool stream)
{
    okra_int side = OKRA_MAX_(rows, cols) + TOP + left + 2, ld = cols + 1;
    double *tile = filled(rows * ld + 1), *matrix = filled(side * side);
    okra_mat_ from = {tile, rows, cols, ld}, to = {matrix, side, side, side};
    okra_mat_ part =
        okra_mat_part_(to, TOP, turned ? cols : rows, left, turned ? rows : cols);

    for (okra_int r = 0; r < rows; r++) {
        for (okra_int c = 0; c < cols; c++) {
            tile[r * ld + c] = value(r, c);
        }
    }
    CHECK_OK(turned ? okra_tile_out_transposed_(from, part, stream)
                    : okra_tile_out_(from, part, stream));
    okra_tile_out_end_(stream);
    CHECK(wrong(to, part, left, turned) == 0);
    okra_free_(tile);
    okra_free_(matrix);
}

TEST(every_number_arrives_and_nothing_else_changes)
{
    static const okra_int sizes[] = {0, 1, 2, 7, 8, 9, 17, 255, 256, 257};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    for (int r = 0; r < COUNT; r++) {
        for (int c = 0; c < COUNT; c++) {
            for (okra_int left = 0; left < 2; left++) {
                store(sizes[r], sizes[c], left, false, true);
                store(sizes[r], sizes[c], left, true, true);
                store(sizes[r], sizes[c], left, false, false);
                store(sizes[r], sizes[c], left, true, false);
            }
        }
    }
}

MAIN(RUN(every_number_arrives_and_nothing_else_changes))
