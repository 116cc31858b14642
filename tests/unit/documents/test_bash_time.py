"""The bash reader takes time in proportion to the text."""

from __future__ import annotations

import pytest
from timing import within

from botlint.documents.bash import parse_script

TEXTS = {
    "names before a substitution in quotes": 'echo "'
    + "$LONG_NAME ${OTHER_NAME} \\$ESCAPED text " * 2000
    + '$(hostname)"\n',
    "names before a substitution": "echo " + "$LONG_NAME.${OTHER_NAME}-" * 2000 + "$(hostname)\n",
    "quoted texts before a substitution": "echo " + "'one''two'\"$NAME\"" * 2000 + "`hostname`\n",
    "a quote that does not end": 'echo "' + "$NAME_OF_IT " * 2000,
    "escapes": "echo " + "\\a\\$" * 5000 + "$(hostname)\n",
    "patterns": "echo " + "a*?+b" * 5000 + "@(x)\n",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TEXTS.items()])
def test_reading_takes_linear_time(text: str) -> None:
    with within(2):
        statements = list(parse_script(text, "script.sh", 0, 0))
    assert len(statements) == 1
