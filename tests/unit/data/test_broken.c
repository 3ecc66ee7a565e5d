/*
 * Broken files and what okra says of each, word for word. The path of the file stands
 * before every message.
 */
#include "files.h"

typedef struct broken {
    const char *spec; /* prefix, "@" for the file, part */
    const char *name, *content;
    okra_status status;
    const char *message;
} broken;

static const broken texts[] = {
    /* tables */
    {"@", "a.csv", "", OKRA_EFORMAT, "the file is empty; expected a table of numbers"},
    {"@", "a.csv", "\n \r\n", OKRA_EFORMAT,
     "the file is empty; expected a table of numbers"},
    {"@", "a.csv", "1\r2\r", OKRA_EFORMAT,
     "its lines end in a carriage return alone; tr '\\r' '\\n' <FILE >NEW makes lines of "
     "them"},
    {"@", "a.smi", "CCO\rCCN", OKRA_EFORMAT,
     "its lines end in a carriage return alone; tr '\\r' '\\n' <FILE >NEW makes lines of "
     "them"},
    {"@", "a.csv", "1,2\n3\n", OKRA_EFORMAT,
     "line 2 has 1 columns; expected 2 as in the first line"},
    {"@", "a.csv", "x,y\n1,2,3\n", OKRA_EFORMAT,
     "line 2 has 3 columns; expected 2 as in the first line"},
    {"@", "a.csv", "1,2\n3,\n", OKRA_EFORMAT,
     "line 2, column 2: a value is missing; outputs with gaps are "
     "read as missing:FILE"},
    {"@", "a.csv", "1,2,", OKRA_EFORMAT,
     "line 1, column 3: a value is missing; outputs with gaps are "
     "read as missing:FILE"},
    {"@", "a.csv", "a,b\n1,NA\n", OKRA_EFORMAT,
     "line 2, column 2: a value is missing (NA); outputs with gaps are "
     "read as missing:FILE"},
    {"@", "a.csv", "1,2\n\n3,x\n", OKRA_EFORMAT,
     "line 3, column 2: 'x' is not a number; classes are read as labels:FILE, and "
     "FILE:!COLUMN is without that column"},
    {"@", "a.csv", "1,b\n3,4\n", OKRA_EFORMAT,
     "line 1, column 2: 'b' is not a number; classes are read as labels:FILE, and "
     "FILE:!COLUMN is without that column"},
    {"@", "a.csv", "1,NaN\n", OKRA_EFORMAT,
     "line 1, column 2: 'NaN' found; values must be finite; outputs with "
     "gaps are read as missing:FILE"},
    {"@", "a.csv", "1,-inf\n", OKRA_EFORMAT,
     "line 1, column 2: '-inf' found; values must be finite"},
    {"@", "a.csv", "1,1e999\n", OKRA_EFORMAT,
     "line 1, column 2: '1e999' found; values must be finite"},
    {"@", "a.csv", "1,\"2\n3,4\n", OKRA_EFORMAT,
     "line 1, column 2: a quoted field has no closing quote"},
    {"@", "a.csv", "1,\"2\"3\n", OKRA_EFORMAT,
     "line 1, column 2: text follows the closing quote"},
    {"@", "a.csv",
     "1,2\n3,\x01\xff"
     "0123456789012345678901234567890123456789\n",
     OKRA_EFORMAT,
     "line 2, column 2: '?\\xff"
     "01234567890123456789012345678901234567...' is not a number; classes are read as "
     "labels:FILE, and FILE:!COLUMN is without that column"},
    {"@", "a.tsv", "1\t2\n3\t\n", OKRA_EFORMAT,
     "line 2, column 2: a value is missing; outputs with gaps are "
     "read as missing:FILE"},
    {"@:3", "a.csv", "1,2\n", OKRA_EARG, "there is no column '3' among the 2 columns"},
    {"@:!1", "a.csv", "1\n2\n", OKRA_ESHAPE,
     "without its only column the table is empty"},
    {"@:!2", "a.csv", "a,1,3\nb,2,3\n", OKRA_EFORMAT,
     "line 1, column 1: 'a' is not a number; classes are read as labels:FILE, and "
     "FILE:!COLUMN is without that column"},
    {"@", "a.csv", "1,5;2,5\n1,2,3;4\n", OKRA_EFORMAT,
     "line 2, column 1: '1,2,3' is not a number; classes are read as labels:FILE, and "
     "FILE:!COLUMN is without that column"},
    {"labels:@", "a.csv", "1,2\n", OKRA_ESHAPE,
     "labels must be one column, found 2; choose one as labels:FILE:COLUMN, by its name "
     "or "
     "number"},
    {"labels:@:z", "a.csv", "x,y\n1,2\n", OKRA_EARG,
     "there is no column 'z' among the 2 columns: x, y"},
    {"labels:@:3", "a.csv", "x,y\n1,2\n", OKRA_EARG,
     "there is no column '3' among the 2 columns: x, y"},
    {"@:1,z", "a.csv", "x,y\n1,2\n", OKRA_EARG,
     "there is no column 'z' among the 2 columns: x, y"},
    {"@:!1,2", "a.csv", "x,y\n1,2\n", OKRA_ESHAPE,
     "without these columns the table is empty"},
    {"labels:@:y", "a.csv", "x,y\n1,a\n2,\n", OKRA_EFORMAT,
     "line 3, column 2: a class is missing; classes may have no gaps: take such rows "
     "out, or give the gap a name"},
    {"bits:@", "a.csv", "0,1\n1,2\n", OKRA_EFORMAT,
     "row 1, column 1 (counted from 0) is 2; expected 0 or 1"},
    {"packed:@", "a.csv", "0,1\n256,2\n", OKRA_EFORMAT,
     "row 1, column 0 (counted from 0) is 256; expected a byte, 0 to 255"},
    {"packed:@", "a.csv", "0.5,1\n", OKRA_EFORMAT,
     "row 0, column 0 (counted from 0) is 0.5; expected a byte, 0 to 255"},
    {"targets:@", "a.csv", "0,1\n", OKRA_EARG,
     "targets: is for LIBSVM files, not for csv"},
    /* LIBSVM */
    {"@", "a.svm", "# nothing\n\n", OKRA_EFORMAT,
     "the file is empty; expected lines such as '1 3:0.5 7:2'"},
    {"@", "a.svm", "1 1:2\n1 2\n", OKRA_EFORMAT,
     "line 2, character 3: '2' is not of the form index:value"},
    {"@", "a.svm", "1 -1:2\n", OKRA_EFORMAT,
     "line 1, character 3: '-1:2' is not of the form index:value"},
    {"@", "a.svm", "1 0:2\n", OKRA_EFORMAT,
     "line 1, character 3: index 0, but indices begin at 1 (svm0:FILE reads files whose "
     "indices begin at 0)"},
    {"svm0:@", "a.svm", "1 9223372036854775807:2\n", OKRA_EFORMAT,
     "line 1, character 3: index 9223372036854775807 is more than can be addressed"},
    {"@", "a.svm", "1 2:1 2:1\n", OKRA_EFORMAT,
     "line 1, character 7: index 2 does not ascend"},
    {"@", "a.svm", "1 2:x\n", OKRA_EFORMAT,
     "line 1, column 3: '2:x' is not a number; classes are read as labels:FILE, and "
     "FILE:!COLUMN is without that column"},
    {"@", "a.svm", "1 2:\n", OKRA_EFORMAT,
     "line 1, column 3: a value is missing (2:); outputs with gaps are "
     "read as missing:FILE"},
    {"@", "a.svm", "1 2:nan\n", OKRA_EFORMAT,
     "line 1, column 3: '2:nan' found; values must be finite"},
    {"@", "a.svm", "2:1 3:1\n", OKRA_EFORMAT,
     "line 1: begins with '2:1'; expected a target before the features"},
    {"@", "a.svm", "1 99999999999999999999:1\n", OKRA_EFORMAT,
     "line 1, character 3: '99999999999999999999:1' is not of the form index:value"},
    {"labels:@", "a.svm", "1,2 1:1\n", OKRA_EUNSUPPORTED,
     "line 1: several labels ('1,2')"},
    {"labels:@", "a.svm", "1 1:1\nx 1:1\n", OKRA_EFORMAT,
     "line 2, column 1: 'x' is not a number; classes are read as labels:FILE, and "
     "FILE:!COLUMN is without that column"},
    {"dense:@", "a.svm", "1 9000000000000000000:1\n1 1:1\n", OKRA_EBUDGET,
     "the dense form of 2 x 9000000000000000000 doubles is more than can be addressed"},
    {"@:x", "a.svm", "1 1:1\n", OKRA_EARG,
     "'x' cannot be chosen from a file of format svm"},
    /* Matrix Market */
    {"@", "a.mtx", "", OKRA_EFORMAT,
     "not a Matrix Market file: it does not begin with %%MatrixMarket"},
    {"@", "a.mtx", "1 2 3\n", OKRA_EFORMAT,
     "not a Matrix Market file: it does not begin with %%MatrixMarket"},
    {"@", "a.mtx", "%%MatrixMarket vector array real general\n", OKRA_EUNSUPPORTED,
     "line 1: 'vector' found; expected matrix"},
    {"@", "a.mtx", "%%MatrixMarket matrix array complex general\n", OKRA_EUNSUPPORTED,
     "line 1: 'complex' found; expected real, integer or pattern"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real hermitian\n", OKRA_EUNSUPPORTED,
     "line 1: 'hermitian' found; expected general or symmetric"},
    {"@", "a.mtx", "%%MatrixMarket matrix array pattern general\n", OKRA_EFORMAT,
     "line 1: an array cannot be a pattern"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real general\n% c\n", OKRA_EFORMAT,
     "the file ends before the line with the sizes"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real general\n2 x\n", OKRA_EFORMAT,
     "line 2: expected the sizes 'rows columns'"},
    {"@", "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2\n", OKRA_EFORMAT,
     "line 2: expected the sizes 'rows columns entries'"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real symmetric\n2 3\n", OKRA_EFORMAT,
     "line 2: a symmetric matrix of 2 x 3"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n",
     OKRA_EFORMAT,
     "line 2: 4000000000 x 4000000000 are more entries than the 2 bytes that follow can "
     "hold"},
    {"@", "a.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 900\n1 1 1\n",
     OKRA_EFORMAT,
     "line 2: 9 x 9 with the number given are more entries than the 6 bytes that follow "
     "can "
     "hold"},
    {"@", "a.mtx",
     "%%MatrixMarket matrix coordinate real general\n300000000 9 1\n1 1 1\n",
     OKRA_EFORMAT, "it claims 300000000 rows, absurd for a file of 66 bytes"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real general\n9 0\n", OKRA_EFORMAT,
     "line 2: 9 rows of no columns"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n%  padding\n",
     OKRA_EFORMAT, "the file ends after 1 of 2 entries"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n",
     OKRA_EFORMAT, "line 5: more than the 2 entries announced"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1 5\n2\n",
     OKRA_EFORMAT, "line 3: more numbers than expected"},
    {"@", "a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\ninf\n",
     OKRA_EFORMAT, "line 4, column 1: 'inf' found; values must be finite"},
    {"@", "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n",
     OKRA_EFORMAT, "line 3: expected 'row column value'"},
    {"@", "a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n",
     OKRA_EFORMAT, "line 3: more numbers than expected"},
    {"@", "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n",
     OKRA_EFORMAT, "line 3: entry (3, 1) is outside 1..2, 1..2"},
    {"@", "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n",
     OKRA_EFORMAT,
     "line 3, column 4: a value is missing; outputs with gaps are "
     "read as missing:FILE"},
    {"@", "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 1 2\n",
     OKRA_EFORMAT, "row 0 has index 0 twice"},
    /* arrays that are none */
    {"@", "a.npy", "", OKRA_EFORMAT,
     "not a NumPy array file: it does not begin with \\x93NUMPY"},
    {"@", "a.npy", "some text", OKRA_EFORMAT,
     "not a NumPy array file: it does not begin with \\x93NUMPY"},
    {"@", "a.npy", "\x93NUMPY\x01", OKRA_EFORMAT, "the array's header is cut short"},
    {"@", "a.npz", "", OKRA_EFORMAT,
     "not a zip archive, or cut short: it has no end record"},
    {"@", "a.npz", "PK\x03\x04 and so on, but not to the end", OKRA_EFORMAT,
     "not a zip archive, or cut short: it has no end record"},
};

