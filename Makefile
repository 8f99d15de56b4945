# What a newcomer types: `make demo` to see it work, `make serve` to keep it up, `make check test` to prove it.
# Needs Python 3.11 or newer and make; everything else is installed into .venv, .stack-venv
# and .clients-venv.
PYTHON ?= python3

PROJECT_PYTHON := .venv/bin/python
UV := .venv/bin/uv
COMPILE := $(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header
# Comes with the Lambda runtime, so the layer does not ship it.
RUNTIME_PACKAGES := boto3 botocore jmespath python-dateutil s3transfer six urllib3

# What `make deploy` builds for and deploys to. Lambda's 3.11 runs on Amazon Linux 2, whose glibc is 2.26.
RUNTIME ?= python3.13
ARCHITECTURE ?= arm64
PARAMETERS ?=
# What renders pages that need scripts: none, chromium (x86_64 alone) or agentcore.
BROWSER ?= none
GLIBC := $(if $(filter python3.11,$(RUNTIME)),manylinux_2_17,manylinux_2_28)
LAYER_PLATFORM := $(addsuffix -$(GLIBC),$(patsubst arm64,aarch64,$(filter arm64 x86_64,$(ARCHITECTURE))))
TARGET := LambdaRuntime=$(RUNTIME) LambdaArchitecture=$(ARCHITECTURE)$(if $(filter none,$(BROWSER)),, Browser=$(BROWSER))

.PHONY: help setup check test test-model demo serve stop deploy token bench docs lock clean
help: ## what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/'

setup: .venv/.ready .stack-venv/.ready .clients-venv/.ready ## install what the other targets need

.venv/.ready: .ci/requirements-dev.txt cli/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; say make PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(PROJECT_PYTHON) -m pip install --quiet --upgrade pip
	@# uv first, by its own lines of the lock; it installs the rest in seconds.
	sed -n '/^uv==/,/[^\\]$$/p' .ci/requirements-dev.txt > .venv/uv.txt
	$(PROJECT_PYTHON) -m pip install --quiet --require-hashes --requirement .venv/uv.txt
	$(UV) pip install --quiet --python $(PROJECT_PYTHON) --require-hashes --requirements .ci/requirements-dev.txt
	@# The `zarniwoop` command, in place; what it needs is in the lock, and so is what builds it.
	$(UV) pip install --quiet --python $(PROJECT_PYTHON) --offline --no-deps --no-build-isolation --editable cli
	@touch $@

# The emulator and SAM CLI live apart: functions that run in the emulator see its packages.
.stack-venv/.ready: .venv/.ready .ci/requirements-stack.txt
	$(PYTHON) -m venv --without-pip .stack-venv
	$(UV) pip install --quiet --python .stack-venv/bin/python --require-hashes --requirements .ci/requirements-stack.txt
	@touch $@

# Clients that call the deployed stack as strangers do; some of them need an older MCP than the tests' own.
.clients-venv/.ready: .venv/.ready .ci/requirements-clients.txt
	$(PYTHON) -m venv --without-pip .clients-venv
	$(UV) pip install --quiet --python .clients-venv/bin/python --require-hashes --requirements .ci/requirements-clients.txt
	@touch $@

# What npm brings is a part of the tests alone: where there is no npm or it reaches no registry, they are skipped. With
# REQUIRE_NODE=1 an npm that is there must bring it.
SKIPPED = { echo "npm did not bring $(1): its tests are skipped" >&2; $(if $(REQUIRE_NODE),false,rm -rf $(2)); }

# MCP's own clients in TypeScript, and its conformance suite.
NODE_CLIENTS := $(if $(shell command -v npm),tests/clients/node_modules/.ready)

tests/clients/node_modules/.ready: tests/clients/package.json tests/clients/package-lock.json
	npm ci --prefix tests/clients --ignore-scripts --loglevel=error --no-audit --no-fund --no-update-notifier \
	    && touch $@ || $(call SKIPPED,the clients in TypeScript,$(@D))

# Nothing but the server of `make test-model`; it is compiled for this machine, by the tools of the same lock.
.model-venv/.ready: .venv/.ready .ci/requirements-model.txt
	$(PYTHON) -m venv --without-pip .model-venv
	CMAKE_BUILD_PARALLEL_LEVEL=$${CMAKE_BUILD_PARALLEL_LEVEL:-2} $(UV) pip install --quiet --python .model-venv/bin/python \
	    --build-constraints .ci/requirements-model.txt --require-hashes --requirements .ci/requirements-model.txt
	@touch $@

check test test-model demo serve stop token bench docs: setup
check test test-model demo serve stop token bench docs: export PYTHONPATH = cli:layers/zarniwoop:layers/browser

# The browser's layer as it is for Lambda, with its Chromium, for the tests of pages that need scripts. Where it cannot be
# had (no npm or registry, another processor) those are skipped, unless CHROMIUM names one.
BROWSER_LAYER := $(if $(shell command -v npm),$(if $(filter x86_64,$(shell uname -m)),.local/browser/.ready))

.local/browser/.ready: .venv/.ready layers/browser/Makefile layers/browser/requirements.txt $(wildcard layers/browser/zarniwoop_browser/*.py)
	rm -rf .local/browser
	$(MAKE) --silent --directory layers/browser build-BrowserLayer ARTIFACTS_DIR=$(CURDIR)/.local/browser LAYER_BROWSER=chromium \
	    LAYER_PLATFORM=host LAYER_PYTHON=$$($(PROJECT_PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])') \
	    LAYER_PACKER=$(CURDIR)/$(PROJECT_PYTHON) UV=$(CURDIR)/$(UV) || $(call SKIPPED,the browser,$(@D))
	@if [ -d $(@D) ]; then touch $@; fi

check: ## style, types, layering, the template
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy layers/zarniwoop/zarniwoop layers/browser/zarniwoop_browser functions cli tests
	.venv/bin/lint-imports
	$(PROJECT_PYTHON) -m stack.sam validate --lint

test: $(BROWSER_LAYER) $(NODE_CLIENTS)
test: ## every test, with coverage of the layer; the end-to-end ones start and stop a stack of their own
	@echo "All tests run now, the end-to-end ones beside the others; what they say comes when they are done."
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-others test-e2e

# The end-to-end tests wait more than they work, and the others stand behind them in line for the processors.
.PHONY: test-e2e test-others
test-e2e:
	$(PROJECT_PYTHON) -m pytest tests/e2e
test-others:
	nice -n 10 $(PROJECT_PYTHON) -m pytest --ignore=tests/e2e --numprocesses=auto --dist=loadfile --cov --cov-report=term

test-model: .model-venv/.ready ## investigate with a real language model on this machine; the first time it compiles for ten minutes
	$(PROJECT_PYTHON) -m pytest tests/model

demo: ## deploy to an emulator on this machine and show real tool calls, then stop
	@$(PROJECT_PYTHON) -m stack.demo

serve: ## keep the stack up with the real keyless providers, until Ctrl-C or `make stop`
	@$(PROJECT_PYTHON) -m stack.serve $(ARGS)

stop: ## end what `make serve`, `make demo` or `make test` left running
	@$(PROJECT_PYTHON) -m stack.stop

deploy: setup ## build and deploy to AWS, with your credentials; ARGS=--guided asks for everything
	$(if $(LAYER_PLATFORM),,$(error ARCHITECTURE is arm64 or x86_64, not "$(ARCHITECTURE)"))
	PATH="$(CURDIR)/.venv/bin:$$PATH" LAYER_PYTHON=$(RUNTIME:python%=%) LAYER_PLATFORM=$(LAYER_PLATFORM) \
	    LAYER_BROWSER=$(BROWSER) LAYER_PACKER=$(CURDIR)/$(PROJECT_PYTHON) .stack-venv/bin/sam build --parameter-overrides $(TARGET)
	.stack-venv/bin/sam deploy --parameter-overrides $(TARGET) $(PARAMETERS) $(ARGS)

token: ## issue a token; ARGS="--stack-name zarniwoop --tenant acme" for a stack in AWS
	@$(PROJECT_PYTHON) -m stack.token $(ARGS)

bench: ## measure against the budgets; writes .local/bench.json
	@$(PROJECT_PYTHON) -m tests.benchmarks.run $(ARGS)

docs: ## write the tables of README and docs and the document of the API anew out of the code, and the costs out of its calls
	@$(PROJECT_PYTHON) -m tests.functional.examples
	@$(PROJECT_PYTHON) -m reference
	@$(PROJECT_PYTHON) -m tests.benchmarks.cost

lock: .venv/.ready ## resolve all dependencies anew
	$(COMPILE) --upgrade pyproject.toml --group dev --output-file .ci/requirements-dev.txt
	$(COMPILE) --upgrade --group clients --output-file .ci/requirements-clients.txt
	$(COMPILE) --upgrade --group stack --output-file .ci/requirements-stack.txt
	$(if $(NODE_CLIENTS),npm install --prefix tests/clients --package-lock-only --ignore-scripts --loglevel=error --no-audit --no-fund --omit-lockfile-registry-resolved)
	$(COMPILE) --upgrade --group browser --output-file layers/browser/requirements.txt
	$(COMPILE) --upgrade --group model --output-file .ci/requirements-model.txt
	$(COMPILE) --upgrade pyproject.toml $(RUNTIME_PACKAGES:%=--no-emit-package %) \
	    --output-file layers/zarniwoop/requirements.txt

clean: ## remove what was built and installed
	rm -rf .venv .clients-venv .stack-venv .model-venv .aws-sam .local .coverage .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	rm -rf cli/build cli/*.egg-info tests/clients/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
