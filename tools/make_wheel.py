"""make_wheel.py BUILD FOLDER [SYSTEM]: a wheel that carries every library it needs, into FOLDER.

The wheel of setup.py has libokra and okra alone. This adds the libraries that they need,
and those that these need, into okra.libs, except what every Linux of the wheel's tag
has. Each gets a name of its own (a digest in it), so that the process may hold another copy
of it, and is found by its place beside the others, never through the system's paths. LAPACKE
takes BLAS and LAPACK from the same OpenBLAS as okra. The licences of Debian's packages come
along, and a list of all that is carried (SPDX 2.3, in dist-info/sboms).

With SOURCE_DATE_EPOCH in the environment the same source gives the same bytes.

The libraries are those of SYSTEM, a folder that holds a Debian system (/): BUILD was made there. Of another
machine they need not run here. The tag is manylinux_X_Y_MACHINE, where X.Y is the C library of SYSTEM: the wheel runs
there and on anything newer. Needs patchelf, binutils of that machine, and pip, setuptools and wheel for this Python.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Part of every system that the tag names: the C library and the compiler's run time.
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+))\.so\.")
# What OpenBLAS has under other names.
IN_OPENBLAS = ("libblas.so.3", "liblapack.so.3")


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True,
                          **more)
    if done.returncode:
        sys.exit(f"make_wheel.py: {command[0]} failed with status {done.returncode}:\n"
                 f"{done.stdout}")
    return done.stdout


def needed(path):
    return run("patchelf", "--print-needed", path).split()


def machine(path):
    """The machine that a program or library is for: x86_64, aarch64."""
    return {62: "x86_64", 183: "aarch64"}[int.from_bytes(path.read_bytes()[18:20], "little")]


class System:
    """A Debian system in a folder: where the loader finds libraries there, and what dpkg says of them."""

    def __init__(self, root, kind):
        self.root, self.kind = root, kind
        self.places = [Path(f"{place}/{kind}-linux-gnu") for place in ("/lib", "/usr/lib")]

    def inside(self, path):
        """The file that `path` names in the system, whose links lead from its own root."""
        for _ in range(40):
            part = Path("/")
            for name in path.parts[1:]:
                part = Path(os.path.normpath(part / name))
                if (self.root / part.relative_to("/")).is_symlink():
                    to = os.readlink(self.root / part.relative_to("/"))
                    path = Path(os.path.normpath(part.parent / to / path.relative_to(part)))
                    break
            else:
                return path
        sys.exit(f"make_wheel.py: the links of {path} lead nowhere")

    def library(self, name):
        """Where the loader finds the library `name`, as a path of the system."""
        for place in self.places:
            if (self.root / (place / name).relative_to("/")).is_symlink() or self.outside(place / name).exists():
                return self.inside(place / name)
        sys.exit(f"make_wheel.py: {name} is needed, and is not in {' or '.join(map(str, self.places))} of {self.root}")

    def outside(self, path):
        return self.root / path.relative_to("/")

    def dpkg(self, *arguments):
        done = subprocess.run(["dpkg-query", f"--admindir={self.root}/var/lib/dpkg", *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return done.stdout

    def libc(self):
        debian = {"x86_64": "amd64", "aarch64": "arm64"}[self.kind]
        return re.match(r"\d+\.\d+", self.dpkg("-W", "-f", "${Version}", f"libc6:{debian}")).group()


def closure(system, own):
    """Every library to carry: its name as it is asked for -> its path in the system."""
    carried, ahead = {}, [name for path in own for name in needed(path)]
    names = {path.name for path in own}
    while ahead:
        name = ahead.pop()
        if name in carried or name in names or name in IN_OPENBLAS or SYSTEM.match(name):
            continue
        carried[name] = system.library(name)
        ahead += needed(system.outside(carried[name]))
    return carried


def own_name(name, path):
    """libz.so.1 -> libz-0123abcd.so.1"""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    stem, _, rest = name.partition(".so")
    return f"{stem}-{digest}.so{rest}"


def carry(system, package, libraries):
    """Copies what okra needs into `libraries` and makes all of it find each other there."""
    own = [*sorted(package.glob("libokra.so*")), package / "okra"]
    carried = closure(system, own)
    names = {name: own_name(name, system.outside(path)) for name, path in carried.items()}
    openblas = [new for name, new in names.items() if name.startswith("libopenblas.")]
    if len(openblas) != 1:
        sys.exit(f"make_wheel.py: expected one OpenBLAS among {sorted(carried)}")
    names.update({name: openblas[0] for name in IN_OPENBLAS})
    libraries.mkdir()
    run(f"{system.kind}-linux-gnu-strip", "--strip-unneeded", *own)  # as Debian's are
    files = [(path, "$ORIGIN:$ORIGIN/../okra.libs", None) for path in own]
    for name, path in carried.items():
        shutil.copyfile(system.outside(path), libraries / names[name])
        files.append((libraries / names[name], "$ORIGIN", names[name]))
    for path, where, soname in files:
        path.chmod(0o755)
        rename = [part for name in needed(path) if name in names
                  for part in ("--replace-needed", name, names[name])]
        # One change per call: patchelf 0.14 loses some of several.
        changes = [rename, ["--set-rpath", where], ["--set-soname", soname] if soname else []]
        for change in filter(None, changes):
            run("patchelf", *change, path)
    return {names[name]: path for name, path in carried.items()}


def licences(system, carried, folder):
    """What Debian's packages say of the licences of these files; the package of each."""
    folder.mkdir(exist_ok=True)
    owners = {}
    for name, path in sorted(carried.items()):
        # dpkg knows a file by the path it was installed under, / or /usr.
        known = [path, Path("/usr") / path.relative_to("/")]
        if path.is_relative_to("/usr"):
            known.append(Path("/") / path.relative_to("/usr"))
        owner = system.dpkg("-S", *map(str, known)).split(": ")[0].split(",")[0]
        text = system.outside(system.inside(Path("/usr/share/doc") / owner.split(":")[0])) / "copyright"
        if not owner or not text.exists():
            sys.exit(f"make_wheel.py: there is no licence of {path}: it is of no Debian package")
        shutil.copyfile(text, folder / f"{owner.split(':')[0]}.txt")
        owners[name] = owner
    return owners


