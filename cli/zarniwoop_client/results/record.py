"""The base of everything that the API answers with: typed, unchangeable, and tolerant of a newer server.

Fields that this client does not know are kept (`model_extra`), and words of closed sets are plain text here, so that an
older client reads what a newer stack says.
"""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """One JSON object of an answer."""

    model_config = ConfigDict(
        extra="allow", frozen=True, populate_by_name=True, protected_namespaces=(), defer_build=True
    )
