# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the documentation site; started with antsibull-docs sphinx-init, and made to work offline.

The build's folder is ``SITE`` in the environment: what is written here goes there.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

project = title = html_short_title = "server_management.cloud"
copyright = "The server_management.cloud contributors"  # noqa: A001 (the name is Sphinx's)

extensions = ["sphinx.ext.intersphinx", "sphinx_antsibull_ext"]
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

# What the pages refer to in Ansible's own documentation. Sphinx would fetch the list of all that
# there is; this one is enough, and a reference that it lacks is an error.
ANSIBLE = "https://docs.ansible.com/ansible-core/devel/"
LABELS = {
    "ansible_configuration_settings": ("config", "Ansible Configuration Settings"),
    "common_return_values": ("common_return_values", "Return Values"),
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
    """Write the list of references in the form that Sphinx reads, and return where it is."""
    head = (
        "# Sphinx inventory version 2\n# Project: ansible-core\n# Version: devel\n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    page = "reference_appendices/{}.html"
    lines = [
        f"{name} std:label -1 {page.format(file)}#{name.replace('_', '-')} {text}\n"
        for name, (file, text) in LABELS.items()
    ]
    lines += [f"{name} std:envvar 1 {page.format('config')}#envvar-$ -\n" for name in VARIABLES]
    path.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))
    return str(path)


intersphinx_mapping = {
    "ansible": (ANSIBLE, write_inventory(Path(os.environ["SITE"], "ansible.inv"))),
}