static void check_broken(const char *pattern, const char *name, const void *bytes,
                         size_t size, okra_status status, const char *message)
{
    char spec[800], want[1200];
    okra_data *data = NULL;
    const char *path = files_make(name, bytes, size), *at = strchr(pattern, '@');
    snprintf(spec, sizeof spec, "%.*s%s%s", (int)(at - pattern), pattern, path, at + 1);
    snprintf(want, sizeof want, "%s: %s", path, message);
    okra_status st = okra_data_read(NULL, spec, &data);
    CHECK(data == NULL);
    CHECK_TEXT(okra_status_name(st), okra_status_name(status));
    CHECK_TEXT(okra_message(), want);
    okra_data_free(data);
}

TEST(text_files)
{
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        const broken *b = &texts[k];
        check_broken(b->spec, b->name, b->content, strlen(b->content), b->status,
                     b->message);
    }
    files_clean();
}

/* Headers of version 1 arrays, each followed by 16 bytes: two float64, 1 and 2. */
static const struct {
    const char *header;
    okra_status status;
    const char *message;
} arrays[] = {
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", OKRA_EFORMAT,
     "an array of 3 x 1 elements of 8 bytes does not fit in the 16 bytes after the "
     "header"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", OKRA_EFORMAT,
     "8 bytes follow the array of 1 x 1 elements"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }",
     OKRA_EFORMAT,
     "an array of 4000000000 x 4000000000 elements of 8 bytes does not fit in the 16 "
     "bytes "
     "after the header"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
     OKRA_EFORMAT, "a dimension of the array does not fit in 64 bits"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (5, 0), }", OKRA_EFORMAT,
     "the array has 5 rows of no elements"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", OKRA_EUNSUPPORTED,
     "the array has 0 dimensions; expected 1 or 2"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 1), }", OKRA_EUNSUPPORTED,
     "the array has 3 dimensions; expected 1 or 2: a.reshape(len(a), -1) makes rows"},
    {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", OKRA_EUNSUPPORTED,
     "the array's elements are '<c16' (complex); expected bool, integer or float (b1, i1 "
     "to "
     "i8, u1 to u8, f2, f4, f8)"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", OKRA_EUNSUPPORTED,
     "the array's elements are '|O' (Python objects); expected bool, integer or float "
     "(b1, "
     "i1 to i8, u1 to u8, f2, f4, f8)"},
    {"{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }", OKRA_EUNSUPPORTED,
     "the array's elements are '<U2'; expected bool, integer or float (b1, i1 to i8, u1 "
     "to "
     "u8, f2, f4, f8)"},
    {"{'descr': '', 'fortran_order': False, 'shape': (2,), }", OKRA_EUNSUPPORTED,
     "the array's elements are ''; expected bool, integer or float (b1, i1 to i8, u1 to "
     "u8, "
     "f2, f4, f8)"},
    {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }",
     OKRA_EUNSUPPORTED,
     "the array is structured; expected bool, integer or float elements"},
    {"{'descr': <f8, 'fortran_order': False, 'shape': (2,), }", OKRA_EFORMAT,
     "the array's header has no valid 'descr'"},
    {"{'fortran_order': False, 'shape': (2,), }", OKRA_EFORMAT,
     "the array's header has no valid 'descr'"},
    {"{'descr': '<f8', 'fortran_order': False}", OKRA_EFORMAT,
     "the array's header has no valid 'shape'"},
    {"{'descr': '<f8', 'shape': (2,)}", OKRA_EFORMAT,
     "the array's header has no valid 'fortran_order'"},
    {"{'descr': '<f8', 'fortran_order': 1, 'shape': (2,), }", OKRA_EFORMAT,
     "the array's header has no valid 'fortran_order'"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': 2, }", OKRA_EFORMAT,
     "the array's header has no valid 'shape'"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", OKRA_EFORMAT,
     "the array's header has no valid 'shape'"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2 3), }", OKRA_EFORMAT,
     "the array's header has no valid 'shape'"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'x': 1}", OKRA_EFORMAT,
     "the array's header has no valid dictionary"},
    {"{'descr': '<f8' 'fortran_order': False}", OKRA_EFORMAT,
     "the array's header has no valid dictionary"},
    {"{'descr' '<f8'}", OKRA_EFORMAT, "the array's header has no valid dictionary"},
    {"no dictionary", OKRA_EFORMAT, "the array's header has no valid dictionary"},
    {"{", OKRA_EFORMAT, "the array's header has no valid dictionary"},
    {"{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }", OKRA_EFORMAT,
     "row 0, column 0 (counted from 0) is an integer near 4.6071824188000174e+18, which "
     "a "
     "float64 cannot hold exactly"},
    {"{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }", OKRA_EFORMAT,
     "row 0, column 0 (counted from 0) is an integer near 4.6071824188000174e+18, which "
     "a "
     "float64 cannot hold exactly"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", OKRA_OK, ""},
};

