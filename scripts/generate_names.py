"""Generate otel_footprint/telemetry/names.py and the tables of docs/telemetry.md from the registry.

python scripts/generate_names.py            write both
python scripts/generate_names.py --check    exit 1 if either differs from what the registry gives
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
REGISTRY = ROOT / "otel_footprint" / "telemetry" / "registry.toml"
NAMES = ROOT / "otel_footprint" / "telemetry" / "names.py"
DOCS = ROOT / "docs" / "telemetry.md"
PREFIX = "agentfootprint."

Registry = Mapping[str, Any]


def load() -> Registry:
    """The registry as it stands."""
    return tomllib.loads(REGISTRY.read_text(encoding="utf-8"))


def constant(name: str) -> str:
    """The constant's name: the attribute's without our prefix, in capitals."""
    return name.removeprefix(PREFIX).replace(".", "_").upper()


def names_source(registry: Registry) -> str:
    """The text of names.py."""
    lines = [
        '"""Every name that goes into telemetry. Generated from registry.toml by scripts/generate_names.py: do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping",
        "from typing import Final",
        "",
        "from otel_footprint.telemetry.metric import Metric",
        "",
        "# Attributes.",
    ]
    for attribute in registry["attribute"]:
        name = attribute["name"]
        if "template" in attribute:
            lines.append(f"{constant(name)}: Final[Mapping[str, str]] = {{")
            lines += [f'    "{value}": "{name}.{value}",' for value in registry["enums"][attribute["template"]]]
            lines.append("}")
        else:
            lines.append(f'{constant(name)}: Final = "{name}"')
    lines += ["", "# Attributes of others' spans, read and never written."]
    lines += [f'{constant(entry["name"])}: Final = "{entry["name"]}"' for entry in registry["read"]]
    lines += ["", "# Events."]
    lines += [f'{_event(entry)}: Final = "{entry["name"]}"' for entry in registry["event"]]
    lines += ["", "# Which events are kept when there are more than a span takes: 1 first."]
    lines += ["IMPORTANCE: Final[Mapping[str, int]] = {"]
    lines += [f"    {_event(entry)}: {entry['importance']}," for entry in registry["event"]]
    lines += ["}"]
    (unflagged,) = {entry["importance_unflagged"] for entry in registry["event"] if "importance_unflagged" in entry}
    lines.append(f"IMPORTANCE_UNFLAGGED: Final = {unflagged}")
    lines += ["", "# Labels of metrics."]
    labels = dict.fromkeys(entry["name"] for entry in registry["label"])
    lines += [f'LABEL_{constant(name)}: Final = "{name}"' for name in labels]
    lines += ["", "# Metrics."]
    for metric in registry["metric"]:
        lines += _metric(metric)
    return "\n".join(lines) + "\n"


def _event(entry: Mapping[str, Any]) -> str:
    return f"EVENT_{constant(entry['name'])}"


def _metric(metric: Mapping[str, Any]) -> list[str]:
    buckets = tuple(float(edge) for edge in metric.get("buckets", ()))
    return [
        f"METRIC_{constant(metric['name'])}: Final = Metric(",
        f'    name="{metric["name"]}",',
        f'    unit="{metric["unit"]}",',
        f'    brief="{metric["brief"]}",',
        *([f"    buckets={buckets!r},"] if buckets else []),
        ")",
    ]


def tables(registry: Registry) -> dict[str, str]:
    """The generated parts of docs/telemetry.md, by the name in their markers."""
    attributes = registry["attribute"]
    listed = {name for event in registry["event"] for name in event["attributes"]}
    parts = {
        "chat": _attribute_table(registry, (a for a in attributes if "chat" in a.get("spans", ()))),
        "invoke_agent": _attribute_table(registry, (a for a in attributes if "invoke_agent" in a.get("spans", ()))),
        "window": _attribute_table(registry, (a for a in attributes if "window" in a.get("spans", ()))),
        "links": _attribute_table(registry, (a for a in attributes if a.get("link"))),
        "metrics": _metric_table(registry),
        "labels": _label_table(registry),
    }
    by_name = {a["name"]: a for a in attributes}
    sections = []
    for event in registry["event"]:
        rows = _attribute_table(registry, (by_name[name] for name in event["attributes"]))
        sections.append(f"### `{event['name']}`\n\n{event['brief']}\n\n{rows}")
    parts["events"] = "\n\n".join(sections)
    nowhere = [a["name"] for a in attributes if not (a.get("spans") or a.get("link") or a["name"] in listed)]
    if nowhere:
        raise SystemExit(f"registry: these attributes stand nowhere: {', '.join(nowhere)}")
    return parts


def _attribute_table(registry: Registry, attributes: Iterable[Mapping[str, Any]]) -> str:
    rows = ["| Attribute | Type | Privacy | What it says |", "|---|---|---|---|"]
    for attribute in attributes:
        key = attribute["name"] + (f".<{attribute['template']}>" if "template" in attribute else "")
        words = attribute.get("template") or attribute.get("enum")
        values = f" One of {_words(registry, words)}." if words else ""
        rows.append(f"| `{key}` | {attribute['type']} | {attribute['privacy']} | {attribute['brief']}{values} |")
    return "\n".join(rows)


def _words(registry: Registry, enum: str) -> str:
    return ", ".join(f"`{value}`" for value in registry["enums"][enum])


def _metric_table(registry: Registry) -> str:
    rows = ["| Metric | Kind | Unit | Attributes | What it counts |", "|---|---|---|---|---|"]
    for metric in registry["metric"]:
        labels = ", ".join(f"`{label}`" for label in metric["attributes"]) or "none"
        rows.append(f"| `{metric['name']}` | {metric['kind']} | `{metric['unit']}` | {labels} | {metric['brief']} |")
    return "\n".join(rows)


def _label_table(registry: Registry) -> str:
    rows = ["| Metric attribute | Values | What it says |", "|---|---|---|"]
    for label in registry["label"]:
        values = _words(registry, label["enum"]) if "enum" in label else "at most 100 distinct, then `_other`"
        where = f" of `{label['metric']}`" if "metric" in label else ""
        rows.append(f"| `{label['name']}`{where} | {values} | {label['brief']} |")
    return "\n".join(rows)


def docs_source(registry: Registry, text: str) -> str:
    """The text of docs/telemetry.md with its generated parts replaced; what is around them stays."""
    for part, table in tables(registry).items():
        start, end = f"<!-- generated: {part} -->", f"<!-- end of generated: {part} -->"
        before, found, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise SystemExit(f"{DOCS.name}: the markers {start} and {end} are missing")
        text = f"{before}{start}\n{table}\n{end}{after}"
    return text


def main(arguments: list[str]) -> int:
    """Write both files, or compare them (``--check``)."""
    registry = load()
    wanted = {NAMES: names_source(registry), DOCS: docs_source(registry, DOCS.read_text(encoding="utf-8"))}
    if "--check" in arguments:
        stale = [path for path, text in wanted.items() if path.read_text(encoding="utf-8") != text]
        for path in stale:
            print(f"{path.relative_to(ROOT)} differs from the registry: run `make names`", file=sys.stderr)
        return 1 if stale else 0
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
