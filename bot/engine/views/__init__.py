"""The kinds of things that rules range over, in the order in which they are documented."""

from __future__ import annotations

from botlint.engine.views.base import View
from botlint.engine.views.config_arm import VIEW as CONFIG_ARM
from botlint.engine.views.config_entry import VIEW as CONFIG_ENTRY
from botlint.engine.views.job import VIEW as JOB
from botlint.engine.views.recipe_arm import VIEW as RECIPE_ARM
from botlint.engine.views.recipe_role import VIEW as RECIPE_ROLE
from botlint.engine.views.runner import VIEW as RUNNER
from botlint.engine.views.schema_problem import VIEW as SCHEMA_PROBLEM
from botlint.engine.views.script_line import VIEW as SCRIPT_LINE
from botlint.engine.views.script_read import VIEW as SCRIPT_READ
from botlint.engine.views.server import VIEW as SERVER
from botlint.engine.views.source_statement import VIEW as SOURCE_STATEMENT
from botlint.engine.views.yaml_problem import VIEW as YAML_PROBLEM

VIEWS: tuple[View, ...] = (
    JOB,
    SERVER,
    SCRIPT_READ,
    SOURCE_STATEMENT,
    CONFIG_ARM,
    CONFIG_ENTRY,
    RECIPE_ARM,
    RECIPE_ROLE,
    RUNNER,
    SCHEMA_PROBLEM,
    YAML_PROBLEM,
    SCRIPT_LINE,
)
