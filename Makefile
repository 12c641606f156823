# Every target installs system packages, configures and builds as needed, using CMake and scripts/.
# `make help` lists the targets.
SHELL := /bin/bash
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
# Data that are not part of the project.
DATA ?= ../shared/data
# The first Python from 3.12 on, in the path or of pyenv.
PYTHON312 ?= $(shell for p in python3.12 python3.13 python3.14 $(HOME)/.pyenv/versions/3.1[2-9]*/bin/python3.1[2-9]; do \
  "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo "$$p" && break; done)
export JOBS

comma := ,

.PHONY: all library demo test test-mpi bench shiftbench bench-kernels bench-csv bench-python wheel wheels dist asan tsan tidy format
.PHONY: bench-engines docs playground test-playground fuzz faults format-check check reproduce coverage promise-peers random-fits
.PHONY: install uninstall clean help

all: library ## build the program, build/covshift (the default)
	@scripts/packages.sh build
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target covshift_cli

# The report's plotting library; everything else works without it.
library:
	@scripts/packages.sh report || echo "make: continuing without npm; --report will not be available" >&2
	@scripts/report_library.sh

demo: all ## build and run the demonstration
	@scripts/demo.sh

test-mpi: library ## covshift under mpirun against one process, and the C++ example (installs OpenMPI)
	@scripts/packages.sh build test mpi
	@scripts/test.sh mpi

test: library ## all tests: C++, the program, the installed package, the Python wheel; format
	@scripts/packages.sh build test python
	@scripts/packages.sh browser || echo "make: continuing without Chromium; tests of the report page are skipped" >&2
	@scripts/test.sh

bench: all wheel ## compare covshift with its peers, into bench/RESULTS.md (PARTS="log-dense ...", QUICK=1)
	@scripts/packages.sh build bench venv
	@scripts/bench_peers.sh $(if $(QUICK),--quick) $(PARTS)

shiftbench: all ## covshift beside other packages under shift, into docs/shiftbench.md (METHODS="default lr", QUICK=1, DATA=folder)
	@scripts/packages.sh build venv
	@scripts/shiftbench.sh $(if $(QUICK),--quick) --data "$(DATA)" $(if $(METHODS),--methods $(METHODS))

bench-kernels: ## build and run the C++ benchmarks, with a table at the end
	@scripts/packages.sh build bench
	@scripts/bench.sh

reproduce: all ## all tables and figures of the paper and the sweep, into docs/results.md (DATA=folder); half an hour
	@scripts/packages.sh pictures
	@build/covshift reproduce all --data "$(DATA)" -o build/results --seed 0
	@for svg in build/results/*.svg; do rsvg-convert --zoom 2 "$$svg" -o "$${svg%.svg}.png" || exit 1; done
	@cp build/results/results.md docs/results.md

coverage: ## what is promised against the truth, on simulated problems; an hour and a half (docs/promise.md; PROBLEMS=1000, METHODS=robust,iw)
	@scripts/packages.sh build bench
	@cmake --preset bench >/dev/null
	@cmake --build build/bench -j $(JOBS) --target coverage bounds
	@build/bench/bench/coverage $(PROBLEMS)
	@build/bench/bench/bounds $(or $(PROBLEMS),1000) $(METHODS)
	@build/bench/bench/bounds $(or $(PROBLEMS),1000) $(or $(METHODS),robust$(comma)overlap$(comma)auto) parts

random-fits: all ## random fits on degenerate data: each converges or ends in an error message (docs/reliability.md; FITS=2400)
	@python3 bench/random_fits.py build/covshift $(FITS)

promise-peers: all ## estimates and prediction sets beside nannyml, MAPIE and puncc (from the Python package index; PROBLEMS=40, DATA=folder)
	@scripts/packages.sh build venv
	@/usr/bin/python3 -m venv build/promise-peers
	@build/promise-peers/bin/pip install -q -r bench/promise/requirements.txt
	@build/promise-peers/bin/python bench/promise/peers.py --program build/covshift $(if $(PROBLEMS),--problems $(PROBLEMS)) \
	  $(if $(wildcard $(DATA)/shift),--data "$(DATA)/shift")

bench-csv: ## read a 1 GB CSV with covshift and with pandas (from the Python package index)
	@scripts/packages.sh build bench venv
	@scripts/bench_csv.sh

bench-engines: all wheel ## processes under mpirun, a CSV file of 6 GB under a limit of 2 GB, beside SGD (GIGABYTES=6), fits on Dask (QUICK=1: fewer rows)
	@scripts/packages.sh build test mpi venv
	@cmake --preset release -DCOVSHIFT_MPI=ON >/dev/null
	@cmake --build build -j $(JOBS) --target covshift_cli
	@failed=0; \
	/usr/bin/python3 bench/engines.py build/covshift $(if $(QUICK),--quick) || failed=1; \
	GIGABYTES=$(or $(GIGABYTES),$(if $(QUICK),0.3,6)) scripts/bench_engines.sh $(if $(QUICK),--memory 100M --limit 200M --epochs 3) || failed=1; \
	scripts/bench_dask.sh $(if $(QUICK),--rows 200000) || failed=1; \
	exit $$failed

check: library ## slower checks: under mpirun, sanitizers over the C++ tests and the fuzzer's kept inputs, clang-tidy, the site
	@scripts/packages.sh build test mpi python docs
	@scripts/test.sh mpi asan tsan tidy docs

fuzz: ## fuzz readers, model files and solvers for SECONDS each (60) or RUNS executions, from fuzz/corpus (docs/reliability.md; TARGETS="csv solve")
	@scripts/packages.sh build fuzz
	@RUNS=$(RUNS) scripts/fuzz.sh $(or $(SECONDS),60) $(TARGETS)

faults: all ## full disks, kill -9, links, concurrent writers, over every command that writes (docs/reliability.md)
	@python3 scripts/faults.py build/covshift

asan: ## only the C++ tests under the address and undefined behaviour sanitizers
	@scripts/packages.sh build test
	@scripts/test.sh asan

tsan: ## only the tests with threads under the thread sanitizer
	@scripts/packages.sh build test
	@scripts/test.sh tsan

tidy: ## only clang-tidy over the library and the program
	@scripts/packages.sh build test
	@scripts/test.sh tidy

format: ## format all C++ sources
	@scripts/packages.sh test
	@scripts/format.sh

format-check: ## list the C++ sources that are not formatted
	@scripts/packages.sh test
	@scripts/format.sh --check

docs: library ## build the site, build/docs/html/index.html
	@scripts/packages.sh build python docs
	@scripts/docs.sh

wheel: library ## build the Python package with the program, build/python/wheel/; it runs on other Linux systems
	@scripts/packages.sh build python
	@scripts/wheel.sh

wheels: wheel dist ## sdist and wheels into build/dist/: for Debian's Python, and for 3.12 and later if PYTHON312 names one
	@if [ -n "$(PYTHON312)" ]; then PYTHON=$(PYTHON312) scripts/wheel.sh; \
	 else echo "make: found no Python 3.12 or later, so only the wheel for Debian's Python was built; to build the other, name one: make wheels PYTHON312=path" >&2; fi
	@find build/python -path '*/wheel/*.whl' -exec cp {} build/dist/ \;

dist: library ## the source distribution, build/dist/covshift-VERSION.tar.gz
	@scripts/packages.sh build python
	@scripts/dist.sh

bench-python: wheel ## the overhead of predicting one row from Python, and memory of a fit
	@build/python/venv/bin/python bench/python/overhead.py

playground: ## build the page that runs the library in a browser, build/playground/index.html; minutes
	@scripts/packages.sh build playground
	@scripts/playground.sh

test-playground: all ## build the playground and test it in Chromium against the program
	@scripts/packages.sh playground browser
	@scripts/test.sh playground

install: all ## install program, manual pages, library and headers under PREFIX (/usr/local)
	@cmake --build build -j $(JOBS) --target covshift
	@cmake --install build --prefix "$(PREFIX)"

uninstall: ## remove what `make install` installed
	@xargs -r -d '\n' rm -fv <build/install_manifest.txt

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24
