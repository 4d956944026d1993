"""docs/json.md as data: every event that a test sees is held against it."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/json.md"


def read_page():
    """For each event, `list` and `doctor` (and what is nested in them, such as `stats.peers`): the tables of its section, as {field: (type, whether optional)}."""
    tables, section, table = {}, None, None
    for line in PAGE.read_text().splitlines():
        if match := re.match(r"### `(\w+)`", line):
            section, table = match[1], None
        elif line.startswith("## "):
            match = re.match(r"## `rtcast (\w+) --json`", line)
            section, table = match and match[1], None
        elif match := re.match(r"\| field(?: of `(\w+)`)? \|", line):
            table = {}
            name = f"{section}.{match[1]}" if match[1] and match[1] != section else section
            tables.setdefault(name, []).append(table)
        elif table is not None and line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            for field in re.findall(r"`(\w+)`", cells[0]):
                table[field] = (cells[1].removesuffix(", optional"), cells[1].endswith("optional"))
    return tables


TYPES = {"string": str, "object": dict, "integer": int, "number": (int, float), "boolean": bool, "null": type(None), "array of strings": list,
         "array of objects": list}
PAGES = read_page()


def fault(name, object):
    """How an object differs from the tables of that name; None when one of them fits."""
    faults = []
    for table in PAGES.get(name, []):
        unknown = object.keys() - table.keys()
        missing = {field for field, (_, optional) in table.items() if not optional} - object.keys()
        wrong = [field for field, value in object.items() if field in table
                 and not any(isinstance(value, TYPES[each]) and (each == "boolean" or not isinstance(value, bool))
                             for each in table[field][0].split(" or "))]
        if not (unknown or missing or wrong):
            return next((each for field, value in object.items() if (inner := page_of(name, field)) for item in parts(value)
                         if (each := fault(inner, item))), None)
        faults.append(f"unknown {sorted(unknown)}, missing {sorted(missing)}, of another type {sorted(wrong)}")
    return f"docs/json.md and the event differ: {name}: {faults or 'no such event there'}: {object}"


def page_of(name, field):
    """The name of the tables of what is nested in a field: of the event's section, however deep it is nested; None when there are none."""
    nested = f"{name.split('.')[0]}.{field}"
    return nested if nested in PAGES else None


def parts(value):
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def check(event, name=None):
    """The event, or what `list` or `doctor` printed, if the page describes it."""
    fields = event if name else {field: value for field, value in event.items() if field != "event"}
    found = fault(name or event["event"], fields)
    assert found is None, found
    return event
