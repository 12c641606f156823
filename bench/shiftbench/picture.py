"""A picture without a plotting library: for every task, how far methods are from lr, in bits."""

from __future__ import annotations

from html import escape

MARKS = {  # colour, shape
    "default": ("#0b62a4", "disc"), "best own method": ("#0b62a4", "ring"), "best peer": ("#d9600f", "diamond"),
    "robust": ("#9a9a9a", "disc"),
}
LEFT, RIGHT, TOP, STEP, WIDTH = 215, 25, 62, 17, 900


def mark(x, y, colour, shape, title):
    if shape == "diamond":
        body = f'<path d="M{x:.1f} {y - 5:.1f} l5 5 l-5 5 l-5 -5 z" fill="{colour}"'
    else:
        fill = colour if shape == "disc" else "none"
        body = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{colour}" stroke-width="1.5"'
    return f"{body}><title>{escape(title)}</title>{'</path>' if shape == 'diamond' else '</circle>'}"


def svg(rows, low=-0.8, high=0.4):
    """rows: (task, group, {series: bits - lr's}); beyond low and high a mark sits at the edge."""
    groups = list(dict.fromkeys(group for _, group, _ in rows))
    height = TOP + STEP * (len(rows) + len(groups)) + 25

    def at(v):
        return LEFT + (min(max(v, low), high) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="{LEFT}" y="18" font-size="14">Log loss on the target minus that of lr (bits; left is better)</text>']
    x = LEFT
    for name, (colour, shape) in MARKS.items():
        out += [mark(x + 5, 33, colour, shape, name), f'<text x="{x + 14}" y="37">{name}</text>']
        x += 130
    ticks = [low + k * 0.2 for k in range(round((high - low) / 0.2) + 1)]
    for v in ticks:
        zero = abs(v) < 1e-9
        out += [f'<line x1="{at(v):.1f}" x2="{at(v):.1f}" y1="{TOP - 10}" y2="{height - 20}" stroke="{"#444" if zero else "#ddd"}"/>',
                f'<text x="{at(v):.1f}" y="{TOP - 14}" text-anchor="middle">{0.0 if zero else v:+.1f}</text>']
    y = TOP
    for group in groups:
        y += STEP
        out.append(f'<text x="8" y="{y + 4}" font-weight="bold">{escape(group)}</text>')
        for task, _, series in (r for r in rows if r[1] == group):
            y += STEP
            out.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(task)}</text>')
            out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#f0f0f0"/>')
            out += [mark(at(series[s]), y, *MARKS[s], f"{task}: {s} {series[s]:+.3f}") for s in reversed(MARKS) if s in series]
    return "\n".join([*out, "</svg>"]) + "\n"
