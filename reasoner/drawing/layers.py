"""Where boxes go: layers from top to bottom, few crossings, arrows that avoid boxes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

GAP_X, GAP_Y = 28.0, 44.0
_SWEEPS = 6
#: Arrows beyond this many are drawn straight, not led around boxes.
_MOST_ROUTED = 400


@dataclass(frozen=True, slots=True)
class Size:
    """The width and the height of a box."""

    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The upper left corner of each box, the points of each arrow, and the size of it all."""

    places: Mapping[str, tuple[float, float]]
    routes: Mapping[tuple[str, str], Sequence[tuple[float, float]]]
    size: Size


def arrange(sizes: Mapping[str, Size], arrows: Iterable[tuple[str, str]]) -> Layout:
    """Place boxes so that every arrow points down; ``sizes`` are in an order that allows it."""
    edges = list(dict.fromkeys(arrows))
    layer = _layers(sizes, edges)
    rows, chains = _rows(sizes, edges, layer)
    widths = {k: s.width for k, s in sizes.items()}
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    above, below = _neighbors(links)
    rows = _ordered(rows, above, below)
    center = _centers(rows, widths, above, below)
    left = min((center[k] - widths.get(k, 0) / 2 for row in rows for k in row), default=0)
    tops, height = _tops(rows, sizes)
    places = {k: (center[k] - sizes[k].width / 2 - left, tops[layer[k]][0]) for k in sizes}
    width = max((places[k][0] + sizes[k].width for k in sizes), default=0)
    bends = {k: (x - left, tops[n]) for n, row in enumerate(rows) for k in row for x in [center[k]]}
    width = max(width, *(x for x, _ in bends.values())) if bends else width
    floor = {k: tops[layer[k]][1] for k in sizes}
    routes = {
        pair: _route(pair, chain, places, sizes, bends, floor, edges)
        for pair, chain in chains.items()
    }
    return Layout(places=places, routes=routes, size=Size(width, height))


def _layers(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the layer of each box: below everything that it needs."""
    layer = dict.fromkeys(sizes, 0)
    needs: dict[str, list[str]] = {k: [] for k in sizes}
    for source, target in edges:
        needs[target].append(source)
    for key in sizes:
        layer[key] = max((layer[n] + 1 for n in needs[key]), default=0)
    return layer


def _rows(
    sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]], layer: Mapping[str, int]
) -> tuple[list[list[str]], dict[tuple[str, str], list[str]]]:
    """Return the keys of each layer, and each arrow as a chain through one key of every layer."""
    rows: list[list[str]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for key in sizes:
        rows[layer[key]].append(key)
    chains: dict[tuple[str, str], list[str]] = {}
    for source, target in edges:
        chain = [source]
        if len(edges) <= _MOST_ROUTED:
            for n in range(layer[source] + 1, layer[target]):
                bend = f"{source}\0{target}\0{n}"
                rows[n].append(bend)
                chain.append(bend)
        chains[source, target] = [*chain, target]
    return rows, chains


def _neighbors(
    links: Iterable[tuple[str, str]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}
    for upper, lower in links:
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    return above, below


def _ordered(
    rows: list[list[str]], above: Mapping[str, list[str]], below: Mapping[str, list[str]]
) -> list[list[str]]:
    """Order each layer by where its neighbours stand, down and up in turns."""
    rank = {key: float(i) for row in rows for i, key in enumerate(row)}
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        near = above if down else below
        for row in rows if down else reversed(rows):
            row.sort(key=lambda k: _mean([rank[n] for n in near.get(k, ())], rank[k]))
            rank.update({key: float(i) for i, key in enumerate(row)})
    return rows


def _centers(
    rows: Sequence[Sequence[str]],
    widths: Mapping[str, float],
    above: Mapping[str, list[str]],
    below: Mapping[str, list[str]],
) -> dict[str, float]:
    """Return where the middle of each key goes: near its neighbours, in order, apart."""
    center: dict[str, float] = {}
    for row in rows:
        center.update(zip(row, _spread([0.0] * len(row), row, widths), strict=True))
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        near = above if down else below
        for row in rows if down else reversed(rows):
            wanted = [_mean([center[n] for n in near.get(k, ())], center[k]) for k in row]
            center.update(zip(row, _spread(wanted, row, widths), strict=True))
    return center


def _spread(
    wanted: Sequence[float], row: Sequence[str], widths: Mapping[str, float]
) -> list[float]:
    """Return the places nearest to those wanted that keep the order and the gaps.

    Neighbours that would overlap form a cluster around the mean of their wishes.
    """
    offsets = [0.0]
    for one, two in pairwise(row):
        gap = GAP_X if one in widths and two in widths else GAP_X / 2
        offsets.append(offsets[-1] + (widths.get(one, 0) + widths.get(two, 0)) / 2 + gap)
    clusters: list[tuple[float, int]] = []
    for wish, offset in zip(wanted, offsets, strict=False):
        mean, size = wish - offset, 1
        while clusters and clusters[-1][0] > mean:
            other, count = clusters.pop()
            mean, size = (other * count + mean * size) / (count + size), count + size
        clusters.append((mean, size))
    starts = [mean for mean, size in clusters for _ in range(size)]
    return [start + offset for start, offset in zip(starts, offsets, strict=False)]


def _tops(
    rows: Sequence[Sequence[str]], sizes: Mapping[str, Size]
) -> tuple[list[tuple[float, float]], float]:
    """Return the top and the bottom of each layer, and the height of all."""
    found: list[tuple[float, float]] = []
    y = 0.0
    for row in rows:
        height = max((sizes[k].height for k in row if k in sizes), default=0.0)
        found.append((y, y + height))
        y += height + GAP_Y
    return found, max(0.0, y - GAP_Y)


def _route(
    pair: tuple[str, str],
    chain: Sequence[str],
    places: Mapping[str, tuple[float, float]],
    sizes: Mapping[str, Size],
    bends: Mapping[str, tuple[float, tuple[float, float]]],
    floor: Mapping[str, float],
    edges: Sequence[tuple[str, str]],
) -> list[tuple[float, float]]:
    """Return the points of an arrow, from the bottom of one box to the top of another."""
    source, target = pair
    x, y = places[source]
    middle = x + sizes[source].width / 2
    points = [(middle, y + sizes[source].height)]
    if floor[source] > y + sizes[source].height:  # a taller box stands beside it
        points.append((middle, floor[source]))
    for key in chain[1:-1]:
        at, (top, bottom) = bends[key]
        points += [(at, top), (at, bottom)]
    x, y = places[target]
    arrivals = sorted(
        (s for s, t in edges if t == target),
        key=lambda s: (places[s][0] + sizes[s].width / 2, s),
    )
    share = (arrivals.index(source) + 1) / (len(arrivals) + 1)
    width = min(sizes[target].width * 0.6, 30.0 * len(arrivals))
    points.append((x + sizes[target].width / 2 + (share - 0.5) * width, y))
    return points


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default
