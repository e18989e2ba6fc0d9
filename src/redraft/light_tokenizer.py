"""A tokenizer of `transformers` without transformers: the part of its interface that redraft uses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from redraft.reading import read_json

_TOKENIZER, _SETTINGS = "tokenizer.json", "tokenizer_config.json"
_CLASSES = ("TokenizersBackend", "PreTrainedTokenizerFast", "BertTokenizer", "BertTokenizerFast")
_NAMED = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")  # special tokens, in the order of transformers
# Settings that change no result of the interface below.
_IGNORED = {
    "backend", "clean_up_tokenization_spaces", "do_basic_tokenize", "do_lower_case", "is_local", "local_files_only",
    "max_length", "model_max_length", "name_or_path", "never_split", "pad_to_multiple_of", "pad_token_type_id",
    "padding_side", "special_tokens_map_file", "stride", "strip_accents", "tokenize_chinese_chars", "tokenizer_class",
    "truncation_side", "truncation_strategy",
}  # fmt: skip


class LightTokenizer:
    """The tokenizer of a folder, read by the package `tokenizers`."""

    def __init__(self, folder: str | Path) -> None:
        from tokenizers import Tokenizer

        self._folder = Path(folder)
        settings = read_json(self._folder / _SETTINGS)
        self.backend_tokenizer = Tokenizer.from_file(str(self._folder / _TOKENIZER))
        self.backend_tokenizer.no_padding()
        self.backend_tokenizer.no_truncation()
        self.padding_side = settings.get("padding_side", "right")
        ids = [self._id(settings.get(f"{name}_token")) for name in _NAMED]
        self.bos_token_id, self.eos_token_id, self.unk_token_id, self.sep_token_id = ids[:4]
        self.pad_token_id, self.cls_token_id, self.mask_token_id = ids[4:]
        self.all_special_ids = [number for number in dict.fromkeys(ids) if number is not None]

    def _id(self, token: str | None) -> int | None:
        return None if token is None else self.backend_tokenizer.token_to_id(token)

    def __len__(self) -> int:
        size: int = self.backend_tokenizer.get_vocab_size()
        return size

    def __call__(
        self, text: str | Sequence[str] | None = None, *, text_target: str | Sequence[str] | None = None,
        add_special_tokens: bool = True, verbose: bool = True,
    ) -> dict[str, Any]:  # fmt: skip
        """`input_ids`: the tokens of a text, or of each text of a list."""
        given = text_target if text is None else text
        texts = [given] if isinstance(given, str) else list(given or ())
        found = self.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=add_special_tokens)
        ids = [one.ids for one in found]
        return {"input_ids": ids[0] if isinstance(given, str) else ids}

    def decode(
        self, tokens: Sequence[int], skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool = False
    ) -> str:
        text: str = self.backend_tokenizer.decode(tokens, skip_special_tokens=skip_special_tokens)
        return text

    def batch_decode(
        self, rows: Sequence[Sequence[int]], skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool = False,
    ) -> list[str]:  # fmt: skip
        texts: list[str] = self.backend_tokenizer.decode_batch(rows, skip_special_tokens=skip_special_tokens)
        return texts

    def get_vocab(self) -> dict[str, int]:
        vocabulary: dict[str, int] = self.backend_tokenizer.get_vocab()
        return vocabulary

    def convert_ids_to_tokens(self, tokens: Sequence[int]) -> list[str | None]:
        return [self.backend_tokenizer.id_to_token(token) for token in tokens]

    def save_pretrained(self, folder: str | Path) -> None:
        for name in (_TOKENIZER, _SETTINGS):
            (Path(folder) / name).write_bytes((self._folder / name).read_bytes())


def is_light(folder: str | Path) -> bool:
    """Whether transformers would read no more from the folder than `LightTokenizer` does."""
    path = Path(folder)
    if not ((path / _TOKENIZER).is_file() and (path / _SETTINGS).is_file()):
        return False
    settings = read_json(path / _SETTINGS)
    names = {f"{name}_token" for name in _NAMED}
    return (
        isinstance(settings, dict)
        and settings.get("tokenizer_class") in _CLASSES
        and settings.keys() <= _IGNORED | names
        and all(isinstance(settings.get(name), str | None) for name in names)
        and not settings.get("clean_up_tokenization_spaces")
        and not any((path / name).is_file() for name in ("special_tokens_map.json", "added_tokens.json"))
    )


def load_tokenizer(folder: str | Path) -> Any:
    """The tokenizer of a folder; by transformers where its settings need it."""
    from redraft.trust import remote_code_kwargs

    if is_light(folder):
        return LightTokenizer(folder)
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, **remote_code_kwargs())
