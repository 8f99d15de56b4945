"""What a store raises when AWS does not answer it; botocore's own errors never leave this package."""

from zarniwoop.contract.failure import ZarniwoopError


class StoreError(ZarniwoopError):
    """Root of the stores' failures."""


class StoreUnavailable(StoreError):  # noqa: N818 - named by its consequence
    """Throttled, denied, missing or unreachable: the caller goes on without, and counts the loss."""


class StoreThrottled(StoreUnavailable):
    """Asked for more than one item or partition can bear. Nothing was changed, and everything else answers as ever."""


class OutOfTime(StoreUnavailable):
    """The caller's deadline came before the store's last byte."""


ILLEGIBLE = (LookupError, TypeError, ValueError, AttributeError)
"""What reading raises where somebody else wrote: an item or a document of another form than ours."""
