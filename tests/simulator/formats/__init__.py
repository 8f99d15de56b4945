"""The seven wire formats, named here and nowhere else."""

from tests.simulator.formats import arxiv, hackernews, openalex, openlibrary, pubmed, serper, wikipedia
from tests.simulator.formats.format import Format

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (serper, wikipedia, openalex, arxiv, pubmed, openlibrary, hackernews)
}
