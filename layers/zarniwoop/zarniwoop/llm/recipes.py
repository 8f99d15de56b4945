"""Recipes: the prompts, as package data and overridable per tenant (seed 1, section 7).

A recipe is a text file: settings as TOML between two lines of `+++`, then the parts `## system` and `## user`, each a
Jinja2 template. A variable that the template names and nobody gave is an error, and so is a recipe that cannot be read:
a prompt with a hole in it is not sent. A tenant's override changes what is asked and how, never who may ask it.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from zarniwoop.contract.chat import ChatMessage, ModelRole
from zarniwoop.contract.failure import ModelMisconfigured

if TYPE_CHECKING:
    from jinja2 import Environment

PLAN = "zarniwoop-research-plan"
EVALUATE = "zarniwoop-research-evaluate"
REFINE = "zarniwoop-research-refine"
RERANK = "zarniwoop-research-rerank"
INSIGHTS = "zarniwoop-research-insights"
RECIPES = (PLAN, EVALUATE, REFINE, RERANK, INSIGHTS)

Overrides = Callable[[str, str], str | None]
"""A tenant's own text of a recipe by tenant id and name, or None."""

_FENCE = "+++"
_PART = re.compile(r"^## (system|user)[ \t]*$", re.MULTILINE)
_LONGEST = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """`schema_name` is what the answer's form is called on the wire; an `internal` recipe is no tool of anybody's."""

    name: str
    role: ModelRole
    version: str
    schema_name: str
    internal: bool
    max_tokens: int
    parts: tuple[tuple[Literal["system", "user"], str], ...]


class RecipeBook:
    """The recipes of this package, with the overrides of tenants over them."""

    def __init__(self, overrides: Overrides = lambda _tenant_id, _name: None) -> None:
        self._overrides = overrides
        self._own: dict[str, Recipe] = {}

    def recipe(self, name: str, tenant_id: str) -> Recipe:
        """The recipe that is in force. Raises ModelMisconfigured for an override that cannot be used."""
        own = self._packaged(name)
        text = self._overrides(tenant_id, name)
        if text is None:
            return own
        theirs = read_recipe(name, text)
        if theirs.internal != own.internal:
            raise _wrong(name, "an override cannot change `internal`")
        return theirs

    def render(self, name: str, variables: Mapping[str, Any], tenant_id: str) -> tuple[Recipe, tuple[ChatMessage, ...]]:
        """The recipe that is in force, and its messages. Raises ModelMisconfigured."""
        recipe = self.recipe(name, tenant_id)
        return recipe, self.messages(recipe, variables)

    def messages(self, recipe: Recipe, variables: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
        """Raises ModelMisconfigured for a recipe that does not fit the variables."""
        from jinja2 import TemplateError

        try:
            return tuple(
                ChatMessage(role=role, content=self._templates.from_string(part).render(variables).strip())
                for role, part in recipe.parts
            )
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise _wrong(recipe.name, "its template does not fit its variables") from error

    def _packaged(self, name: str) -> Recipe:
        if name not in RECIPES:
            raise _wrong(name, "there is no such recipe")
        if name not in self._own:
            text = files("zarniwoop.recipes").joinpath(f"{name}.md").read_text(encoding="utf-8")
            self._own[name] = read_recipe(name, text)
        return self._own[name]

    @cached_property
    def _templates(self) -> "Environment":
        """Sandboxed: a tenant's template reaches its variables and nothing else. Nothing is escaped in plain text."""
        from jinja2 import StrictUndefined
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        return ImmutableSandboxedEnvironment(
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )


class _Front(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    role: ModelRole
    version: str
    schema_name: str = Field(alias="schema", pattern=r"^[a-z][a-z0-9_]{0,63}$")
    internal: bool
    max_tokens: int = Field(ge=16, le=200_000)


def read_recipe(name: str, text: str) -> Recipe:
    """A recipe out of its file. Raises ModelMisconfigured."""
    if len(text) > _LONGEST:
        raise _wrong(name, f"it is longer than {_LONGEST} characters")
    opening, front, body = [*text.replace("\r\n", "\n").split(f"{_FENCE}\n", 2), "", ""][:3]
    try:
        settings = _Front.model_validate(tomllib.loads(front))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise _wrong(name, "the settings between its +++ lines cannot be read") from error
    preamble, *rest = _PART.split(body)
    parts = tuple(zip(rest[::2], rest[1::2], strict=True))
    if opening.strip() or preamble.strip() or [role for role, _ in parts] != ["system", "user"]:
        raise _wrong(name, "it must have one part `## system` and after it one part `## user`")
    return Recipe(
        name=name,
        role=settings.role,
        version=settings.version,
        schema_name=settings.schema_name,
        internal=settings.internal,
        max_tokens=settings.max_tokens,
        parts=tuple(("system" if role == "system" else "user", part) for role, part in parts),
    )


def _wrong(name: str, reason: str) -> ModelMisconfigured:
    return ModelMisconfigured(f"recipe {name}: {reason}")
