"""The process that takes an archive apart is fed, bounded and ended, whatever it does."""

import gzip
import io
import json
import os
import zipfile

from conftest import children_of

from grader.intake.tree import MIB
from grader.intake.unpacker import Ended, run_unpacker

CAPS = {
    "file_bytes": MIB,
    "total_bytes": 20 * MIB,
    "notebook_bytes": 20 * MIB,
    "unpacked_bytes": 64 * MIB,
    "entries": 2000,
    "listed": 20_000,
}
SETTINGS = {"format": "tar", "noise": [], "caps": CAPS}
#: Three million empty archives, one after the other: seconds of work for a decompressor.
SLOW = gzip.compress(b"") * 3_000_000


def zipped(content):
    """A zip of one file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mix.py", content)
    return file.getvalue()


def test_intake_unpacker_answers_in_one_line_of_json():
    """The protocol, as it is."""
    answer = run_unpacker(zipped("a"), SETTINGS | {"format": "zip"}, MIB)

    assert {"entries": [["mix.py", "file", "YQ=="]]} == json.loads(answer)


def test_intake_unpacker_is_fed_more_than_a_pipe_holds():
    """It reads all before it says anything."""
    answer = run_unpacker(b"x" * 20 * MIB, SETTINGS, MIB)

    assert {"problem": ["damaged", "", ""]} == json.loads(answer)


def test_intake_unpacker_that_uses_too_much_processor_time_is_ended():
    """By the kernel."""
    assert Ended.TOO_SLOW is run_unpacker(SLOW, SETTINGS | {"cpu_s": 1}, MIB)


def test_intake_unpacker_that_passes_its_deadline_is_ended(monkeypatch):
    """From outside, also when it has not begun."""
    monkeypatch.setattr("grader.intake.unpacker._DEADLINE_S", 3.0)
    before = children_of(os.getpid())

    assert Ended.TOO_SLOW is run_unpacker(SLOW, SETTINGS | {"cpu_s": 60}, MIB)
    assert before == children_of(os.getpid())


def test_intake_unpacker_that_uses_too_much_memory_says_so():
    """What a header claims is not allocated."""
    bomb = gzip.compress(bytes(60 * MIB))

    answer = run_unpacker(bomb, SETTINGS | {"memory_mib": 16}, MIB)

    assert {"problem": ["memory", "", ""]} == json.loads(answer)


def test_intake_unpacker_that_says_too_much_is_not_listened_to():
    """Its answer has a length at most."""
    assert Ended.ASTRAY is run_unpacker(zipped("a" * 1000), SETTINGS | {"format": "zip"}, 1000)


def test_intake_unpacker_that_ends_without_an_answer_went_astray():
    """As when it crashes: here, a setting it cannot understand."""
    assert Ended.ASTRAY is run_unpacker(b"", SETTINGS | {"caps": {}}, MIB)
