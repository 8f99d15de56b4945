"""What a million searches cost on paper: the counts of `database` times list prices, for docs/cost.md (`make docs`).

Prices are those of us-east-1 without free tiers, in US dollars. A million searches is what all columns are about.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from tests.benchmarks.database import Counts, measured
from tests.benchmarks.features import FEATURES, OURS, PROVIDERS, REFUSALS, Feature
from tests.fakes.template import ROOT, resources, template

PAGE = ROOT / "docs" / "cost.md"
AS_OF = "2025"
_BEGIN, _END = "<!-- costs: written by `make docs` -->", "<!-- end of costs -->"
_LOGGED_BY_LAMBDA = 400
"""Bytes of the platform's START, END and REPORT lines."""
_KILOBYTE = 1000
_MILLION, _GIGABYTE = 1e6, 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """`dollars` for so many of a unit."""

    what: str
    unit: str
    dollars: float
    units: float = 1.0

    def of(self, amount: float) -> float:
        return self.dollars * amount / self.units

    @property
    def row(self) -> str:
        return f"| {self.what} | {f'{self.dollars:.10f}'.rstrip('0').rstrip('.')} | {self.unit} |"


REQUESTS = Price(what="API Gateway, REST", unit="1,000,000 requests", dollars=3.5, units=_MILLION)
INVOCATIONS = Price(what="Lambda, invocations", unit="1,000,000", dollars=0.2, units=_MILLION)
GB_SECONDS = Price(what="Lambda, time (arm64)", unit="GB-second", dollars=0.0000133334)
READS = Price(what="DynamoDB on demand, read", unit="1,000,000 units", dollars=0.125, units=_MILLION)
WRITES = Price(what="DynamoDB on demand, write", unit="1,000,000 units", dollars=0.625, units=_MILLION)
OBJECTS = Price(what="S3, PUT", unit="1,000 requests", dollars=0.005, units=1e3)
LOGS = Price(what="CloudWatch Logs, taken in", unit="GB", dollars=0.5, units=_GIGABYTE)
TRAFFIC = Price(what="data out to the internet", unit="GB", dollars=0.09, units=_GIGABYTE)
PARAMETERS = Price(what="Parameter Store, standard", unit="any number of requests", dollars=0)
TRACES = Price(what="X-Ray, recorded", unit="1,000,000 traces", dollars=5, units=_MILLION)
METRICS = Price(what="CloudWatch, custom metric", unit="month", dollars=0.3)
ALARMS = Price(what="CloudWatch, alarm", unit="month", dollars=0.1)
PRICES = (
    *(REQUESTS, INVOCATIONS, GB_SECONDS, READS, WRITES, OBJECTS, LOGS, TRAFFIC),
    *(PARAMETERS, TRACES, METRICS, ALARMS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A million searches that use one feature."""

    database: float
    function: float
    rest: float

    @classmethod
    def of(cls, feature: Feature, counts: Counts) -> "Cost":
        gigabytes = template()["Globals"]["Function"]["MemorySize"] / 1024
        return cls(
            database=_MILLION * (READS.of(counts.read_units) + WRITES.of(counts.write_units)),
            function=_MILLION * (INVOCATIONS.of(1) + GB_SECONDS.of(gigabytes * feature.seconds)),
            rest=_MILLION
            * (
                REQUESTS.of(1)
                + OBJECTS.of(counts.objects)
                + LOGS.of(_whole(counts.log_bytes + _LOGGED_BY_LAMBDA))
                + TRAFFIC.of(_whole(counts.answer_bytes))
            ),
        )

    @property
    def all(self) -> float:
        return self.database + self.function + self.rest


def _whole(count: int) -> int:
    """Up to the next kilobyte: the age of a kept answer may take a digit more or less."""
    return -(-count // _KILOBYTE) * _KILOBYTE


def page(counts: Mapping[str, Counts]) -> str:
    """The document as it must read."""
    before, begin, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise LookupError(f"{PAGE.name} needs the marks {_BEGIN} and {_END}")
    return f"{before}{begin}\n{tables(counts)}\n{end}{after}"


def tables(counts: Mapping[str, Counts]) -> str:
    """What a million searches cost by feature, what a stack costs at rest, and the prices that were taken."""
    alarms = len(resources("AWS::CloudWatch::Alarm"))
    return "\n".join(
        (
            "| a search with | reads (units) | writes (units) | seconds | DynamoDB | Lambda | all the rest | in all |",
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            *(_row(feature, counts[feature.name]) for feature in FEATURES),
            "",
            f"Seconds are taken, not measured: a provider answers in {PROVIDERS}, refuses in {REFUSALS}, and what is "
            f"ours takes {OURS}.",
            f"At rest a stack has {alarms} alarms ({ALARMS.of(alarms):.2f} USD a month) and the reconciler's tick a "
            "minute (some 0.30, traces included).",
            "",
            f"| list price, us-east-1, {AS_OF} | USD | per |",
            "| --- | --- | --- |",
            *(price.row for price in PRICES),
        )
    )


def _row(feature: Feature, counts: Counts) -> str:
    cost = Cost.of(feature, counts)
    cells = (
        feature.told,
        f"{counts.reads} ({counts.read_units})",
        f"{counts.writes} ({counts.write_units})",
        f"{feature.seconds:.1f}",
        *(f"{dollars:.2f}" for dollars in (cost.database, cost.function, cost.rest, cost.all)),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(measured()), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)} written\n")
