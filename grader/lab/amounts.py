"""Amounts as text, with their units."""

#: Bytes of a MiB.
_MIB = 1024 * 1024


def number(value: float | None) -> str:
    """Three digits; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:.3g}"
    if "e" in text and 1e-4 <= abs(value) < 1e7:
        text = f"{float(text):.0f}"
    mantissa, _, power = text.partition("e")
    return f"{mantissa}e{int(power)}" if power else text


def percent(share: float | None) -> str:
    """A share, in percent: of less than one in a hundred, its first digit."""
    if share is None:
        return "–"
    return f"{100 * share:.0f} %" if share >= 0.01 or not share else f"{100 * share:.1g} %"


def mib(count: int | None) -> str:
    """Bytes, in MiB."""
    return "–" if count is None else f"{count / _MIB:.2f} MiB"


def seconds(duration: float | None) -> str:
    """Seconds, in ms."""
    return "–" if duration is None else f"{number(1000 * duration)} ms"


def rate(per_second: float | None) -> str:
    """Things a second, to three digits."""
    return "–" if per_second is None else f"{float(f'{per_second:.3g}'):,.0f}".replace(",", "\N{NO-BREAK SPACE}")


def factor(ratio: float | None) -> str:
    """How many times as much."""
    if ratio is None:
        return "–"
    return f"{ratio:.2f} times" if 0.1 <= ratio < 10 else f"{number(ratio)} times"
