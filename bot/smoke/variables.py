"""Which variables of a plan a server is given, and which of the runner's it keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")

_PREFIXES = (
    "AITER_",
    "AMDGCN_",
    "AMD_",
    "ATOM_",
    "CUDA_",
    "FLASHINFER_",
    "GLOO_",
    "GPU_MAX_",
    "HIPBLASLT_",
    "HIP_",
    "HSA_",
    "LMCACHE_",
    "MC_",
    "MIMALLOC_",
    "MORI_",
    "NCCL_",
    "NVSHMEM_",
    "NVTE_",
    "OMP_",
    "PYTORCH_",
    "RCCL_",
    "ROCM_",
    "ROCR_",
    "SAFETENSORS_",
    "SGLANG_",
    "SGL_",
    "TOKENIZERS_",
    "TORCHINDUCTOR_",
    "TORCH_",
    "TQDM_",
    "TRITON_",
    "TRTLLM_",
    "TLLM_",
    "UCX_",
    "VLLM_",
)
"""How variables of engines and of the libraries below them begin."""

_PLAIN = frozenset(
    {"PYTHONNOUSERSITE", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "CUDA_MODULE_LOADING", "DISABLE_CUSTOM_ALL_REDUCE"}
)
"""Single names that cannot do harm."""

_LOADERS = re.compile(
    r"LD_\w*|DYLD_\w*|PYTHON\w*|PATH|HOME|SHELL|IFS|ENV|BASH\w*|PERL\w*|RUBY\w*|NODE_\w*|JAVA\w*|GCONV_\w*|LOCPATH"
    r"|GLIBC_\w*|MALLOC_\w*|TMPDIR|TEMP|TMP|XDG_\w*|HF_\w*|HUGGING\w*|TRANSFORMERS_\w*|GIT_\w*|SSL_\w*|\w*_PROXY"
    r"|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|CPATH|LIBRARY_PATH|\w*LD_PRELOAD|EDITOR|PAGER",
    re.IGNORECASE,
)
"""Variables with which loaders, interpreters and tools are given code, or are sent elsewhere."""

_PLACES = frozenset(
    "DIR DIRS ROOT HOME FILE FILES FILENAME FOLDER LIB LIBS SO CMD COMMAND EXEC CC CXX COMPILER HOOK HOOKS CONFIG "
    "URL URI PROXY ADDR HOST HANDLE SECRET PASSWORD MODULE MODULES PACKAGE PACKAGES PLUGIN PLUGINS INSECURE DUMP "
    "OUTPUT OUT TRACE DIRECTORY".split()
)
_ENDS = ("_TOKEN", "_KEY")
_PARTS = ("PATH", "PRELOAD", "PLUGIN", "LIBRAR", "ENDPOINT", "INSECURE", "PICKLE", "MODELSCOPE", "SCRIPT")

_CACHES = re.compile(r"HF_\w*|HUGGING\w*|XDG_\w*|PYTHONPYCACHEPREFIX|\w*CACHE\w*|TMPDIR|TEMP|TMP|HOME")

_SECRETS = re.compile(
    r"\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE_KEY|API_KEY|ACCESS_KEY)\w*|GITHUB_\w+|ACTIONS_\w+|RUNNER_\w+"
    r"|INPUT_\w+|AWS_\w+|AZURE_\w+|GOOGLE_\w+|GCP_\w+|SSH_\w+|GPG_\w+|NETRC|KUBECONFIG|DOCKER_\w+",
    re.IGNORECASE,
)


def left_out(name: str) -> bool:
    """Whether a variable is only one of the scripts: neither an engine's nor one that loaders and tools read."""
    return name not in _PLAIN and not name.startswith(_PREFIXES) and _LOADERS.fullmatch(name) is None


def refused(name: str) -> str | None:
    """Why a variable of a plan is not passed on, None if it is."""
    if _NAME.fullmatch(name) is None:
        return "no name of a variable"
    if name in _PLAIN:
        return None
    if _LOADERS.fullmatch(name):
        return "it says from where programmes load code or data"
    upper = name.upper()
    if _PLACES & set(upper.split("_")) or upper.endswith(_ENDS) or any(part in upper for part in _PARTS):
        return "it names a place, a library or a secret"
    return None


def matters(name: str) -> bool:
    """Whether a server may behave in another way without a variable; not for what only says where a cache is."""
    return _CACHES.fullmatch(name) is None


def runner_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a server keeps of the runner's environment: no secret, and nothing of the workflow."""
    return {name: value for name, value in environment.items() if _SECRETS.fullmatch(name) is None}
