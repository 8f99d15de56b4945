"""Where a key may go: the origin of the endpoint's base URL and no other, whatever an adapter's own settings say.

That is what "a saved key is used with the saved base URL only" stands on (design, "Trust of settings").
"""

from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from tests.contract.fixtures import RecordedTransport, all_settings_for, answers_for
from tests.contract.test_conformance import CASES, made
from tests.fakes.instances import request, scope
from zarniwoop.contract.failure import ProviderError
from zarniwoop.contract.modality import SearchModality
from zarniwoop.wire.driver import WireProtocol

KEYED = [(protocol, modality) for protocol, modality in CASES if protocol.format.authentication is not None]


def origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


@pytest.mark.parametrize(("protocol", "modality"), KEYED, ids=[f"{each.id()}-{modality}" for each, modality in KEYED])
def test_a_key_goes_to_the_origin_of_the_base_url_alone(protocol: WireProtocol, modality: SearchModality) -> None:
    """With every set of settings that its fixtures know, for a search and for its quota."""
    for extras in all_settings_for(protocol.id()):
        transport = RecordedTransport(*answers_for(protocol.id(), modality))
        made_of = made(protocol, transport, extras)
        made_of.search(request(modality=modality, max_results=2), scope())
        with suppress(ProviderError):  # a search's answer is no quota; the request was made all the same
            made_of.current_quota(scope())
        base = protocol.format.default_base_url or "https://provider.test"
        assert {origin(sent.request.url) for sent in transport.sent if sent.secret is not None} <= {origin(base)}
        assert transport.sent
