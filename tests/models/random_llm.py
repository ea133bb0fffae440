"""A language model of random weights, written on the spot, and a process that serves it.

As a module: `write` makes a llama-architecture GGUF file of half a megabyte. As a program
(``random_llm.py FILE``): serves such a file with llama.cpp, prints its address, and ends when
its standard input does, so that it never outlives who started it.
"""

import sys
from pathlib import Path

import numpy as np

HIDDEN, LAYERS, HEADS, KV_HEADS = 64, 2, 4, 2
CONTEXT = 4096
#: Whole words, so that nonsense now and then holds a name, a marker or a tool call.
WORDS = (
    "yes no the a of and treats causes symptom question answer Final evidence migraine headache "
    "nausea ibuprofen sumatriptan search result T0 T1 T13 T999 <search> </search> <result> || "
    '</think> <answer> 1. 2. {" ": ", " "} [" "] items answer'
).split()
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write(path: Path, seed: int = 0) -> None:
    """Write a model; the same seed gives the same weights."""
    import gguf

    kinds = gguf.TokenType
    tokens = {"<unk>": kinds.UNKNOWN, "<s>": kinds.CONTROL, "</s>": kinds.CONTROL}
    tokens |= {f"<0x{byte:02X}>": kinds.BYTE for byte in range(256)}
    plain = ["\u2581", *map(chr, range(33, 127)), *WORDS, *("\u2581" + w for w in WORDS)]
    tokens |= {t: kinds.NORMAL for t in plain if t not in tokens}
    tokens |= {"<|im_start|>": kinds.CONTROL, "<|im_end|>": kinds.CONTROL}
    names = list(tokens)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
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
    for name, tensor in _weights(len(names), seed).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _weights(vocabulary: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    narrow = HIDDEN * KV_HEADS // HEADS
    shapes = {"token_embd": (vocabulary, HIDDEN), "output": (vocabulary, HIDDEN)}
    ones = ["output_norm"]
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        ones += [f"{block}attn_norm", f"{block}ffn_norm"]
        shapes |= {
            f"{block}attn_q": (HIDDEN, HIDDEN),
            f"{block}attn_k": (narrow, HIDDEN),
            f"{block}attn_v": (narrow, HIDDEN),
            f"{block}attn_output": (HIDDEN, HIDDEN),
            f"{block}ffn_gate": (2 * HIDDEN, HIDDEN),
            f"{block}ffn_up": (2 * HIDDEN, HIDDEN),
            f"{block}ffn_down": (HIDDEN, 2 * HIDDEN),
        }
    drawn = {n: (rng.standard_normal(s) * 0.3).astype(np.float32) for n, s in shapes.items()}
    drawn |= {name: np.ones(HIDDEN, np.float32) for name in ones}
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
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
