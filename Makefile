# make test    all tests
# make check   what a change must pass: format, vet, staticcheck, tests
# make cross   builds for a platform on which commands cannot be executed, and results can be read
# make race    the tests under the race detector
# make fuzz    a minute of fuzzing for each parser
# make traps   situations in which a clean-looking number is wrong, five variants of each
# make studies the studies, a module of their own: vet, and tests that hold their committed results
# make bench   benchmarks beside peers, into BENCHMARKS.md

GO ?= go

.PHONY: build test check lint cross race fuzz traps studies bench

build:
	$(GO) build -o bin/assay ./cmd/assay

test:
	$(GO) test -timeout 20m ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "not formatted; try: gofmt -w ."; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

check: lint cross test

# What reads Linux's files stands apart by file name; elsewhere it says that it cannot be read.
cross:
	GOOS=darwin GOARCH=arm64 $(GO) build ./...

# Not here: simulations and the long scripts (-short), and what depends on real times (traps).
race:
	$(GO) test -race -short -timeout 20m $$($(GO) list ./... | grep -v /traps)

fuzz:
	./scripts/fuzz 60s

traps:
	./scripts/traps

studies:
	cd studies && $(GO) vet ./... && $(GO) test -timeout 10m ./...

bench: build
	./scripts/bench
