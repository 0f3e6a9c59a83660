"""What two spellings of a name, a login or a number have in common, as keys that are equal."""

import unicodedata


def key_of(text: str) -> str:
    """A login, a number or an address without capitals, needless blanks and ways to write an umlaut."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def keys_of(*texts: str) -> tuple[str, ...]:
    """The keys of those that are not empty, each once."""
    return tuple(dict.fromkeys(filter(None, map(key_of, texts))))


def letters_of(text: str) -> str:
    """Letters and digits alone: what is left of a name in a folder, a download or the head of a column."""
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


def name_forms(name: str) -> tuple[str, ...]:
    """What a name may be compared by: its letters, with the family name first or last where a comma says so.

    Source: Canvas names downloads by the sortable name ("Doe, Jane") in lower case without other signs ("doejane").
    """
    parts = [letters_of(part) for part in name.split(",", 1)]
    return _each_once("".join(parts), "".join(reversed(parts)))


def forms_in_either_order(name: str) -> tuple[str, ...]:
    """The same without a comma to go by: the last word may stand first."""
    words = name.replace(",", " ").split()
    return _each_once(letters_of(" ".join(words)), letters_of(" ".join([*words[-1:], *words[:-1]])))


def without_accents(text: str) -> str:
    """As keyboards and platforms write it that have none."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


def _each_once(*forms: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, forms)))
