"""The versions that are installed here, written down for another machine."""

from importlib.metadata import version

import pytest

from grader.package.pins import PinsError, distributions_of, pins


def test_pins_hold_what_is_needed_and_what_that_needs():
    """Jinja needs MarkupSafe; what only its extra needs is not there."""
    assert [f"jinja2=={version('jinja2')}", f"markupsafe=={version('markupsafe')}"] == pins(["jinja2"])


def test_pins_torch_has_the_version_of_its_release():
    """The build for processors satisfies it as well as any other."""
    assert f"torch=={version('torch').partition('+')[0]}" in pins(["torch"])


def test_pins_spellings_of_a_name_are_one():
    """Hyphens, dots and capitals mean nothing in it."""
    assert 1 == len(pins(["MarkupSafe", "markupsafe"]))


def test_pins_what_is_not_installed_is_named():
    """There is no version to write down."""
    with pytest.raises(PinsError, match="no-such-distribution is not installed here"):
        pins(["no-such-distribution"])


def test_pins_packages_are_found_by_the_name_they_are_imported_by():
    """`yaml` is installed by PyYAML."""
    assert ["PyYAML", "torch"] == distributions_of(["yaml", "torch"])


def test_pins_package_that_is_not_installed_is_named():
    """With where it was asked for, and what to do."""
    with pytest.raises(PinsError, match=r"no_such_package, which .* allows, is not installed"):
        distributions_of(["no_such_package"])
