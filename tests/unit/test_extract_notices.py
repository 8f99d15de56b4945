"""Notices that stand in the place of a whole site are no pages; pages that are about such things are."""

import pytest

from tests.fakes.web_pages import article, bare
from zarniwoop.contract.page import PageOutcome
from zarniwoop.extract.page import extract_page


def ended(markup: str) -> tuple[PageOutcome, str | None]:
    found = extract_page(markup.encode(), url="https://foundry.example/bells", media_type="text/html", charset="utf-8")
    return found.outcome, found.reason


@pytest.mark.parametrize(
    "words",
    [
        "This domain is for sale. Make an offer to its owner, or look at the searches below.",
        "The domain name foundry.example is parked, courtesy of its registrar; nothing else stands here.",
        "Diese Domain steht zum Verkauf. Angebote nimmt der Inhaber gerne entgegen.",
        "Ce nom de domaine est à vendre. Contactez le propriétaire pour faire une offre.",
        "Этот домен продаётся. Свяжитесь с владельцем, чтобы сделать предложение.",
    ],
)
def test_a_parked_domain_has_no_page(words: str) -> None:
    """In the languages of the large registrars."""
    assert ended(bare("foundry.example", f"<h1>foundry.example</h1><p>{words}</p>")) == (PageOutcome.EMPTY, "parked")


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Site maintenance", "We are performing some maintenance at the moment and will be back up shortly."),
        ("We'll be right back", "The shop is down for scheduled maintenance. Please try again in an hour."),
        ("Wartungsarbeiten", "Unsere Seite wird gerade gewartet. Wir sind bald wieder für Sie da."),
        ("Технические работы", "На сайте ведутся работы, зайдите, пожалуйста, позже, мы скоро вернёмся."),
        ("メンテナンスのお知らせ", "ただいまメンテナンス中です。しばらくしてからもう一度アクセスしてください。"),
    ],
)
def test_a_site_that_is_being_worked_on_is_unavailable(title: str, words: str) -> None:
    """Also when it says so with status 200; the page is there again tomorrow."""
    assert ended(bare(title, f"<h1>{title}</h1><p>{words}</p>")) == (PageOutcome.UNAVAILABLE, "maintenance")


@pytest.mark.parametrize(
    "markup",
    [
        article("Maintenance of bronze bells", topic="The bell is under maintenance."),
        article("How to buy a domain", before="<p>This domain is for sale, the notice said.</p>"),
        bare(
            "Swing bridge", "<h1>Swing bridge</h1><p>The bridge is under maintenance until Friday, boats must wait.</p>"
        ),
    ],
)
def test_a_page_about_such_things_is_a_page(markup: str) -> None:
    """It says more, or is not called so."""
    assert ended(markup)[0] is PageOutcome.OK
