"""MIRAGE with the builtin engine on GenMedGPT-5k questions, beside a simple ranking.

Usage: python benchmarks/genmedgpt.py DATA_FOLDER [--out results.parquet]

DATA_FOLDER holds EMCKG (``train.txt``), ``chatdoctor5k.subset.json`` and
``gold_disease.derived.tsv``. Prints hit@1 and hit@5 of the gold disease among the answer's
candidates, overall and by generation pass, and for passes 1 and 2 the share of the gold disease's
tests and medications that the answer names. The simple ranking sees the whole graph: it counts
the symptoms of each disease whose words all stand in the question, and adds twice the cosine of
the disease's name.
"""

import argparse
import asyncio
import csv
import json
import re
import tempfile
import time
from pathlib import Path

import numpy as np

from reasoner import api
from reasoner.evals.dataset import Row, read_questions
from reasoner.evals.evaluate import evaluate, save, summarise
from reasoner.evals.metrics import folded

METRICS = ["hit@1", "hit@5", "named"]
SMALL = frozenset(["a", "an", "the", "of", "in", "on", "at", "to", "and", "or", "with", "for"])


def read_graph(folder: Path) -> list[tuple[str, str, str]]:
    """Return the distinct triples with blanks for underscores, in the order of the file."""
    rows = [line.split("\t") for line in (folder / "train.txt").read_text().splitlines()]
    return list(dict.fromkeys((h.replace("_", " "), r, t.replace("_", " ")) for h, r, t in rows))


def write_questions(folder: Path, triples: list[tuple[str, str, str]], out: Path) -> None:
    """Write the questions as JSON lines with gold disease, pass, and the facts to be named."""
    wanted = {"need_medical_test", "need_medication"}
    facts: dict[str, list[str]] = {}
    for head, relation, tail in triples:
        if relation in wanted:
            facts.setdefault(folded(head), []).append(tail)
    texts = [row["input"] for row in json.loads((folder / "chatdoctor5k.subset.json").read_text())]
    with (folder / "gold_disease.derived.tsv").open() as lines:
        gold = list(csv.DictReader(lines, delimiter="\t"))
    with out.open("w") as lines:
        for text, row in zip(texts, gold, strict=True):
            line = {"question": text, "gold": row["disease"], "pass": row["pass"]}
            if row["pass"] in {"1", "2"}:
                line["facts"] = facts[folded(row["disease"])]
            lines.write(json.dumps(line) + "\n")


def stems(text: str) -> set[str]:
    """Return the words of a text without plural endings and without small words."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {w[:-1] if len(w) > 3 and w.endswith("s") else w for w in words if w not in SMALL}


async def simple_ranking(
    triples: list[tuple[str, str, str]], rows: list[Row], folder: str
) -> dict[str, list[float]]:
    """Return the hits of the simple ranking, one per question."""
    embedder = api.open_context(folder, None).embedder
    diseases = sorted({h for h, r, _ in triples if r == "has_symptom"})
    symptoms = {
        d: [stems(t) for h, r, t in triples if h == d and r == "has_symptom"] for d in diseases
    }
    hits: dict[str, list[float]] = {"hit@1": [], "hit@5": []}
    for row in rows:
        question = row.inputs["question"]
        said = stems(question)
        likeness = await embedder.similarity(question, diseases)
        overlap = np.array([sum(words <= said for words in symptoms[d]) for d in diseases])
        score = overlap + 2 * np.array(likeness)
        ranked = [folded(diseases[i]) for i in np.argsort(-score, kind="stable")]
        place = ranked.index(folded(row.gold[0]))
        hits["hit@1"].append(float(place < 1))
        hits["hit@5"].append(float(place < 5))
    return hits


def main() -> None:
    """Run the recipe and the simple ranking on the same questions; print both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    triples = read_graph(args.data)
    with tempfile.TemporaryDirectory() as work:
        questions = Path(work) / "questions.jsonl"
        write_questions(args.data, triples, questions)
        rows = read_questions(questions, ("question",))
    settings = api.RunSettings(graph=str(args.data), runs=None)
    started = time.monotonic()
    results = asyncio.run(evaluate(api.compile_recipe("mirage"), rows, METRICS, settings))
    seconds = time.monotonic() - started
    table = summarise(results, METRICS, "pass")
    simple = asyncio.run(simple_ranking(triples, rows, str(args.data)))
    print(f"{'recipe mirage':<24}{'n':>5}{'hit@1':>9}{'hit@5':>9}{'named':>9}")
    for group, cells in table.items():
        named = f"{cells['named'].mean:>9.3f}" if cells["named"].n else f"{'-':>9}"
        hits = f"{cells['hit@1'].mean:>9.3f}{cells['hit@5'].mean:>9.3f}"
        print(f"{group:<24}{cells['hit@1'].n:>5}{hits}{named}")
    print(
        f"{'simple ranking':<24}{len(rows):>5}{np.mean(simple['hit@1']):>9.3f}{np.mean(simple['hit@5']):>9.3f}"
    )
    calls = sum(r.record.budget.calls for r in results)
    print(f"{calls:,} calls of the builtin engine, {seconds:.0f} s")
    if args.out:
        save(results, args.out)


if __name__ == "__main__":
    main()
