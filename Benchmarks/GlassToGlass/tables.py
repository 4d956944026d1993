"""Tables of what measure.py recorded: `tables.py` prints them, `tables.py --write` puts them into RESULTS.md, the README and docs/comparison.md.

Each cell is the median of the rounds that succeeded. In the documents a table stands between `<!-- table NAME -->` and `<!-- end -->`.
"""

import argparse
import json
import re
import statistics
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "Tests/EndToEnd"), str(HERE)]

from senders import SENDERS  # noqa: E402


def rows(name):
    path = HERE / f"results/{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def what(line):
    """The content or the link, and what else differs from the usual."""
    if "scenario" in line:
        return line["scenario"]
    rate = f", {line['bitrate'] / 1e6:g} Mbit/s" if line["bitrate"] != 2_500_000 else ""
    return line["content"] + (f", {line['fps_asked']} fps" if line["fps_asked"] != 30 else "") + rate


def grouped(lines):
    """{(what, sender): rounds that succeeded}, in the order of the records."""
    groups = {}
    for line in lines:
        rounds = groups.setdefault((what(line), line["sender"]), [])
        if "error" not in line:
            rounds.append(line)
    return groups


def middle(rounds, *path, digits=0):
    """The median of a figure, or a dash: `path` leads to it."""
    values = []
    for value in rounds:
        for name in path:
            value = value[name] if value is not None else None
        if value is not None:
            values.append(value)
    return f"{statistics.median(values):,.{digits}f}" if values else "–"


def span(rounds, *path):
    values = sorted(float(middle([each], *path).replace(",", "")) for each in rounds if middle([each], *path) != "–")
    if not values:
        return "–"
    return f"{values[0]:.0f}" if values[0] == values[-1] else f"{values[0]:.0f}–{values[-1]:.0f}"


def quality(rounds, name):
    return f"{middle(rounds, name, 'luma_db', digits=1)} / {middle(rounds, name, 'rgb_db', digits=1)}"


def title(sender):
    return SENDERS[sender].title if sender in SENDERS else sender


def conditions(lines):
    """One sentence: when, with which versions, under which load."""
    versions = ", ".join(sorted({line["version"] for line in lines if "version" in line}))
    loads, days = sorted(line["load"] for line in lines), sorted({line["when"][:10] for line in lines})
    counts = {}
    for line in lines:
        counts[what(line), line["sender"]] = counts.get((what(line), line["sender"]), 0) + 1
    failed = sum("error" in line for line in lines)
    priority = {line["nice"] for line in lines} - {0}
    text = (f"{days[0]}{'–' + days[-1] if days[-1] != days[0] else ''}; {versions}; rounds: {min(counts.values())}"
            f"{'–' + str(max(counts.values())) if max(counts.values()) != min(counts.values()) else ''}; "
            f"load of the two cores before each measurement: {loads[0]:g}–{loads[-1]:g}"
            f"{', measured at priority ' + ', '.join(map(str, sorted(priority))) if priority else ''}"
            f"{'; failed: ' + str(failed) if failed else ''}.")
    return "\n".join(textwrap.wrap(text, 100))


def desktop():
    lines = rows("desktop")
    if not lines:
        yield "No run is recorded."
        return
    yield conditions(lines)
    yield ""
    yield ("| content | sender | CPU, cores | latency p50 / p95 ms | fps shown | kbit/s | moving: luma / RGB dB | 2 s at rest | PSS MiB | "
           "first frame ms |")
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for (content, sender), rounds in grouped(lines).items():
        yield (f"| {content} | {title(sender)} | {middle(rounds, 'cpu', digits=3)} | "
               f"{middle(rounds, 'latency_p50_ms')} / {middle(rounds, 'latency_p95_ms')} | {middle(rounds, 'fps', digits=1)} | "
               f"{middle(rounds, 'kbps')} | {quality(rounds, 'moving')} | "
               f"{quality(rounds, 'after_2s' if content == 'static' else 'at_rest')} | {middle(rounds, 'pss_mib')} | "
               f"{middle(rounds, 'first_frame_ms')} |")


