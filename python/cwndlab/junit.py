"""JUnit XML, which continuous integration reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from xml.etree import ElementTree


class Case(NamedTuple):
    """One test case."""

    title: str
    failure: str = ""
    """What was found instead; empty if it passed."""
    skipped: str = ""
    """Why it was not judged; empty if it was."""


def document(name: str, cases: Iterable[Case]) -> str:
    """Write test cases as JUnit XML.

    Examples
    --------
    >>> print(document("compare", [Case("goodput > 0.5"), Case("harm < 0.1", failure="0.3")]))
    <?xml version='1.0' encoding='utf-8'?>
    <testsuite name="compare" tests="2" failures="1">
      <testcase classname="compare" name="goodput &gt; 0.5" />
      <testcase classname="compare" name="harm &lt; 0.1">
        <failure message="0.3" />
      </testcase>
    </testsuite>
    """
    listed = list(cases)
    suite = ElementTree.Element(
        "testsuite", name=name, tests=str(len(listed)),
        failures=str(sum(bool(case.failure) for case in listed)),
    )  # fmt: skip
    if skipped := sum(bool(case.skipped) for case in listed):
        suite.set("skipped", str(skipped))
    for case in listed:
        element = ElementTree.SubElement(suite, "testcase", classname=name, name=case.title)
        if case.failure:
            ElementTree.SubElement(element, "failure", message=case.failure)
        elif case.skipped:
            ElementTree.SubElement(element, "skipped", message=case.skipped)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True).decode()
