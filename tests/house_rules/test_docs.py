"""The documents say what the code does: a tool, provider, setting or metric that they miss fails here."""

import re
from pathlib import Path

import pytest

from reference.__main__ import documents
from reference.providers import modality_table
from tests.fakes.template import ROOT, template
from zarniwoop.contract.failure import Cause
from zarniwoop.contract.page import FetcherFault
from zarniwoop.observe.metrics import Metric
from zarniwoop.pages.archive import NO_SNAPSHOT
from zarniwoop.pages.chain import NO_TURN
from zarniwoop.pages.hosted import NOT_THERE, READS_NO_PAGES
from zarniwoop.pages.reasons import NOT_PUBLIC, FetchReason
from zarniwoop.settings.fetch_names import FETCH
from zarniwoop.settings.model_names import MODEL_SETTINGS
from zarniwoop.settings.names import BUDGETS, CACHE, ENDPOINT_SUFFIXES, KNOBS, RERANK_RECIPE, ROUTING
from zarniwoop.tools.registry import TOOLS
from zarniwoop.wire.extras import COMMON_FIELDS

README = (ROOT / "README.md").read_text(encoding="utf-8")
_SETTING_ROW = re.compile(r"^\| `((?:research|llm|fetch)\.[^`]+)`", re.MULTILINE)
DOCUMENTS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}


def rows(text: str, first_cell: str) -> list[str]:
    """The table rows whose first cell is this code word."""
    return [line for line in text.splitlines() if line.startswith(f"| `{first_cell}`")]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_what_is_generated_reads_as_the_code_says(path: Path) -> None:
    """Tools, routes, and providers with modalities, keys, limits and settings. `make docs` writes it anew."""
    assert path.read_text(encoding="utf-8") == documents()[path]


def test_no_modality_is_without_a_built_in() -> None:
    """Of the closed list of twelve."""
    assert [row for row in modality_table().splitlines() if row.endswith("|  |")] == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_readme_has_a_row_for_every_tool(tool: object) -> None:
    """One row per tool of the registry."""
    assert len(rows(README, tool.name)) == 1  # type: ignore[attr-defined]


def test_the_settings_page_has_a_row_for_every_setting_with_its_default() -> None:
    """Endpoint suffixes, routing, knobs, and the fields of all protocols; those of one stand with it in providers."""
    page = DOCUMENTS["settings.md"]
    for suffix in ENDPOINT_SUFFIXES:
        (row,) = rows(page, f"research.endpoint.<id>.{suffix.name}")
        assert suffix.default in row
    for key in (*ROUTING, *CACHE):
        assert len(rows(page, key)) == 1
    for budget in BUDGETS:
        (row,) = rows(page, budget.name)
        assert f"| {budget.default} |" in row
    for knob in KNOBS:
        (row,) = rows(page, knob.key)
        assert f"| {knob.default} |" in row
    for setting in FETCH:
        (row,) = rows(page, setting.name)
        assert f"| {setting.default} |" in row
    for field in COMMON_FIELDS:
        assert len(rows(page, f"research.endpoint.<id>.{field.name}")) == 1


def test_the_operations_page_has_a_row_for_every_setting_of_a_model_with_its_default() -> None:
    """Both roles have the same."""
    for suffix in MODEL_SETTINGS:
        (row,) = rows(DOCUMENTS["operations.md"], f"llm.<role>.{suffix.name}")
        assert f"| {suffix.default} |" in row


def test_no_page_names_a_setting_that_does_not_exist() -> None:
    """A row for a setting that went must go too; and README has none, which would be a second truth."""
    known = {f"research.endpoint.<id>.{suffix.name}" for suffix in ENDPOINT_SUFFIXES} | set(ROUTING) | set(CACHE)
    known |= {knob.key for knob in KNOBS} | {budget.name for budget in BUDGETS} | {RERANK_RECIPE}
    known |= {f"research.endpoint.<id>.{field.name}" for field in COMMON_FIELDS} | {each.name for each in FETCH}
    assert set(_SETTING_ROW.findall(DOCUMENTS["settings.md"])) == known
    assert _SETTING_ROW.findall(README) == []
    models = {f"llm.<role>.{suffix.name}" for suffix in MODEL_SETTINGS}
    assert set(re.findall(r"^\| `(llm\.[^`]+)`", DOCUMENTS["operations.md"], re.MULTILINE)) == models


