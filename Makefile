# Pointsman's build. `make demo` and `make test` do everything they need.

GO        ?= go
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.version=$(VERSION)
BIN       := bin/pointsman

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Fyne checks in every call whether it is on its own goroutine, unless it is told
# that the program has seen to that.
RELEASE   := -tags migrated_fynedo -ldflags '$(LDFLAGS)'

.PHONY: all deps build debug headless windows run demo test npm copilot conformance inspector realservers shots fuzz lint cross bench clean

all: build

## deps: find what is missing and install it, or say what to install
deps:
	@scripts/deps.sh

## build: the program, in bin/
build:
	$(GO) build $(RELEASE) -o $(BIN) .

## debug: the program with the race detector, and with Fyne's checks
debug:
	$(GO) build -race -o $(BIN)-debug .

## headless: one static binary with every door but the windows
headless:
	CGO_ENABLED=0 $(GO) build -tags headless -ldflags '$(LDFLAGS)' -o $(BIN)-headless .

## windows: the program for Windows, for the console and without one, in bin/
windows:
	@scripts/deps.sh windows
	$(WINDOWS) $(GO) build $(RELEASE) -o $(BIN).exe .
	$(WINDOWS) $(GO) build -tags migrated_fynedo -ldflags '$(LDFLAGS) -H windowsgui' -o $(BIN)w.exe .

WINDOWS := CGO_ENABLED=1 GOOS=windows GOARCH=amd64 CC=x86_64-w64-mingw32-gcc

## run: serve with your own configuration
run: build
	$(BIN) serve

## demo: see it work, without a key and without a network
demo:
	@scripts/deps.sh go
	@$(MAKE) --no-print-directory headless
	$(BIN)-headless demo $(DEMO_FLAGS)

## test: everything, with the race detector and real MCP servers
test: deps npm test/conformance/node_modules/.installed
	@$(MAKE) --no-print-directory copilot || echo "Copilot cannot be installed: the tests that need it are skipped"
	@$(MAKE) --no-print-directory inspector || echo "The MCP inspector cannot be installed: the test that needs it is skipped"
	$(GO) test -race ./...

# The real MCP servers and SDKs that tests talk to.
npm: test/npm/node_modules/.installed

test/npm/node_modules/.installed: test/npm/package-lock.json
	cd test/npm && npm ci --no-fund --no-audit --ignore-scripts
	@touch $@

## copilot: the real Copilot CLI and SDK (350 MB), which some tests talk to
copilot: test/copilot/node_modules/.installed

# Not `npm ci`: it insists on the SDK's packages for other platforms, which not
# every registry has.
test/copilot/node_modules/.installed: test/copilot/package-lock.json
	cd test/copilot && npm install --no-save --no-fund --no-audit --ignore-scripts --fetch-retries 1
	@touch $@

## conformance: the official MCP conformance runner judges both sides of us
conformance: test/conformance/node_modules/.installed
	$(GO) test -count 1 -v ./test/conformance/...

# The runner needs a newer Node than many machines have; it comes with one where
# there is a package of it.
test/conformance/node_modules/.installed: test/conformance/package-lock.json
	cd test/conformance && npm ci --no-fund --no-audit --ignore-scripts
	@touch $@

## inspector: the official MCP inspector (110 MB), which a test lists and calls with
inspector: test/inspector/node_modules/.installed

test/inspector/node_modules/.installed: test/inspector/package-lock.json
	cd test/inspector && npm ci --no-fund --no-audit --ignore-scripts
	@touch $@

## realservers: MCP servers of many authors list their tools (3 GB, three minutes)
realservers: test/realservers/node_modules/.installed
	PATH="$(CURDIR)/test/realservers/node_modules/.bin:$$PATH" $(GO) run -tags headless ./test/realservers test/realservers

test/realservers/node_modules/.installed: test/realservers/package-lock.json
	cd test/realservers && npm ci --no-fund --no-audit --ignore-scripts
	@touch $@

## shots: pictures of every screen, light and dark, in shots/
shots: deps
	@mkdir -p shots
	POINTSMAN_E2E_SHOTS=$(CURDIR)/shots $(GO) test ./e2e -run '^TestShots$$' -count 1 -v

## fuzz: every parser of what comes from outside, 30 s each (half an hour; FUZZTIME=5m for longer)
fuzz:
	scripts/fuzz.sh $(FUZZTIME)

## lint: formatting, vet, staticcheck, known vulnerabilities, go.mod
lint: cross
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt would change:" $$unformatted; exit 1; }
	CGO_ENABLED=0 $(GO) run $(STATICCHECK) -tags headless ./...
	$(GO) mod tidy -diff
	@if curl -sfm 5 -o /dev/null https://vuln.go.dev/index/db.json; then $(GO) run $(GOVULNCHECK) ./...; \
	 else echo "govulncheck: the vulnerability database cannot be reached; skipped"; fi

## cross: every package compiles for every platform, but for the windows: Fyne needs
## a Mac's own headers, and `make windows` builds them for Windows
cross:
	CGO_ENABLED=0 GOOS=linux   $(GO) vet -tags headless ./...
	CGO_ENABLED=0 GOOS=darwin  $(GO) vet -tags headless $$($(PORTABLE))
	CGO_ENABLED=0 GOOS=windows $(GO) vet -tags headless $$($(PORTABLE))

PORTABLE := $(GO) list ./... | grep -vxE 'pointsman/ui(/part|/theme)?'

## bench: the gateway beside a bare reverse proxy; MCP servers, hosted and direct; the
## tray and the windows in a session
bench: build
	$(GO) run ./bench -binary $(BIN) $(BENCH_FLAGS)

clean:
	rm -rf bin build
