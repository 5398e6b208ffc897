"""Currencies as data: symbols, ISO codes, words.

A symbol that several currencies share stands for all of them ("$"); a code stands for one.
"""

# ruff: noqa: SIM905 - tables of words read better as text

from __future__ import annotations

from typing import Final

SYMBOLS: Final[dict[str, str]] = {
    "$": "$",
    "\u20ac": "EUR",
    "\u00a3": "GBP",
    "\u00a5": "\u00a5",
    "\u20b9": "INR",
    "\u20a9": "KRW",
    "\u20bd": "RUB",
    "\u20ba": "TRY",
    "\u20ab": "VND",
    "\u0e3f": "THB",
    "\u20aa": "ILS",
    "\u20b4": "UAH",
    "\u20a6": "NGN",
    "\u20b1": "PHP",
    "\u20bf": "BTC",
    "\u00a2": "\u00a2",
}
"""Currency by symbol; ``$`` and ``\u00a5`` are shared, ``\u00a2`` is a hundredth of whatever has cents."""

PREFIXED: Final[dict[str, str]] = {
    "US": "USD",
    "U.S.": "USD",
    "C": "CAD",
    "CA": "CAD",
    "CAD": "CAD",
    "A": "AUD",
    "AU": "AUD",
    "AUD": "AUD",
    "NZ": "NZD",
    "HK": "HKD",
    "S": "SGD",
    "SG": "SGD",
    "NT": "TWD",
    "R": "BRL",
    "MX": "MXN",
    "USD": "USD",
}
"""What the letters before a ``$`` make of it."""

SHARED: Final[dict[str, frozenset[str]]] = {
    "$": frozenset("USD CAD AUD NZD HKD SGD TWD MXN ARS CLP COP".split()),
    "\u00a5": frozenset({"JPY", "CNY"}),
}
"""The currencies a shared symbol may mean."""

CODES: Final = frozenset(
    "USD EUR GBP JPY CNY RMB INR CAD AUD NZD CHF SEK NOK DKK PLN CZK HUF RUB BRL MXN ZAR KRW SGD HKD TWD THB IDR MYR PHP"
    " VND AED SAR ILS EGP NGN KES UAH ARS CLP COP BTC ETH USDT USDC TRY RON BGN ISK PKR BDT LKR QAR KWD".split()
)
"""ISO codes, in capitals only; those that are ordinary words in capitals are left out."""

WORDS: Final[dict[str, str]] = {
    "dollar": "$",
    "dollars": "$",
    "buck": "$",
    "bucks": "$",
    "euro": "EUR",
    "euros": "EUR",
    "yen": "JPY",
    "yuan": "CNY",
    "rupee": "INR",
    "rupees": "INR",
    "rs": "INR",
    "franc": "CHF",
    "francs": "CHF",
    "won": "KRW",
    "peso": "MXN",
    "pesos": "MXN",
    "quid": "GBP",
    "pound sterling": "GBP",
    "pounds sterling": "GBP",
    "pounds": "GBP",
    "cent": "\u00a2",
    "cents": "\u00a2",
    "pence": "pence",
}
"""Currency words behind a number."""

NOT_AFTER: Final = frozenset({"won"})
"""Words that are more often something else ("they scored 3, won 2")."""

CENTS: Final = frozenset({"\u00a2", "pence"})

SCALES: Final[dict[str, int]] = {
    "thousand": 3,
    "million": 6,
    "millions": 6,
    "mn": 6,
    "mln": 6,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "bln": 9,
    "trillion": 12,
    "trillions": 12,
    "tn": 12,
    "trn": 12,
    "lakh": 5,
    "lakhs": 5,
    "crore": 7,
    "crores": 7,
}
"""Powers of ten by lower-case word, behind a blank or glued."""

GLUED_SCALES: Final[dict[str, int]] = {"k": 3, "K": 3, "M": 6, "MM": 6, "m": 6, "B": 9, "b": 9, "T": 12}
"""Powers of ten by letters glued to the number; with a currency also behind a blank."""
