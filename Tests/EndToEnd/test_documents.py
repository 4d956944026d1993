"""scripts/markdown: the rules of documents, and the wrapping of long lines."""

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick
ROOT = Path(__file__).resolve().parents[2]


def checked(folder, text, *options):
    """The complaints about a page with this text, and the page afterwards."""
    page = folder / "page.md"
    page.write_text(text)
    done = subprocess.run([ROOT / "scripts/markdown", *options, page], capture_output=True, text=True, timeout=60)
    complaints = [line.removeprefix(f"{page}:") for line in done.stderr.splitlines()]
    assert done.returncode == bool(complaints), done
    return complaints, page.read_text()


def test_links_lead_to_files_and_headings(tmp_path):
    (tmp_path / "other.md").write_text("# One `thing`, twice\n\n# One thing twice\n")
    text = "# Here\n\n[a](#here) [b](other.md#one-thing-twice) [c](other.md#one-thing-twice-1) [d](https://gone.example/x)\n"
    assert checked(tmp_path, text)[0] == []
    text = "# Here\n\n[a](#there) [b](other.md#two)\n[c](gone.md) `[d](gone.md)`\n\n    [e](gone.md)\n"
    assert checked(tmp_path, text)[0] == ["3: #there leads to no heading", "3: other.md#two leads to no heading", "4: gone.md leads to no file"]


def test_lines_of_prose_have_a_hundred_characters(tmp_path):
    words = "word " * 30
    code = f"```\n{words}\n```\n\n    {words}\n\n| {words} |\n|---|\n\n[{words}](https://example.org/)\n"
    assert checked(tmp_path, code)[0] == []
    assert checked(tmp_path, f"# Here\n\n{words.strip()}\n")[0] == ["3: 149 characters, at most 100"]


def test_long_lines_are_wrapped_and_nothing_else(tmp_path):
    words = "word " * 30
    text = f"# Here\n\nshort\nlines stay\n\n- {words}`a code span` - 1. end\n- short\n\n    {words}\n"
    complaints, page = checked(tmp_path, text, "--fix")
    assert complaints == [] and page.split() == text.split()
    lines = page.splitlines()
    assert lines[:4] == ["# Here", "", "short", "lines stay"] and lines[5].startswith("- word") and lines[6].startswith("  word")
    assert "`a code span` - 1. end" in page and f"    {words.strip()}" in [line.rstrip() for line in lines]
    assert checked(tmp_path, page, "--fix") == ([], page)
