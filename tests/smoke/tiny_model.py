"""Makes a tiny model, without weights, with a tokenizer: `python tiny_model.py FOLDER` (needs tokenizers)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = ["<bos>", "<eos>", "<user>", "<assistant>"]
TEXTS = [
    "time year people way day man thing woman life child world school state family student group country problem",
    "hand part place case week company system program question work government number night point home water room",
]
TEMPLATE = (
    "{{ bos_token }}{% for one in messages %}{{ '<user>' if one['role'] == 'user' else '<assistant>' }}"
    "{{ one['content'] }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
LAYERS = 6


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=512, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([text * 20 for text in TEXTS], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    files = {
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<bos>",
            "eos_token": "<eos>",
            "model_max_length": 2048,
            "chat_template": TEMPLATE,
        },
        "config.json": {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": 512,
            "hidden_size": 128,
            "intermediate_size": 256,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 32,
            "max_position_embeddings": 2048,
            "rms_norm_eps": 1e-5,
            "rope_theta": 10000.0,
            "hidden_act": "silu",
            "tie_word_embeddings": False,
            "bos_token_id": 0,
            "eos_token_id": 1,
            "torch_dtype": "bfloat16",
        },
        "generation_config.json": {"bos_token_id": 0, "eos_token_id": 1},
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
