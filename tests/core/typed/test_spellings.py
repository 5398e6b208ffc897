"""Every kind of value: what another spelling of it grounds, and that no digit of it may change."""

from __future__ import annotations

import pytest

from .comparing import Carrier, grounds, wrongly_grounded

DATES: list[tuple[Carrier, str]] = [
    (("date", "2024-05-20"), "May 20, 2024"),
    (("date", "2024-05-20"), "May 20 2024"),
    (("date", "2024-05-20"), "May 20th, 2024"),
    (("date", "2024-05-20"), "20 May 2024"),
    (("date", "2024-05-20"), "20th of May, 2024"),
    (("date", "2024-05-20"), "the 20th of May 2024"),
    (("date", "2024-05-20"), "20-May-2024"),
    (("date", "2024-05-20"), "20-May-24"),
    (("date", "2024-05-20"), "Monday, May 20, 2024"),
    (("date", "2024-05-20"), "Mon, 20 May 2024"),
    (("date", "2024-05-20"), "May 20, 2024 (Monday)"),
    (("date", "2024-05-20"), "2024/05/20"),
    (("date", "2024-05-20"), "05/20/2024"),
    (("date", "2024-05-20"), "20/05/2024"),
    (("date", "2024-05-20"), "20.05.2024"),
    (("date", "2024-05-20"), "5/20/24"),
    (("date", "2024-05-20"), "20240520"),
    (("date", "2024-05-20"), "May 20"),
    (("date", "2024-05-20"), "5/20"),
    (("date", "2024-05-20"), "**May 20**, 2024"),
    (("date", "2024-05-20"), "May&nbsp;20, 2024"),
    (("date", "20240520"), "2024-05-20"),
    (("date", 20240520), "May 20, 2024"),
    (("date", "May 20, 2024"), "2024-05-20"),
    (("date", "02_03_17"), "February 3, 2017"),
    (("month", "2024-05-01"), "May 2024"),
    ("Booked on Monday, May 20, 2024.", "2024-05-20"),
    (("created_at", "2024-05-20T08:00:00Z"), "May 20, 2024"),
    (("created_at", 1716192000), "May 20, 2024"),
    (("timestamp", 1716192000000), "May 20, 2024"),
    ("from 2024-05-19 to 2024-05-23", "May 19–23, 2024"),
    ("from 2024-05-19 to 2024-05-23", "May 19-23"),
    ("from 2024-05-19 to 2024-05-23", "19–23 May 2024"),
    ("from 2024-05-19 to 2024-05-23", "May 19 to May 23, 2024"),
    ("from 2024-05-19 to 2024-05-23", "2024-05-19/23"),
    (("Announced", "2021, September 01"), "September 1, 2021"),
    (("Announced", "2016, August 20"), "August 20, 2016"),
    (("Status", "Released 2022, May"), "May 2022"),
    ("2024-05-30 until 2024-06-02", "May 30-2, 2024"),
    ("2024-05-19, 2024-05-20 and 2024-05-23", "May 19, 20 and 23, 2024"),
]

TIMES: list[tuple[Carrier, str]] = [
    (("departure_time", "07:00:00"), "7:00 AM"),
    (("departure_time", "07:00:00"), "7 AM"),
    (("departure_time", "07:00:00"), "7am"),
    (("departure_time", "07:00:00"), "7:00 a.m."),
    (("departure_time", "07:00:00"), "07:00"),
    (("departure_time", "07:00:00"), "7:00"),
    (("departure_time", "19:30:00"), "7:30 PM"),
    (("departure_time", "19:30:00"), "7.30 pm"),
    (("departure_time", "19:30:00"), "19:30"),
    (("departure_time", "12:00:00"), "12 noon"),
    (("departure_time", "00:00:00"), "12:00 midnight"),
    (("departure_time", "00:15:00"), "12:15 AM"),
    (("departure_time", "12:15"), "12:15 PM"),
    (("t", "19:30:12"), "7:30:12 PM"),
    (("arrival", "01:30:00+1"), "01:30 (+1)"),
    (("arrival", "01:30:00+1"), "1:30 AM (next day)"),
    (("arrival", "01:30:00+1"), "1:30 AM"),
    (("departure_time_est", "15:00:00"), "3:00 PM EST"),
    (("departure_time_est", "15:00:00"), "8:00 PM UTC"),
    (("at", "2024-05-15T06:04:00Z"), "06:04"),
    (("at", "2024-05-15T06:04:00Z"), "08:04 CEST"),
    (("at", "2024-05-15T06:04:00Z"), "08:04 UTC+2"),
    (("at", "2024-05-15T06:04:00Z"), "2024-05-15T08:04:00+02:00"),
    (("at", "2024-05-15 06:04:00"), "2024-05-15T06:04:00"),
    (("at", 1715753040), "2024-05-15T06:04:00Z"),
    (("at", "2024-05-20T03:00:00Z"), "May 19, 2024 at 11:00 PM EDT"),
    (("at", "2024-05-20T03:00:00Z"), "May 20, 2024, 05:00 CEST"),
    (("at", "2024-05-20T03:00:00Z"), "May 19 at 11 PM EDT"),
    ("doors open at 7:30 pm", "19:30"),
    ("open 10:00 and 14:00", "10 AM - 2 PM"),
    ("open 10:00 and 14:00", "10:00–14:00"),
    ("open 07:00 and 09:00", "7-9 AM"),
]

