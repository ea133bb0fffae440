"""A language model of random weights, written on the spot, and a process that serves it.

As a module: `write` makes a GGUF file of some megabytes. As a program (``random_llm.py FILE
TOKENS``): serves such a file with llama.cpp, prints its address, and ends when its standard
input does, so that it never outlives who started it.

The model is a bigram model: one-hot embeddings, blocks of zeros, and an output matrix that holds
``log P(next | last)``. P is drawn at random and then leans towards ways to start, so that what it
says holds tool calls, citations and lists, most of them broken somewhere.
"""

import math
import sys
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

CONTEXT = 8192
NARROW = 32  # the width of what is zero anyway
#: How much of each row is random, and over how few words that is spread.
NOISE, SPREAD = 0.25, 0.01
#: Sequences that the model leans towards; a blank in front of a word is part of it.
LEANINGS = [
    "\n|Let|<search>| migraine|</search>",
    "\n|<search>|ibuprofen| ||| headache|</search>",
    "\n|<search>| unicorn|</search>",
    "\n|Final| answer|:| ibuprofen| treats| migraine| [|T0|]|.| [|T999|]|END",
    "\n|</think>|Final| answer|:| headache|END",
    "\n|1|.| What| treats| migraine|?|\n|2|.| What| causes| headache|?|END",
    "</search>|<result>|[|T0|]| headache|</result>|\n",
    '{|"|answer|"|:| "| headache| [|T0|]|"|}|END',
]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def leanings() -> list[list[str]]:
    """Return the sequences as tokens are spelt in the file."""
    spelt = {"\n": "<0x0A>", "END": "<|im_end|>"}
    parts = [text.replace(" |||", "| \0|").split("|") for text in LEANINGS]
    return [[spelt.get(w, w.replace("\0", "||").replace(" ", "\u2581")) for w in p] for p in parts]


def write(path: Path, seed: int = 0) -> None:
    """Write a model; the same seed gives the same weights."""
    import gguf

    kinds = gguf.TokenType
    tokens = {"<unk>": kinds.UNKNOWN, "<s>": kinds.CONTROL, "</s>": kinds.CONTROL}
    tokens |= {f"<0x{byte:02X}>": kinds.BYTE for byte in range(256)}
    tokens |= dict.fromkeys(["\u2581", *map(chr, range(33, 127))], kinds.NORMAL)
    tokens |= {"<|im_start|>": kinds.CONTROL, "<|im_end|>": kinds.CONTROL}
    for word in chain.from_iterable(leanings()):
        tokens.setdefault(word, kinds.NORMAL)
    names = list(tokens)
    weights = _weights(names, seed)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(len(weights["output_norm.weight"]))
    writer.add_block_count(1)
    writer.add_feed_forward_length(NARROW)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-9)
    writer.add_rope_dimension_count(len(weights["output_norm.weight"]))
    writer.add_vocab_size(len(names))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(names)
    writer.add_token_scores([-float(i) for i in range(len(names))])
    writer.add_token_types(list(tokens.values()))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(names.index("<|im_end|>"))
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(value=False)
    writer.add_add_space_prefix(value=False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in weights.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _weights(names: list[str], seed: int) -> dict[str, np.ndarray]:
    count = len(names)
    width = math.ceil(count / 64) * 64
    place = {name: i for i, name in enumerate(names)}
    chances = np.random.default_rng(seed).gamma(SPREAD, size=(count, count)) + 1e-12
    chances *= NOISE / chances.sum(axis=1, keepdims=True)
    for words in leanings():
        for last, following in pairwise(words):
            chances[place[last], place[following]] += 1
    chances /= chances.sum(axis=1, keepdims=True)
    embedding = np.eye(count, width, dtype=np.float32)
    output = np.zeros((count, width), np.float32)
    output[:, :count] = np.log(chances).T / math.sqrt(width)  # the norm makes 1 to sqrt(width)
    shapes = {
        "attn_q": (width, width),
        "attn_k": (width, width),
        "attn_v": (width, width),
        "attn_output": (width, width),
        "ffn_gate": (NARROW, width),
        "ffn_up": (NARROW, width),
        "ffn_down": (width, NARROW),
    }
    drawn = {"token_embd": embedding, "output": output, "output_norm": np.ones(width, np.float32)}
    drawn |= {f"blk.0.{n}": np.zeros(shape, np.float32) for n, shape in shapes.items()}
    drawn |= {f"blk.0.{n}_norm": np.ones(width, np.float32) for n in ("attn", "ffn")}
    return {f"{name}.weight": tensor for name, tensor in drawn.items()}


def serve(path: str, most_tokens: int) -> None:
    """Serve a model until standard input ends."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_ctx, params.n_predict = 4, 4 * CONTEXT, most_tokens
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 64  # fewer than there are connections starve
    params.n_gpu_layers, params.warmup, params.offline = 0, False, True
    params.use_jinja, params.verbosity = True, 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
