# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Each target does its own set-up; ARGS is passed to what it runs: make test ARGS="-k names".

TOOLS := .venv-tools
NOX := $(TOOLS)/bin/python -m nox
SESSIONS := demo test matrix lint gates docs check devel bench live
# What `make release` runs before it builds anything.
CHECKS := demo check

# Where to look for a Python that runs nox, which finds the others itself. The shell expands it.
PYTHONS := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python3.10 \
	/usr/bin/python3 "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/*/bin/python3)
SUITABLE := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))

# nox and uv need a home; a user of a container may not even have one in /etc/passwd.
export HOME ?= $(or $(shell getent passwd $$(id -u) | cut -d: -f6),$(CURDIR)/.nox/home)
# git refuses a tree that another user owns, such as one that is mounted into a container.
export GIT_CONFIG_COUNT := 1
export GIT_CONFIG_KEY_0 := safe.directory
export GIT_CONFIG_VALUE_0 := $(CURDIR)

.PHONY: help clean release $(SESSIONS)

help:
	@echo "make demo      1 min  list and reach the servers of a sandbox"
	@echo "make test      2 min  run the unit tests, the end-to-end tests and the guides"
	@echo "make matrix   11 min  run them on each ansible-core (ARGS=2.16: only on that one)"
	@echo "make lint      2 min  check formatting, types and style of the whole tree"
	@echo "make gates    11 min  run checks of Ansible and Galaxy, make lint, make docs"
	@echo "make docs      1 min  check the documentation and build it as a web site"
	@echo "make check    11 min  run matrix and gates together, which takes less time"
	@echo "make devel    10 min  test with the newest pre-release of ansible-core"
	@echo "make bench    15 min  compare the speed of the inventory with other plugins"
	@echo "make live      5 sec  check a real account, read-only, and print a report"
	@echo "make release  15 min  check everything, build the release from the commit"
	@echo "make clean            remove what the other targets created"
	@echo "The times are for two cores; the first run also downloads packages."

# Their output is for reading, so nox prints only errors.
demo live: export NOX_QUIET := 1

$(SESSIONS): $(TOOLS)/ready
	@$(NOX) --session $@ -- $(ARGS)

release: $(TOOLS)/ready
	@$(TOOLS)/bin/python tools/release.py $(ARGS)
	@$(if $(CHECKS),$(MAKE) --no-print-directory $(CHECKS) ARGS=)
	@$(NOX) --session release -- $(ARGS)

$(TOOLS)/ready: tests/requirements-tools.txt
	@for python in $(PYTHONS); do \
		if "$$python" -c '$(SUITABLE)' >/dev/null 2>&1; then break; fi; \
		python=; \
	done; \
	if [ -z "$$python" ]; then \
		echo "Python 3.10 or later with venv and pip is required (Debian: python3-venv)." >&2; \
		echo "None of these is one:" $(PYTHONS) >&2; \
		echo "To use another: make PYTHON=/path/to/python3 ..." >&2; \
		exit 1; \
	fi; \
	echo "Installing nox and uv into $(TOOLS) with $$python (once)" >&2; \
	"$$python" -m venv --clear $(TOOLS) && \
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check uv && \
	UV_SYSTEM_CERTS=true $(TOOLS)/bin/uv pip install --quiet --python $(TOOLS) --requirement $< && \
	touch $@

clean:
	rm -rf $(TOOLS) .nox .ansible .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