def entry(name, version, licence, **more):
    """A package of an SPDX document."""
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def bill(system, version, owners, libraries):
    """What the wheel carries: okra, and each library with the Debian package that it came from."""
    packages = [entry("okra", version, "BSD-3-Clause")]
    for name, owner in owners.items():
        source, number = system.dpkg("-W", "-f", "${source:Package}\t${Version}\n", owner).splitlines()[0].split("\t")
        owner = owner.split(":")[0]
        packages.append(entry(
            name, number, "NOASSERTION", packageFileName=f"okra.libs/{name}",
            checksums=[{"algorithm": "SHA256",
                        "checksumValue": hashlib.sha256((libraries / name).read_bytes()).hexdigest()}],
            sourceInfo=f"Debian package {owner} {number}, source {source}",
            licenseComments=f"the licence is dist-info/licenses/{owner}.txt of the wheel"))
    date = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), timezone.utc)
    digest = hashlib.sha256(json.dumps(packages).encode()).hexdigest()[:16]
    related = [("DOCUMENT", "DESCRIBES", "SPDXRef-okra")] + \
        [("okra", "CONTAINS", package["SPDXID"]) for package in packages[1:]]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"okra-{version}", "documentNamespace": f"urn:okra:{version}:{digest}",
        "creationInfo": {"created": date.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: make_wheel.py"]},
        "packages": packages,
        "relationships": [{"spdxElementId": f"SPDXRef-{a}", "relationshipType": kind,
                           "relatedSpdxElement": b} for a, kind, b in related]}, indent=1) + "\n"


def main():
    build, out, root = (Path(p).resolve() for p in (*sys.argv[1:3], *(sys.argv[3:4] or ["/"])))
    system = System(root, machine(build / "okra"))
    tag = f"manylinux_{system.libc().replace('.', '_')}_{system.kind}"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps",
            "--no-index", "--quiet", "--wheel-dir", scratch, ROOT,
            env={**os.environ, "OKRA_BUILD": str(build)})
        run(sys.executable, "-m", "wheel", "unpack", "--dest", scratch,
            next(scratch.glob("okra-*.whl")))
        tree = next(scratch.glob("okra-*/"))
        carried = carry(system, tree / "okra", tree / "okra.libs")
        about = next(tree.glob("*.dist-info"))
        owners = licences(system, carried, about / "licenses")
        (about / "sboms").mkdir()
        (about / "sboms" / "okra.spdx.json").write_text(
            bill(system, about.name.split("-")[1].removesuffix(".dist"), owners, tree / "okra.libs"))
        wheel = about / "WHEEL"
        wheel.write_text(re.sub(r"(?m)^Tag: (.*-)\S+$", rf"Tag: \g<1>{tag}",
                                wheel.read_text()))
        (scratch / "new").mkdir()
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", scratch / "new", tree)
        made = next((scratch / "new").glob("*.whl"))
        for old in out.glob(f"okra-*_{system.kind}.whl"):
            old.unlink()
        shutil.move(made, out / made.name)
    print(f"{out / made.name}: {(out / made.name).stat().st_size / 2**20:.0f} MiB, "
          f"with {len(carried)} libraries")


main()
