"""Batched generation with a Llama model, in fixed buffers, so that each step can be replayed from a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

_LOOK = 8  # steps between checks whether all texts have ended
_SLOT = 16  # prompt widths are rounded up to multiples of this, for fewer graphs


class Sampler:
    """Continues prompts in batches of `batch`; greedy at temperature 0."""

    def __init__(self, model: Any, tokenizer: Any, *, batch: int, temperature: float = 0.0) -> None:
        self.model, self.tokenizer, self.batch, self.temperature = model.eval(), tokenizer, batch, temperature
        self.device = next(model.parameters()).device
        self._steps: dict[tuple[int, int], _Steps] = {}

    @torch.inference_mode()
    def write(self, prompts: Sequence[str], room: Callable[[int], int]) -> Iterator[tuple[int, str]]:
        """(index of the prompt, text) in order of length; `room` maps the prompt width to the maximum length of a text.

        A text without an end token within that length is empty.
        """
        encoded = self.tokenizer(list(prompts), add_special_tokens=False)["input_ids"]
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))
        for start in range(0, len(order), self.batch):
            group = order[start : start + self.batch]
            width = -(-max(len(encoded[at]) for at in group) // _SLOT) * _SLOT
            found = self._generate([encoded[at] for at in group], width, room(width))
            ended = [(row[: row.index(self._end)] if self._end in row else []) for row in found.tolist()]
            yield from zip(group, self.tokenizer.batch_decode(ended, skip_special_tokens=True), strict=True)

    @property
    def _end(self) -> int:
        return int(self.tokenizer.eos_token_id)

    def _generate(self, prompts: list[list[int]], width: int, room: int) -> Tensor:
        """(prompt, room): the tokens after each prompt; prompts are padded on the left."""
        rows = [[self._end] * (width - len(prompt)) + prompt for prompt in prompts]
        rows += [rows[0]] * (self.batch - len(rows))
        tokens = torch.tensor(rows, device=self.device)
        sizes = torch.tensor([len(prompt) for prompt in prompts] + [len(prompts[0])] * (self.batch - len(prompts)))
        key = (width, room)
        if key not in self._steps:
            self._steps.clear()  # one set of buffers at a time: widths come in order
            self._steps[key] = _Steps(self.model, self.batch, width, room, self.temperature)
        return self._steps[key].run(tokens, sizes.to(self.device), self._end)[: len(prompts)]


class _Steps:
    """The cache for one batch shape, and the step that is replayed on it."""

    def __init__(self, model: Any, batch: int, width: int, room: int, temperature: float) -> None:
        config = model.config
        self.model, self.width, self.room, self.temperature = model, width, room, temperature
        self.heads, self.groups = config.num_attention_heads, config.num_key_value_heads
        self.size = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        weight = model.lm_head.weight
        total = -(-(width + room) // 8) * 8
        shape = (config.num_hidden_layers, batch, self.groups, total, self.size)
        self.keys, self.values = (torch.zeros(shape, dtype=weight.dtype, device=weight.device) for _ in range(2))
        self.seen = torch.full((batch, 1, 1, total), -torch.inf, dtype=weight.dtype, device=weight.device)
        self.token = torch.zeros(batch, 1, dtype=torch.long, device=weight.device)
        self.place = torch.zeros(1, dtype=torch.long, device=weight.device)  # in the buffers
        self.position = torch.zeros(batch, 1, dtype=torch.long, device=weight.device)  # in the text
        self.graph: Any = None

    def run(self, tokens: Tensor, sizes: Tensor, end: int) -> Tensor:
        self._read(tokens, sizes)
        written, ended = [self.token.clone()], self.token == end
        for number in range(1, self.room):
            self._step()
            written.append(self.token.clone())
            ended |= self.token == end
            if number % _LOOK == 0 and bool(ended.all()):
                break
        return torch.cat(written, 1)

    def _read(self, tokens: Tensor, sizes: Tensor) -> None:
        """Prefill: the prompts, by the forward pass of the model."""
        column = torch.arange(self.width, device=tokens.device)
        there = column >= self.width - sizes[:, None]
        positions = (column - (self.width - sizes[:, None])).clamp(min=0)
        for start in range(0, len(tokens), 512):
            part = slice(start, start + 512)
            out = self.model(
                input_ids=tokens[part], attention_mask=there[part].long(), position_ids=positions[part],
                use_cache=True, logits_to_keep=1,
            )  # fmt: skip
            for number, layer in enumerate(out.past_key_values.layers):
                self.keys[number, part, :, : self.width] = layer.keys
                self.values[number, part, :, : self.width] = layer.values
            self.token[part] = self._sampled(out.logits[:, -1])
        self.seen.fill_(-torch.inf)
        self.seen[:, 0, 0, : self.width].masked_fill_(there, 0)
        self.place.fill_(self.width)
        self.position.copy_(sizes[:, None])

    def _step(self) -> None:
        if self.token.device.type != "cuda":
            self._forward()
            return
        if self.graph is None:
            place, position, token, seen = (value.clone() for value in self._state)
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self._forward()
            torch.cuda.current_stream().wait_stream(stream)
            for value, before in zip(self._state, (place, position, token, seen), strict=True):
                value.copy_(before)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self._forward()
        self.graph.replay()

    @property
    def _state(self) -> tuple[Tensor, ...]:
        return self.place, self.position, self.token, self.seen

    def _forward(self) -> None:
        """One token for every text; the buffers are updated in place."""
        body = self.model.model
        self.seen.index_fill_(3, self.place, 0)
        state = body.embed_tokens(self.token)
        cosine, sine = body.rotary_emb(state, self.position)
        for number, layer in enumerate(body.layers):
            attend, normed = layer.self_attn, layer.input_layernorm(state)
            query, key, value = (
                project(normed).unflatten(-1, (-1, self.size)).transpose(1, 2)
                for project in (attend.q_proj, attend.k_proj, attend.v_proj)
            )
            query, key = (_apply_rotary(vector, cosine, sine) for vector in (query, key))
            self.keys[number].index_copy_(2, self.place, key)
            self.values[number].index_copy_(2, self.place, value)
            query = query.reshape(len(query), self.groups, -1, self.size)  # heads that share keys are grouped
            seen = self.seen.expand(-1, self.groups, query.shape[2], -1)
            mixed = functional.scaled_dot_product_attention(query, self.keys[number], self.values[number], seen)
            state = state + attend.o_proj(mixed.reshape(len(mixed), 1, -1))
            state = state + layer.mlp(layer.post_attention_layernorm(state))
        logits = self.model.lm_head(body.norm(state))[:, -1]
        self.token.copy_(self._sampled(logits))
        self.place += 1
        self.position += 1

    def _sampled(self, logits: Tensor) -> Tensor:
        """(batch, 1): the most likely token, or one sampled with Gumbel noise."""
        logits = logits.float()
        if self.temperature:
            noise = -torch.log(-torch.log(torch.rand_like(logits).clamp(1e-9, 1 - 1e-7)))
            logits = logits / self.temperature + noise
        return logits.argmax(-1, keepdim=True)


def _apply_rotary(vector: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Apply rotary position embeddings; vector: (batch, head, 1, size)."""
    half = vector.shape[-1] // 2
    swapped = torch.cat([-vector[..., half:], vector[..., :half]], -1)
    return vector * cosine[:, None] + swapped * sine[:, None]
