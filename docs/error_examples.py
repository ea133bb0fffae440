"""One minimal wrong example for each code of a finding; `docs/generate.py` makes ``errors.md`` of them."""

from typing import NamedTuple


class Example(NamedTuple):
    """What a code means, and a text that gets it.

    ``file`` is the name of the wrong file, whose ending says its notation; ``shown`` stands for a
    text that is too long for a page.
    """

    code: str
    sentence: str
    text: str
    file: str = "recipe.rsn"
    shown: str = ""


GROUPS = {
    "R10": "The text",
    "R11": "The YAML",
    "R12": "The shape of a YAML recipe",
    "R13": "The manifest of a graph",
    "R20": "Names, types and definitions",
    "R21": "Blocks, variants, options and parts",
    "R22": "Prompts, recursion, fields and files",
    "R30": "Types and bounds",
    "R31": "Forms",
    "R32": "Weights of a matrix",
    "R40": "Warnings: thresholds",
    "R41": "Warnings: what is not used",
}


def _method(body: str, returns: str = "Text", above: str = "") -> str:
    lines = "\n".join(f"  {line}" for line in body.strip("\n").split("\n"))
    return f"{above}method m(question: Text) -> {returns} {{\n{lines}\n}}\n"


def _yaml(steps: str, top: str = "") -> str:
    return f"method: m\ninputs: {{question: Text}}\nreturns: Text\n{top}steps:\n{steps}\n"


SAY = 'prompt say(x: Text) -> Text { "{x}" }\n'
LOOK = 'prompt look(x: Text) -> Chain { "{x}" }\n'
LIST = 'prompt list(x: Text) -> List[Text] { "{x}" }\n'
CELLS = "{\n  cell(above) { above }\n  summary(previous) { previous }\n}"

