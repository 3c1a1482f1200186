"""The first screen of the page of all verdicts: papers by cause, rates by tag, ten sentences.

It is Markdown, made of ``reproduction.json`` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cwndlab_papers.claims import CAUSES, CONSTRUCTED, SIMULATED, TAGS, THEORY
from cwndlab_papers.open_values import DEPENDS, REFUTED, ROBUST
from cwndlab_papers.readings import FAILS, HOLDS, NOT_JUDGED, UNDECIDED, VERDICTS

Claims = Sequence[Mapping[str, Any]]
SECOND_LOOK = 4.0
"""Times the replicates that a second look may take (docs/papers.md)."""
THRESHOLD, REPLICATES = "at the threshold", "too few replicates"


def outcome(claim: Mapping[str, Any]) -> str:
    """Say in one word what became of a claim: that it holds, or why not.

    Examples
    --------
    >>> outcome({"verdict": "holds"}), outcome({"verdict": "fails", "cause": "refuted"})
    ('holds', 'refuted')
    >>> outcome({"verdict": "undecided", "more_replicates": 2.5})
    'too few replicates'
    """
    if claim["verdict"] == UNDECIDED:
        needed = claim.get("more_replicates")
        return REPLICATES if needed is not None and needed <= SECOND_LOOK else THRESHOLD
    cause = str(claim.get("cause", "unexplained"))
    return cause if claim["verdict"] == FAILS else str(claim["verdict"])


OUTCOMES = (HOLDS, *CAUSES, REPLICATES, THRESHOLD, NOT_JUDGED)


def matrix(papers: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Give head and rows of the table of papers by outcome; columns without a claim are left out.

    Returns
    -------
    (list of str, list of list of str)
        Head and rows, the last row for all papers if there are several.
    """
    counted = {key: Counter(map(outcome, paper["claims"])) for key, paper in papers.items()}
    total = sum(counted.values(), Counter[str]())
    shown = [name for name in OUTCOMES if total[name]]
    rows = [
        [f"[{key}](#{anchor(key, papers[key])})", *(str(found[name] or "") for name in shown),
         str(found.total())]
        for key, found in counted.items()
    ]  # fmt: skip
    if len(papers) > 1:
        rows.append(["all", *(str(total[name]) for name in shown), str(total.total())])
    return ["paper", *shown, "claims"], rows


def anchor(key: str, paper: Mapping[str, Any]) -> str:
    """Anchor of a paper's chapter, as GitHub makes it."""
    text = f"{key}: {paper['title']}".lower()
    kept = "".join(sign for sign in text if sign.isalnum() or sign in "_- ")
    return kept.replace(" ", "-")


def tags(claims: Claims) -> tuple[list[str], list[list[str]]]:
    """Give head and rows of the table of verdicts by tag."""
    rows: list[list[str]] = []
    for tag, meaning in TAGS.items():
        found = Counter(claim["verdict"] for claim in claims if _tag(claim) == tag)
        if found:
            counts = [str(found[verdict]) for verdict in VERDICTS]
            judged = found.total() - found[NOT_JUDGED]
            rows.append([tag, meaning, *counts, _share(found[HOLDS], judged)])
    return ["tag", "what the number comes from", *VERDICTS, "hold"], rows


