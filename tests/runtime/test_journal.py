"""The journal: on the disk before use, a torn tail dropped, damage never read as something else."""

import asyncio
import contextlib
import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoner.errors import JournalError
from reasoner.runtime import journal as journals
from reasoner.runtime.journal import Entry, Journal, key_of, read
from reasoner.testing import ScriptedModel
from tests.runtime.support import CHAINS, by_task, go, looks, recipe, within


def entry(number, text="x"):
    return Entry(
        "call", key_of({"n": str(number)}), {"n": str(number)}, {"text": f"{text}{number}"}
    )


def write(path, entries, *, together=False):
    async def work():
        async with Journal(path) as journal:
            if together:
                async with asyncio.TaskGroup() as group:
                    for e in entries:
                        group.create_task(journal.append(e))
            else:
                for e in entries:
                    await journal.append(e)

    within(work())
    return path


@pytest.fixture
def three(tmp_path):
    entries = [entry(n) for n in range(3)]
    return write(tmp_path / "j", entries), entries


# ---- durable before use ------------------------------------------------------------------


def test_every_finished_call_is_on_the_disk_before_its_result_is_used(tmp_path):
    file = tmp_path / "run" / "journal.jsonl"
    seen = []

    def script(request):
        on_disk = [e.value["text"] for e in read(file)[0]]
        used = [m.content for m in request.messages if m.role == "assistant"]
        for search in request.view.searches:  # each search was asked for by a recorded call
            assert any(search.args[0] in text for text in on_disk)
        for chain in getattr(request.view.inputs.get("found"), "chains", ()):
            assert any(chain.answer.text in text for text in on_disk)
        seen.append((len(on_disk), used))
        return by_task(chains=[*looks("migraine", "nausea"), "Final answer: nausea [T2]."])(request)

    ran = go(recipe(CHAINS), script, runs=tmp_path)
    assert ran.record.outcome == "answered"
    assert [n for n, _ in seen] == [0, 1, 2, 3, 4]
    entries, torn = read(file)
    assert (len(entries), torn) == (5, 0)
    assert {e.kind for e in entries} == {"call"}


def test_append_returns_only_after_the_flush(tmp_path, monkeypatch):
    log = []
    flush = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (flush(fd), log.append("flushed")))

    async def work():
        async with Journal(tmp_path / "j") as journal:
            for n in range(3):
                await journal.append(entry(n))
                log.append("used")

    within(work())
    assert log == ["flushed", "used"] * 3


def test_many_appends_share_few_flushes(tmp_path, monkeypatch):
    flushes = []
    flush = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (flush(fd), flushes.append(fd)))
    entries = [entry(n) for n in range(200)]
    write(tmp_path / "j", entries, together=True)
    assert len(flushes) <= 3
    assert read(tmp_path / "j") == (entries, 0)


def test_a_caller_that_is_cancelled_holds_up_no_one(tmp_path):
    async def work():
        async with Journal(tmp_path / "j") as journal:
            first = asyncio.create_task(journal.append(entry(0)))
            second = asyncio.create_task(journal.append(entry(1)))
            await asyncio.sleep(0)
            first.cancel()
            await second
            await journal.append(entry(2))

    within(work())
    assert read(tmp_path / "j") == ([entry(0), entry(1), entry(2)], 0)  # it was paid: it is kept


@given(st.lists(st.text(max_size=20), max_size=6), st.booleans())
def test_what_is_written_is_what_is_read(tmp_path_factory, texts, together):
    entries = [Entry("call", key_of({"t": t}), {"t": t}, {"text": t}) for t in texts]
    file = write(tmp_path_factory.mktemp("j") / "j", entries, together=together)
    assert read(file) == (entries, 0)


def test_no_file_is_no_journal():
    async def work():
        async with Journal(None) as journal:
            await journal.append(entry(0))

    within(work())


# ---- damage ------------------------------------------------------------------------------


def test_torn_at_every_byte_is_an_exact_prefix(three, tmp_path):
    file, entries = three
    data = file.read_bytes()
    ends = [i + 1 for i, b in enumerate(data) if b == ord("\n")]
    for cut in range(len(data) + 1):
        (tmp_path / "t").write_bytes(data[:cut])
        whole = sum(end <= cut for end in ends)
        left_out = cut - max([0, *(e for e in ends if e <= cut)])
        assert read(tmp_path / "t") == (entries[:whole], left_out)


def test_one_flipped_bit_is_never_read_as_another_value(three, tmp_path):
    file, entries = three
    data = bytearray(file.read_bytes())
    last = data.rindex(b"\n", 0, len(data) - 1) + 1
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            (tmp_path / "t").write_bytes(data)
            data[place] ^= 1 << bit
            try:
                found, torn = read(tmp_path / "t")
            except JournalError as error:
                assert f"{tmp_path / 't'}: the journal is damaged at byte " in str(error)
                continue
            assert found == entries[: len(found)]
            assert torn > 0
            assert place >= last - 1, (
                f"damage before the last line was taken for a torn tail: {place}.{bit}"
            )