EXAMPLES = [
    Example("R101", "The text cannot be read at this place; what is open and what was expected is named.",
            _method("return link(question")),
    Example("R102", "Brackets or YAML are nested too deep; bind inner parts to names.",
            _method("return " + "(" * 61 + "question" + ")" * 61)),
    Example("R103", "The file is too large to be a recipe.", "#" * 1_000_001,
            shown="# (a million characters)"),
    Example("R104", "The file holds nothing.", "# only a comment\n", "recipe.yaml"),
    Example("R105", "An escape in a text stands for no character.", _method('return "\\ud800"')),
    Example("R106", "A number has more digits than any recipe needs.", _method("return 1e999999", "Number")),
    Example("R110", "The file is not YAML.", "method: [m\n", "recipe.yaml"),
    Example("R111", "A file holds one recipe.", "method: m\n---\nmethod: n\n", "recipe.yaml"),
    Example("R112", "Anchors and aliases are refused: write the value again.",
            _yaml("  - return: &a question"), "recipe.yaml"),
    Example("R113", "A key of a mapping is a word.", "? [a, b]\n: 1\n", "recipe.yaml"),
    Example("R114", "A key is given twice; YAML would drop one in silence.",
            "method: m\nreturns: Text\nreturns: Answer\n", "recipe.yaml"),
    Example("R115", "Tags are refused: values have the types of the language.",
            _yaml("  - return: !!str question"), "recipe.yaml"),
    Example("R120", "A file defines a method, prompts or helpers.", "steps:\n  - return: question\n", "recipe.yaml"),
    Example("R121", "A list, a mapping or a word stands where another of them is needed.",
            _yaml("  - return: question", "params: [a, b]\n"), "recipe.yaml"),
    Example("R122", "A step is one name with its expression.", _yaml("  - a: question\n    b: question"), "recipe.yaml"),
    Example("R123", "No form has this name.", _yaml("  - return:\n      every: q in [question]\n      do: q"), "recipe.yaml"),
    Example("R124", "An expression is missing.", _yaml('  - a: ""\n  - return: a'), "recipe.yaml"),
    Example("R125", "A mapping has a key that means nothing there.",
            _yaml('  - return:\n      if: question == "a"\n      than: question'), "recipe.yaml"),
    Example("R126", "A name is letters, digits and '_', and is no word of the language.",
            _yaml("  - my-step: question\n  - return: question"), "recipe.yaml"),
    Example("R127", "A key is missing.", "method: m\ninputs: {question: Text}\nsteps:\n  - return: question\n", "recipe.yaml"),
    Example("R130", "The manifest of a graph has a key or a value that is wrong.",
            "name: mine\ntriples: triples.tsv\ncolor: red\n", "kg.yaml"),
    Example("R201", "No operator or helper method has this name.", _method("return lnik(question)", "Linked")),
    Example("R202", "No prompt has this name.", _method("return ask sya(question) by r", above=SAY)),
    Example("R203", "Nothing that can be seen here has this name.", _method("return qestion")),
    Example("R204", "The operator, prompt or method has no option or input of this name.",
            _method("return neighbors(link(question), per_realtion: 3)", "Evidence")),
    Example("R205", "No type has this name, or it is written in another way.", "method m(question: Txt) -> Text {\n  return question\n}\n"),
    Example("R206", "The used file defines nothing of this name.",
            'use explain from "prompts/medical"\n' + _method("return ask explain(question) by r")),
    Example("R207", "A name is defined twice.", _method("a = question\na = question\nreturn a")),
    Example("R209", "A name hides another one of an outer block.",
            _method("return each question in [question] { question }", "List[Text]")),
    Example("R210", "Statements after the value of a block are never reached.", _method("return question\nreturn question")),
    Example("R211", "A block has no value.", _method("a = question")),
    Example("R212", "A name is used above its binding.", _method("b = a\na = question\nreturn b")),
    Example("R213", "A variant changes something that is not there.",
            _method("a = question\nreturn a\nvariant v { b = question }")),
    Example("R214", "A policy is unknown, or lacks its value.",
            _method("return each q in [question] on_error ignore { q }", "List[Text]")),
    Example("R215", "A budget limits calls, tokens, usd or seconds.", _method("return budget(cals: 3) { question }")),
    Example("R216", "A form or a model call has no setting of this name.",
            _method("return ask say(question) by r(temprature: 0)", above=SAY)),
    Example("R217", "A matrix or a frontier has no part of this name, or a part asks for something unknown.",
            _method(f"return matrix rows 2, columns 2 {CELLS}".replace("cell(above) { above }", "cell(abov) { abov }"))),
    Example("R218", "A hole of a prompt is none of its inputs.", _method("return ask say(question) by r",
            above='prompt say(x: Text) -> Text { "{y}{x}" }\n')),
    Example("R219", "A brace in a prompt belongs to no hole.", _method("return ask say(question) by r",
            above='prompt say(x: Text) -> Text { "{x} }" }\n')),
    Example("R220", "No task has this name.", _method("return ask say(question) by r",
            above='prompt say(x: Text) -> Text as anser { "{x}" }\n')),
    Example("R221", "A method calls itself, or files use each other.", _method("return m(question)")),
    Example("R222", "The value has no such field.", _method("return {text: question}.txt")),
    Example("R223", "A used file cannot be found or read.", 'use say from "prompts/medcal"\n' + _method("return ask say(question) by r")),
    Example("R301", "A value has another type than is needed.", _method("return question * 2", "Number")),
    Example("R302", "A list stands where one value is needed.", _method("return ask say([question]) by r", above=SAY)),
    Example("R303", "One value stands where a list is needed.", _method("return each q in question { q }", "List[Text]")),
    Example("R304", "More values are given than are taken, or a setting has no name.",
            _method("return link(question, 0.7)", "Linked")),
    Example("R305", "An input is missing.", _method("return paths(link(question))", "Evidence")),
    Example("R306", "The method returns another type than it declares.", _method("return [question]")),
    Example("R307", "The value of a parameter is not known before the run.", _method("param p = question\nreturn p")),
    Example("R308", "The word is none of the choices.",
            _method('return neighbors(link(question), direction: "up")', "Evidence")),
    Example("R309", "A bound is missing, so the run has no price.",
            _method("xs = ask list(question) by r\nreturn each x in xs { x }", "List[Text]", LIST)),
    Example("R310", "A dialog without handlers searches nothing.",
            _method("return dialog look(question) by r, searches: 3 { }", "Chain", LOOK)),
    Example("R311", "A number is out of its range, or not known before the run.",
            _method("return each q in [question] up to 0 { q }", "List[Text]")),
    Example("R312", "'on_limit' needs an 'until'.", _method('return loop s = question up to 3 on_limit fail { s + "." }')),
    Example("R313", "'first of' has no alternatives.", _method("return first of { }")),
    Example("R314", "'accept' needs a name for the value that it speaks of.",
            _method('return first of { question; "b" } accept question != ""')),
    Example("R315", "A part asks for 'shared', which no 'column' part makes.",
            _method(f"return matrix rows 2, columns 2 {CELLS}".replace("cell(above) { above }", "cell(shared) { shared }"))),
    Example("R316", "A part is missing.",
            _method("return matrix rows 2, columns 2 {\n  cell(above) { above }\n}")),
    Example("R320", "The weights of a matrix cannot be read.",
            _method(f"return matrix rows 3, columns 2, weights [[0.1, 0.2]] {CELLS}")),
    Example("R401", "A threshold on similarity means something for one embedder only: pin it.",
            _method("return link(question, tau: 0.7)", "Linked")),
    Example("R410", "A binding, parameter or variable is never used.", _method("a = question\nreturn question")),
    Example("R411", "A prompt or a method is never used.", _method("return question", above=SAY)),
    Example("R412", "An input of a prompt stands nowhere in its text.",
            _method("return ask say(question, question) by r", above='prompt say(x: Text, y: Text) -> Text { "{x}" }\n')),
]  # fmt: skip