def links():
    lines = rows("links")
    if not lines:
        yield "No run is recorded."
        return
    yield conditions(lines)
    yield ""
    yield ("| link | sender | fps shown | latency p50 / p95 ms | frozen s of | longest gap ms | kbit/s | longest queue ms | "
           "younger than 300 ms after | 80 % of the rate after |")
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for (scenario, sender), rounds in grouped(lines).items():
        for index, one in enumerate(rounds[0]["spans"] if rounds else []):
            at = ("spans", index)
            seconds = one["to_s"] - one["from_s"]
            name = {"drop": f"{'→ ' if index else ''}{one['capacity_kbps'] / 1000:g} Mbit/s", "loss2": "2 % loss", "loss10": "10 % loss"}[scenario]
            young = middle(rounds, "young_after_drop_s", digits=1) + " s" if scenario == "drop" and index == 1 else ""
            back = middle(rounds, "rate_after_rise_s", digits=1) + " s" if scenario == "drop" and index == 2 else ""
            yield (f"| {name} | {title(sender)} | {middle(rounds, *at, 'fps', digits=1)} | "
                   f"{middle(rounds, *at, 'latency_p50_ms')} / {middle(rounds, *at, 'latency_p95_ms')} | "
                   f"{middle(rounds, *at, 'frozen_s', digits=1)} of {seconds} | {middle(rounds, *at, 'longest_gap_ms')} | "
                   f"{middle(rounds, *at, 'kbps')} | {middle(rounds, *at, 'queue_ms')} | {young.replace('– s', 'never')} | "
                   f"{back.replace('– s', 'never')} |")


def short():
    """For the README: rows of at most 100 characters."""
    groups = grouped(rows("desktop"))
    yield "| sender | typing | scrolling text | memory |"
    yield "|---|---|---|---|"
    for sender in dict.fromkeys(sender for _, sender in groups):
        typing, scroll = (groups.get((content, sender), []) for content in ("typing", "scroll"))
        everything = [line for line in rows("desktop") if line["sender"] == sender and "error" not in line]
        yield (f"| {title(sender).replace('**', '')} | {middle(typing, 'cpu', digits=2)} cores, {middle(typing, 'latency_p50_ms')} ms | "
               f"{middle(scroll, 'fps', digits=1)} fps, {middle(scroll, 'moving', 'luma_db', digits=1)} dB, "
               f"{middle(scroll, 'latency_p50_ms')} ms, {middle(scroll, 'cpu', digits=2)} cores | {span(everything, 'pss_mib')} MiB |")


def summary():
    """For docs/comparison.md."""
    lines = rows("desktop")
    groups = grouped(lines)
    yield ("| | typing: CPU, cores / latency | text that scrolls: frames shown / luma / latency / cores | text beside a film, moving | "
           "a page 2 s after the first frame | memory |")
    yield "|---|---|---|---|---|---|"
    for sender in dict.fromkeys(line["sender"] for line in lines):
        typing, scroll, video, static = (groups.get((content, sender), []) for content in ("typing", "scroll", "video", "static"))
        everything = [line for line in lines if line["sender"] == sender]
        yield (f"| {title(sender).replace('**', '')} | {middle(typing, 'cpu', digits=2)} / {middle(typing, 'latency_p50_ms')} ms | "
               f"{middle(scroll, 'fps', digits=1)} / {middle(scroll, 'moving', 'luma_db', digits=1)} dB / {middle(scroll, 'latency_p50_ms')} ms / "
               f"{middle(scroll, 'cpu', digits=2)} | {middle(video, 'moving', 'luma_db', digits=1)} dB | "
               f"{middle(static, 'after_2s', 'luma_db', digits=1)} dB | "
               f"{span([line for line in everything if 'error' not in line], 'pss_mib')} MiB |")


def shrinking():
    """For docs/comparison.md."""
    parts = []
    for (scenario, sender), rounds in grouped(rows("links")).items():
        if scenario == "drop" and rounds:
            parts.append(f"{title(sender).replace('**', '')} {middle(rounds, 'spans', 1, 'fps', digits=1)} a second, still for "
                         f"{middle(rounds, 'spans', 1, 'frozen_s', digits=1)} s")
    if parts:
        text = "On a link that shrinks from 5 Mbit/s to 600 kbit/s, pictures of a page that scrolls, in the 20 s after: "
        yield from textwrap.wrap(text + "; ".join(parts) + ".", 100)


TABLES = {"desktop": (desktop, "Benchmarks/RESULTS.md"), "links": (links, "Benchmarks/RESULTS.md"), "short": (short, "README.md"),
          "summary": (summary, "docs/comparison.md"), "shrinking": (shrinking, "docs/comparison.md")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    for name, (table, document) in TABLES.items():
        text = "\n".join(table())
        if not options.write:
            print(text, end="\n\n")
            continue
        path = ROOT / document
        pattern = rf"(<!-- table {name} -->\n).*?(\n<!-- end -->)"
        changed, count = re.subn(pattern, lambda match: match[1] + text + match[2], path.read_text(), flags=re.DOTALL)
        if count != 1:
            sys.exit(f"{document} has no place for the table {name}")
        path.write_text(changed)


main()
