"""Pages: one self-contained HTML file from a template."""

from __future__ import annotations

from typing import Any


def page(template: str, *, package: str = "cwndlab", **values: Any) -> str:
    """Fill a template.

    Parameters
    ----------
    template : str
        Name of a file in the folder ``templates`` of the package. It may include those of cwndlab,
        such as ``report.css``.
    package : str
        The package.
    **values
        What the template names; it names nothing else.

    Raises
    ------
    jinja2.TemplateNotFound
        If neither package has the template.
    jinja2.UndefinedError
        If the template names what is not given.

    Examples
    --------
    >>> page("report.css").lstrip().startswith(":root")
    True
    """
    import jinja2

    folders = [jinja2.PackageLoader(one) for one in dict.fromkeys((package, "cwndlab"))]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(folders), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    return environment.get_template(template).render(**values)
