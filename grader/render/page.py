"""File names of the pages, from submission ids that can be anything a file system allows."""

import hashlib
import re
import unicodedata

# Lower case only, because Ada.html and ada.html are one file on many machines.
_ORDINARY = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
# Device names on Windows, with any ending; and what a web server shows instead of a folder.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|index)(\..*)?")
_NOT_IN_A_SLUG = re.compile(r"[^A-Za-z0-9]+")


def page_name(submission_id: str) -> str:
    """Name the file of a submission's page: ada.html for ada, Ada-Lovelace~5f1c….html for "Ada Lovelace".

    The same id always gets the same name. Different ids never share one, not even where upper and lower case
    are the same: an id that is not plain lower case gets part of its SHA-256, after a character that plain
    ids do not have.
    """
    if _ORDINARY.fullmatch(submission_id) and not _RESERVED.fullmatch(submission_id):
        return f"{submission_id}.html"
    digest = hashlib.sha256(submission_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    letters = unicodedata.normalize("NFKD", submission_id[:200]).encode("ascii", "ignore").decode()
    slug = _NOT_IN_A_SLUG.sub("-", letters).strip("-")[:40]
    return f"{slug}~{digest}.html" if slug else f"id~{digest}.html"
