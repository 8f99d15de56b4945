"""The part of the composition root that pages need: the fetcher itself, and the way to ask the function that is one.

Only the fetching function makes `local_fetcher`; everybody else has `page_fetcher`.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zarniwoop.contract.failure import StackMisconfigured

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from zarniwoop.contract.deadline import Clock
    from zarniwoop.contract.page import PageFetcher
    from zarniwoop.contract.transport import AwsCaller, PublicAddresses
    from zarniwoop.evidence.ledger import EvidenceLedger
    from zarniwoop.extract.page_reader import PageReader
    from zarniwoop.net.address import AllowedNetworks
    from zarniwoop.net.transport import PooledTransport
    from zarniwoop.net.url import Target
    from zarniwoop.pages.browser import Browsers
    from zarniwoop.pages.fetcher import LocalFetcher, Render, Web
    from zarniwoop.pages.service import PageService
    from zarniwoop.tools.tool import ToolServices

BROWSER_ROOM = "/tmp/zarniwoop-browser"  # noqa: S108 - the only place of Lambda's that can be written to


class PageWiring:
    """What `wiring.Environment` is made of for pages; everything is made when it is first needed."""

    _variables: Mapping[str, str]
    clock: "Clock"

    if TYPE_CHECKING:  # declared for the type checker; the root makes them

        @cached_property
        def log(self) -> Logger: ...

        @cached_property
        def _contact(self) -> str: ...

        @cached_property
        def ledger(self) -> EvidenceLedger: ...

        @cached_property
        def tools(self) -> ToolServices: ...

        @cached_property
        def _addresses(self) -> PublicAddresses: ...

        @cached_property
        def _aws(self) -> AwsCaller: ...

        @property
        def _of_python(self) -> Mapping[str, str]: ...

    @cached_property
    def page_fetcher(self) -> "PageFetcher":
        """For whoever has no sockets to strangers."""
        from zarniwoop.pages.remote import RemoteFetcher
        from zarniwoop.stores.clients import KeptClients, lambda_client

        return RemoteFetcher(KeptClients(lambda_client), self._variables["PAGE_FETCHER_FUNCTION"])

    @cached_property
    def pages(self) -> "PageService":
        """For tools that read pages or keep evidence."""
        from zarniwoop.pages.service import PageService

        return PageService(
            fetcher=lambda: self.page_fetcher,
            ledger=lambda: self.ledger,
            addresses=self._addresses,
            dispatcher=self.tools.dispatcher,
            target_of=self._target_of,
            most_browsers=self._most_browsers if self._has_browser else 0,
        )

    def _target_of(self, url: str) -> "Target":
        """By the fetcher's own rules, but for what only it knows: names are looked up, and the API has a host."""
        from zarniwoop.net.url import parse

        allowed, refused = self._networks_for_pages, self._refused_hosts
        return parse(url, allowed=allowed, plain_http=True, refused_hosts=refused)

    @cached_property
    def local_fetcher(self) -> "LocalFetcher":
        """For the function that talks to strangers. Raises StackMisconfigured."""
        from zarniwoop.pages.fetcher import LocalFetcher
        from zarniwoop.pages.robots import Robots

        return LocalFetcher(
            web=self._web,
            robots=Robots(self._web, self.clock),
            reader=self._page_reader,
            clock=self.clock,
            render=self._render,
        )

    @cached_property
    def _render(self) -> "Render | None":
        """Pages are rendered where the stack has a browser."""
        browsers = self._browsers
        if browsers is None:
            return None
        from zarniwoop.pages.browser import BrowserStep

        return BrowserStep(
            browsers=browsers,
            web=self._web,
            internet=self._internet,
            reader=self._page_reader,
            clock=self.clock,
            variables=self._of_python,
        )

    @property
    def _most_browsers(self) -> int:
        from zarniwoop.pages.rendering import MOST_AT_ONCE

        stated = self._variables.get("BROWSER_CONCURRENCY", "")
        return int(stated) if stated.isdecimal() and int(stated) > 0 else MOST_AT_ONCE

    @property
    def _has_browser(self) -> bool:
        return self._variables.get("BROWSER") in ("chromium", "agentcore")

    @cached_property
    def _browsers(self) -> "Browsers | None":
        if not self._has_browser:
            return None
        from zarniwoop.net.aws_signing import websocket_headers
        from zarniwoop.pages.browsers import SERVICE, AgentCoreBrowsers, LayerFiles, LocalChromium

        files = LayerFiles(packed=self._variables.get("BROWSER_FILES"), room=BROWSER_ROOM)
        if self._variables["BROWSER"] == "chromium":
            return LocalChromium(files=files)
        return AgentCoreBrowsers(
            aws=self._aws, sign=lambda url: websocket_headers(url, SERVICE), clock=self.clock, files=files
        )

    @cached_property
    def _page_reader(self) -> "PageReader":
        from zarniwoop.extract.page_reader import PageReader

        return PageReader(variables=self._of_python)

    @cached_property
    def _web(self) -> "Web":
        return self.web_over()

    @cached_property
    def _internet(self) -> "Web":
        """For what the scripts of a page ask."""
        return self.web_over(opened=False)

    def web_over(self, *, opened: bool = True, **network: Any) -> "PooledTransport":
        """The guard for pages: http as well, our own API never, and, if `opened`, what the operator opened for pages.

        Tests hand in a network of their own: `resolve`, `dial`, `limits`, `extra_ca_file`.
        """
        from zarniwoop.net.address import AllowedNetworks
        from zarniwoop.net.transport import PooledTransport

        return PooledTransport(
            contact=self._contact,
            allowed=self._networks_for_pages if opened else AllowedNetworks(),
            plain_http=True,
            refused_hosts=self._refused_hosts,
            **network,
        )

    @cached_property
    def _refused_hosts(self) -> frozenset[str]:
        """Our own API under all of its names, and what the operator wants nobody to fetch."""
        named = ",".join((self._variables.get("OWN_API_HOST", ""), self._variables.get("FETCH_REFUSED_HOSTS", "")))
        return frozenset(filter(None, (host.strip().strip(".").lower() for host in named.split(","))))

    @property
    def _networks_for_pages(self) -> "AllowedNetworks":
        from zarniwoop.net.address import AllowedNetworks

        with suppress(ValueError):  # its text repeats the value
            return AllowedNetworks.parse(self._variables.get("FETCH_ALLOWED_NETWORKS", ""))
        self.log.error("a stack parameter cannot be read", extra={"parameter": "FetchAllowedNetworks"})
        raise StackMisconfigured("FetchAllowedNetworks")
