# Everything a developer does here. `make` alone lists it.
GO      ?= go
BIN     := bin/inferometer
SOURCES := $(shell find cmd internal -type f -not -name '*_test.go' -not -path '*/testdata/*') $(wildcard docs/*.md docs/*.go) go.mod go.sum

export CGO_ENABLED ?= 0

# What the program calls itself: the release, or the commit where there is none.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null)
DATE    ?= $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)

# Where the real servers of the tests are installed. They run on Linux only; elsewhere their tests are skipped.
ifeq ($(shell uname -s),Linux)
export INFEROMETER_TRITON ?= $(CURDIR)/.peers/triton
export INFEROMETER_PROMETHEUS ?= $(CURDIR)/.peers/prometheus
export INFEROMETER_S3 ?= $(CURDIR)/.peers/s3
endif
BROWSER := $(CURDIR)/.peers/browser

# Every target but what build makes is a name, not a file.
.PHONY: $(shell sed -n 's/^\([a-z0-9-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

build: $(BIN) ## build bin/inferometer

$(BIN): $(SOURCES)
	$(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)' -o $@ ./cmd/inferometer

run: build ## measure the built-in mock and print the result
	@./$(BIN) run --concurrency 8 --duration 5s; case $$? in 0|1|4) ;; *) exit 1;; esac # a verdict that is not VALID is no failure of a demonstration

# Tests wait at times, so lint and the type-check of other platforms take what they leave of the processors.
# make cross compiles for all six platforms, and make fuzz looks for new inputs: each takes minutes.
test: ## everything that CI checks
	@$(MAKE) --no-print-directory -j4 format tidy servers compiled
	@$(MAKE) --no-print-directory -j2 race beside

beside: # what runs beside the tests
	@nice -n 19 $(MAKE) --no-print-directory -j2 newcomer lint platforms simulation

# Without the race detector it is six times as fast. make race has a few seeds under it.
SEEDS ?= 2000
simulation: ## coordinator, workers and NATS on virtual time, with faults from seeds; about a minute
	@echo "simulation of $(SEEDS) seeds"; [ ! -w /dev/shm ] || export TMPDIR=/dev/shm; INFEROMETER_SEEDS=$(SEEDS) $(GO) test -trimpath -vet=off -count=1 ./internal/cluster -run TestSimulation -timeout 60m

# It waits for most of its time, so it is as long as the slower of the two pages: about two minutes.
newcomer: build ## types every command of the README and the tutorial, as a newcomer would
	@scripts/newcomer.sh $(BIN) README.md docs/tutorial.md scripts/guesses.txt

platforms: # type-checks the program for every other platform
	@echo "type-check $(CHECKED)"; $(GO) run -trimpath ./scripts/platforms $(CHECKED)

lint: ## go vet, staticcheck, errorlint and spelling; docs/decisions/045 says why this way
	@if ! $(GO) -C scripts/lint mod download; then echo "lint: NOT CHECKED: its modules cannot be fetched"; exit 0; fi; \
	  echo lint; for dir in . bench; do $(GO) run -C scripts/lint -trimpath . ../../$$dir -race || exit 1; done

tidy: ## whether go.mod names what is imported, and nothing else
	@for dir in . bench scripts/lint scripts/release scripts/page scripts/docs internal/testkit/browser; do \
	  diff=$$($(GO) -C $$dir mod tidy -diff) && continue; \
	  [ -z "$$diff" ] || { echo "$$diff"; echo "go.mod is not tidy: run go -C $$dir mod tidy"; exit 1; }; \
	  echo "tidy: NOT CHECKED: the modules of $$dir cannot be fetched"; \
	done

vuln: ## known vulnerabilities of what is compiled in; needs vuln.go.dev
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

format: ## whether all is formatted
	@unformatted=$$(gofmt -l cmd internal bench deploy scripts); [ -z "$$unformatted" ] || { echo "not gofmt-clean: $$unformatted"; exit 1; }

vet: format ## formatting and vet, without tests
	$(GO) vet ./...
	$(GO) vet -C bench ./...

triton: ## install the real Triton server that tests start, under .peers
	@if [ -n "$$INFEROMETER_TRITON" ]; then TRITON_DIR="$$INFEROMETER_TRITON" scripts/triton.sh; fi

prometheus: ## fetch the real Prometheus server that tests start, under .peers
	@if [ -n "$$INFEROMETER_PROMETHEUS" ]; then PROMETHEUS_DIR="$$INFEROMETER_PROMETHEUS" scripts/prometheus.sh; fi

s3: ## install the real S3 server that tests start, under .peers
	@if [ -n "$$INFEROMETER_S3" ]; then S3_DIR="$$INFEROMETER_S3" scripts/s3.sh; fi

browser: ## install the real Chromium that tests of the report page use, under .peers; Debian, about 40 seconds
	@BROWSER_DIR="$(BROWSER)" scripts/browser.sh

servers: triton prometheus s3 ## install all real servers that tests start

# The compiler spends a sixth of its time on collecting garbage. Below a gigabyte it need not.
compiled: export GOGC := off
compiled: export GOMEMLIMIT := 1GiB
compiled: # what the tests need of the compiler, while servers are being fetched
	@for dir in . bench; do CGO_ENABLED=1 $(GO) list -C $$dir -race -test -export -f '{{""}}' ./... >/dev/null || exit 1; done
	@CGO_ENABLED=0 $(GO) run -trimpath -buildvcs=false -exec true ./cmd/inferometer

race: servers ## all tests, under the race detector; what passes only when run again is flaky, and fails
	@GO=$(GO) scripts/test.sh

# A number of inputs rather than a time: the time can run out inside one, which go test calls a failure.
FUZZTIME ?= 2000x
FUZZ     ?= ./...
fuzz: ## each fuzz target for a moment
	@$(GO) list -f '{{.ImportPath}} {{.Dir}}' $(FUZZ) | while read -r pkg dir; do \
	  for target in $$(cat $$dir/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do \
	    echo "fuzz $$pkg $$target"; \
	    $(GO) test $$pkg -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x >/tmp/fuzz.$$$$ 2>&1 || { cat /tmp/fuzz.$$$$; rm -f /tmp/fuzz.$$$$; exit 1; }; \
	    rm -f /tmp/fuzz.$$$$; \
	  done; done

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
CHECKED   := $(filter-out linux/amd64,$(PLATFORMS))
cross: ## compile for every platform
	@for p in $(PLATFORMS); do echo "build $$p"; GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -trimpath -o /dev/null ./cmd/inferometer || exit 1; done

# One vocabulary of each family, and both forms in which Llama 3 comes. bench-tokens measures all.
BENCHTOKENS ?= gpt4o llama3 llama3_2 qwen3 deepseek_v3 mistral_nemo llama2 gemma2 bert unigram

bench: build ## speed and accuracy beside the real Perf Analyzer, and tokenizing beside Hugging Face tokenizers; about 17 + 3 minutes
	scripts/peers.sh perf_analyzer
	-scripts/token-peers.sh --no-truth $(BENCHTOKENS) # what is missing prints NOT MEASURED
	$(GO) build -C bench -o ../bin/bench .
	@code=0; bin/bench -load 3s $(BENCHFLAGS) || code=1; echo; GO=$(GO) scripts/token-bench.sh $(BENCHTOKENS) || code=1; exit $$code

bench-cores: build ## the rows of bench for a client on many cores; on 16 cores about 7 minutes, fewer show what they can
	-scripts/peers.sh vllm-bench # the rows beside it say NOT MEASURED without it
	$(GO) build -C bench -o ../bin/bench .
	bin/bench -load 3s -only '^many cores' $(BENCHFLAGS) # -save FILE -title T keeps it for make bench-page

bench-full: build peers ## the same beside all peers, and with a million requests; writes bench/performance.md
	$(GO) build -C bench -o ../bin/bench .
	@code=0; bin/bench -full -save bench/results/1-core.json -title 'One core' $(BENCHFLAGS) || code=1; bin/bench page bench/results bench/performance.md; exit $$code

bench-page: ## bench/performance.md out of the saved runs in bench/results
	$(GO) run -C bench . page results performance.md

peers: ## install the tools that bench compares with, under .peers
	scripts/peers.sh all

conformance: conformance-tokens conformance-genai-perf conformance-perf-analyzer conformance-inference-perf conformance-export conformance-otlp conformance-sdks conformance-page conformance-docs ## everything that is held against the originals

conformance-perf-analyzer: build triton ## reports, figures and exports beside the real perf_analyzer, on a real Triton; about 10 minutes
	scripts/peers.sh perf_analyzer tokenizer genai-perf
	scripts/perf-analyzer-seeds.sh $(BIN) mock
	scripts/perf-analyzer-seeds.sh $(BIN) triton
	scripts/conformance-perf-analyzer.sh $(BIN)

conformance-genai-perf: build ## figures, files and tables beside the real genai-perf
	scripts/peers.sh perf_analyzer tokenizer genai-perf
	scripts/genai-perf-seeds.sh bin/inferometer
	.peers/genai-perf/bin/python scripts/genai-perf-conformance.py bin/inferometer .peers/perf_analyzer/perf_analyzer .peers/tokenizer

conformance-inference-perf: build ## reports and charts beside the real inference-perf; about 7 minutes
	scripts/peers.sh tokenizer inference-perf
	-scripts/prometheus.sh # without it, what servers say is not compared
	scripts/conformance-inference-perf.sh bin/inferometer .peers/inference-perf .peers/tokenizer $$(ls .peers/prometheus/prometheus 2>/dev/null)

# MADE=100 SEED=7 makes up so many lines, from that seed, instead of those that are kept.
conformance-more: build ## command lines of vllm bench serve beside the real client; about 5 minutes
	scripts/peers.sh vllm
	python3 scripts/conformance-more.py $(BIN) .peers/vllm .peers/tokenizer $(MADE) $(if $(MADE),$(SEED))

# TOOL is one or several of these. FUZZFLAGS='--keep DIR' keeps what the lines that differ wrote.
TOOL  ?= genai-perf perf_analyzer llm_perf inference-perf
LINES ?= 20
SEED  ?= $(shell date +%s)
conformance-fuzz: build ## random command lines beside the real tools, on servers that answer awkwardly; about 3 seconds a line
	scripts/peers.sh perf_analyzer tokenizer $(filter genai-perf inference-perf llm_perf,$(TOOL))
	$(if $(filter perf_analyzer llm_perf,$(TOOL)),scripts/triton.sh)
	@code=0; for tool in $(TOOL); do python3 scripts/fuzz/fuzz.py --tool $$tool --cases --lines $(LINES) --seed $(SEED) $(FUZZFLAGS) || code=1; done; exit $$code

conformance-kubernetes: build ## workers on a real Kubernetes, by Helm, with pods and a node lost; needs KUBE=DIR or KUBECONFIG (docs/kubernetes.md); about 4 minutes
	scripts/conformance-kubernetes.sh $(BIN)

conformance-truth: ## servers, hosts and files that mislead: no VALID on a wrong figure; about 25 minutes
	INFEROMETER_KILLS=100 $(GO) test ./internal/cli -run '^TestKills$$' -count=1 -timeout 30m
	INFEROMETER_ADVERSARY=all $(GO) test ./internal/testkit/adversary -run '^TestEveryLie$$' -count=1 -v -timeout 60m

# SOUND=10 STARVED=5 is a taste of it. It wants the machine for itself. JOBS=8 plays eight parts side by side, with two cores for each.
SOUND ?= 100
STARVED ?= 50
conformance-sound: ## sound runs are VALID, alone and beside eight busy neighbours, and starved clients agree with others within their bars; about 30 minutes, 4 with JOBS=8 on 16 cores
	GO=$(GO) scripts/conformance-sound.sh $(SOUND) $(STARVED) $(JOBS)

# As root also with disks of 300 kB that fill up. CHAOSFLAGS='-only ^nats' runs some of it: scripts/chaos says what there is.
conformance-chaos: build ## 200 faults of workers, coordinators, NATS and disks, with real processes and a real nats-server; about 12 minutes
	$(GO) build -trimpath -o .peers/nats-server github.com/nats-io/nats-server/v2
	$(GO) build -trimpath -o bin/chaos ./scripts/chaos
	bin/chaos -keep $(CHAOSFLAGS) $(BIN) .peers/nats-server

conformance-statistics: ## intervals, comparisons and searches against known answers, by simulation; about 20 minutes
	INFEROMETER_SIMULATE=all $(GO) test ./internal/stat/... ./internal/sweep/... -run Simul -count=1 -v -timeout 60m

# WHICH='sudden cliff' runs one of them; JOBS=8 runs as many side by side, which wants two cores for each.
conformance-capacity: build ## the capacity of nine awkward servers, and of mocks whose knee is known; about 35 minutes, 6 with JOBS=8 on 16 cores
	$(GO) build -trimpath -o bin/awkward ./scripts/awkward
	JOBS="$(JOBS)" scripts/conformance-capacity.py $(BIN) bin/awkward "$(WHICH)"

conformance-traces: build ## traces in each public layout, played against the mock, beside a reader in Python; a minute
	scripts/peers.sh frames
	.peers/frames/bin/python scripts/conformance-traces.py $(BIN)

# WHICH='aiperf-weka vllm-timed' runs some of them.
conformance-trace-peers: build ## traces beside AIPerf, SGLang's and vLLM's benchmarks that replay them; about 3 minutes
	scripts/peers.sh aiperf sglang
	python3 scripts/conformance-trace-peers.py $(BIN) .peers $(WHICH)

conformance-export: build ## exports of runs of every kind, read with pandas and DuckDB, and the example notebook; about 2 minutes
	scripts/peers.sh frames
	.peers/frames/bin/python scripts/conformance-export.py $(BIN)
	.peers/frames/bin/python scripts/notebook.py $(BIN) examples/notebook/requests.ipynb

conformance-sdks: build ## the SDKs of OpenAI, Anthropic, Cohere and Triton against the mock; half a minute
	scripts/peers.sh sdks
	.peers/sdks/bin/python scripts/conformance-sdks.py $(BIN)

conformance-otlp: build ## spans and metrics in a real OpenTelemetry collector, which it builds; some minutes
	scripts/otelcol.sh
	python3 scripts/conformance-otlp.py $(BIN) .peers/otelcol/otelcol

page-browser: browser ## the report page in a real browser, but for what takes long; about a minute
	INFEROMETER_BROWSER="$(BROWSER)" $(GO) test -C internal/testkit/browser -count=1 -short -skip '^TestDocs' .

conformance-page: browser ## all of it: with a hundred thousand requests; about 2 minutes
	INFEROMETER_BROWSER="$(BROWSER)" $(GO) test -C internal/testkit/browser -count=1 -v -skip '^TestDocs' .

conformance-tokens: ## token ids of real vocabularies, compared with Hugging Face tokenizers
	scripts/token-peers.sh
	scripts/token-files.sh
	INFEROMETER_TOKENS=$(CURDIR)/.peers/tokens $(GO) test ./internal/token -run '^TestConformance$$' -count=1 -timeout 30m
	INFEROMETER_TOKENS=$(CURDIR)/.peers/tokens $(GO) test ./internal/token/tiktoken ./internal/token/tekken ./internal/token/sentencepiece ./internal/token/jinja ./internal/token/loader ./internal/token/learned ./internal/prompt/lexicon ./internal/prompt/sessions ./internal/prompt/synthetic -run '^(TestReal|TestRealBlocks|TestSpecial)$$' -count=1 -timeout 30m

bench-tokens: ## speed of tokenizing with every vocabulary, beside Hugging Face tokenizers
	-scripts/token-peers.sh --no-truth
	GO=$(GO) scripts/token-bench.sh

release: ## make what is published, in dist/: archives, packages, image, checksums; publishes nothing (packaging/releasing.md)
	$(GO) run -C scripts/release -trimpath -buildvcs=false . $(RELEASEFLAGS) ../..

conformance-release: ## install what is in dist/ in chroots without Go, Python or network, and run it there; needs root on Debian; some minutes
	GO=$(GO) scripts/conformance-release.sh

deploy-check: ## the Helm chart, rendered by Helm itself and read as Kubernetes does
	cd deploy/check && $(GO) test ./...

page: ## build the report page, internal/report/html/page.html, from page/; docs/decisions/048 says how
	$(GO) run -C scripts/page -trimpath . ../..

page-check: page ## types and unit tests of the report page; needs Node
	cd page && npm ci --silent && npx tsc -p .
	$(GO) run -C scripts/page -trimpath . ../.. tests
	cd page && node --test .build/

docs: ## make the documentation's site, site/index.html, which opens from disk; docs/decisions/067 says how
	@$(GO) run -C scripts/docs -trimpath . -version '$(VERSION)' ../..

conformance-docs: browser ## every page of that site in a real browser: search, links, no errors, nobody kept out; some minutes
	$(GO) test -C scripts/docs -count=1 .
	INFEROMETER_BROWSER="$(BROWSER)" $(GO) test -C internal/testkit/browser -count=1 -v -timeout 30m -run '^TestDocs' .

proto: ## write the definition of Triton's protocol in internal/lib/kserve anew
	scripts/proto.sh

clean: ## remove what was built
	rm -rf bin dist site .bench
