# The one door to building, testing and installing okra; CMake does the work behind it.
#   make CMAKE_FLAGS=-DOKRA_WERROR=ON      switches for the configuring of build/
#   make JOBS=4                            how many things at once
BUILD       ?= build
PREFIX      ?= /usr/local
CMAKE_FLAGS ?=
JOBS        ?= $(shell nproc 2>/dev/null || echo 2)
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format) clang-format-14)
CLANG_TIDY   ?= $(firstword $(shell command -v clang-tidy-14 clang-tidy) clang-tidy-14)
FUZZ_SECONDS ?= 600
# For `make install-python` outside a virtual environment: --target DIR for pip, or 1 for the
# system's own Python.
PIP_FLAGS     ?=
SYSTEM_PYTHON ?= 0

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := build
# The Python with NumPy that configuring found.
python = $(shell sed -n 's/^OKRA_PYTHON:FILEPATH=//p' $(BUILD)/CMakeCache.txt)
CTEST = ctest --output-on-failure -j $(JOBS)
c_files = $(shell git ls-files -co --exclude-standard -- '*.c' '*.h' 2>/dev/null || \
    find src include cli papers tests bench -name '*.[ch]')

.PHONY: build everything demo test test-all test-fresh test-cuda check asan tsan msan coverage format format-check lint bench \
    results results-pages results-quick fuzz fuzz-afl mutate kill memory docs docs-pictures install install-python wheel deb release clean help \
    packages packages-dist packages-test packages-docs packages-dev packages-release wheels test-arm

# What is configured with CMAKE_FLAGS; $(1): targets, none for all.
cmake_build = cmake $(BUILD) $(CMAKE_FLAGS) >$(BUILD)/configure.log || { cat $(BUILD)/configure.log; exit 1; }; \
	cmake --build $(BUILD) -j $(JOBS) $(1)

build: $(BUILD)/CMakeCache.txt ## build the library and the program (the default)
	@$(call cmake_build,--target program)

everything: $(BUILD)/CMakeCache.txt ## the same, with tests and benchmarks
	@$(call cmake_build)

$(BUILD)/CMakeCache.txt:
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS)

demo: packages build ## install what is missing, build, learn two built-in tasks
	@$(BUILD)/okra demo

# A test that is skipped tests nothing: it counts as a failure. Tests labelled `heavy` need the
# packages of `make test-all`.
run_tests = cd $(BUILD) && $(CTEST) $(1) | tee $@.log; status=$$?; \
	if grep -q '^The following tests did not run:' $@.log; then \
	    echo "make $@: tests were skipped; $(BUILD)/$@.log says why"; exit 1; fi; exit $$status
test: packages packages-test everything ## install what is missing, build, run the daily tests
	@$(call run_tests,-LE heavy)

test-all: test ## the same, then tests that need many packages: browser, MPI, Slurm, wheels, R, other programs
	@tools/install_packages.sh packages-dist.txt packages-docs.txt packages-test-all.txt packages-mpi.txt packages-r.txt
	@$(MAKE) --no-print-directory everything
	@$(call run_tests,-L heavy)

# RELEASE=trixie: another release than this machine's.
test-fresh: packages-dev ## make demo and test-all in a bare Debian (as root); wheel and packages in another
	@tools/test_fresh.sh $(RELEASE)

# HOST=name: on that machine, through ssh.
test-cuda: everything ## run the tests of engines and methods on a GPU, here or on HOST
	@tools/test_cuda.bash $(BUILD) $(HOST)

check: format-check lint test asan ## what a change must pass: format, lint, tests, sanitizers

asan: packages packages-test ## the tests under the address and undefined-behaviour sanitizers
	@cmake --preset asan $(CMAKE_FLAGS) >/dev/null && cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan --output-on-failure -j $(JOBS)

tsan: packages ## the unit tests under the thread sanitizer
	@cmake --preset tsan $(CMAKE_FLAGS) >/dev/null && cmake --build --preset tsan -j $(JOBS)
	@ctest --preset tsan --output-on-failure -j $(JOBS)

msan: packages packages-dev ## the unit tests of readers and models under the memory sanitizer (clang)
	@cmake --preset msan $(CMAKE_FLAGS) >/dev/null && cmake --build --preset msan -j $(JOBS)
	@ctest --preset msan --output-on-failure -j $(JOBS)

coverage: packages ## lines and branches of src/ that the unit tests reach, and refusals that they do not
	@cmake --preset coverage $(CMAKE_FLAGS) >/dev/null && cmake --build --preset coverage -j $(JOBS)
	@find build-coverage -name '*.gcda' -delete; ctest --test-dir build-coverage -R '^unit/' -j $(JOBS) --output-on-failure | tail -5; s=$$?; \
	python3 tools/coverage.py build-coverage && exit $$s

format: packages-dev ## rewrite the C files in the style of .clang-format
	@$(CLANG_FORMAT) -i $(c_files)

