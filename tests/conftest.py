# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make the collection importable, ignore the user's settings and refuse skips in CI."""

import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for `tools`
sys.path.insert(0, str(Path(__file__).resolve().parent))  # for `sandbox` and `support`

# Their assertions show values, too.
pytest.register_assert_rewrite("support")
from support.collection import link_collection
from support.run import Runner

pytest_plugins = ["support.fixtures"]

# The machine may be busy, so that an example can take any time. A failing example is kept in
# .hypothesis, and printed in a form that repeats it elsewhere.
settings.register_profile(
    "default",
    settings.get_profile("default"),
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# For runs that repeat on another ansible-core what one run did with more examples. Looking for a
# shorter example can take five minutes.
QUICK = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
settings.register_profile("quick", settings.get_profile("default"), max_examples=10, phases=QUICK)
# With CI=true, Hypothesis would choose a profile that always tries the same examples.
settings.load_profile("default")

FOREIGN = ("ANSIBLE_", "SERVER_MANAGEMENT_")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
IN_CI = os.environ.get("CI", "").lower() in ("1", "true")

# Seconds, for tests that run commands, and for those that run other programs. Each command has a
# limit, too.
LONG = 300
LONGEST = 1200


def pytest_configure(config):
    """Make the working tree importable as the collection, unless ansible-test has done so."""
    Runner.prints_results = True
    # Several sessions in one temporary folder would remove each other's.
    if "PYTEST_XDIST_WORKER" not in os.environ:
        # What a test has started may still write there.
        sessions = tempfile.TemporaryDirectory(prefix="pytest_", ignore_cleanup_errors=True)
        config.add_cleanup(sessions.cleanup)
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", sessions.name)
    if config.pluginmanager.hasplugin("ansible_pytest_collections"):
        return
    for name in list(os.environ):
        if name.startswith(FOREIGN) or name.upper() in (*PROXIES, *BUNDLES):
            del os.environ[name]
    folder = tempfile.TemporaryDirectory(prefix="server_management_tests_")
    config.add_cleanup(folder.cleanup)
    place = Path(folder.name)
    (place / "ansible.cfg").touch()
    os.environ["ANSIBLE_CONFIG"] = str(place / "ansible.cfg")
    os.environ["ANSIBLE_HOME"] = str(place / "home")
    # Not at the top: Ansible reads its configuration when it is imported.
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader([str(link_collection(place))])


def pytest_sessionstart():
    """Stop at once if nearly all tests would fail for a field that their account lacks."""
    from ansible_collections.server_management.cloud.plugins.module_utils._models import FIELDS
    from sandbox.account import SERVER

    if missing := sorted(FIELDS.keys() - SERVER.keys()):
        pytest.exit(f"tests/sandbox/account.py: SERVER lacks {', '.join(missing)}", returncode=1)


def _no_skip(report):
    """Turn a skip into a failure in CI; an expected failure is not a skip."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and nothing may be skipped in CI: {report.longrepr}"
    return report


def pytest_collection_modifyitems(config, items):
    """Give tests that run commands more time, and let processes begin with them."""
    for item in items:
        if "programs" in item.path.parts or item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(LONGEST))
        elif "runner" in item.fixturenames:
            item.add_marker(pytest.mark.timeout(LONG))
    if hasattr(config, "workerinput"):
        # A process gets the next test when it has finished one, so the short ones fill the end.
        items.sort(key=lambda item: "runner" not in item.fixturenames)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Refuse tests that were skipped in CI."""
    return _no_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Refuse files that were skipped as a whole in CI."""
    return _no_skip((yield))
