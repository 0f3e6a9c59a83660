"""The page of `grade lab`: one file that needs nothing else, in the style of the reports.

Made from the record alone. Every value a template prints goes through `show.for_html` and autoescape; plots are markup
of our own, in which no text of a student's stands.
"""

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader import render
from grader.lab.figures import Lab, Problem
from grader.lab.plots import Plot, against_plots, future_plots, heads_plots, scaling_plots
from grader.lab.said import in_words
from grader.lab.tables import Table, tables_of
from grader.report import Isolation
from grader.show import for_html

_TEMPLATES = [Path(__file__).parent / "templates", Path(render.__file__).parent / "templates"]
#: Blocks of the template that explain an experiment, in order.
_NAMES = ("scaling", "future", "heads", "against")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One experiment, on the page."""

    name: str
    plots: tuple[Plot, ...]
    shows: str
    problems: tuple[Problem, ...]
    tables: tuple[Table, ...]


def page(lab: Lab) -> str:
    """Make index.html."""
    plots = (
        scaling_plots(lab.scaling) if lab.scaling.points else [],
        future_plots(lab.future),
        heads_plots(lab.heads) if lab.heads.points else [],
        against_plots(lab.against),
    )
    sections = [
        Section(name=name, plots=tuple(drawn), shows=told.shows, problems=one.problems, tables=tables)
        for name, drawn, told, one, tables in zip(
            _NAMES, plots, in_words(lab), lab.experiments, tables_of(lab), strict=True
        )
    ]
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_print,  # before autoescape, on everything printed
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    is_weak = lab.grader.isolation is not Isolation.STRONG
    return environment.get_template("lab.html.j2").render(lab=lab, sections=sections, isolation_is_weak=is_weak)


def _print(value: object) -> str:
    """Prepare what a template prints for autoescape; markup from our own macros and plots stays."""
    return value if isinstance(value, Markup) else for_html(str(value))