MONEY: list[tuple[Carrier, str]] = [
    (("price", 123.5), "$123.50"),
    (("price", "123.50"), "$123.50"),
    (("total", 1234.5), "**$1,234.50**"),
    (("total", 1234.5), r"\$1,234.50"),
    (("total", 1234.5), "USD 1,234.50"),
    (("total", 1234.5), "1,234.50 USD"),
    (("total", 1234.5), "1234.50 dollars"),
    (("total", 1234.5), "1.234,50 €"),
    (("total", "€1,234.50"), "1 234,50 €".replace(" ", "\u202f")),
    (("total", "$1,200"), "USD 1200"),
    (("total", "$1,200"), "US$1,200"),
    (("amount_cents", 123450), "$1,234.50"),
    (("amount_cents", 75), "75 cents"),
    (("price", 0.75), "75¢"),
    (("revenue", 1234567), "$1.23M"),
    (("revenue", 1234567), "$1.23 million"),
    (("revenue", 2_500_000_000), "$2.5 bn"),
    (("revenue", "$2.5B"), "2,500,000,000 dollars"),
    (("refund", -59), "−$59"),
    (("refund", -59), "-$59"),
    (("refund", -59), "$59"),
    (("price", 1187.32), "about $1,187"),
    (("rent", 1200), "$1.2K/month"),
    (("price", 15), "$15/mo"),
    ("100 dollars up to 250 dollars", "$100–$250"),
    ("100 dollars up to 250 dollars", "$100-250"),
    ("It costs &euro;45.10 in all", "45.10 EUR"),
]

PERCENTS: list[tuple[Carrier, str]] = [
    (("discount_percent", 25), "25%"),
    (("discount_percent", 25), "25 percent"),
    (("discount_percent", 25), r"25\%"),
    (("ratio", 0.25), "25 %"),
    (("ratio", 0.4528), "45.3%"),
    (("humidity", 62), "62%"),
    (("growth", "-3.2%"), "3.2 per cent"),
    ("up 12.5 percent", "12.5%"),
    (("spread_percent", 0.25), "25 bps"),
    (("share", "37,5 %"), "37.5%"),
]

QUANTITIES: list[tuple[Carrier, str]] = [
    (("size_bytes", 1073741824), "1 GiB"),
    (("size_bytes", 1073741824), "1 GB"),
    (("size_bytes", 11274289152), "10.5 GB"),
    (("size_bytes", 10_500_000_000), "10.5 GB"),
    (("size", "10.5 GB"), "10.5GB"),
    (("size", "10.5 GB"), "10500 MB"),
    (("size", "512Mi"), "512 MiB"),
    (("duration_ms", 1500), "1.5 s"),
    (("duration_ms", 1500), "1.5 seconds"),
    (("latency_seconds", 0.25), "250 ms"),
    (("duration_minutes", 135), "2 hours 15 minutes"),
    (("duration_minutes", 135), "2h 15m"),
    (("duration_minutes", 135), "2h15m"),
    (("duration_minutes", 135), "2h15"),
    (("duration_minutes", 135), "135-minute"),
    (("duration", "PT2H15M"), "2 hours and 15 minutes"),
    (("duration", "02:15:00"), "135 minutes"),
    (("distance_km", 12.4), "12.4 km"),
    (("distance_km", 12.4), "12,400 metres"),
    (("distance", "12.4 km"), "12,4 km"),
    (("weight_kg", 2.5), "2500 g"),
    (("weight", "2.5kg"), "2.5 kilograms"),
    (("temperature_c", 21.5), "21.5 °C"),
    (("temperature_c", -5), "−5 °C"),
    (("temp_f", 68), "20 °C"),
    (("screen", "15-inch"), '15"'),
    (("height", "5 ft 10 in"), "5'10\""),
    (("capacity", "1000ml"), "1 liter"),
    (("speed_kmh", 90), "25 m/s"),
    (("iops", 120000), "120k IOPS"),
    (("rate", "1.5 Gbps"), "1500 Mbps"),
    ("a 750 ml bottle", "0.75 l"),
    ("3 × 10^8 m/s", "300000000 m/s"),
    ("winds 1.26 m/s, later 3.4 m/s", "1–3 m/s"),
    (("wind_speed", 3.57), "up to 4 m/s"),
    (("time extra", 5), "5 minutes"),
    ("226.11 dollars or 271.89 dollars", "$226–$272"),
    ("between 5 kg and 10 kg", "5–10 kg"),
    ("<b>5</b>&nbsp;GB", "5 GB"),
    ("157.5 mm long, 78.1 mm wide, 13.7 mm thick", "157.5 x 78.1 x 13.7 mm"),
    ("157.5 x 78.1 x 13.7 mm", "78.1 mm"),
    ("157.5 x 78.1 x 13.7 mm", "15.75 cm"),
    ("LTE-A 400/150 Mbps", "400 Mbps"),
    (("speed", 4.45), "4.45 meters per second"),
    (("speed", "16 km/h"), "16 kilometers per hour"),
    (("speed", "10 mph"), "10 miles per hour"),
    ("1080p@30fps", "30 frames per second"),
    (("rps", 1200), "1,200 requests per second"),
    ("add 0.75 cups", "3/4 cup"),
    (("duration_minutes", 90), "1 1/2 hours"),
    (("duration_minutes", 90), "1½ hours"),
    (("screen", "5.5 inches"), '5½"'),
    (("temp_c", 2.13), "2 °C"),
    (("temp_c", 21.6), "22 degrees Celsius"),
    ("takes 3 to 5 business days", "3-5 business days"),
]