static size_t array_file(char *to, const char *header, double first)
{
    const double values[] = {first, 2};
    memset(to, ' ', 128);
    memcpy(to, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(to + 10, header, strlen(header));
    to[127] = '\n';
    memcpy(to + 128, values, sizeof values);
    return 144;
}

TEST(array_files)
{
    char file[256];
    size_t count = sizeof arrays / sizeof *arrays;
    double inexact = nextafter(1.1, 2); /* as an integer: odd, beyond 2^53 */
    for (size_t k = 0; k + 1 < count; k++) {
        size_t size = array_file(file, arrays[k].header, inexact);
        if (arrays[k].message[0] == 'r') {
            uint64_t odd = UINT64_C(4607182418800017409);
            memcpy(file + 128, &odd, sizeof odd);
        }
        check_broken("@", "a.npy", file, size, arrays[k].status, arrays[k].message);
    }
    const char *good = arrays[count - 1].header;
    size_t size = array_file(file, good, NAN);
    check_broken("@", "a.npy", file, size, OKRA_EFORMAT,
                 "row 0, column 0 (counted from 0) is nan; values must be finite; "
                 "outputs with gaps are read as missing:FILE");
    array_file(file, good, -INFINITY);
    check_broken("@", "a.npy", file, size, OKRA_EFORMAT,
                 "row 0, column 0 (counted from 0) is -inf; values must be finite");
    files_clean();
}

/* Cut anywhere, an array file is refused; a newer version is named. */
TEST(cut_arrays)
{
    char file[256], spec[600];
    okra_data *data = NULL;
    size_t size = array_file(file, arrays[sizeof arrays / sizeof *arrays - 1].header, 1);
    for (size_t cut = 0; cut < size; cut++) {
        CHECK_FAILS(files_read("", "a.npy", "", file, cut, &data), OKRA_EFORMAT,
                    "a.npy: ");
    }
    CHECK_OK(files_read("", "a.npy", "", file, size, &data));
    okra_data_free(data);
    file[6] = 9;
    check_broken("@", "a.npy", file, size, OKRA_EVERSION,
                 "the array file has version 9.0; expected 1 to 3");
    snprintf(spec, sizeof spec, "%s", files_path("a.npy"));
    files_clean();
    CHECK_FAILS(okra_data_read(NULL, spec, &data), OKRA_EIO,
                "a.npy: cannot be opened: No such file or directory");
}

TEST(specs)
{
    static const struct {
        const char *spec;
        okra_status status;
        const char *message;
    } cases[] = {
        {"", OKRA_EARG, ": the name of the file is empty"},
        {"csv:", OKRA_EARG, "csv:: the name of the file is empty"},
        {"csv:tsv:x", OKRA_EARG, "csv:tsv:x: 'tsv:' after 'csv:'"},
        {"bits:labels:x.csv", OKRA_EARG, "bits:labels:x.csv: 'labels:' after 'bits:'"},
        {"x.unknown", OKRA_EARG,
         "x.unknown: the extension tells no format; put one before it, such as csv:FILE "
         "(.gz: unpack all but txt and fasta; formats: npy npz csv tsv svm svm0 mtx "
         "smiles sdf mgf msp txt fasta "
         "letters "
         "graphml edges)"},
        {".csv", OKRA_EARG,
         ".csv: the extension tells no format; put one before it, such as csv:FILE "
         "(.gz: unpack all but txt and fasta; formats: npy npz csv tsv svm svm0 mtx "
         "smiles sdf mgf msp txt fasta "
         "letters "
         "graphml edges)"},
        {"/nowhere/x.npz:y", OKRA_EIO,
         "/nowhere/x.npz: cannot be opened: No such file or directory"},
        {"csv:/tmp", OKRA_EIO, "/tmp: is a directory; expected a file"},
        {"npy:/tmp", OKRA_EIO, "/tmp: is a directory; expected a file"},
        {"npz:/tmp", OKRA_EIO, "/tmp: is a directory; expected a file"},
        {"tsv:/tmp", OKRA_EIO, "/tmp: is a directory; expected a file"},
        {"svm:/tmp", OKRA_EIO, "/tmp: is a directory; expected a file"},
        {"mtx:/tmp", OKRA_EIO, "/tmp: is a directory; expected a file"},
        /* what the Python package converts */
        {"x.mat", OKRA_EUNSUPPORTED,
         "x.mat: only the Python package reads MATLAB files; convert it: python -m okra "
         "convert x.mat -o x.npz"},
        {"dense:a b/x.MAT:name", OKRA_EUNSUPPORTED,
         "dense:a b/x.MAT:name: only the Python package reads MATLAB files; convert it: "
         "python -m okra convert 'a b/x.MAT' -o 'a b/x.npz'"},
        {"mat:x.dat:name", OKRA_EUNSUPPORTED,
         "mat:x.dat:name: only the Python package reads MATLAB files; convert it: python "
         "-m okra convert mat:x.dat -o x.dat.npz"},
        {"labels:x.arff", OKRA_EUNSUPPORTED,
         "labels:x.arff: only the Python package reads ARFF files; convert it: python -m "
         "okra convert x.arff -o x.csv"},
        {"run.mzML", OKRA_EUNSUPPORTED,
         "run.mzML: only the Python package reads mzML files; convert it: python -m okra "
         "convert run.mzML -o run.mgf"},
        {"massbank:lab", OKRA_EUNSUPPORTED,
         "massbank:lab: only the Python package reads records of MassBank; convert it: "
         "python -m okra convert massbank:lab -o lab.mgf"},
        {"tu:sets/MUTAG/", OKRA_EUNSUPPORTED,
         "tu:sets/MUTAG/: only the Python package reads folders of the TU collection; "
         "convert it: python -m okra convert tu:sets/MUTAG/ -o sets/MUTAG.graphml"},
        {"csv:/nowhere/x.mat", OKRA_EIO,
         "/nowhere/x.mat: cannot be opened: No such file or directory"},
    };
    okra_data *data = NULL;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        okra_status st = okra_data_read(NULL, cases[k].spec, &data);
        CHECK_TEXT(okra_status_name(st), okra_status_name(cases[k].status));
        CHECK_TEXT(okra_message(), cases[k].message);
    }
    CHECK_FAILS(okra_data_read(NULL, NULL, &data), OKRA_EARG, "the file to read is NULL");
    CHECK(strstr(okra_data_formats(), "npy: NumPy array") != NULL);
    CHECK(strstr(okra_data_formats(), "\npacked: ") != NULL);
}

MAIN(RUN(text_files), RUN(array_files), RUN(cut_arrays), RUN(specs))
