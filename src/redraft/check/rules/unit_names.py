"""Units and currencies: their names and the sizes of units."""

from __future__ import annotations

from fractions import Fraction

from redraft.check.rules.phrase_tables import Phrases, word_set

_UNIT_NAMES = {
    "kilometre": "km, kilometre, kilometer", "mile": "mile, mi", "metre": "m, metre, meter", "yard": "yard, yd",
    "foot": "ft, foot, feet", "inch": "inch, inches", "centimetre": "cm, centimetre, centimeter",
    "millimetre": "mm, millimetre, millimeter", "kilogram": "kg, kilogram, kilogramme, kilo",
    "gram": "g, gram, gramme", "milligram": "mg, milligram", "microgram": "mcg, µg, μg, microgram",
    "tonne": "ton, tonne", "ounce": "oz, ounce", "stone": "stone", "litre": "l, litre, liter",
    "millilitre": "ml, millilitre, milliliter", "gallon": "gallon", "pint": "pint", "second": "second, sec",
    "minute": "minute, min", "hour": "hour, hr", "day": "day", "week": "week", "fortnight": "fortnight",
    "month": "month", "year": "year, yr", "decade": "decade", "century": "century, centuries",
    "percent": "%, percent, per cent", "point": "percentage point, percentage points",
    "celsius": "° c, celsius, degrees celsius, degrees c, degrees centigrade",
    "fahrenheit": "° f, fahrenheit, degrees fahrenheit, degrees f",
    "dollar": "dollar", "pound": "pound, lb", "euro": "euro", "times": "times", "hectare": "hectare, ha",
    "acre": "acre", "mile per hour": "mph, miles per hour, miles an hour",
    "kilometre per hour": "km / h, kph, kmh, kilometres per hour, kilometers per hour, kilometres an hour",
    "am": "am, a . m, in the morning", "pm": "pm, p . m, in the afternoon, in the evening, at night",
    "o'clock": "o 'clock",
}  # fmt: skip
_ABBREVIATION = 2  # maximum letters of an abbreviation, which has no plural: "ms" are not metres


def _with_plural(name: str) -> str:
    return f"{name}, {name}s" if name.isalpha() and len(name) > _ABBREVIATION else name


UNITS = Phrases({unit: ", ".join(map(_with_plural, names.split(", "))) for unit, names in _UNIT_NAMES.items()})
TIMES_OF_DAY = frozenset({"am", "pm", "o'clock"})
# Quantity → the sizes of its units.
_SIZES = {
    "length": "millimetre 1, centimetre 10, metre 1e3, kilometre 1e6, inch 25.4, foot 304.8, yard 914.4, mile 1609344",
    "mass": "microgram 1e-3, milligram 1, gram 1e3, kilogram 1e6, tonne 1e9, ounce 28350, pound 453592, stone 6350293",
    "volume": "millilitre 1, litre 1e3",
    "time": "second 1, minute 60, hour 3600, day 86400, week 604800, fortnight 1209600",
    "months": "month 1, year 12, decade 120, century 1200",
    "area": "hectare 10000, acre 4046.86",
    "speed": "kilometre per hour 1, mile per hour 1.609",
}
UNIT_SIZE = {
    unit: (measured, Fraction(size)) for measured, units in _SIZES.items()
    for unit, _, size in (row.rpartition(" ") for row in units.split(", "))
}  # fmt: skip
CURRENCIES = {
    "£": word_set("pound pounds gbp sterling"), "$": word_set("dollar dollars usd bucks cents"),
    "€": word_set("euro euros eur"), "¥": word_set("yen yuan"),
}  # fmt: skip