@given(data=st.data())
def test_overwritten_bytes_are_never_read_as_another_value(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("j")
    entries = [entry(n) for n in range(3)]
    whole = write(folder / "j", entries).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    junk = data.draw(st.binary(min_size=1, max_size=40))
    (folder / "t").write_bytes(whole[:at] + junk + whole[at + len(junk) :])
    try:
        found, _ = read(folder / "t")
    except JournalError:
        return
    assert found == entries[: len(found)]


def test_damage_in_the_middle_is_refused_with_its_place(three):
    file, _ = three
    data = file.read_bytes()
    second = data.index(b"\n") + 1
    file.write_bytes(data.replace(b'"text":"x1"', b'"text":"y1"'))
    with pytest.raises(JournalError, match=rf"damaged at byte {second} \(line 2\)"):
        read(file)


@pytest.mark.parametrize("change", ["swap", "drop first", "twice"])
def test_lines_that_are_whole_but_out_of_place_are_refused(three, change):
    file, _ = three
    one, two, last = file.read_bytes().splitlines(keepends=True)
    changed = {"swap": [two, one, last], "drop first": [two, last], "twice": [one, one, two, last]}
    file.write_bytes(b"".join(changed[change]))
    with pytest.raises(JournalError, match="damaged"):
        read(file)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("j") / "j"
    file.write_bytes(data)
    try:
        entries, torn = read(file)
    except JournalError:
        return
    assert (entries, torn) == ([], len(data))


def test_a_journal_that_is_not_there(tmp_path):
    with pytest.raises(JournalError, match="No such file"):
        read(tmp_path / "none")


def test_a_journal_that_is_opened_again_stays_readable(three):
    file, entries = three
    with contextlib.suppress(JournalError):  # refusing is as good
        write(file, [entry(3), entry(4)])
    assert read(file)[0][:3] == entries


# ---- disks that fail ---------------------------------------------------------------------


def fail_all(path, prepare=None):
    """Append many at once; return what each got."""
    got = []

    async def one(journal, number):
        try:
            await journal.append(entry(number))
        except JournalError as error:
            got.append(str(error))
        else:
            got.append("written")

    async def work():
        async with Journal(path) as journal:
            if prepare:
                await prepare(journal)
            async with asyncio.TaskGroup() as group:
                for n in range(5):
                    group.create_task(one(journal, n))
            await one(journal, 9)  # whoever comes later gets it, too

    within(work())
    return got


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_fails_everyone_and_hangs_no_one():
    got = fail_all(Path("/dev/full"))
    assert len(got) == 6
    assert all("cannot be written: No space left on device" in g for g in got)


def test_an_error_in_the_middle_fails_everyone_after_it(tmp_path, monkeypatch):
    real, count = os.write, []

    def short_then_broken(fd, data):
        count.append(fd)
        if len(count) > 1:
            raise OSError(5, "Input/output error")
        return real(fd, bytes(data)[:100])

    async def first(journal):
        await journal.append(entry(100))
        monkeypatch.setattr(os, "write", short_then_broken)

    got = fail_all(tmp_path / "j", first)
    assert len(got) == 6
    assert all("Input/output error" in g for g in got)
    monkeypatch.undo()
    entries, torn = read(tmp_path / "j")
    assert entries == [entry(100)]
    assert torn == 100


def test_short_writes_are_carried_on(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:7]))
    file = write(tmp_path / "j", [entry(0), entry(1)])
    monkeypatch.undo()
    assert read(file) == ([entry(0), entry(1)], 0)


def test_a_run_on_a_disk_that_fails_stops_and_uses_nothing(tmp_path, monkeypatch):
    def broken(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdatasync", broken)
    model = ScriptedModel(by_task(split=("one", "two")))
    ran = go(recipe(CHAINS), model, runs=tmp_path)
    assert ran.record.outcome == "failed"
    assert "finished calls could not be kept, so the run stops" in str(ran.error)
    assert len(model.requests) == 1


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="use --runs DIR"):
        go(recipe(CHAINS), by_task(), runs=tmp_path / "file")


def test_an_entry_that_cannot_be_written_fails_and_hangs_no_one(tmp_path):
    async def work():
        async with Journal(tmp_path / "j") as journal:
            bad = Entry("call", "k", {}, {"x": object()})
            with pytest.raises((JournalError, TypeError)):
                await asyncio.wait_for(journal.append(bad), 0.2)

    within(work())


# ---- secrets and rights ------------------------------------------------------------------


def test_only_its_owner_may_read_it(three):
    assert stat.S_IMODE(three[0].stat().st_mode) == 0o600


def test_no_secret_and_no_prompt_is_in_it(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789")
    go(recipe(CHAINS), by_task(), "My name is Jane Roe.", runs=tmp_path)
    for file in (tmp_path / "run").iterdir():
        assert "sk-very-secret" not in file.read_text()
    assert "Jane Roe" not in (tmp_path / "run" / "journal.jsonl").read_text()


def test_a_line_is_what_the_page_says(three):
    lines = three[0].read_bytes().splitlines()
    first = json.loads(lines[0])
    assert sorted(first) == ["crc", "key", "kind", "n", "parts", "prev", "v", "value"]
    assert [json.loads(line)["n"] for line in lines] == [0, 1, 2]
    assert first["v"] == journals.VERSION
    assert first["prev"] == "0" * 64