NUMBERS: list[tuple[Carrier, str]] = [
    (("users", 1234567), "1.23M"),
    (("users", 1234567), "1.23 million"),
    (("users", 1234), "1.2k"),
    (("x", 0.0112), "1.12e-2"),
    (("x", "1.12e-02"), "0.0112"),
    (("x", 45.2857), "45.29"),
    (("x", 98304), "98304.0"),
    (("x", "12.345,67"), "12,345.67"),
    (("count", 35), "٣٥"),
    (("bags", 3), "three bags"),
    ("twenty-five seats", "25"),
    ("two hundred and fifty", "250"),
]

IDS: list[tuple[Carrier, str]] = [
    (("phone", "+1 555 123 4567"), "(555) 123-4567"),
    (("phone", "5551234567"), "555-123-4567"),
    (("phone", "+442079460123"), "020 7946 0123"),
    (("phone", "+33199001234"), "01 99 00 12 34"),
    (("contact", "0151 23456789"), "0151/23456789"),
    (("phone", 15551234567), "+1 (555) 123-4567"),
    ("call 1-800-555-0199 now", "+1 800 555 0199"),
    (("id", "550e8400e29b41d4a716446655440000"), "550e8400-e29b-41d4-a716-446655440000"),
    (("id", "550E8400-E29B-41D4-A716-446655440000"), "550e8400e29b41d4a716446655440000"),
    (("mac", "00:1a:2b:3c:4d:5e"), "00-1A-2B-3C-4D-5E"),
    (("mac", "001a.2b3c.4d5e"), "00:1A:2B:3C:4D:5E"),
    (("mac", "001a2b3c4d5e"), "00:1A:2B:3C:4D:5E"),
    (("wwn", "50:06:01:60:3b:20:1e:02"), "500601603b201e02"),
    (("lun", "0xEF0101"), "0xef0101"),
]

ONE_SIDED: list[tuple[Carrier, str, str]] = [
    (("when", "20 May"), "May 20, 2024", "2024"),
    (("phone", "0151 23456789"), "+49 151 23456789", "+49"),
    ("call 020 7946 0123 now", "+44 20 7946 0123", "+44"),
    (("phone", "5551234567"), "+1 555 123 4567", "+1"),
]
"""Values that say more than the carrier: what they add is free."""

ALL = DATES + TIMES + MONEY + PERCENTS + QUANTITIES + NUMBERS + IDS


@pytest.mark.parametrize(("carrier", "answer"), ALL, ids=lambda each: str(each))
def test_another_spelling_of_the_same_value_agrees(carrier: Carrier, answer: str) -> None:
    assert grounds(carrier, answer)


@pytest.mark.parametrize(("carrier", "answer"), ALL, ids=lambda each: str(each))
def test_with_one_digit_changed_it_no_longer_agrees(carrier: Carrier, answer: str) -> None:
    assert wrongly_grounded(carrier, answer) == []


@pytest.mark.parametrize(("carrier", "answer", "free"), ONE_SIDED, ids=lambda each: str(each))
def test_what_the_carrier_leaves_out_is_free(carrier: Carrier, answer: str, free: str) -> None:
    assert grounds(carrier, answer)
    assert wrongly_grounded(carrier, answer, free) == []
