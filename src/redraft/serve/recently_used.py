"""Remembers the values that were asked for most recently."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class RecentlyUsed(Generic[Key, Value]):
    """A dictionary whose keys have at most the size `most` together; those not used for longest are dropped."""

    def __init__(self, most: int, size: Callable[[Key], int]) -> None:
        self._most, self._size = most, size
        self._values: dict[Key, Value] = {}  # in the order of use
        self._total = 0

    def get(self, key: Key) -> Value | None:
        value = self._values.pop(key, None)
        if value is not None:
            self._values[key] = value
        return value

    def put(self, key: Key, value: Value) -> None:
        if key not in self._values:
            self._total += self._size(key)
        self._values.pop(key, None)
        self._values[key] = value
        while self._total > self._most:
            oldest = next(iter(self._values))
            del self._values[oldest]
            self._total -= self._size(oldest)
