"""check_layers.py must see each fault it is there for, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"

# (file, content, what must be said; None: accepted)
CASES = [
    ("src/kernel/a.c", '#include "data/data.h"\n#include <math.h>\n', None),
    ("src/data/a.c", '#include "kernel/kernel.h"\n', "kernel comes after data"),
    ("src/core/a.c", '#include "linalg/linalg.h"\n', "linalg comes after core"),
    ("src/novel/a.c", "", "folder novel has no place"),
    ("cli/a.c", '#include "okra/okra.h"\n#include "cli.h"\n', None),
    ("cli/a.c", '#include "core/core.h"\n', "sees public headers only"),
    ("papers/a.c", '#include "method/method.h"\n', "sees public headers only"),
    ("src/core/a.c", 'void f(void)\n{\n    printf("x");\n}\n', "a.c:3: the library prints"),
    ("src/core/a.c", "int n = snprintf(b, 1, f);\n", None),
    ("src/core/a.c", "/* printf( exit( malloc( */ char *s = \"abort(\"; // exit(1)\n", None),
    ("src/core/a.c", "fputs(s, stderr);\n", "prints"),
    ("src/kernel/a.c", "fputs(s, stdout);\n", "writes to standard output"),
    ("src/data/a.c", "FILE *f = stdout;\n", None),
    ("src/method/a.c", "exit(1);\n", "ends the process"),
    ("src/method/a.c", "abort();\n", "ends the process"),
    ("src/method/a.c", "p = malloc(3);\n", "allocates by itself"),
    ("src/method/a.c", "p = strdup(q);\n", "allocates by itself"),
    ("src/core/memory.c", "p = malloc(3);\n", None),
    ("src/method/a.c", "p = okra_alloc_(3, 8);\n", None),
    ("src/method/a.c", "cblas_dgemm(a);\n", "uses BLAS outside src/linalg"),
    ("src/method/a.c", "#include <lapacke.h>\n", "belongs to src/linalg alone"),
    ("src/linalg/a.c", "#include <cblas.h>\nvoid f(void)\n{\n    cblas_dgemm();\n}\n", None),
]

failures = 0
for name, content, want in CASES:
    with tempfile.TemporaryDirectory() as root:
        path = pathlib.Path(root, name)
        path.parent.mkdir(parents=True)
        path.write_text(content)
        run = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True)
        wrong = (run.returncode != 0 or "ok" not in run.stdout) if want is None else \
            (run.returncode != 1 or want not in run.stdout)
        if wrong:
            failures += 1
            print(f"{name}: {content!r}: wanted {want!r}, got {run.stdout}{run.stderr}")
print(f"{len(CASES)} cases, {failures} failures")
sys.exit(1 if failures else 0)
