"""The attention backend that a vLLM server is told to use, with what its class takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from botlint.catalogs.catalog import Name
from botlint.catalogs.hardware import all_hardware
from botlint.core.span import Span
from botlint.engine.analysis.options import Frame
from botlint.engine.analysis.places import option_place, start_place
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View
from botlint.engine.views.flag import frame_of
from botlint.engine.views.server import ServerSource

_GROUP = "attention_backend"


def _build(_context: Context, chain: Chain) -> Iterator[Core]:
    source = chain[-1].source
    if not isinstance(source, ServerSource) or source.catalog is None or source.catalog.framework != "vllm":
        return
    frame = frame_of(source)
    if frame is None:
        return
    for option in reversed(source.options):
        if option.name in ("attention_backend", "attention_config.backend"):
            text = option.text
            found = [] if text is None else _names(text.upper(), frame)
            if text is not None and found:
                yield _core(option.spelling, text, found, frame, chain)
            return


def _names(name: str, frame: Frame) -> list[Name]:
    found = (frame.catalog.name(_GROUP, name, version) for version in frame.versions)
    return [one for one in found if one is not None]


def _core(spelling: str, text: str, found: Sequence[Name], frame: Frame, chain: Chain) -> Core:
    server = chain[-1].values
    last = found[-1]
    values: dict[str, FactValue] = {
        "name": last.name,
        "release": frame.release,
        "vendor": _vendor(last.name),
        "mla": bool(last.mla),
        "sparse": bool(last.sparse),
    }
    size = server.get("server.block_size")
    if isinstance(size, int):
        answers = [one.accepts_block_size(size) for one in found]
        values["takes_block_size"] = not (answers and all(answer is False for answer in answers))
    values["block_sizes"] = [str(one) for one in (*(last.block_sizes or ()), *(last.block_multiples or ()))]
    if all(one.kv_cache_dtypes is not None for one in found):
        values["kv_dtypes"] = sorted({dtype for one in found for dtype in one.kv_cache_dtypes or ()})
    if all(one.head_sizes is not None for one in found):
        values["head_sizes"] = sorted({head for one in found for head in one.head_sizes or ()})
    if all(one.compute_capability is not None for one in found):
        wanted = [one.compute_capability or "" for one in found]
        values["capability"] = last.compute_capability or ""
        values["gpus"] = [key for key, gpu in all_hardware().items() if any(gpu.meets(term) for term in wanted)]

    def place(context: Context, chain: Chain) -> Span | None:
        return option_place(context, chain, spelling, [text]) or start_place(chain)

    return Core(last.name, values, {"backend": place})


def _vendor(name: str) -> str:
    """The vendor for whose GPUs alone a backend is; empty where several can run it."""
    if name.startswith("ROCM_"):
        return "amd"
    return "nvidia" if name.startswith(("FLASHINFER", "FLASHMLA", "CUTLASS", "TOKENSPEED")) else ""


VIEW = View(
    name="backend",
    doc="The attention backend that a vLLM server is told to use.",
    facts=(
        Fact("name", "string", "the backend"),
        Fact("release", "string", "the framework with the versions that the image may have, as vLLM 0.27.1"),
        Fact("vendor", "string", "amd or nvidia where only their GPUs run it"),
        Fact("takes_block_size", "bool", "a version takes the server's block size; left out without --block-size"),
        Fact("block_sizes", "list<string>", "block sizes that it takes, or whose multiples"),
        Fact("kv_dtypes", "list<string>", "KV dtypes that it takes"),
        Fact("head_sizes", "list<int>", "head sizes that it takes; left out where any is"),
        Fact("capability", "string", "compute capability that it needs"),
        Fact("gpus", "list<string>", "GPUs that have it"),
        Fact("mla", "bool", "it is for latent attention"),
        Fact("sparse", "bool", "it is for sparse attention"),
    ),
    anchors={"backend": "where the backend is given, else the server"},
    build=_build,
    parent="server",
)
