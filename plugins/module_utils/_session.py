# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The session of the library requests: its token, its connections, and what it must not do.

The library is imported when the first request is sent, because an inventory from the cache does
not need it.
"""

from __future__ import annotations

import http.client
import http.cookiejar
import logging
import socket
import ssl
import sys
import sysconfig
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import MalformedResponse, MissingLibrary
from ._options import Connection
from ._url import is_loopback, origin, proxy_address

if TYPE_CHECKING:
    import requests

_HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip"}
THREAD = "server_management.cloud request"  # the name of threads that send requests


class SocketHandle:
    """A duplicate of the socket in use, with which another thread can shut down the connection.

    Neither requests nor urllib3 has a function for this. A duplicate also works during the TLS
    handshake, which moves the socket to another object, and for a body whose connection is no
    longer kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_cut = False

    def watch(self, used: Any) -> None:
        """Duplicate a socket; one of TLS was duplicated before it was moved into that object."""
        if not isinstance(used, socket.socket) or isinstance(used, ssl.SSLSocket):
            return
        self.close()
        with self._lock:
            self._socket = used.dup()
            if self._is_cut:
                _shut_down(self._socket)

    def cut(self) -> None:
        """Shut down the socket, and any later one."""
        with self._lock:
            self._is_cut = True
            if self._socket is not None:
                _shut_down(self._socket)

    def close(self) -> None:
        """Close the duplicate; the connection stays open until its user closes it, too."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None


def _shut_down(used: socket.socket) -> None:
    with suppress(OSError):  # the API has closed it already
        used.shutdown(socket.SHUT_RDWR)


def _install_command() -> str:
    """Return the command that installs requests for this Python, which may have no pip."""
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv tool install --with requests {prefix.name}"
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx inject {prefix.name} requests"
    marker = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"  # PEP 668
    if sys.prefix == sys.base_prefix and marker.is_file():
        return "with the system's package manager, on Debian: apt install python3-requests"
    if find_spec("pip") is None:
        return f"uv pip install --python {sys.executable} requests"
    return f"{sys.executable} -m pip install requests"


def new_session(connection: Connection, handle: SocketHandle) -> requests.Session:
    """Return a session that sends the token, and that reports its sockets to ``handle``."""
    try:
        import requests
        import urllib3
    except ImportError:
        raise MissingLibrary(
            "The Python library requests is not installed.",
            f"Install it where Ansible runs: {_install_command()}.",
        ) from None

    def add_token(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {connection.api_token}"
        return request

    class Session(requests.Session):
        """A session without redirects; requests would read the whole body of one."""

        def get_redirect_target(self, resp: requests.Response) -> None:
            return None

        def close(self) -> None:
            super().close()
            handle.close()

    if connection.verify is False:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    _silence_loggers()
    session = Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, _new_adapter(handle))
    session.cookies.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
    session.auth = add_token  # with an auth, requests ignores ~/.netrc
    agent = f"{connection.user_agent} {requests.utils.default_user_agent()}"
    session.headers.update(_HEADERS | {"User-Agent": agent})
    return session


def _new_adapter(handle: SocketHandle) -> requests.adapters.HTTPAdapter:
    import requests

    class Adapter(requests.adapters.HTTPAdapter):
        """An adapter that changes its connections, also those through a proxy."""

        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            super().init_poolmanager(*args, **kwargs)
            _change_connections(self.poolmanager, handle)

        def proxy_manager_for(self, proxy: Any, **kwargs: Any) -> Any:
            is_new = proxy not in self.proxy_manager
            manager = super().proxy_manager_for(proxy, **kwargs)
            if is_new:
                _change_connections(manager, handle)
            return manager

    return Adapter()


def _change_connections(manager: Any, handle: SocketHandle) -> None:
    """Let a PoolManager of urllib3 make connections that report their socket to ``handle``.

    They also check the headers of a response, and print nothing.
    """

    def use(connection: Any, used: Any) -> None:
        vars(connection)["sock"] = used
        handle.watch(used)

    members = {
        "sock": property(lambda connection: vars(connection)["sock"], use),
        "response_class": _HeaderCheckedResponse,
        "debuglevel": 0,  # http.client would print headers if a program sets it for all
    }
    manager.pool_classes_by_scheme = {
        scheme: type(
            pool.__name__,
            (pool,),
            {"ConnectionCls": type("Connection", (pool.ConnectionCls,), members)},
        )
        for scheme, pool in manager.pool_classes_by_scheme.items()
    }


class _HeaderCheckedResponse(http.client.HTTPResponse):
    """A response that is refused if its headers have defects.

    After a line without a colon, Python takes all other headers for a part of the body, and urllib3
    logs that line, which could contain the token.
    """

    def begin(self) -> None:
        from urllib3.exceptions import HeaderParsingError
        from urllib3.util.response import assert_header_parsing

        super().begin()
        try:
            assert_header_parsing(self.msg)
        except HeaderParsingError:
            if self.status == 200:
                raise MalformedResponse(
                    "The headers of the response are malformed.",
                    "Check base_url and any proxy: one line of the headers is not a header.",
                ) from None


def _silence_loggers() -> None:
    """Drop what requests and urllib3 log about our requests: it can contain headers and URLs."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("requests", "urllib3"):
            logging.getLogger(name).addFilter(_is_of_others)


def _is_of_others(record: logging.LogRecord) -> bool:
    return threading.current_thread().name != THREAD


def proxies(url: str) -> dict[str, str]:
    """Return proxies that take precedence over the environment: none for a loopback address."""
    scheme, host = origin(url)[:2]
    return {f"{scheme}://{host}": ""} if is_loopback(host) else {}


def proxy_of(session: requests.Session, url: str) -> str | None:
    """Return the address of the proxy for a URL, "" if that is malformed, or None without one."""
    import requests

    settings = session.merge_environment_settings(url, proxies(url), None, None, None)
    proxy = requests.utils.select_proxy(url, settings["proxies"])
    return proxy_address(proxy) if proxy else None
