"""`botlint explain`: the page of a rule, offline."""

from __future__ import annotations

from difflib import get_close_matches

import click

from botlint.cli.common import Settings, common_options
from botlint.core.errors import UsageError


@click.command()
@click.argument("rule")
@common_options
def explain(settings: Settings, rule: str) -> int:
    """Show what RULE (a name or an id) finds, why, and what to do."""
    from botlint.engine.pages import NOTICE, rule_page
    from botlint.engine.rules import builtin_rules

    known = builtin_rules()
    for one in known:
        if rule in (one.name, one.id, *one.aliases):
            with settings.open_output() as stream:
                stream.write(rule_page(one).removeprefix(f"{NOTICE}\n\n"))
            return 0
    close = get_close_matches(rule, [name for one in known for name in (one.name, one.id)], 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise UsageError(f"no rule {rule!r}{hint} (`botlint rules list` shows all)")
