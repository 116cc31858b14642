"""The kinds of things that rules range over, in the order in which they are documented."""

from __future__ import annotations

from botlint.engine.views.allocation import VIEW as ALLOCATION
from botlint.engine.views.arm_comment import VIEW as ARM_COMMENT
from botlint.engine.views.arm_size import VIEW as ARM_SIZE
from botlint.engine.views.backend import VIEW as BACKEND
from botlint.engine.views.base import View
from botlint.engine.views.changed_entry import VIEW as CHANGED_ENTRY
from botlint.engine.views.changelog_entry import VIEW as CHANGELOG_ENTRY
from botlint.engine.views.changelog_file import VIEW as CHANGELOG_FILE
from botlint.engine.views.changelog_key import VIEW as CHANGELOG_KEY
from botlint.engine.views.changelog_link import VIEW as CHANGELOG_LINK
from botlint.engine.views.checklist_item import VIEW as CHECKLIST_ITEM
from botlint.engine.views.checkpoint_path import VIEW as CHECKPOINT_PATH
from botlint.engine.views.client_call import VIEW as CLIENT_CALL
from botlint.engine.views.command_flag import VIEW as COMMAND_FLAG
from botlint.engine.views.config_arm import VIEW as CONFIG_ARM
from botlint.engine.views.config_entry import VIEW as CONFIG_ENTRY
from botlint.engine.views.config_value import VIEW as CONFIG_VALUE
from botlint.engine.views.container_variable import VIEW as CONTAINER_VARIABLE
from botlint.engine.views.described_command import VIEW as DESCRIBED_COMMAND
from botlint.engine.views.document_client import VIEW as DOCUMENT_CLIENT
from botlint.engine.views.engine_patch import VIEW as ENGINE_PATCH
from botlint.engine.views.exit_status import VIEW as EXIT_STATUS
from botlint.engine.views.flag import VIEW as FLAG
from botlint.engine.views.function_option import VIEW as FUNCTION_OPTION
from botlint.engine.views.golden import VIEW as GOLDEN
from botlint.engine.views.hidden_character import VIEW as HIDDEN_CHARACTER
from botlint.engine.views.image_import import VIEW as IMAGE_IMPORT
from botlint.engine.views.job import VIEW as JOB
from botlint.engine.views.launcher_path import VIEW as LAUNCHER_PATH
from botlint.engine.views.model_branch import VIEW as MODEL_BRANCH
from botlint.engine.views.model_override import VIEW as MODEL_OVERRIDE
from botlint.engine.views.odd_name import VIEW as ODD_NAME
from botlint.engine.views.option_key import VIEW as OPTION_KEY
from botlint.engine.views.pull_dependency import VIEW as PULL_DEPENDENCY
from botlint.engine.views.pull_request import VIEW as PULL_REQUEST
from botlint.engine.views.recipe_arm import VIEW as RECIPE_ARM
from botlint.engine.views.recipe_role import VIEW as RECIPE_ROLE
from botlint.engine.views.removed_path import VIEW as REMOVED_PATH
from botlint.engine.views.required_name import VIEW as REQUIRED_NAME
from botlint.engine.views.role_pair import VIEW as ROLE_PAIR
from botlint.engine.views.runner import VIEW as RUNNER
from botlint.engine.views.schema_problem import VIEW as SCHEMA_PROBLEM
from botlint.engine.views.script_line import VIEW as SCRIPT_LINE
from botlint.engine.views.script_read import VIEW as SCRIPT_READ
from botlint.engine.views.server import VIEW as SERVER
from botlint.engine.views.server_command import VIEW as SERVER_COMMAND
from botlint.engine.views.shell_finding import VIEW as SHELL_FINDING
from botlint.engine.views.sign_off import VIEW as SIGN_OFF
from botlint.engine.views.size_guard import VIEW as SIZE_GUARD
from botlint.engine.views.size_option import VIEW as SIZE_OPTION
from botlint.engine.views.source_statement import VIEW as SOURCE_STATEMENT
from botlint.engine.views.unguarded_call import VIEW as UNGUARDED_CALL
from botlint.engine.views.unknown_function import VIEW as UNKNOWN_FUNCTION
from botlint.engine.views.variable import VIEW as VARIABLE
from botlint.engine.views.weakened_setting import VIEW as WEAKENED_SETTING
from botlint.engine.views.workflow_call import ARGUMENT as WORKFLOW_ARGUMENT
from botlint.engine.views.workflow_call import INPUT as WORKFLOW_INPUT
from botlint.engine.views.workflow_call import PARAMETER as WORKFLOW_PARAMETER
from botlint.engine.views.workflow_call import VIEW as WORKFLOW_CALL
from botlint.engine.views.workflow_expression import REFERENCE as WORKFLOW_REFERENCE
from botlint.engine.views.workflow_expression import VIEW as WORKFLOW_EXPRESSION
from botlint.engine.views.workflow_job import CONDITION as WORKFLOW_CONDITION
from botlint.engine.views.workflow_job import JOB as WORKFLOW_JOB
from botlint.engine.views.workflow_job import NEED as WORKFLOW_NEED
from botlint.engine.views.workflow_job import PROBLEM as WORKFLOW_PROBLEM
from botlint.engine.views.workflow_job import WORKFLOW
from botlint.engine.views.workflow_rows import BUCKET as WORKFLOW_BUCKET
from botlint.engine.views.workflow_rows import EVAL_ROWS as WORKFLOW_EVAL_ROWS
from botlint.engine.views.workflow_rows import FIELD as WORKFLOW_FIELD
from botlint.engine.views.workflow_rows import OUTPUT as WORKFLOW_OUTPUT
from botlint.engine.views.workflow_rows import RESULT_NAME as WORKFLOW_RESULT_NAME
from botlint.engine.views.workflow_rows import SELECTION as WORKFLOW_SELECTION
from botlint.engine.views.workflow_rows import UNDISPATCHED as WORKFLOW_UNDISPATCHED
from botlint.engine.views.workflow_rows import UNREAD_BUCKET as WORKFLOW_UNREAD_BUCKET
from botlint.engine.views.yaml_problem import VIEW as YAML_PROBLEM