format-check: packages-dev
	@$(CLANG_FORMAT) --dry-run --Werror $(c_files)

# clang-tidy leaves the compiler's warnings to the compilers.
lint: packages format-check ## check format, layers, bug-prone code, and build with clang
	@python3 tools/check_layers.py
	@cmake --preset clang >/dev/null && cmake --build --preset clang -j $(JOBS) -- -k 0
	@grep -o '"file": "[^"]*/\(src\|cli\|papers\)/[^"]*"' build-clang/compile_commands.json | \
	    cut -d '"' -f 4 | grep -v /tests/ | sort -u | \
	    xargs -r -n 4 -P $(JOBS) $(CLANG_TIDY) -p build-clang --quiet \
	    --extra-arg=-w 2>&1 | sed '/^[0-9]* warnings\{0,1\} generated\.$$/d'

# 77: what a benchmark compares with is not installed; it says so.
BENCH ?= $(wildcard bench/bench_*.py)
bench: everything ## run the benchmarks (or those of BENCH) against peers, write docs/reports/benchmarks.md
	@mkdir -p bench/out; failed=0; for b in $(BENCH); do n=$$(basename $$b .py); echo "== $$n"; \
	    OKRA_BUILD=$(abspath $(BUILD)) $(python) $$b | tee bench/out/$$n.jsonl; s=$$?; \
	    if [ $$s = 77 ]; then rm bench/out/$$n.jsonl; elif [ $$s != 0 ]; then failed=1; fi; \
	    if [ -e bench/out/$$n.jsonl ]; then $(python) bench/page.py bench/out/$$n.jsonl; fi; \
	done; exit $$failed

