# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Configure Sphinx for the documentation site.

It is based on the output of ``antsibull-docs sphinx-init``, changed to work without a network. The
environment variable ``SITE`` names the directory of the build.
"""

from __future__ import annotations

import os
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

project = title = html_short_title = "server_management.cloud"
copyright = "The server_management.cloud contributors"  # noqa: A001 (the name is Sphinx's)

extensions = ["sphinx.ext.intersphinx", "sphinx_antsibull_ext", "sphinx_copybutton"]
copybutton_prompt_text = "$ "  # of a block with prompts, only the commands are copied
pygments_style = "ansible"
highlight_language = "YAML+Jinja"
default_role = "any"
nitpicky = True

html_theme = "sphinx_ansible_theme"
html_theme_options = {"display_version": False}
html_show_sphinx = False
html_use_modindex = False
html_use_index = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]

# References to Ansible's own documentation. Sphinx would download the list of all references; this
# list is sufficient without a network, and a reference that is missing in it is an error.
ANSIBLE = "https://docs.ansible.com/ansible-core/devel/"
CONFIGURATION = "reference_appendices/config.html"
LABELS = {
    "ansible_collections.ansible.builtin.ssh_connection": (
        "collections/ansible/builtin/ssh_connection.html",
        "ansible.builtin.ssh connection",
    ),
    "ansible_configuration_settings": (CONFIGURATION, "Ansible Configuration Settings"),
    "common_return_values": ("reference_appendices/common_return_values.html", "Return Values"),
}
VARIABLES = (
    "ANSIBLE_CACHE_PLUGIN",
    "ANSIBLE_CACHE_PLUGIN_CONNECTION",
    "ANSIBLE_CACHE_PLUGIN_PREFIX",
    "ANSIBLE_CACHE_PLUGIN_TIMEOUT",
    "ANSIBLE_DEBUG",
    "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED",
    "ANSIBLE_KEEP_REMOTE_FILES",
)


def write_inventory(path: Path) -> str:
    """Write the list of references in Sphinx's format, and return its path."""
    head = (
        "# Sphinx inventory version 2\n# Project: ansible-core\n# Version: devel\n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    lines = [
        f"{name} std:label -1 {page}#{name.replace('_', '-')} {text}\n"
        for name, (page, text) in LABELS.items()
    ]
    lines += [f"{name} std:envvar 1 {CONFIGURATION}#envvar-$ -\n" for name in VARIABLES]
    path.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))
    return str(path)


intersphinx_mapping = {
    "ansible": (ANSIBLE, write_inventory(Path(os.environ["SITE"], "ansible.inv"))),
}


def allow_line_breaks(*arguments: Any) -> None:
    """Let long names break after a dot, a slash, an underscore or a colon.

    A short word in code, such as Ctrl-C, does not break.
    """
    context = arguments[3]  # of the event html-page-context
    body = _SHORT_CODE.sub('<span class="pre short">', context.get("body", ""))
    context["body"] = _LONG_NAMES.sub(lambda match: _BREAKS.sub(r"\g<0><wbr>", match[0]), body)


def setup(app: Any) -> None:
    """Change each page before it is written."""
    app.connect("html-page-context", allow_line_breaks)


_LONG_NAMES = re.compile(
    r'<(h[1-4])>.*?</\1>|<code .*?</code>|<span class="std std-ref">.*?</span>', re.DOTALL
)
_SHORT_CODE = re.compile(r'<span class="pre">(?=[^<]{1,10}</span>)')
_BREAKS = re.compile(r"(?<=\w)[._/:](?=\w)(?![^<]*>)")

# The generated start page lists plugins in alphabetical order, so that the modules for unreleased
# operations come first. A page that is missing in this one is an error.
DOCS = Path(__file__).parents[2]
SITE = Path(os.environ["SITE"])
shutil.copyfile(Path(__file__).with_name("index.rst"), SITE / "rst" / "index.rst")
# Guides name pictures as seen from docs/docsite/rst.
for picture in DOCS.glob("*.svg"):
    shutil.copyfile(picture, SITE / picture.name)
