"""Five kinds of tokenizer, trained in memory on the text below, the same on every run."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]

TEXT = """\
The artisans remain old craftsmen who make art in a small town.
The old man and the older woman remained in their oldest house.
She said, "The craftsmen are old," and then she left the town.
He didn't know that the dog's bowl wasn't full; it's a well-known problem.
“We don’t remain here,” they’d answered, “but the artisans’ house remains.”
In 2011, about 11,000 people (mostly young) lived in the town of Évreux.
The café served crème brûlée, naïve art and jalapeños to 1,250 guests.
The U.S. army left on 3.5.1945 at 10:30; the war was over.
World War II began in 1939 and the war ended in 1945.
"Remain calm!" cried the captain [of the ship], but nobody listened.
The population rose from 1990-95 by 3.7 percent, i.e. 12,345 people.
The so-called king's men (and the queen's women) won the battle of 1066.
Is it true? No! It can't be; I've never seen anything like it...
A large house stood by the river, and a larger one stood behind it.
They make artful makers of boats; their craft is the makers' pride.
Old houses and old people need care, said the mayor of the old city.
The physician treated the patients; the doctor helped the sick man.
“Art,” he wrote, “is long – and life is short.”
It was [sic] the 'best' of times, it was the "worst" of times.
The river's water rises by 2,000 litres a day: 1.5 times as much.
He who remains must remain; she who left has left.
The city is well known for its art, its artists and its artisans.
Older children play in the park, and the oldest read books.
The men said: 'we remain', and the women said: 'so do we'.
(The town hall) was built in 1720 (or 1721) by an unknown architect.
Don't go; won't you stay? You'll see the stars, they're bright.
The young king ruled for 40 years and died at 70, an old man.
The battle-tested army of 5,000 men crossed the river in 3 days.
The makers of the law made laws for all people in the land.
It cost 1,000 or 10,000 crowns, later 7,000 or 9,000, and at last 100,000 crowns.
Life in the small village changed little in a hundred years.
"""


def _wrapped(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


@cache
def byte_level() -> PreTrainedTokenizerFast:
    """Like GPT-2 and BART: byte-level, so characters may be split."""
    return _wrapped(_trained_byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False)))


@cache
def single_digits() -> PreTrainedTokenizerFast:
    """Like the bundled model: byte-level, and every digit is a token, with the space before it if any."""
    tokenizer = _trained_byte_level(
        pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(r" ?\d"), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    )
    end = SPECIAL.index("</s>")
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", end)])
    return _wrapped(tokenizer)


def _trained_byte_level(pre_tokenizer: pre_tokenizers.PreTokenizer) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    return tokenizer


@cache
def unigram() -> PreTrainedTokenizerFast:
    """As T5 and Pegasus have. No piece mixes letters, digits and other signs, nearly as SentencePiece trains them.

    "000" must be one piece: 0 00 and 00 0 score the same, and rounding chooses between them by what stands before.
    """
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.Unigram())
    spaces = pre_tokenizers.Metaspace()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [spaces, pre_tokenizers.Split(Regex(r"▁?[\p{L}\p{M}]+|▁?\p{N}+|▁?[^\p{L}\p{M}\p{N}▁]+"), "isolated")]
    )
    trainer = trainers.UnigramTrainer(vocab_size=400, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    pieces = _scores(tokenizer)
    floor = min(score for _, score in pieces) - 10.0
    with_bytes = pieces[: len(SPECIAL)] + [(byte, floor) for byte in bytes_] + pieces[len(SPECIAL) :]
    tokenizer = Tokenizer(models.Unigram(with_bytes, unk_id=SPECIAL.index("<unk>"), byte_fallback=True))
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.pre_tokenizer = spaces
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    return _wrapped(tokenizer)


def _scores(tokenizer: Tokenizer) -> list[tuple[str, float]]:
    return [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]


@cache
def word_piece() -> PreTrainedTokenizerFast:
    """Like cased BERT: every punctuation mark is a word, and ## continues a word."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(TEXT.splitlines(), trainer)
    return _wrapped(tokenizer)


@cache
def characters() -> PreTrainedTokenizerFast:
    """Each character a token."""
    names = [*SPECIAL, *sorted(set(TEXT) | set("{}<>/$_*"))]
    tokenizer = Tokenizer(models.WordLevel({name: token for token, name in enumerate(names)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return _wrapped(tokenizer)


TOKENIZERS: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "byte-level": byte_level,
    "single-digits": single_digits,
    "unigram": unigram,
    "word-piece": word_piece,
    "characters": characters,
}
