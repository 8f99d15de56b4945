"""From a request to its answer: control, faults, pacing, and the format that the path names."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.simulator.connection import Connection
from tests.simulator.fault_delivery import FAULTS
from tests.simulator.faults import Exchange, FaultRules, Rule, in_path
from tests.simulator.formats import FORMATS
from tests.simulator.formats.format import World, plain_refusal
from tests.simulator.journal import Journal
from tests.simulator.messages import Answer, Request, json_answer
from tests.simulator.pacing import Pacer
from tests.simulator.web import Web, refusal

_CONTROL = "/_control/"


@dataclass(slots=True, kw_only=True)
class Router:
    """`empty_world` answers for a provider that is to find nothing; `pacer` is None where nobody is held to a pace."""

    world: World
    empty_world: World
    pacer: Pacer | None
    web: Web = field(default_factory=Web)
    rules: FaultRules = field(default_factory=FaultRules)
    journal: Journal = field(default_factory=Journal)

    def handle(self, request: Request, connection: Connection) -> None:
        """Answer one request on its connection, well or badly."""
        if request.path.startswith(_CONTROL):
            connection.send(self._control(request))
            return
        ended = self.journal.note(request, connection)
        try:
            self._answer(request, connection)
        finally:
            ended()

    def _answer(self, request: Request, connection: Connection) -> None:
        carried, path = in_path(request.path)
        rule = carried or self.rules.take(path)
        exchange = self._exchange(replace(request, path=path), connection)
        if rule is None:
            connection.send(exchange.answer())
        elif rule.fault in FAULTS:
            FAULTS[rule.fault](exchange, rule.options)
        else:
            connection.send(json_answer({"error": "no such fault", "known": sorted(FAULTS)}, status=404))

    def _exchange(self, request: Request, connection: Connection) -> Exchange:
        if self.web.serves(request.path):
            return Exchange(
                request=request,
                connection=connection,
                answer=lambda: self.web.answer(request),
                empty=lambda: refusal(404),
                refusal=refusal,
            )
        return self._provider_exchange(request, connection)

    def _provider_exchange(self, request: Request, connection: Connection) -> Exchange:
        name, _, rest = request.path.removeprefix("/").partition("/")
        wire_format = FORMATS.get(name)
        below = replace(request, path=f"/{rest}")

        def answer() -> Answer:
            if wire_format is None:
                return plain_refusal(404)
            if self.pacer is not None and self.pacer.refuses(name, request):
                return wire_format.refusal(429)
            return wire_format.answer(below, self.world)

        def empty() -> Answer:
            return wire_format.answer(below, self.empty_world) if wire_format else plain_refusal(404)

        refusal = wire_format.refusal if wire_format else plain_refusal
        return Exchange(request=request, connection=connection, answer=answer, empty=empty, refusal=refusal)

    def _control(self, request: Request) -> Answer:
        match request.method, request.path.removeprefix(_CONTROL):
            case "GET", "faults":
                return json_answer([rule.as_json() for rule in self.rules.all()])
            case "POST", "faults":
                return self._add_rule(request)
            case "DELETE", "faults":
                self.rules.clear()
            case "POST", "pages":
                return self._change_page(request)
            case "DELETE", "pages":
                self.web.restore()
            case "GET", "requests":
                return json_answer([seen.as_json() for seen in self.journal.seen()])
            case "DELETE", "requests":
                self.journal.clear()
            case _:
                return plain_refusal(404)
        return json_answer({"cleared": True})

    def _add_rule(self, request: Request) -> Answer:
        try:
            rule = rule_of(request.json())
        except ValueError as error:
            return json_answer({"error": str(error)}, status=400)
        self.rules.add(rule)
        return json_answer(rule.as_json(), status=201)

    def _change_page(self, request: Request) -> Answer:
        """`{"path", "find", "put"}` for other words, `{"path", "status"}` for another status."""
        try:
            asked = request.json()
            self.web.change(
                str(asked["path"]),
                find=str(asked.get("find", "")),
                put=str(asked.get("put", "")),
                status=int(asked.get("status", 200)),
            )
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            return json_answer({"error": str(error)}, status=400)
        return json_answer({"changed": True})


def rule_of(asked: Mapping[str, Any]) -> Rule:
    """A rule out of `{"prefix", "fault", "times", …options}`. Raises ValueError."""
    if not isinstance(asked, dict) or asked.get("fault") not in FAULTS:
        raise ValueError(f"`fault` must be one of {', '.join(sorted(FAULTS))}")
    times = asked.get("times")
    if times is not None and (not isinstance(times, int) or times < 1):
        raise ValueError("`times` must be a positive number or null")
    options = {name: value for name, value in asked.items() if name not in ("prefix", "fault", "times")}
    prefix = "/" + str(asked.get("prefix", "/")).removeprefix("/")
    return Rule(prefix=prefix, fault=asked["fault"], times=times, options=options)
