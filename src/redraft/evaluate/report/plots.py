"""SVG plots. The page's style sheet defines their colours, for the light and the dark theme."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from redraft.evaluate.measures import Array


def escape(text: str) -> str:
    """Escape text for HTML. Control characters, which HTML forbids, become U+FFFD."""
    return html.escape("".join(sign if sign.isprintable() or sign.isspace() else "\ufffd" for sign in text))


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float
    label: str  # tooltip
    link: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear axis: values from `low` to `high` map to pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low or 1)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, about: int = 5) -> list[float]:
        rough = (self.high - self.low or 1) / about
        size = 10 ** np.floor(np.log10(rough))
        step = float(min((factor * size for factor in (1, 2, 5, 10)), key=lambda step: abs(step - rough)))
        first = int(np.ceil(self.low / step))
        return [number * step for number in range(first, int(np.floor(self.high / step + 1e-9)) + 1)]


def scatter(points: Sequence[Point], x_title: str, y_title: str, *, limit: float = 100) -> str:
    """One dot per sentence, with the diagonal where the two systems are equal."""
    size, left, bottom = 420, 52, 48
    x, y = Scale(0, limit, left, size - 14), Scale(0, limit, size - bottom, 8)
    parts = [_axis_x(x, size - bottom, x_title), _axis_y(y, left, y_title)]
    parts.append(f'<line class="even" x1="{x(0)}" y1="{y(0)}" x2="{x(limit)}" y2="{y(limit)}"/>')
    for point in points:
        kind = "up" if point.y > point.x else "down" if point.y < point.x else "level"
        title = f"<title>{escape(point.label)}</title>"
        dot = f'<circle class="{kind}" cx="{x(point.x)}" cy="{y(point.y)}" r="3.5">{title}</circle>'
        parts.append(f'<a href="#{point.link}">{dot}</a>' if point.link else dot)
    about = f"{y_title} against {x_title}, one dot per sentence"
    return _picture(size, size, "".join(parts), about)


def histograms(rows: Sequence[tuple[str, Array]], title: str, *, bins: int = 24) -> str:
    """One histogram per row on a shared x axis, with a line at each mean."""
    high = float(np.quantile(np.concatenate([values for _, values in rows]), 0.99)) or 1.0
    edges = np.linspace(0, np.ceil(high), bins + 1)
    width, left, row_height, bottom = 420, 8, 62, 44
    height = row_height * len(rows) + bottom
    x = Scale(0, float(edges[-1]), left, width - 8)
    found = [np.histogram(np.clip(values, 0, edges[-1]), edges)[0] for _, values in rows]
    most = max(int(counts.max()) for counts in found) or 1
    parts = [_axis_x(x, height - bottom, title)]
    for number, ((name, values), counts) in enumerate(zip(rows, found, strict=True)):
        base = row_height * (number + 1)
        for low, top, count in zip(edges[:-1], edges[1:], counts, strict=True):
            tall = round((row_height - 22) * count / most, 1)
            parts.append(
                f'<rect class="{_colour(number)}" x="{x(low)}" y="{base - tall}" width="{x(top) - x(low) - 1:.1f}" '
                f'height="{tall}"><title>{low:.0f} to {top:.0f}: {count} sentences</title></rect>'
            )
        mean = float(values.mean())
        parts.append(f'<line class="mean" x1="{x(mean)}" y1="{base - row_height + 20}" x2="{x(mean)}" y2="{base}"/>')
        parts.append(f'<text class="name" x="{left}" y="{base - row_height + 14}">{escape(name)}</text>')
        parts.append(
            f'<text class="name" text-anchor="end" x="{width - 8}" y="{base - row_height + 14}">mean {mean:.1f}</text>'
        )
    return _picture(width, height, "".join(parts), f"{title}: {', '.join(name for name, _ in rows)}")


def interval_plot(rows: Mapping[str, tuple[float, float, float]], title: str) -> str:
    """A value with its interval for each system, on a shared axis."""
    width, left, row_height, bottom = 420, 8, 34, 40
    height = row_height * len(rows) + bottom
    low, high = min(row[1] for row in rows.values()), max(row[2] for row in rows.values())
    room = (high - low or 1) * 0.08
    x = Scale(low - room, high + room, left, width - 8)
    parts = [_axis_x(x, height - bottom, title)]
    for number, (name, (value, start, end)) in enumerate(rows.items()):
        y = row_height * number + 24
        parts.append(f'<text class="name" x="{left}" y="{y - 10}">{escape(name)}</text>')
        parts.append(f'<line class="whisker {_colour(number + 1)}" x1="{x(start)}" y1="{y}" x2="{x(end)}" y2="{y}"/>')
        parts.append(
            f'<circle class="{_colour(number + 1)}" cx="{x(value)}" cy="{y}" r="5">'
            f"<title>{value:.2f} [{start:.2f}, {end:.2f}]</title></circle>"
        )
    return _picture(width, height, "".join(parts), f"{title} with 95 % intervals")


def _panel(values: Sequence[float], top: float, tall: float) -> Scale:
    """A vertical axis for these values."""
    room = (max(values) - min(values) or 1) * 0.08
    return Scale(min(values) - room, max(values) + room, top + tall, top)


def line_plot(rows: Sequence[tuple[str, Sequence[tuple[float, float]]]], x_title: str, *, marked: float | None) -> str:
    """One line plot per row in its own panel, on a shared x axis. `marked` draws a vertical line at that x value."""
    width, panel, bottom = 420, 150, 48
    height = panel * len(rows) + bottom
    scales = [_panel([value for _, value in points], panel * number + 14, panel - 24)
              for number, (_, points) in enumerate(rows)]  # fmt: skip
    left = 24 + 7 * max(4, *(len(f"{tick:g}") for y in scales for tick in y.ticks()))
    x = Scale(0, max(x for _, points in rows for x, _ in points), left, width - 14)
    parts = [_axis_x(x, height - bottom, x_title)]
    for number, ((name, points), y) in enumerate(zip(rows, scales, strict=True)):
        colour = _colour(number + 1)
        parts.append(_axis_y(y, left, name))
        coordinates = " ".join(f"{x(at)},{y(value)}" for at, value in points)
        parts.append(f'<polyline class="curve {colour}" points="{coordinates}"/>')
        for at, value in points if len(points) <= 40 else ():  # more points would hide the line
            title = f"<title>{at:g}: {value:.3f}</title>"
            parts.append(f'<circle class="{colour}" cx="{x(at)}" cy="{y(value)}" r="2.5">{title}</circle>')
    if marked is not None:
        parts.append(f'<line class="even" x1="{x(marked)}" y1="8" x2="{x(marked)}" y2="{height - bottom}"/>')
    return _picture(width, height, "".join(parts), f"{' and '.join(name for name, _ in rows)} against {x_title}")


def standalone_svg(picture: str) -> str:
    """The plot as a standalone SVG file with its own style sheet."""
    style = (
        "svg{background:#fff;font-family:system-ui,sans-serif}text{font-size:12px;fill:#5b6472}"
        ".title{fill:#1d2430}.grid{stroke:#dfe2e7}.even{stroke:#5b6472;stroke-dasharray:4 4}"
        ".row1{fill:#b4530f;stroke:#b4530f}.row2{fill:#1c5fb0;stroke:#1c5fb0}.curve{fill:none;stroke-width:1.5}"
    )
    head, rest = picture.split(">", 1)
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{rest}\n'


def _colour(number: int) -> str:
    """The CSS class of a row: row0 for sources, then four colours in rotation."""
    return f"row{(number - 1) % 4 + 1 if number else 0}"


def _picture(width: float, height: float, inside: str, about: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(about)}">{inside}</svg>'


def _axis_x(scale: Scale, y: float, title: str) -> str:
    marks = "".join(
        f'<line class="grid" x1="{scale(tick)}" y1="8" x2="{scale(tick)}" y2="{y}"/>'
        f'<text x="{scale(tick)}" y="{y + 16}" text-anchor="middle">{tick:g}</text>'
        for tick in scale.ticks()
    )
    middle = (scale.start + scale.end) / 2
    return f'{marks}<text class="title" x="{middle}" y="{y + 34}" text-anchor="middle">{escape(title)}</text>'


def _axis_y(scale: Scale, x: float, title: str) -> str:
    marks = "".join(
        f'<line class="grid" x1="{x}" y1="{scale(tick)}" x2="406" y2="{scale(tick)}"/>'
        f'<text x="{x - 6}" y="{scale(tick) + 4}" text-anchor="end">{tick:g}</text>'
        for tick in scale.ticks()
    )
    middle = (scale.start + scale.end) / 2
    rotation = f'transform="rotate(-90 14 {middle})"'
    return f'{marks}<text class="title" x="14" y="{middle}" text-anchor="middle" {rotation}>{escape(title)}</text>'
