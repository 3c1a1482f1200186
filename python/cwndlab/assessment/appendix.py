"""The assessment as Markdown, for the appendix of a draft."""

from __future__ import annotations

from collections.abc import Iterator

from cwndlab.assessment.dossier import SIGNS
from cwndlab.assessment.judging import Comparison
from cwndlab.assessment.result import Assessment, named
from cwndlab.tables import with_interval


def markdown(found: Assessment) -> str:
    """Write the verdicts, and below them the numbers of every criterion.

    Examples
    --------
    >>> from cwndlab import assess
    >>> found = assess("AIAD(1, 3)", against=["Reno"], sections=["5.1.2"], quick=True, replicates=2)
    >>> print(markdown(found).splitlines()[0])
    # AIAD(1, 3) by the criteria of RFC 9743
    """
    return "\n".join(_lines(found))


def _lines(found: Assessment) -> Iterator[str]:
    yield f"# {found.rule} by the criteria of RFC 9743"
    yield ""
    yield (
        f"Against {' and '.join(found.deciding)}; simulated with cwndlab, `{found.command}`. Means "
        "with 95 % confidence intervals."
    )
    yield ""
    yield "| section | criterion | verdict | why |"
    yield "| --- | --- | --- | --- |"
    for one in found.judged():
        must = " (MUST)" if one.criterion.must else ""
        yield (
            f"| {one.criterion.section} | {one.criterion.title}{must} | {SIGNS[one.verdict]} "
            f"{one.verdict} | {one.reason} |"
        )
    for one in found.judged():
        if not one.comparisons:
            continue
        yield ""
        yield f"## {one.criterion.section} {one.criterion.title}"
        for entry in one.tested:
            yield ""
            yield f"**{entry.test.title}** ({entry.test.id}). {entry.test.what}"
            yield ""
            yield f"| metric | where | {' | '.join(entry.rules)} | verdict |"
            yield f"| --- | --- |{' --- |' * len(entry.rules)} --- |"
            for each in one.comparisons:
                if each.test == entry.test.id:
                    yield _row(each)
    if found.worst is not None:
        yield ""
        yield "## The worst link"
        yield ""
        yield found.worst.text
    yield ""


def _row(one: Comparison) -> str:
    texts = [
        with_interval({"mean": mean.mean, "ci95_low": mean.low, "ci95_high": mean.high}, one.metric)
        for mean in one.means.values()
    ]
    return f"| {one.metric.title} | {named(one.cell)} | {' | '.join(texts)} | {one.verdict} |"