VIEWS: tuple[View, ...] = (
    JOB,
    SERVER,
    ROLE_PAIR,
    GOLDEN,
    SCRIPT_READ,
    SOURCE_STATEMENT,
    CONFIG_ARM,
    ARM_SIZE,
    CHECKPOINT_PATH,
    CONFIG_ENTRY,
    RECIPE_ARM,
    RECIPE_ROLE,
    RUNNER,
    SCHEMA_PROBLEM,
    YAML_PROBLEM,
    HIDDEN_CHARACTER,
    SCRIPT_LINE,
    WORKFLOW,
    WORKFLOW_PROBLEM,
    WORKFLOW_JOB,
    WORKFLOW_NEED,
    WORKFLOW_CONDITION,
    WORKFLOW_EXPRESSION,
    WORKFLOW_REFERENCE,
    WORKFLOW_INPUT,
    WORKFLOW_CALL,
    WORKFLOW_ARGUMENT,
    WORKFLOW_PARAMETER,
    WORKFLOW_FIELD,
    WORKFLOW_BUCKET,
    WORKFLOW_SELECTION,
    WORKFLOW_OUTPUT,
    WORKFLOW_EVAL_ROWS,
    WORKFLOW_RESULT_NAME,
    WORKFLOW_UNREAD_BUCKET,
    WORKFLOW_UNDISPATCHED,
    EXIT_STATUS,
    CHANGELOG_FILE,
    CHANGELOG_ENTRY,
    CHANGELOG_KEY,
    CHANGED_ENTRY,
    CLIENT_CALL,
    FLAG,
    ODD_NAME,
    OPTION_KEY,
    BACKEND,
    COMMAND_FLAG,
    SERVER_COMMAND,
    SIZE_GUARD,
    SIZE_OPTION,
    VARIABLE,
    IMAGE_IMPORT,
    ALLOCATION,
    LAUNCHER_PATH,
    MODEL_BRANCH,
    REMOVED_PATH,
    CONTAINER_VARIABLE,
    ENGINE_PATCH,
    MODEL_OVERRIDE,
    REQUIRED_NAME,
    SHELL_FINDING,
    ARM_COMMENT,
    UNGUARDED_CALL,
    UNKNOWN_FUNCTION,
    FUNCTION_OPTION,
    CONFIG_VALUE,
    PULL_REQUEST,
    CHECKLIST_ITEM,
    PULL_DEPENDENCY,
    DESCRIBED_COMMAND,
    DOCUMENT_CLIENT,
    SIGN_OFF,
    CHANGELOG_LINK,
    WEAKENED_SETTING,
)
