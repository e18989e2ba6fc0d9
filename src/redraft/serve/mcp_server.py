"""A server for assistants (Model Context Protocol): plan, simplify and check, by the service's own implementation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from redraft import __version__
from redraft.errors import RedraftError
from redraft.serve import schemas

if TYPE_CHECKING:
    from redraft.serve.service import Service

Answer = TypeVar("Answer", bound=BaseModel)

_INSTRUCTIONS = """\
redraft makes English sentences simpler and checks rewritten ones. Two ways of working:
1. simplify: redraft rewrites the text itself.
2. plan, write, check: `plan` says which words to keep, leave out and replace; you write the sentences; `check` says
   which edits your sentences carry out, which names, numbers and negations they lack, and whether they still say the
   same. Correct what it reports, and check again.
Texts stay on this machine.
"""
_EDITS = (
    'One object per edit: {"substitute": "purchased", "with": ["bought"]}, {"delete": "very"}, {"insert": "physician"} '
    '(the text must have it), {"split": true}. "span" is [start, end] in characters of the source. "probability" marks '
    "predicted edits: how likely a person makes it."
)
_UNCHANGED = "why the sentence should not be rewritten; null if it should"
_Strength = Annotated[
    Literal["light", "medium", "strong"], Field(description="how much to change; strong also divides long sentences")
]
_Keep = Annotated[list[str], Field(description="words and phrases that must stay as they are")]
_Glossary = Annotated[dict[str, str], Field(description="word or phrase → what to write for it")]


class PlannedSentence(BaseModel):
    source: str
    edits: Annotated[list[dict[str, Any]], Field(description=_EDITS)]
    unchanged: Annotated[str | None, Field(description=_UNCHANGED)]


class Plans(BaseModel):
    sentences: list[PlannedSentence]


class SimplifiedSentence(BaseModel):
    source: str
    output: str
    edits: Annotated[list[dict[str, Any]], Field(description="the edits, each with its status")]
    missing: Annotated[list[str], Field(description="names, numbers and negations that the output lacks")]
    meaning: Annotated[
        dict[str, Any] | None,
        Field(description="risk (0 to 1) that the output says something else, alarm, words concerned, why"),
    ]
    unchanged: Annotated[str | None, Field(description=_UNCHANGED)]


class Simplified(BaseModel):
    text: Annotated[str, Field(description="the whole text, with its spacing and paragraphs")]
    sentences: list[SimplifiedSentence]
    readability: schemas.Readability


def create_server(load: Callable[[], Service]) -> MCPServer[Any]:
    """The server; `load` makes the service, with its models, at the first call of a tool."""
    server = MCPServer[Any]("redraft", version=__version__, instructions=_INSTRUCTIONS, log_level="ERROR")
    service = _LoadedOnce(load)

    async def plan(
        text: Annotated[str, Field(description="English text, at most 20,000 characters")],
        strength: _Strength = "medium", keep: _Keep = [], glossary: _Glossary = {},  # noqa: B006
    ) -> Plans:  # fmt: skip
        """Predict which words of each sentence of a text to replace by simpler ones, to leave out and to keep."""
        request = schemas.PlanRequest(text=text, **_settings(strength, keep, glossary))
        answer = await service.call(lambda known: known.plan(request))
        return Plans(sentences=[PlannedSentence(**_own_fields(PlannedSentence, one)) for one in _told(answer)])

    async def simplify(
        text: Annotated[str, Field(description="English text, at most 20,000 characters")],
        strength: _Strength = "medium", keep: _Keep = [], glossary: _Glossary = {},  # noqa: B006
    ) -> Simplified:  # fmt: skip
        """Rewrite a text in simpler words, sentence by sentence, and report what to look at before it is used."""
        request = schemas.SimplifyRequest(text=text, **_settings(strength, keep, glossary))
        answer = await service.call(lambda known: known.simplify(request))
        sentences = [SimplifiedSentence(**_own_fields(SimplifiedSentence, one)) for one in _told(answer)]
        return Simplified(text=answer.text, sentences=sentences, readability=answer.readability)

    async def check(
        sentences: Annotated[
            list[schemas.CheckedPair],
            Field(description=f"sentences that you or others rewrote, with the edits that were requested. {_EDITS}"),
        ],
        keep: Annotated[list[str], Field(description="words that every output must have if its source has them")] = [],  # noqa: B006
    ) -> schemas.CheckResponse:
        """Verify rewritten sentences: edits carried out, names and numbers lost, meaning changed, hard words left."""
        request = schemas.CheckRequest(sentences=sentences, keep=keep)
        return await service.call(lambda known: known.check(request))

    for tool, title in ((plan, "Plan edits"), (simplify, "Simplify a text"), (check, "Check rewritten sentences")):
        hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
        server.add_tool(tool, title=title, annotations=hints)
    return server


class _LoadedOnce:
    """The service, loaded by the first call; calls that arrive meanwhile wait."""

    def __init__(self, load: Callable[[], Service]) -> None:
        self._load, self._lock = load, asyncio.Lock()
        self._service: Service | None = None

    async def call(self, ask: Callable[[Service], Awaitable[Answer]]) -> Answer:
        """The answer of the service; mistakes and limits become errors that the assistant can read."""
        try:
            async with self._lock:
                if self._service is None:
                    self._service = await asyncio.to_thread(self._load)
            return await ask(self._service)
        except RedraftError as error:
            raise ToolError(str(error)) from None


def _settings(strength: str, keep: list[str], glossary: dict[str, str]) -> dict[str, Any]:
    return {"strength": strength, "keep": keep, "glossary": [list(pair) for pair in glossary.items()]}


def _told(answer: schemas.PlanResponse | schemas.SimplifyResponse) -> list[Any]:
    """The sentences that are not white space only."""
    return [sentence for sentence in answer.sentences if sentence.source.strip()]


def _own_fields(model: type[BaseModel], sentence: BaseModel) -> dict[str, Any]:
    """The fields that an assistant needs, of those of the service."""
    return {name: getattr(sentence, name) for name in model.model_fields}