# One command runs everything again at the commit that is built. Entries that these sources finished are
# not run again, interrupted ones go on; ENTRIES="name ..." runs some alone. Every result is stamped.
DATA ?= ../shared/data
ENTRIES ?= all
okra_report = $(BUILD)/okra report --quiet
write_pages = rm -f docs/results/*.svg && \
	$(okra_report) docs/results/*-full.json -o docs/reports/results.md --claims first --figures docs/results \
	    --title "The papers again" && \
	$(okra_report) docs/results/*-full.json -o docs/reports/claims.md --claims alone --figures docs/results --title "What the papers claim" && \
	$(python) tests/docs/test_independent.py --write >/dev/null
results: build ## run every table and figure of the papers in full, write docs/reports/results.md and docs/reports/claims.md
	@mkdir -p docs/results docs/reports; \
	$(BUILD)/okra paper $(ENTRIES) --full --data "$(DATA)" --results docs/results --quiet; failed=$$?; \
	$(write_pages) && exit $$failed

results-pages: build ## write docs/reports/results.md and docs/reports/claims.md from the results that are there
	@$(write_pages)

# No data folder: built-in data alone.
results-quick: build ## the same for the quick runs that need no data, write docs/reports/results-quick.md
	@mkdir -p docs/results docs/reports && rm -f docs/results/*-quick.json
	@$(BUILD)/okra paper all --quick --threads 2 --data docs/results/none \
	    --results docs/results --quiet
	@$(okra_report) docs/results/*-quick.json -o docs/reports/results-quick.md \
	    --title "The papers again, quick runs"

# What a run comes to is added to docs/reports/fuzzing.json and docs/reports/fuzzing.md, unless FUZZ_RECORD is empty.
FUZZ_RECORD ?= docs/reports/fuzzing.json
fuzz_page = [ -z "$(FUZZ_RECORD)" ] || { $(or $(python),python3) tests/fuzz/page.py $(FUZZ_RECORD) $(1) >docs/reports/fuzzing.md.new && \
    mv docs/reports/fuzzing.md.new docs/reports/fuzzing.md; }
# NAME,COMMAND: the last line that it says becomes a row of that page.
attack = log=$$(mktemp); at=$$(python3 tests/fuzz/page.py --commit); $(2) 2>&1 | tee $$log; s=$$?; \
    $(call fuzz_page,--check "$(1)" $$log $$at); rm $$log; exit $$s

# FUZZ_RUNS: so many executions of each target with one seed, FUZZ_SECONDS at most for each.
FUZZ_RUNS   ?= 0
fuzz: packages packages-dev ## fuzz every reader (clang) for FUZZ_SECONDS in all, here or on HOST
	@cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	@JOBS=$(JOBS) RUNS=$(FUZZ_RUNS) tools/fuzz.bash build-fuzz $(FUZZ_SECONDS) $(HOST); s=$$?; \
	$(call fuzz_page,build-fuzz/fuzz/results.jsonl); exit $$s

AFL_SECONDS ?= 30
AFL_TARGETS ?= fuzz_csv fuzz_npz fuzz_model
fuzz-afl: packages packages-dev ## fuzz AFL_TARGETS with AFL++, AFL_SECONDS each; the sanitizers look at what it kept
	@cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS) --target $(AFL_TARGETS)
	@cmake --preset afl >/dev/null && cmake --build --preset afl -j $(JOBS) --target $(AFL_TARGETS)
	@tests/fuzz/afl.bash build-afl/tests/fuzz build-fuzz/tests/fuzz tests/fuzz/corpus build-afl/fuzz $(AFL_SECONDS) $(AFL_TARGETS)

MUTATED ?= 10000
mutate: packages ## MUTATED altered data files, twice as many models and indexes, commands, under the sanitizers
	@cmake --preset asan $(CMAKE_FLAGS) >/dev/null && \
	    cmake --build --preset asan -j $(JOBS) --target read_files fuzz_sealed fuzz_index okra_program
	@export ASAN_OPTIONS=allocator_may_return_null=1 fuzz=build-asan/tests/fuzz corpus=tests/fuzz/corpus; \
	($(call attack,altered data files,python3 tests/fuzz/mutate_data.py $$fuzz/read_files $$corpus $(MUTATED))) && \
	($(call attack,altered models sealed again,$$fuzz/fuzz_sealed $$corpus/fuzz_sealed $$((2 * $(MUTATED))) $$RANDOM)) && \
	($(call attack,altered indexes sealed again,$$fuzz/fuzz_index $$corpus/fuzz_index $$((2 * $(MUTATED))) $$RANDOM)) && \
	($(call attack,commands with altered files,$$(sed -n "s/^OKRA_PYTHON:FILEPATH=//p" build-asan/CMakeCache.txt) tests/fuzz/mutate_commands.py build-asan/okra $$(($(MUTATED) / 4)) $$RANDOM))

kill: build ## kill okra at 300 random moments: nothing is lost, nothing is broken
	@$(call attack,kill -9 at random moments,$(python) tests/kill/kill.py $(BUILD)/okra 300)

memory: everything ## let every allocation of the commands fail once (of long ones some, spread over the whole run; SEED=n: others)
	@$(call attack,allocations that fail,$(python) tests/memory/sweep.py $(BUILD)/okra $(BUILD)/tests/memory/libokra_failing.so 0)

docs: packages packages-docs build ## make the documentation site (build/site), man pages and completions (build/share)
	@$(python) tools/docs/make.py $(BUILD)

docs-pictures: packages-test build ## run the tutorials again and keep the pictures that they draw
	@mkdir -p docs/tutorials/pictures; for page in $$(grep -l '](pictures/' docs/tutorials/*.md); do \
	    OKRA_PYTHON=$(python) OKRA_PICTURES=$(abspath docs/tutorials/pictures) tests/docs/run_blocks.bash $(BUILD)/okra $$page || exit 1; \
	done

install: build ## install under PREFIX (/usr/local); DESTDIR is honoured
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

install-python: packages packages-dist build ## install the Python package into the active virtual environment
	@PIP_FLAGS="$(PIP_FLAGS)" SYSTEM_PYTHON=$(SYSTEM_PYTHON) tools/install_python.sh $(BUILD) $(python)

wheel: packages packages-dist build ## make a Python wheel that carries all it needs: build/dist
	@$(python) tools/make_wheel.py $(BUILD) $(BUILD)/dist

# DEB_BUILD=build: out of what is compiled already; that folder is then configured for /usr.
DEB_BUILD ?=
deb: packages packages-dist ## make Debian packages of program, library, headers and Python: build/dist
	@JOBS=$(JOBS) tools/make_deb.bash $(BUILD)/dist $(DEB_BUILD) && ls $(BUILD)/dist/*.deb

# Wheels that run on every Linux of 2020 and newer.
wheels: packages-dist packages-release ## make the wheels of a release in bare Debian 11 systems, as root: build/dist
	@JOBS=$(JOBS) tools/make_wheels.bash $(BUILD)/dist

test-arm: build packages-dist packages-release ## cross-compile for 64-bit ARM, as root; tests, numbers and wheel under qemu-user
	@JOBS=$(JOBS) OKRA=$(BUILD)/okra tools/make_wheels.bash --try $(BUILD)/dist aarch64

# ABI=REF: compare the library with that commit's (abidiff). ONCE=yes: do not build twice.
release: packages packages-dist ## make all files of a release in build/release: tarball, wheels, Debian packages, SBOM, checksums
	@[ "$$(id -u)" != 0 -a -z "$(ABI)" ] || $(MAKE) --no-print-directory packages-release
	@JOBS=$(JOBS) tools/make_release.bash $(BUILD)/release

packages:
	@tools/install_packages.sh packages.txt

packages-dist:
	@tools/install_packages.sh packages-dist.txt

packages-test:
	@tools/install_packages.sh packages-test.txt

packages-docs:
	@tools/install_packages.sh packages-docs.txt

packages-release:
	@tools/install_packages.sh packages-release.txt

packages-dev:
	@tools/install_packages.sh packages-dev.txt

clean: ## remove everything that was built
	@rm -rf build build-*

help: ## list these targets
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
