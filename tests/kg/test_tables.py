"""Reading tables: what is a header, what is dropped and counted, what is refused with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.errors import GraphError
from reasoner.kg.tables import MAX_NAME, Dropped, read_entities, read_triples
from reasoner.testing.strategies import clean, names, triples

AB = [("a", "r", "b")]


@pytest.fixture(scope="session")
def read(tmp_path_factory):
    file = tmp_path_factory.mktemp("tables") / "x.tsv"

    def read(text, reader=read_triples):
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        if reader is not read_triples:
            return reader(file).rows()
        frame, dropped = reader(file)
        return frame.select("head", "relation", "tail").rows(), dropped

    return read


@pytest.mark.parametrize(
    "text",
    [
        "a\tr\tb\n",
        "a\tr\tb",
        "a\tr\tb\r\n",
        "\ufeffa\tr\tb\n",
        "head\trelation\ttail\na\tr\tb\n",
        "\ufeffhead\trelation\ttail\r\na\tr\tb\r\n",
        " Head \tRELATION\t tail\na\tr\tb\n",
        "subject\tpredicate\tobject\na\tr\tb\n",
        "tail\tnote\thead\trelation\nb\tx\ta\tr\n",
        "  a \t r\tb  \n",
        "a\tr\tb\tmore\tcells\n",
        "\n\nhead\trelation\ttail\na\tr\tb\n",
    ],
)
def test_one_triple_however_it_is_written(read, text):
    assert read(text) == (AB, Dropped())


@pytest.mark.parametrize(
    "text",
    ["\na\tr\tb\n", "\r\na\tr\tb\r\n", "  \na\tr\tb\n", " \nhead\trelation\ttail\na\tr\tb\n"],
)
def test_blank_lines_before_the_first_row(read, text):
    assert read(text)[0] == AB


@pytest.mark.parametrize("header", ["Head\thead\trelation\ttail", "subject\thead\trelation\ttail"])
def test_columns_of_the_same_name_are_refused(read, header):
    with pytest.raises(GraphError, match=r"x\.tsv"):
        read(f"{header}\na\tb\tr\tc\n")


@pytest.mark.parametrize(
    ("text", "rows", "dropped"),
    [
        ("a\tr\tb\nb\tr\nc\n\t\t\n", AB, Dropped(3)),
        ("a\tr\tb\na\t\tb\n \tr\tb\na\tr\t_\n", AB, Dropped(3)),
        ("a\tr\tb\na\tr\tb\na\tr\tb \n", AB, Dropped(0, 2)),
        ("a_b\tr_s\tc__d\na b\tr_s\tc d\n", [("a b", "r_s", "c d")], Dropped(0, 1)),
        ('"a\tr\t"b"\nc""\t\'r\td\n', [('"a', "r", '"b"'), ('c""', "'r", "d")], Dropped()),
        ("a\tr\tb\nhead\trelation\ttail\n", [*AB, ("head", "relation", "tail")], Dropped()),
        ("#a\tr\tb\n", [("#a", "r", "b")], Dropped()),
        ("1\t2\t3\nx\ty\tNaN\n", [("1", "2", "3"), ("x", "y", "NaN")], Dropped()),
    ],
)
def test_what_is_kept_and_what_is_counted(read, text, rows, dropped):
    assert read(text) == (rows, dropped)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        ("head\trelation\ttail\n", "holds no triple"),
        ("\t\t\n", "the file is empty"),
        ("a r b\n", "three columns separated by tabs.*found 1"),
        ("a\tb\n", "found 2"),
        ("head\ttail\n", "found 2"),
        (b"\xff\tr\tb\n", "not UTF-8"),
        (b"a\tr\tb\n" * 4000 + b"\xe9\tr\tb\n", "(utf|UTF)-?8"),
        ("a\tr\tb\n".encode("utf-16"), "(utf|UTF)-?8"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(read, text, reason):
    with pytest.raises(GraphError, match=rf"x\.tsv: .*{reason}"):
        read(text)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "gone.tsv", tmp_path):
        for reader in (read_triples, read_entities):
            with pytest.raises(GraphError, match=path.name):
                reader(path)


@given(rows=triples(nodes=names()), random=st.randoms())
def test_rows_come_back_in_order_once_each(read, rows, random):
    noise = ["\t\t", "a\tr", "x\t \ty"]
    lines = ["\t".join(row) for row in rows]
    noisy = [line for row in lines for line in (row, *random.sample(noise, random.randint(0, 1)))]
    found, dropped = read("head\trelation\ttail\n" + "\n".join(noisy))
    assert found == list(dict.fromkeys(rows))
    assert dropped == Dropped(len(noisy) - len(lines), len(rows) - len(found))


@given(
    cells=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), max_size=8),
        min_size=2,
        max_size=2,
    )
)
def test_names_are_cleaned_as_the_strategies_say(read, cells):
    head, tail = (clean(c) for c in cells)
    found, dropped = read(f"head\trelation\ttail\nx\tr\ty\n{cells[0]}\tr\t{cells[1]}\n")
    assert found[1:] == ([(head, "r", tail)] if head and tail else [])
    assert dropped == Dropped(int(not (head and tail)))


def test_names_are_cut_to_a_sane_length(read):
    ((head, _, tail),), _ = read(f"{'x' * 5000}\tr\t{'é' * 5000}\n")
    assert (len(head), len(tail)) == (MAX_NAME, MAX_NAME)


def test_a_name_that_is_cut_at_a_blank_does_not_end_with_it(read):
    ((head, _, _),), _ = read(f"{'x' * (MAX_NAME - 1)} y\tr\tb\n")
    assert head == head.strip()


def test_numbers_that_are_none_fall_back(tmp_path):
    file = tmp_path / "x.tsv"
    file.write_text("head\trelation\ttail\tweight\tstrength\na\tr\tb\t2\t0.5\na\tr\tc\tmany\t\n")
    frame, _ = read_triples(file)
    assert frame.select("weight", "strength").rows() == [(2.0, 0.5), (1.0, None)]


def test_a_weight_or_strength_that_is_no_number_falls_back(tmp_path):
    file = tmp_path / "x.tsv"
    file.write_text("head\trelation\ttail\tweight\tstrength\na\tr\tb\tNaN\tNaN\n")
    frame, _ = read_triples(file)
    assert frame.select("weight", "strength").rows() == [(1.0, None)]


# ---- entities ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("name\n", []),
        ("name\na_b\n", [("a b", "", [])]),
        ("\ufeffname\tkind\taliases\r\na\td\tx| y ||z\r\n", [("a", "d", ["x", "y", "z"])]),
        ("aliases\tName\nx\ta\n", [("a", "", ["x"])]),
        ("name\tkind\na\td\na\te\n", [("a", "d", [])]),
        ("name\tkind\na\n\td\n", [("a", "", [])]),
        ('name\taliases\n"a\t"x"|y\n', [('"a', "", ['"x"', "y"])]),
    ],
)
def test_entities(read, text, rows):
    assert read(text, read_entities) == rows


@pytest.mark.parametrize("cell", ["  ", "_"])
def test_an_entity_has_a_name(read, cell):
    assert read(f"name\tkind\n{cell}\tdisease\na\tdrug\n", read_entities) == [("a", "drug", [])]


@pytest.mark.parametrize("text", ["", "a\tdisease\n", b"name\n\xff\n"])
def test_entities_that_cannot_be_read(read, text):
    with pytest.raises(GraphError, match=r"x\.tsv"):
        read(text, read_entities)


def test_entities_with_two_names_are_refused(read):
    with pytest.raises(GraphError, match=r"x\.tsv"):
        read("Name\tname\na\tb\n", read_entities)
