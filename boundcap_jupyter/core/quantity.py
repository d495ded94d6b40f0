"""Sizes, counts and times as a person writes them, on the line of a magic and in an environment variable."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NoReturn

# More than 15 digits are a slip of the keyboard; int() would refuse thousands of them in words of its own.
_SIZE = re.compile(r"([0-9][0-9_]{0,14}(?:\.[0-9]{1,15})?)([kKmMgG]i?[bB]?|[bB]?)")
_COUNT = re.compile(r"([0-9][0-9_]{0,14}(?:\.[0-9]{1,15})?)([kKmM]?)")
_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_DURATION = re.compile(f"(?:{_NUMBER}h)?(?:{_NUMBER}m)?(?:{_NUMBER}s)?")
_SIZE_POWERS = {"": 0, "k": 1, "m": 2, "g": 3}


def size(text: str) -> int:
    """Bytes from `800`, `50k`, `1.5M`, `2GiB`. k, kB and KiB are all 1024: the default, 51200, is `50k`."""
    match = _SIZE.fullmatch(text)
    return _scaled(match[1], 1024, match[2][:1].lower().strip("b")) if match else _refuse(text)


def count(text: str) -> int:
    """A number of lines from `500`, `2_000`, `2k`, `1M`. Lines are counted by tens: k is 1000."""
    match = _COUNT.fullmatch(text)
    return _scaled(match[1], 1000, match[2].lower()) if match else _refuse(text)


def duration(text: str) -> float:
    """Seconds from `90`, `1.5`, `90s`, `10m`, `1h30m`: hours, minutes, seconds in this order."""
    # A bare number stands alone: after hours it could mean minutes or seconds.
    match = _DURATION.fullmatch(f"{text}s" if re.fullmatch(_NUMBER, text) else text)
    if match is None or not any(match.groups()):
        raise ValueError(text)
    hours, minutes, seconds = (Fraction(part or 0) for part in match.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


def _scaled(digits: str, base: int, prefix: str) -> int:
    if digits.endswith("_") or "__" in digits or "_." in digits:
        _refuse(digits)
    number = Fraction(digits.replace("_", "")) * base ** _SIZE_POWERS[prefix]
    if not prefix and number.denominator != 1:
        _refuse(digits)
    return int(number)


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)
