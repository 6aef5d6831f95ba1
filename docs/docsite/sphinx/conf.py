# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Configure Sphinx for the documentation site.

It is based on the output of ``antsibull-docs sphinx-init``, changed to work without a network. The
environment variable ``SITE`` names the directory of the build.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes

DOCS = Path(__file__).parents[2]
COLLECTION = DOCS.parent
SITE = Path(os.environ["SITE"])

version = release = yaml.safe_load((COLLECTION / "galaxy.yml").read_text("utf-8"))["version"]
project = html_title = html_short_title = f"server_management.cloud {version}"
copyright = "The server_management.cloud contributors"  # noqa: A001 (the name is Sphinx's)

extensions = ["sphinx.ext.intersphinx", "sphinx_antsibull_ext", "sphinx_copybutton"]
copybutton_prompt_text = "$ "  # of a block with prompts, only the commands are copied
pygments_style = "ansible"
highlight_language = "YAML+Jinja"
default_role = "any"
nitpicky = True

html_theme = "sphinx_ansible_theme"
html_theme_options = {
    "display_version": False,
    "topbar_links": {"Ask for help": "https://forum.ansible.com/c/help/6"},
}
html_show_sphinx = False
html_use_modindex = False
html_use_index = False
html_copy_source = False

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
    "ansible": (ANSIBLE, write_inventory(SITE / "ansible.inv")),
}


def link_pages(_app: Any, page: nodes.document) -> None:
    """Let links between guides lead to pages of the site: on GitHub, they lead to the sources."""
    for link in page.findall(nodes.reference):
        if "refuri" in link:
            link["refuri"] = _SOURCE.sub(r"\1.html", link["refuri"])


def setup(app: Any) -> None:
    """Change each page when it has been read."""
    app.connect("doctree-read", link_pages)


_SOURCE = re.compile(r"^(\w+)\.rst(?=#|$)")

# The generated start page lists plugins in alphabetical order, so that the modules for unreleased
# operations come first. A page that is missing in this one is an error.
shutil.copyfile(Path(__file__).with_name("index.rst"), SITE / "rst" / "index.rst")
# Guides name pictures as seen from docs/docsite/rst.
for picture in DOCS.glob("*.svg"):
    shutil.copyfile(picture, SITE / picture.name)
# The generated list of environment variables knows the inventory plugin only.
with (SITE / "rst" / "environment_variables.rst").open("a", encoding="utf-8") as variables:
    variables.write("\nThe modules, the playbooks and the event source read them, too.\n")


def plain(text: str) -> str:
    """Replace the macros of Ansible's documentation by code in reStructuredText."""
    return re.sub(r"\b[CEOVP]\(([^()]+)\)", r"``\1``", text)


def event_source_page() -> str:
    """Return the reference of the event source, which antsibull-docs does not know."""
    source = COLLECTION / "extensions/eda/plugins/event_source/servers.py"
    texts = {}
    for statement in ast.parse(source.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            texts[ast.unparse(statement.targets[0])] = str(statement.value.value)
    doc = yaml.safe_load(texts["DOCUMENTATION"])
    title = "server_management.cloud.servers event source"
    lines = [title, "=" * len(title), "", f"{doc['short_description']}.", ""]
    lines += [f"- {plain(text)}" for text in doc["description"] + doc["notes"]]
    lines += ["", "Arguments", "---------", ""]
    for name, option in doc["options"].items():
        default = str(option["default"]).replace("False", "false")
        lines += [f"``{name}`` ({option['type']}, default ``{default}``)"]
        lines += [f"    {plain(text)}\n" for text in option["description"]]
    lines += ["The options of the connection are those of the inventory plugin.", ""]
    lines += ["Examples", "--------", "", ".. code-block:: yaml", ""]
    lines += [f"    {line}" for line in texts["EXAMPLES"].splitlines()]
    return "\n".join(lines) + "\n"


(SITE / "rst" / "servers_event_source.rst").write_text(event_source_page(), encoding="utf-8")
