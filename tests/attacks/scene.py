"""One run of `grade` over attacks and honest neighbours, with canaries in place, and what each attack achieved.

`python -m attacks.scene --out FINDINGS.json` from the folder `tests`; words after it choose attacks by their ids.
What an attack achieved is a list of facts in words; one that failed has an empty list. The facts are looked for on
the outside (points, secrets that turn up, sockets, a victim, files, processes left), and in the attack's own word where
nothing shows outside: no attack says that it was allowed what it was refused.
"""

import argparse
import contextlib
import ctypes
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from attacks import canaries, folders, readers
from attacks.corpus import FILE, HERE, Attack, Honest, attacks, honest, write

#: Seconds that a whole run may take, and that processes may take to end after it.
_PATIENCE_S = 400.0
_ENDING_S = 10.0
#: Whose file, and whose printed text, hold a secret. Its name comes first, so that it is graded before all attacks.
_NEIGHBOUR = "Ada"
#: How folders of accomplices begin: before all attacks, so that they are graded first.
_HELPER = "a-accomplice-"
SUBREAPER = 36
_TAG = re.compile(r"\ba\d{3}(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What came of a scene; in JSON on its way out of the box."""

    #: By attack: what it achieved.
    achieved: dict[str, list[str]]
    #: What happened that no attack is known for.
    unattributed: list[str]
    #: By honest submission: what is not as in a run without attacks, or not as it must be.
    honest: dict[str, list[str]]
    seed: int
    user: int
    seconds: float = field(default=0.0)


def rules_of_attention() -> str:
    """The section `[rules]` of the assignment that students are given: what is attacked is what is used."""
    text = (HERE.parents[1] / "assignments/attention/assignment.toml").read_text()
    begin = text.index("[rules]")
    return text[begin : text.index("# ---", begin)]


class Scene:
    """Everything in place, in a folder of its own."""

    def __init__(self, chosen: list[Attack], options: list[str], without: str = "") -> None:
        """`options` are handed on to grade; `without`: layers of the sandbox that this machine is made to lack."""
        self.attacks = chosen
        self._lacking = [sys.executable, str(HERE.parent / "without.py"), without] if without else []
        self.neighbours = honest()
        self._options = options
        self.folder = Path(tempfile.mkdtemp(prefix="scene-"))
        self.folder.chmod(0o755)
        self.known = canaries.make_secrets()
        self.seed = 10**9 + secrets.randbelow(10**9)
        self.victims = {attack.tag: canaries.start_victim(self.known["victim"]) for attack in chosen if _needs(attack)}
        self.bystander = canaries.start_victim(self.known["victim"])
        self.files = canaries.Files(self.folder, self.known, [attack.tag for attack in chosen])
        self.listeners = canaries.Listeners(self.folder)
        self.report = self.folder / "report"
        self.handed_in = self.folder / "handed_in"
        self._write_course()
        self._hand_in()

    # --- setting up -----------------------------------------------------------------------------------------------

    @property
    def course(self) -> Path:
        return self.folder / "course"

    def _write_course(self) -> None:
        texts = {"REFERENCE_SECRET": self.known["reference"], "HIDDEN_SECRET": self.known["hidden"]}
        for file in (HERE / "course").rglob("*"):
            if file.suffix in (".py", ".toml"):
                write(self.course, {str(file.relative_to(HERE / "course")): file.read_text()}, texts)
        if any(attack.rule for attack in self.attacks):
            with open(self.course / "assignments/attention/assignment.toml", "a") as file:
                file.write("\n" + rules_of_attention())

    def _hand_in(self) -> None:
        texts = {"NEIGHBOUR_SECRET": self.known["neighbour"], "REPORT_SECRET": self.known["report"]}
        for one in self.neighbours:
            for top in (self.handed_in, self.folder / "honest"):
                write(top / one.id, one.files, texts)
        for attack in self.attacks:
            places = self._places(attack)
            if attack.builder:
                getattr(folders, attack.builder)(self.handed_in, attack.slug, places)
            if attack.files:
                write(self.handed_in / attack.slug, attack.files, places)
            if attack.accomplice:
                write(self.handed_in / f"{_HELPER}{attack.slug}", attack.accomplice, places)

    def _places(self, attack: Attack) -> dict[str, object]:
        """What attacks are told of their surroundings: more than a student could know."""
        victim = self.victims.get(attack.tag, self.bystander)
        return {
            "ID": attack.tag,
            "COURSE": self.course,
            "REFERENCE": self.course / "reference" / FILE,
            "HIDDEN_CHECKS": self.course / "assignments/attention/checks/test_attention_hidden.py",
            "SECRET_FILE": self.files.secret,
            "SECRETS": self.files.secret.parent,
            "REPORT": self.report,
            "NEIGHBOUR": self.handed_in / _NEIGHBOUR / FILE,
            "OWN": self.handed_in / attack.slug / FILE,
            "DROP": self.files.drop,
            "SHARED": self.files.shared,
            "TOUCH": self.files.touch / attack.tag,
            "TCP": self.listeners.tcp,
            "UDP": self.listeners.udp,
            "UNIX": self.listeners.unix_path,
            "ABSTRACT": self.listeners.abstract,
            "VICTIM": victim.pid,
            "VICTIM_ADDRESS": victim.address,
            "VICTIM_FD": victim.descriptor,
        }

    # --- grading --------------------------------------------------------------------------------------------------

    def grade(self, submissions: Path, report: Path) -> "subprocess.CompletedProcess[str]":
        """The command, to its end."""
        command = [sys.executable, "-m", "grader", "run", submissions, "-o", report, "--seed", self.seed, "-j", 2]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        with subprocess.Popen(
            [*self._lacking, *map(str, command), *self._options],
            cwd=self.course,
            env=kept | {"GRADER_TOKEN": self.known["environ"], "COLUMNS": "200", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process:
            try:
                out, err = process.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                err += "\nTraceback: it did not end"
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def run(self, has_neighbours: bool = True) -> Findings:
        """Grade the neighbours alone, unless nobody asks how they fare; then all, and look."""
        begin = time.monotonic()
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)  # whatever outlives the grader becomes a child of this process
        alone = self.folder / "alone"
        if has_neighbours:
            self.grade(self.folder / "honest", alone)
        before, system = self.disk(), canaries.system()
        done = self.grade(self.handed_in, self.report)
        facts = Facts([attack.tag for attack in self.attacks])
        self.look_at_processes(facts)
        self.look_around(facts, before, system)
        entries = _entries(self.report)
        self._look_at_run(facts, done, bool(entries))
        if entries:
            self._look_at_report(facts, entries, done)
        return Findings(
            achieved={attack.id: sorted(set(facts.by_tag[attack.tag])) for attack in self.attacks},
            unattributed=facts.others,
            honest={one.id: _changes(one, _entries(alone), entries) for one in self.neighbours if has_neighbours},
            seed=self.seed,
            user=os.getuid(),
            seconds=round(time.monotonic() - begin, 1),
        )

    def close(self) -> None:
        """Remove everything."""
        for victim in (*self.victims.values(), self.bystander):
            victim.end()
        subprocess.run(["chmod", "-R", "u+rwX", str(self.folder)], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", str(self.folder)], check=False)

    # --- looking --------------------------------------------------------------------------------------------------

    def disk(self) -> dict[str, str]:
        """All that could have been written, but for the reports and the sockets that were made before."""
        but = [self.report, self.folder / "alone"]
        return canaries.disk([self.folder, *map(Path, ("/tmp", "/dev/shm", "/var/tmp"))], but)

    def _is_of_this_run(self, path: str) -> bool:
        """Whether nobody else can have changed a file: outside of a box, others use this machine, too."""
        return _is_boxed() or Path(path).is_relative_to(self.folder) or bool(_TAG.search(path))

    def look_at_processes(self, facts: "Facts") -> None:
        """What is left running, once all that ends by itself has ended."""
        own = {victim.pid for victim in (*self.victims.values(), self.bystander)}
        deadline = time.monotonic() + _ENDING_S
        while left := [pid for pid in canaries.descendants(os.getpid()) if pid not in own and not _is_zombie(pid)]:
            if time.monotonic() > deadline:
                break
        for pid in left:
            facts.add("left a process running", _command(pid))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def look_around(self, facts: "Facts", before: dict[str, str], system: dict[str, str]) -> None:
        for what, said in self.listeners.received():
            facts.add(f"reached {what}", said)
        to_all = self.bystander.changes()
        for change in to_all:
            facts.add(change, "the bystander")
        for tag, victim in self.victims.items():
            for change in set(victim.changes()) - set(to_all):
                facts.add(change, tag)
        after = self.disk()
        for path in before.keys() | after.keys():
            if before.get(path) != after.get(path) and self._is_of_this_run(path):
                facts.add("changed the disk" if path in before else "left a file", path)
        for name, text in canaries.system().items():
            if text != system[name] and _is_boxed():
                lines = set(text.splitlines()) ^ set(system[name].splitlines())
                facts.add(f"changed the system's {name}", "; ".join(sorted(lines))[:500])

    def _look_at_run(self, facts: "Facts", done: "subprocess.CompletedProcess[str]", has_report: bool) -> None:
        if done.returncode not in (0, 1) or not has_report:
            facts.add(f"the grader ended with {done.returncode}", done.stderr[-300:])
        elif "Traceback" in done.stderr:
            facts.add("the grader wrote a traceback", done.stderr.partition("Traceback")[2][:1000])

    def _look_at_report(
        self, facts: "Facts", entries: Mapping[str, Any], done: "subprocess.CompletedProcess[str]"
    ) -> None:
        for attack in self.attacks:
            mine = [entry for id, entry in entries.items() if attack.tag in id and not id.startswith(_HELPER)]
            for fact in _judged(attack, mine):
                facts.add(fact, attack.tag)
        for what, around in readers.dangers(self.report, done.stdout + done.stderr):
            facts.add(what, around)
        for id, entry in entries.items():
            self.look_for_secrets(facts, json.dumps(entry, ensure_ascii=False), id)
        self.look_for_secrets(facts, done.stdout + done.stderr.replace(f"seed {self.seed}", ""), "the terminal")
        for file in self.report.rglob("*"):
            name = str(file.relative_to(self.report))
            if not _is_report(file, name):
                facts.add("left a file among the reports", name)
            elif file.is_file() and name != "report.json":
                self.look_for_secrets(facts, file.read_text(encoding="utf-8", errors="replace"), file.name)
        self._look_at_students_pages(facts)

    def look_for_secrets(self, facts: "Facts", text: str, where: str) -> None:
        """Secrets in a text, and the word of an attack that it was allowed what it must not be."""
        wanted = self.known | {"seed": f"seed={self.seed}", "size": f"size={self.files.size}"}
        for kind, secret in wanted.items():
            is_own = kind == "report" and _NEIGHBOUR in where
            if secret in text and not is_own:
                facts.add(f"read the secret {kind}", where)
        for match in re.finditer(r"reached:(a\d{3})", text):
            facts.add("was allowed what it must not be", match[1])

    def _look_at_students_pages(self, facts: "Facts") -> None:
        for attack in self.attacks:
            for page in (self.report / "students").glob(f"*{attack.tag}*"):
                text = page.read_text(encoding="utf-8")
                for words in attack.private:
                    if words in text:
                        facts.add(f"its student reads {words!r}", attack.tag)


class Facts:
    """What was found, by the tag of whoever did it."""

    def __init__(self, tags: Iterable[str]) -> None:
        self.by_tag: dict[str, list[str]] = {tag: [] for tag in tags}
        self.others: list[str] = []

    def add(self, what: str, around: str) -> None:
        """Note a fact; `around` is text in which the tag of its author may stand."""
        tags = {tag for tag in _TAG.findall(around) if tag in self.by_tag}
        for tag in tags:
            self.by_tag[tag].append(what)
        if not tags:
            self.others.append(f"{what}: {around}" if around else what)


def _judged(attack: Attack, entries: list[Mapping[str, Any]]) -> Iterator[str]:
    """What is not as it must be in the entries of an attack."""
    if not entries:
        yield "is missing from the report"
    for entry in entries:
        if entry["status"] not in attack.statuses:
            yield f"has the status {entry['status']}: {entry['reason']}"
        if entry["score"] is not None and entry["score"] > attack.points and attack.rule != "flagged":
            yield f"got {entry['score']:g} points instead of {attack.points:g}"
        verdicts = {check["verdict"] for check in entry["checks"]}
        allowed = set(attack.verdicts or verdicts - {"grader_error"})
        for verdict in sorted(verdicts - allowed):
            yield f"got the verdict {verdict}"
        if attack.rule == "forbidden" and verdicts != {"forbidden"}:
            yield "was not found to be forbidden"
        if attack.rule == "flagged" and entry["score"] and not entry["flags"] and "forbidden" not in verdicts:
            yield "was not flagged"


def _changes(one: Honest, alone: Mapping[str, Any], among: Mapping[str, Any]) -> list[str]:
    """How an honest submission's entry differs from that of a run without attacks."""
    if one.id not in alone or one.id not in among:
        return ["has no entry"]
    first, second = _timeless(alone[one.id]), _timeless(among[one.id])
    found = [] if first["score"] == one.points else [f"got {first['score']} points alone instead of {one.points:g}"]
    if json.dumps(first) != json.dumps(second):
        found.append(f"differs: {_difference(first, second)}")
    return found


def _timeless(entry: Mapping[str, Any]) -> dict[str, Any]:
    return dict(entry) | {"checks": [check | {"duration_s": 0} for check in entry["checks"]]}


def _difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{name}: {first[name]!r} became {second.get(name)!r}"[:400]
        for name in first
        if first[name] != second.get(name)
    )


def _is_report(file: Path, name: str) -> bool:
    """Whether a file of a report is one that the grader writes."""
    if file.is_symlink():
        return False
    pages = re.fullmatch(r"(staff|students)(/.*\.html)?", name, re.DOTALL)
    return bool(pages) or name in ("index.html", "grades.csv", "summary.md", "report.json")


def _entries(report: Path) -> dict[str, Any]:
    file = report / "report.json"
    if not file.exists():
        return {}
    return {entry["id"]: entry for entry in json.loads(file.read_text(encoding="utf-8"))["submissions"]}


def _needs(attack: Attack) -> bool:
    return any("@VICTIM" in text for text in attack.files.values())


def _is_boxed() -> bool:
    """Whether the parent is the first process of a box (`as_user`)."""
    return os.getppid() == 1


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        return f"{name} {Path(f'/proc/{pid}/cmdline').read_bytes().replace(bytes(1), b' ').decode(errors='replace')}"[
            :200
        ]
    return str(pid)


def main() -> None:
    """Run a scene and write its findings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ids", nargs="*", help="ids or kinds; all when left out")
    parser.add_argument("--but", action="append", default=[], help="an id or kind to leave out")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--option", action="append", default=[], help="handed on to grade")
    parser.add_argument("--without", default="", help="layers of the sandbox that the machine is made to lack")
    parser.add_argument("--rules", action="store_true", help="the attacks on the rules of an assignment, and no others")
    parser.add_argument("--alone", action="store_true", help="each attack in a run of its own")
    parser.add_argument("--no-neighbours", action="store_true", help="do not ask whether honest entries stay the same")
    parser.add_argument("--keep", action="store_true", help="leave the folder")
    options = parser.parse_args()
    chosen = [one for one in attacks() if bool(one.rule) == options.rules]
    chosen = [one for one in chosen if options.ids or not options.without or not one.ends_run]
    chosen = [one for one in chosen if not options.ids or {one.kind, one.id} & set(options.ids)]
    chosen = [one for one in chosen if not {one.kind, one.id} & set(options.but)]
    groups = [[one] for one in chosen] if options.alone else [chosen]
    results = [_one_scene(group, options) for group in groups]
    text = json.dumps([asdict(one) for one in results] if options.alone else asdict(results[0]), indent=1)
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


def _one_scene(chosen: list[Attack], options: argparse.Namespace) -> Findings:
    scene = Scene(chosen, options.option, options.without)
    try:
        found = scene.run(has_neighbours=not options.no_neighbours)
        if options.alone:
            print(
                chosen[0].id,
                found.achieved,
                found.unattributed,
                {k: v for k, v in found.honest.items() if v},
                flush=True,
            )
        return found
    finally:
        if options.keep:
            print(scene.folder)
        else:
            scene.close()


if __name__ == "__main__":
    main()
