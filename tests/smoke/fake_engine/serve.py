"""A server that looks like vLLM's to a smoke run, and misbehaves when told to: `--fake MODE`.

Only the standard library; counts what it does as vLLM does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COUNTS = {"requests": 0, "prompt": 0, "output": 0}
LOCK = threading.Lock()


def option(name: str, default: str = "") -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


MODE = option("--fake", "ok")
SPECULATES = "--speculative-config" in sys.argv


def metrics() -> str:
    lines = [
        "# HELP vllm:prompt_tokens_total Number of prefill tokens processed.",
        f'vllm:prompt_tokens_total{{engine="0",model_name="tiny"}} {COUNTS["prompt"]:.1f}',
        f'vllm:generation_tokens_total{{engine="0",model_name="tiny"}} {COUNTS["output"]:.1f}',
        f'vllm:request_success_total{{engine="0",finished_reason="length"}} {COUNTS["requests"]:.1f}',
        'vllm:request_success_total{engine="0",finished_reason="stop"} 0.0',
    ]
    if SPECULATES:
        drafts = COUNTS["output"] // 2
        lines += [
            f'vllm:spec_decode_num_drafts_total{{engine="0"}} {drafts}',
            f'vllm:spec_decode_num_draft_tokens_total{{engine="0"}} {2 * drafts}',
            f'vllm:spec_decode_num_accepted_tokens_total{{engine="0"}} {drafts}',
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{engine="0",position="0"}} {drafts}',
            'vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 0',
        ]
    return "\n".join(lines) + "\n"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments: Any) -> None:
        pass

    def send(self, status: int, text: str, kind: str = "application/json") -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if MODE == "garbage":
            self.send(200, "<html>hello</html>")
        elif MODE == "unhealthy" and self.path == "/health":
            self.send(503, "")
        elif MODE == "huge" and self.path == "/v1/models":
            self.send(200, "x" * 9_000_000)
        elif self.path == "/v1/models":
            self.send(200, json.dumps({"data": [{"id": option("--served-model-name", sys.argv[2])}]}))
        elif self.path == "/metrics":
            self.send(200, metrics(), "text/plain")
        else:
            self.send(200, "")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chat = self.path.endswith("chat/completions")
        prompt = asked["messages"][0]["content"] if chat else asked["prompt"]
        tokens, words = asked["max_tokens"], len(prompt.split())
        if MODE == "dies-when-asked":
            print("Memory access fault by GPU node-4 (Agent handle: 0x55d0) on address 0x7f2.", flush=True)
            os._exit(134)
        if MODE == "silent":
            time.sleep(1000)
        if MODE == "no-chat" and chat:
            return self.send(400, json.dumps({"error": {"message": "there is no chat template"}}))
        if MODE == "empty":
            tokens = 0
        if asked.get("stream"):
            return self.stream(chat, words, tokens)
        text = "" if MODE == "empty" else "word " * tokens
        value = float("nan") if MODE == "nan" else -1.5
        if chat:
            choice: dict[str, Any] = {"message": {"content": text}, "logprobs": {"content": [{"logprob": value}]}}
        else:
            choice = {"text": text, "logprobs": {"token_logprobs": [value] * tokens}}
        usage = {"prompt_tokens": words, "completion_tokens": tokens}
        self.count(words, tokens)
        return self.send(200, json.dumps({"choices": [choice], "usage": usage}))

    def stream(self, chat: bool, words: int, tokens: int) -> None:
        if MODE == "log-error":
            print("ERROR 11-30 22:47:01 [core.py:1] something broke inside", flush=True)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if MODE == "broken-stream":
            self.wfile.write(b"what is this\n\n")
            return
        if chat:
            self.event({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
        for number in range(tokens):
            piece = f"w{number} "
            self.event({"choices": [{"delta": {"content": piece}} if chat else {"text": piece}]})
            time.sleep(0.001)
        self.count(words, tokens)
        if MODE != "no-usage":
            self.event({"choices": [], "usage": {"prompt_tokens": words, "completion_tokens": tokens}})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, value: object) -> None:
        self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
        self.wfile.flush()

    def count(self, words: int, tokens: int) -> None:
        with LOCK:
            COUNTS["requests"] += 1
            COUNTS["prompt"] += words
            COUNTS["output"] += tokens if MODE != "miscounts" else 2 * tokens


def leave(environment: dict[str, str]) -> None:
    """Start a process that leaves the session, ignores what it is told, and loses its parent."""
    code = (
        "import os,signal,subprocess,sys,time\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({option('--note')!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(1000)\n"
    )
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def main() -> None:
    print("fake engine", MODE, os.environ.get("VLLM_LOGGING_LEVEL", ""), flush=True)
    if MODE == "dies":
        print("ValueError: Total number of attention heads (64) must be divisible by tensor parallel size (3).")
        sys.exit(1)
    if MODE == "no-device":
        sys.exit("RuntimeError: No HIP GPUs are available")
    if MODE == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "hangs":
        time.sleep(1000)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        leave({"PATH": os.environ["PATH"]})
    if MODE == "leaves":
        leave(dict(os.environ))
    if MODE == "keeps-memory":
        Path(option("--note")).write_text("80", encoding="utf-8")
    if MODE == "floods":
        while True:
            os.write(1, b"noise " * 10_000 + b"\n")
    server = ThreadingHTTPServer((option("--host"), int(option("--port"))), Handler)
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main()
