# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots of the examples: lines and bars as SVG text."""

COLORS = ["#2a6fbb", "#d1495b", "#66a182", "#edae49", "#6d597a", "#30638e"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 380, 60, 40, 20, 60


def _text(x, y, text, anchor="middle", extra=""):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" '
        f'font-family="sans-serif" {extra}>{text}</text>'
    )


def _frame(title, y_label, low, high, parts):
    inner = HEIGHT - TOP - BOTTOM
    lines = []
    for i in range(6):
        value = low + (high - low) * i / 5
        y = TOP + inner * (1 - i / 5)
        lines.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        lines.append(_text(LEFT - 6, y + 4, f"{value:.3g}", "end"))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(WIDTH / 2, 20, title, extra='font-weight="bold"'),
        _text(16, HEIGHT / 2, y_label, extra=f'transform="rotate(-90 16 {HEIGHT / 2})"'),
        *lines, *parts, "</svg>", "",
    ])  # fmt: skip


def _legend(names):
    step = (WIDTH - LEFT - RIGHT) / len(names)
    parts = []
    for i, name in enumerate(names):
        x = LEFT + i * step
        parts.append(f'<rect x="{x:.1f}" y="{HEIGHT - 18}" width="10" height="10" fill="{COLORS[i]}"/>')
        parts.append(_text(x + 14, HEIGHT - 9, name, "start"))
    return parts


def bars(title, y_label, groups, series):
    """`series` is {name: [a value for each group]}."""
    values = [v for s in series.values() for v in s]
    low, high = min(0, *values), max(values) * 1.05
    inner, step = HEIGHT - TOP - BOTTOM, (WIDTH - LEFT - RIGHT) / len(groups)
    width = step * 0.8 / len(series)
    parts = []
    for g, name in enumerate(groups):
        parts.append(_text(LEFT + (g + 0.5) * step, HEIGHT - BOTTOM + 16, name))
        for s, column in enumerate(series.values()):
            size = (column[g] - low) / (high - low) * inner
            x = LEFT + (g + 0.1) * step + s * width
            parts.append(
                f'<rect x="{x:.1f}" y="{TOP + inner - size:.1f}" width="{width:.1f}" '
                f'height="{size:.1f}" fill="{COLORS[s]}"/>'
            )
    return _frame(title, y_label, low, high, parts + _legend(list(series)))


def lines(title, x_label, y_label, series):
    """`series` is {name: [a value for each step]}."""
    values = [v for s in series.values() for v in s]
    low, high = min(values), max(values)
    inner = HEIGHT - TOP - BOTTOM
    parts = [_text(WIDTH / 2, HEIGHT - BOTTOM + 30, x_label)]
    for s, column in enumerate(series.values()):
        points = " ".join(
            f"{LEFT + i / max(1, len(column) - 1) * (WIDTH - LEFT - RIGHT):.1f},"
            f"{TOP + (high - v) / ((high - low) or 1) * inner:.1f}"
            for i, v in enumerate(column)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLORS[s]}"/>')
    for i in range(5):
        step = (len(next(iter(series.values()))) - 1) * i // 4
        x = LEFT + i / 4 * (WIDTH - LEFT - RIGHT)
        parts.append(_text(x, HEIGHT - BOTTOM + 14, step + 1))
    return _frame(title, y_label, low, high, parts + _legend(list(series)))
