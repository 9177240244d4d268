# Inquest. `make help` says what there is; CMake and Ninja do the building.

BUILD     ?= build
PREFIX    ?= /usr/local
DESTDIR   ?=
# Source packages that `make check` builds and crashes; `make check-real` takes all of them.
REAL      ?= bzip2 bc
FUZZ_RUNS ?= 1000000
JOBS      ?= $(shell nproc)

CMAKE       = cmake -G Ninja -S .
CTEST       = ctest --output-on-failure --no-tests=error -j $(JOBS)
FORMAT      = $(firstword $(shell command -v clang-format-19))
FORMATTED   = $(shell find src tests/unit tests/fuzz -name '*.[ch]' -o -name '*.cc' 2>/dev/null)
# Quiet where nothing changed; the message of a failure stays.
CONFIGURE   = $(CMAKE) --log-level=WARNING

.PHONY: help
help: ## this list
	@echo "usage: make TARGET [PREFIX=DIR] [REAL='NAME...'] [FUZZ_RUNS=N]"
	@sed -n 's/^\([a-z%-]*\):.* ## /\1|/p' $(MAKEFILE_LIST) | \
		awk -F'|' '{ printf "  %-12s %s\n", $$1, $$2 }'

.PHONY: setup
setup: ## install the Debian packages that are missing (needs root or sudo only then)
	@scripts/setup

.PHONY: setup-real
setup-real: ## fetch the source packages REAL for tests/real, and what they need
	@scripts/setup --real $(REAL)

.PHONY: all build
all: build
build: setup ## build everything into build/ with gcc
	@$(CONFIGURE) -B $(BUILD) -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ \
		-DINQUEST_WERROR=ON
	@cmake --build $(BUILD)

.PHONY: demo
demo: build ## crash an example program for real and investigate it
	@INQUEST_BUILD=$(abspath $(BUILD)) scripts/demo

.PHONY: test
test: build ## unit and golden tests, for everyday use
	$(CTEST) --test-dir $(BUILD) -L 'unit|golden' -LE long

.PHONY: check
check: check-style check-clang check-sanitize build setup-real ## everything that a change must pass
	$(CTEST) --test-dir $(BUILD) -LE long

.PHONY: check-style
check-style: setup
	@scripts/check-folders --quiet
	@if [ -n "$(FORMAT)" ]; then $(FORMAT) --dry-run --Werror $(FORMATTED); \
	else echo "clang-format-19 is not there: the format is not checked"; fi

.PHONY: check-clang
check-clang: setup
	@$(CONFIGURE) -B build-clang -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
		-DINQUEST_WERROR=ON
	@cmake --build build-clang

.PHONY: check-sanitize
check-sanitize: setup
	@$(CONFIGURE) -B build-asan -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
		-DINQUEST_WERROR=ON -DINQUEST_SANITIZE=ON -DINQUEST_FUZZ=ON
	@cmake --build build-asan
	$(CTEST) --test-dir build-asan -L 'unit|golden|fuzz' -LE long

.PHONY: check-long
check-long: build ## the long tests: all crashes against the truth
	@scripts/setup --real $(notdir $(basename $(wildcard tests/real/packages/*.sh)))
	$(CTEST) --test-dir $(BUILD) -L long -j 1

.PHONY: check-real
check-real: build ## every Debian source package of tests/real, and git, against plain clang-19
	@scripts/setup --real $(notdir $(basename $(wildcard tests/real/packages/*.sh)))
	@tests/real/check-real --build $(BUILD)

.PHONY: check-fuzz
check-fuzz: setup ## FUZZ_RUNS inputs through every target of tests/fuzz
	@$(CONFIGURE) -B build-fuzz -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
		-DINQUEST_FUZZ=ON
	@cmake --build build-fuzz
	@scripts/fuzz build-fuzz $(FUZZ_RUNS)

bench-%: build ## run bench/%, as in bench-overhead
	@if [ -x bench/$*/run ]; then set -- bench/$*/run; else set -- bench/$*; fi; \
	INQUEST_BUILD=$(abspath $(BUILD)) INQUEST_SRC=$(CURDIR) "$$@"

.PHONY: install
install: build ## install under PREFIX (default /usr/local)
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

.PHONY: deb
deb: build ## make a Debian package in dist/
	@scripts/make-deb $(BUILD) dist

.PHONY: format
format: setup ## reformat the C files
	$(FORMAT) -i $(FORMATTED)

.PHONY: tidy
tidy: build ## run clang-tidy-19 over src/
	@command -v clang-tidy-19 >/dev/null || { echo "install clang-tidy-19 first" >&2; exit 1; }
	@find src -name '*.c' -print0 | xargs -0 -n 4 -P $(JOBS) clang-tidy-19 --quiet -p $(BUILD)

.PHONY: clean
clean: ## remove what was built
	rm -rf build build-clang build-asan build-fuzz dist
