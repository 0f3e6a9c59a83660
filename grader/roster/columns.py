"""What the heads of a roster's columns mean: one's own, and those that platforms write.

Canvas gradebooks (`Student, ID, SIS User ID, SIS Login ID, Section`), Moodle lists of participants (`First name, Last
name, Email address, ID number, Groups`) and grading worksheets (`Identifier, Full name, Email address`), Gradescope
rosters (`Name` or `First Name, Last Name`, `SID`, `Email`) and GitHub Classroom rosters (`identifier, github_username,
github_id, name`) are rosters as they are.
"""

import enum
from collections.abc import Sequence

from grader.people.spelling import letters_of


class Column(enum.Enum):
    """What the cells of a column say."""

    NAME = "name"
    FIRST = "first name"
    LAST = "last name"
    EMAIL = "email"
    #: The platform's own number of a person.
    LMS_ID = "id"
    #: The school's number, which Gradescope uses.
    STUDENT_ID = "student id"
    #: Whatever a teacher or Moodle put there: a number, an e-mail address, a name.
    IDENTIFIER = "identifier"
    LOGIN = "login"
    GITHUB = "github"
    SECTION = "section"
    GROUP = "group"
    SUBMITTED_AT = "submitted_at"
    DAYS = "extension_days"
    HOURS = "extension_hours"
    LATE = "late"


#: Heads in small letters, without blanks and marks.
_HEADS = {
    Column.NAME: ("name", "fullname", "student", "studentname", "displayname"),
    Column.FIRST: ("first", "firstname", "givenname", "givennames", "forename"),
    Column.LAST: ("last", "lastname", "surname", "familyname"),
    Column.EMAIL: ("email", "emailaddress", "mail", "emails"),
    Column.LMS_ID: ("id", "canvasid", "canvasuserid", "userid", "lmsid", "participant", "participantid", "moodleid"),
    Column.STUDENT_ID: ("sid", "studentid", "studentnumber", "sisid", "sisuserid", "idnumber", "matriculationnumber"),
    Column.IDENTIFIER: ("identifier",),
    Column.LOGIN: ("login", "loginid", "sislogin", "sisloginid", "username", "netid", "user"),
    Column.GITHUB: ("github", "githubusername", "githublogin", "githubuser", "githubname"),
    Column.SECTION: ("section", "sections"),
    Column.GROUP: ("group", "groups", "team", "groupname"),
    Column.SUBMITTED_AT: ("submittedat", "submitted", "submissiontime", "handedinat"),
    Column.DAYS: ("days", "extensiondays", "extradays", "daysextension"),
    Column.HOURS: ("hours", "extensionhours", "extrahours", "hoursextension"),
    Column.LATE: ("late", "islate"),
}
_MEANING = {head: column for column, heads in _HEADS.items() for head in heads}
#: What says who somebody is; without one of them a file is no roster.
WHO = (
    Column.NAME,
    Column.LAST,
    Column.EMAIL,
    Column.LMS_ID,
    Column.STUDENT_ID,
    Column.IDENTIFIER,
    Column.LOGIN,
    Column.GITHUB,
)


def meaning_of(head: str) -> Column | None:
    """What a column says, by its head; None for one that a roster has no use for, such as an assignment's points."""
    return _MEANING.get(letters_of(head))


def columns_of(heads: Sequence[str]) -> dict[Column, int]:
    """Where each column is.

    Raises:
        ValueError: two columns say the same; the text names them.
    """
    found: dict[Column, int] = {}
    for place, head in enumerate(heads):
        column = meaning_of(head)
        if column is None:
            continue
        if column in found:
            raise ValueError(f"two columns say {column.value} ({heads[found[column]]!r} and {head!r}); rename one")
        found[column] = place
    return found
