"""How much a service takes on."""

from __future__ import annotations

from dataclasses import dataclass, fields

from redraft.errors import ConfigError


@dataclass(frozen=True)
class Limits:
    """What is beyond them is refused with an error that says the limit."""

    max_characters: int = 20_000  # of a request's texts
    max_sentences: int = 200  # of a request
    max_sentence: int = 2_000  # characters of a sentence
    max_edits: int = 500  # of a sentence, given or called for by keep list and glossary
    max_targets: int = 20  # of a substitution
    max_phrase: int = 200  # characters of a phrase of an edit, a keep list or a glossary
    max_user_constraints: int = 500  # entries of keep list and glossary together
    max_references: int = 10  # of an evaluation
    max_traced: int = 10  # sentences of a request that asks for traces, which are long
    max_trace: int = 250_000  # numbers and texts in the trace of a sentence
    max_body: int = 1_000_000  # bytes
    queue: int = 256  # sentences waiting
    batch: int = 16  # sentences rewritten together
    under_way: int = 4  # batches begun and not done, of which one is computed at a time
    wait_ms: float = 5  # milliseconds for which a batch waits to be joined
    turn: float = 5.0  # seconds after which a batch lets others go first
    deadline: float = 120.0  # seconds until a request is given up
    receive: float = 20.0  # seconds for the headers of a request to come in, and as many for its body
    shutdown: float = 10.0  # seconds that requests have to end when the service is stopped

    def described(self) -> str:
        return (
            f"At most {self.max_characters:,} characters and {self.max_sentences} sentences in a request, "
            f"{self.max_sentence:,} characters and {self.max_edits} edits in a sentence (those that keep and glossary "
            f"call for count as well), {self.max_targets} targets in a substitution, {self.max_phrase} characters in a "
            f"phrase, {self.max_user_constraints} entries in keep and glossary together, "
            f"{self.max_references} references in an "
            f"evaluation, {self.max_traced} sentences in a request with traces, {self.max_trace:,} numbers and texts "
            f"in the trace of a sentence, {self.max_body:,} bytes in a body. {self.queue} sentences may wait. A "
            f"request is given up after {self.deadline:g} seconds, and its headers and its body have {self.receive:g} "
            "seconds each to come in."
        )

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0 and field.name != "wait_ms":
                raise ConfigError(f"{field.name} is {getattr(self, field.name)!r}.", "Give a number above 0.")
        if self.queue < self.max_sentences:
            raise ConfigError(
                f"a request may have {self.max_sentences} sentences, and the queue holds {self.queue}.",
                "Raise queue, or lower max_sentences.",
            )
