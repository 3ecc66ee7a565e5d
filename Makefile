# The one door to building, testing and installing okra; CMake does the work behind it.
#   make CMAKE_FLAGS=-DOKRA_WERROR=ON      switches for the configuring of build/
#   make JOBS=4                            how many things at once
BUILD       ?= build
PREFIX      ?= /usr/local
CMAKE_FLAGS ?=
JOBS        ?= $(shell nproc 2>/dev/null || echo 2)
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format) clang-format-14)
CLANG_TIDY   ?= $(firstword $(shell command -v clang-tidy-14 clang-tidy) clang-tidy-14)
FUZZ_SECONDS ?= 60
# More for pip: --target DIR, or nothing in a virtual environment.
PIP_FLAGS   ?=

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := build
# The Python with NumPy that configuring found.
python = $(shell sed -n 's/^OKRA_PYTHON:FILEPATH=//p' $(BUILD)/CMakeCache.txt)
CTEST = ctest --output-on-failure -j $(JOBS)
c_files = $(shell git ls-files -co --exclude-standard -- '*.c' '*.h' 2>/dev/null || \
    find src include cli papers tests bench -name '*.[ch]')

.PHONY: build demo test check asan tsan format format-check lint bench results results-quick \
    fuzz docs install install-python peers clean help packages packages-dev

build: $(BUILD)/CMakeCache.txt ## build the library and the program (the default)
	@cmake $(BUILD) $(CMAKE_FLAGS) >$(BUILD)/configure.log || { cat $(BUILD)/configure.log; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/CMakeCache.txt:
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS)

demo: packages build ## install what is missing, build, learn two built-in tasks
	@$(BUILD)/okra demo

test: packages build ## install what is missing, build, run every test
	@cd $(BUILD) && $(CTEST)

check: format-check lint test asan ## what a change must pass: format, lint, tests, sanitizers

asan: packages ## the tests under the address and undefined-behaviour sanitizers
	@cmake --preset asan $(CMAKE_FLAGS) >/dev/null && cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan --output-on-failure -j $(JOBS)

tsan: packages ## the unit tests under the thread sanitizer
	@cmake --preset tsan $(CMAKE_FLAGS) >/dev/null && cmake --build --preset tsan -j $(JOBS)
	@ctest --preset tsan --output-on-failure -j $(JOBS)

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
bench: build ## run the benchmarks (or those of BENCH) against peers, write docs/benchmarks.md
	@mkdir -p bench/out; failed=0; for b in $(BENCH); do n=$$(basename $$b .py); echo "== $$n"; \
	    OKRA_BUILD=$(abspath $(BUILD)) $(python) $$b | tee bench/out/$$n.jsonl; s=$$?; \
	    if [ $$s = 77 ]; then rm bench/out/$$n.jsonl; elif [ $$s != 0 ]; then failed=1; fi; \
	    if [ -e bench/out/$$n.jsonl ]; then $(python) bench/page.py bench/out/$$n.jsonl; fi; \
	done; exit $$failed

# Entries that are finished in docs/results are not run again, interrupted ones go on.
DATA ?= ../shared/data
okra_report = $(BUILD)/okra report --quiet
results: build ## run every table and figure of the papers in full, write docs/results.md
	@mkdir -p docs/results; rm -f docs/results/*.svg; failed=0; \
	$(BUILD)/okra paper all --full --keep --data "$(DATA)" --results docs/results --quiet || failed=1; \
	$(okra_report) docs/results/*-full.json -o docs/results.md --figures docs/results \
	    --title "The papers again" && exit $$failed

# No data folder: built-in data alone.
results-quick: build ## the same for the quick runs that need no data, write docs/results-quick.md
	@mkdir -p docs/results && rm -f docs/results/*-quick.json
	@$(BUILD)/okra paper all --quick --threads 2 --data docs/results/none \
	    --results docs/results --quiet
	@$(okra_report) docs/results/*-quick.json -o docs/results-quick.md \
	    --title "The papers again, quick runs"

# An allocation that is too large fails, as it does without the sanitizer.
fuzz: packages packages-dev ## fuzz every reader for FUZZ_SECONDS each (clang)
	@cmake --preset fuzz >/dev/null && cmake --build --preset fuzz -j $(JOBS)
	@failed=0; for f in $(wildcard tests/fuzz/fuzz_*.c); do n=$$(basename $$f .c); \
	    echo "== $$n"; mkdir -p build-fuzz/corpus/$$n; \
	    ASAN_OPTIONS=allocator_may_return_null=1 build-fuzz/tests/fuzz/$$n \
	        -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096 -malloc_limit_mb=0 \
	        -verbosity=0 -print_final_stats=1 -artifact_prefix=build-fuzz/$$n- \
	        build-fuzz/corpus/$$n tests/fuzz/corpus/$$n || failed=1; done; exit $$failed

docs: build ## make the man pages and completions under build/share
	@cmake --build $(BUILD) --target docs

install: build ## install under PREFIX (/usr/local); DESTDIR is honoured
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

# A Python that belongs to Debian takes packages from pip only when told so.
install-python: build ## install the Python package for the Python that configuring found
	@OKRA_BUILD=$(abspath $(BUILD)) PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore \
	    $(python) -m pip install --no-build-isolation --no-deps --no-index --quiet $(PIP_FLAGS) .

packages:
	@tools/install_packages.sh packages.txt

packages-dev:
	@tools/install_packages.sh packages-dev.txt

peers: ## install the peers that comparison tests and benchmarks use
	@tools/install_packages.sh packages-peers.txt

clean: ## remove everything that was built
	@rm -rf build build-*

help: ## list these targets
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