def together(papers: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Give head and rows of the table of verdicts that remain when all intervals cover at once."""
    rows: list[list[str]] = []
    for key, paper in papers.items():
        claims = [claim for claim in _simulated(paper["claims"]) if "simultaneous" in claim]
        if claims:
            row = [key, str(len(claims)), f"{2.5 * len(claims) / 100:.1f}"]
            for verdict in (HOLDS, FAILS):
                known = [claim for claim in claims if claim["verdict"] == verdict]
                kept = sum(claim["simultaneous"] == verdict for claim in known)
                row.append(f"{kept} of {len(known)}")
            rows.append(row)
    head = ["paper", "judged by intervals", "expected wrong by chance", "still hold", "still fail"]
    return head, rows


def sentences(papers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say in ten sentences at most what was found."""
    claims = [claim for paper in papers.values() for claim in paper["claims"]]
    found = Counter(claim["verdict"] for claim in claims)
    said = [
        f"Of {len(claims)} claims {found[HOLDS]} hold, {found[FAILS]} fail, {found[UNDECIDED]} are "
        f"undecided and {found[NOT_JUDGED]} are not judged.",
        _rates(claims),
    ]
    built = [claim for claim in claims if _tag(claim) == CONSTRUCTED]
    if built:
        said.append(
            f"{_hold(built)} of {len(built)} constructed claims hold, which says little: their "
            "values were searched for."
        )
    said += [
        _of_cause(papers, "contradictory", "the paper contradicts itself or its own numbers"),
        _of_cause(papers, "open value", "a value that the paper leaves open decides them"),
        _of_cause(papers, "ns-2", "the ns-2 of that year decides them"),
        _of_cause(papers, "refuted", "no value that was tried makes them hold"),
    ]
    open_claims = [claim for claim in claims if claim["verdict"] == UNDECIDED]
    few = sum(outcome(claim) == REPLICATES for claim in open_claims)
    if open_claims:
        said.append(
            f"Of {len(open_claims)} undecided claims {few} need at most four times the replicates; "
            "the others are at the threshold: a lead below its margin, or a number at its bound."
        )
    varied = {key: paper["readings"] for key, paper in papers.items() if "readings" in paper}
    if varied:
        each = "; ".join(_of_readings(key, readings) for key, readings in varied.items())
        said.append(f"Under readings of what papers leave open: {each}.")
    said += [_of_fit(key, readings) for key, readings in varied.items()]
    return [text for text in said if text]


def _rates(claims: Claims) -> str:
    parts = []
    for tag in (THEORY, SIMULATED):
        known = [claim for claim in claims if _tag(claim) == tag]
        parts.append(f"{_share(_hold(known), len(known))} of {len(known)} claims")
    return f"By theory {parts[0]} hold, by simulation {parts[1]}."


def _of_cause(papers: Mapping[str, Mapping[str, Any]], cause: str, what: str) -> str:
    """Count the failed claims of a cause, with two of them."""
    named = [
        f"{key}/{claim['id']}, {claim['claim']}"
        for key, paper in papers.items()
        for claim in paper["claims"]
        if claim["verdict"] == FAILS and claim.get("cause") == cause
    ]
    if not named:
        return ""
    shown = "; ".join(dict.fromkeys((named[0], named[-1])))
    return f"{len(named)} fail because {what} ({shown})."


def _of_readings(key: str, readings: Mapping[str, Any]) -> str:
    """Count the claims of a paper by what its readings say of them."""
    classes = Counter(entry["class"] for entry in readings["claims"])
    depends = {name.removeprefix(DEPENDS).strip(): count for name, count in classes.items()
               if name.startswith(DEPENDS)}  # fmt: skip
    named = [f"{name} {count}" for name, count in depends.items() if name != "the reading"]
    return (
        f"{key}, {len(readings['readings'])} readings, {classes[ROBUST]} of "
        f"{len(readings['claims'])} claims robust, {classes[REFUTED]} refuted, "
        f"{sum(depends.values())} dependent" + (f" ({', '.join(named)})" if named else "")
    )


def _of_fit(key: str, readings: Mapping[str, Any]) -> str:
    """Compare the reading that fits one half of a paper's printed numbers with what is assumed."""
    if readings["fitted"] is None:
        return ""
    own, other = (
        next(entry for entry in readings["readings"] if entry["number"] == number)["misfit"]
        for number in (0, readings["fitted"])
    )
    return (
        f"The reading that fits one half of {key}'s printed numbers best lowers the root mean "
        f"square difference there from {own['half']['all']:.3f} to {other['half']['all']:.3f}, "
        f"and from {own['held']['all']:.3f} to {other['held']['all']:.3f} on the other half."
    )


def _simulated(claims: Claims) -> list[Mapping[str, Any]]:
    return [claim for claim in claims
            if not claim.get("exact") and claim["verdict"] != NOT_JUDGED]  # fmt: skip


def _tag(claim: Mapping[str, Any]) -> str:
    return str(claim.get("tag", THEORY if claim.get("exact") else SIMULATED))


def _hold(claims: Claims) -> int:
    return sum(claim["verdict"] == HOLDS for claim in claims)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"
