# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Each target does its own set-up; ARGS reaches what it runs: make test ARGS="-k naming".

TOOLS := .venv-tools
NOX := $(TOOLS)/bin/python -m nox
SESSIONS := demo test matrix lint gates docs bench picture release

# What is asked of the first Python: the others are found by nox.
PYTHONS := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python3.10 \
	/usr/bin/python3 $(wildcard $(HOME)/.pyenv/versions/*/bin/python3))
FITS := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))

.PHONY: help clean $(SESSIONS)

help:
	@echo "make demo    servers of a sandbox as an inventory, from nothing, in a minute"
	@echo "make test    unit tests and outside-in tests"
	@echo "make matrix  the same on each supported ansible-core; ARGS=2.16 for one"
	@echo "make lint    formatting, types and style of the whole tree"
	@echo "make gates   what Ansible's community and Galaxy ask for, make lint included"
	@echo "make docs    the documentation as a web site, which it names at the end"
	@echo "make bench   what an inventory costs, beside its peers, in half an hour"
	@echo "make picture draws docs/graph.svg from a run of the demo"
	@echo "make release checks everything and builds the release; ARGS=publish to publish it"
	@echo "make clean   remove what the others made"

$(SESSIONS): $(TOOLS)/ready
	@$(NOX) --session $@ -- $(ARGS)

$(TOOLS)/ready: tests/requirements-tools.txt
	@for python in $(PYTHONS); do \
		if "$$python" -c '$(FITS)' >/dev/null 2>&1; then break; fi; \
		python=; \
	done; \
	if [ -z "$$python" ]; then \
		echo "Needed: Python 3.10 or later with venv and pip (on Debian: python3-venv)." >&2; \
		echo "Tried: $(PYTHONS)" >&2; \
		echo "Another one can be named: make PYTHON=/path/to/python3 ..." >&2; \
		exit 1; \
	fi; \
	echo "Making $(TOOLS) with nox and uv, once, with $$python" >&2; \
	"$$python" -m venv --clear $(TOOLS) && \
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< && \
	touch $@

clean:
	rm -rf $(TOOLS) .nox .ansible .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