def test_the_operations_page_lists_every_metric_and_every_stack_parameter() -> None:
    """Names as they stand in code and template."""
    page = DOCUMENTS["operations.md"]
    for metric in Metric:
        assert len(rows(page, metric.value)) == 1, metric
    for parameter in template()["Parameters"]:
        assert len(rows(page, parameter)) == 1, parameter


def test_the_architecture_says_of_every_package_what_it_owns() -> None:
    """A package without a row is one where nobody knows what belongs."""
    packages = {path.parent.name for path in (ROOT / "layers/zarniwoop/zarniwoop").glob("*/__init__.py")}
    packages |= {"wiring"}
    first_cells = re.findall(r"^\| (`[a-z`, ]+`) \|", DOCUMENTS["architecture.md"], re.MULTILINE)
    told = {name for cell in first_cells for name in re.findall(r"`([a-z]+)`", cell)}
    assert packages - {"recipes"} <= told


def test_a_provider_is_documented_in_under_sixty_lines() -> None:
    """The page on add-ons stays short."""
    assert DOCUMENTS["adding-a-provider.md"].count("\n") < 60


def test_no_document_has_a_gap_that_was_to_be_filled() -> None:
    """`@@NAME@@` stands where an output is to be pasted."""
    for name, text in {"README.md": README, **DOCUMENTS}.items():
        assert "@@" not in text, name


def test_links_into_a_page_name_a_heading_of_it() -> None:
    """As GitHub writes them: small, without punctuation, a hyphen for each blank."""
    pages = {"README.md": README, **{f"docs/{name}": text for name, text in DOCUMENTS.items()}}
    for name, text in pages.items():
        for target, heading in re.findall(r"\]\((?!https?://)([^)#]*)#([^)]+)\)", text):
            page = ((ROOT / name).parent / target).resolve().relative_to(ROOT).as_posix() if target else name
            headings = {
                re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-")
                for each in re.findall(r"^#+ (.+)$", pages[page], re.MULTILINE)
            }
            assert heading in headings, f"{name} links to {target}#{heading}"


def test_links_between_documents_lead_somewhere() -> None:
    """Relative links in README and docs name files that are there."""
    for name, text in {"README.md": README, **{f"docs/{name}": text for name, text in DOCUMENTS.items()}}.items():
        for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", text):
            assert ((ROOT / name).parent / target).exists(), f"{name} links to {target}"


def test_make_targets_that_the_documents_name_exist() -> None:
    """`make x` in a document is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", Path(ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    targets |= set(
        re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0].split()
    )
    for text in (README, *DOCUMENTS.values()):
        for named in re.findall(r"`make ([a-z]+)", text):
            assert named in targets, named


def test_the_operations_page_names_every_reason_of_a_fetch() -> None:
    """Each word of the fixed vocabulary, in the table of fetching."""
    _, _, section = DOCUMENTS["operations.md"].partition("## Fetching pages")
    told = set(re.findall(r"`([a-z_]+)`", section.partition("\n## ")[0]))
    unsaid = {Cause.STATUS, Cause.CONTENT_TYPE, Cause.SHAPE}  # a provider's; the transport raises none of them
    assert {*FetchReason, *Cause} - unsaid <= told


def test_the_operations_page_names_every_reason_of_the_chain() -> None:
    """Those that the fetching function does not know."""
    _, _, section = DOCUMENTS["operations.md"].partition("## Reading pages")
    told = set(re.findall(r"`([a-z_]+)`", section.partition("\n## ")[0]))
    assert {*FetcherFault, NO_TURN, NO_SNAPSHOT, NOT_PUBLIC, NOT_THERE, READS_NO_PAGES} <= told
