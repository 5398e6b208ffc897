"""What the name of a field makes of its number."""

from __future__ import annotations

import pytest

from otel_footprint.core.evidence.typed import of_leaf


@pytest.mark.parametrize(
    ("key", "number", "kind", "unit"),
    [
        ("price", 5, "money", "money"),
        ("price_usd", 5, "money", "USD"),
        ("priceEUR", 5, "money", "EUR"),
        ("price_per_night", 5, "money", "money"),
        ("net_total_due_now", 5, "money", "money"),
        ("total_for_all_passengers", 5, "money", "money"),
        ("amount_cents", 500, "money", "money"),
        ("size_bytes", 5, "quantity", "B"),
        ("durationMs", 5, "duration", "s"),
        ("latency_s", 5, "duration", "s"),
        ("distance_m", 5, "quantity", "m"),
        ("wind_speed_kmh", 5, "quantity", "m/s"),
        ("temp_c", 5, "quantity", "degC"),
        ("download_mbps", 5, "quantity", "bit/s"),
        ("bytes_per_second", 5, "quantity", "bit/s"),
        ("discount_percent", 5, "percent", "%"),
        ("hours", 5, "duration", "s"),
    ],
)
def test_a_name_gives_a_kind_and_unit(key: str, number: int, kind: str, unit: str) -> None:
    (value,) = of_leaf(key, number)
    assert (value.kind, value.unit) == (kind, unit)


@pytest.mark.parametrize(
    "key",
    ["total_items", "payment_count", "payment_method_id", "min_price_count", "in_stock", "year", "month", "day", "for", "value", "x",
     "seats", "order_id", "score", "k", "m", "user_id", "price" * 20],
)  # fmt: skip
def test_a_name_that_says_nothing_leaves_a_bare_number(key: str) -> None:
    (value,) = of_leaf(key, 7)
    assert (value.kind, value.unit) == ("number", None)


@pytest.mark.parametrize("key", ["created_at", "timestamp", "start_time", "expiresAt", "ts", "dateOfBirth"])
@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
def test_a_large_number_in_a_field_of_moments_is_an_epoch(key: str, scale: int) -> None:
    assert [value.kind for value in of_leaf(key, 1_716_192_000 * scale)] == ["number", "datetime"]


@pytest.mark.parametrize("key", ["id", "count", "price", "order_number", None])
def test_elsewhere_it_is_a_number(key: str | None) -> None:
    assert "datetime" not in [value.kind for value in of_leaf(key, 1_716_192_000)]
