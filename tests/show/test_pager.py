import base64
import errno
import os
import threading

import pytest

from boundcap_jupyter.show import pager as pager_module
from boundcap_jupyter.show.pager import AT_ONCE, BURST, MAX_NUMBER, OLDER_LINES, PAGE, RATE, Pager

NUMBERS = b"".join(b"%d\n" % n for n in range(1, 10_001))


class Source:
    encoding = "utf-8"

    def __init__(self, data=NUMBERS):
        self.data = data
        self.read_bytes = 0

    @property
    def size(self):
        return len(self.data)

    def read(self, offset, length):
        data = self.data[offset : offset + length]
        self.read_bytes += len(data)
        return data


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pager(clock):
    pager = Pager(clock)
    pager.sources = {"output": Source(), "stderr": Source(b"error\n")}
    return pager


def page(**changes):
    return {"type": "page", "id": 7, "stream": "output", "offset": 0, "length": 100, "base64": False, **changes}


def older(**changes):
    return {"type": "older", "id": 7, "stream": "output", "before": 100, **changes}


def without(message, name):
    return {key: value for key, value in message.items() if key != name}


def test_a_page_is_bytes_in_a_buffer_beside_what_they_are(pager):
    content, buffers = pager.answer(page(offset=10, length=20))
    assert content == {"type": "page", "id": 7, "size": len(NUMBERS), "length": 20, "base64": None}
    assert buffers == [NUMBERS[10:30]]


def test_a_page_for_a_host_without_buffers_is_text(pager):
    pager.sources = {"output": Source(bytes(range(256)))}
    content, buffers = pager.answer(page(length=256, base64=True))
    assert (content["length"], base64.b64decode(content["base64"]), buffers) == (256, bytes(range(256)), [])


def test_at_the_end_of_what_is_there_a_page_is_shorter_and_behind_it_empty(pager):
    assert pager.answer(page(offset=len(NUMBERS) - 3))[1] == [b"00\n"]
    assert pager.answer(page(offset=MAX_NUMBER))[1] == [b""]


def test_each_stream_has_its_own_bytes(pager):
    assert pager.answer(page(stream="stderr"))[1] == [b"error\n"]


def test_older_lines_are_text_for_a_view(pager):
    before = NUMBERS.index(b"5001\n")
    content, buffers = pager.answer(older(before=before))
    assert content == {
        "type": "older",
        "id": 7,
        "begins": NUMBERS.index(b"%d\n" % (5001 - OLDER_LINES)),
        "lines": OLDER_LINES,
        "newlines": OLDER_LINES,
        "text": "".join(f"{n}\n" for n in range(5001 - OLDER_LINES, 5001)),
        "leadSgr": "",
    }
    assert buffers == []


def test_older_lines_are_drawn_not_passed_on(pager):
    data = b"\x1b[31m\n" * OLDER_LINES + b" 10%\r 20%\x1b]0;title\x07\x1b[2Jdone\x00\n"
    pager.sources = {"output": Source(data)}
    content, _ = pager.answer(older(before=len(data)))
    assert content["leadSgr"] == "\x1b[31m"
    assert content["text"] == "\n" * (OLDER_LINES - 1) + " 20%done\u2400\n"


WRONG = [-1, 1.0, 0.5, float("nan"), float("inf"), 2**53, 10**400, "5", "", None, True, [5], {"n": 5}]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize(
    ("request_with", "name"),
    [(page, "offset"), (page, "length"), (older, "before")],
    ids=["offset", "length", "before"],
)
def test_a_number_that_is_none_is_refused_with_its_name(pager, request_with, name, value):
    content, buffers = pager.answer(request_with(**{name: value}))
    assert (content["type"], content["id"], content["retry"], buffers) == ("refused", 7, False, [])
    assert content["reason"].startswith(f"{name} must be an integer from ")
    assert len(content["reason"]) < 200
    assert pager.sources["output"].read_bytes == 0


@pytest.mark.parametrize("value", WRONG, ids=lambda value: repr(value)[:20])
def test_without_an_id_there_is_nobody_to_answer(pager, value):
    assert pager.answer(page(id=value)) is None
    assert pager.answer(without(older(), "id")) is None


@pytest.mark.parametrize("length", [0, PAGE + 1, MAX_NUMBER])
def test_nobody_gets_more_than_a_page(pager, length):
    assert "length must be an integer from 1 to 1048576" in pager.answer(page(length=length))[0]["reason"]


@pytest.mark.parametrize("stream", ["../output", "/etc/passwd", "sources", "", None, 1, ["output"], {"a": 1}], ids=repr)
def test_a_stream_has_one_of_two_names(pager, stream):
    for message in (page(stream=stream), older(stream=stream)):
        assert "stream must be 'output' or 'stderr'" in pager.answer(message)[0]["reason"]


@pytest.mark.parametrize(
    "message",
    [page(path="/etc/passwd"), without(page(), "offset"), older(offset=3), without(older(), "stream"), page(base64=1)],
    ids=str,
)
def test_a_request_has_its_fields_and_no_others(pager, message):
    content, _ = pager.answer(message)
    assert content["type"] == "refused"
    assert "must " in content["reason"]


@pytest.mark.parametrize(
    "message",
    [None, 5, "page", [], {}, {"type": "stop"}, {"type": ["page"], "id": 1}, {"type": "Page", "id": 1}],
    ids=repr,
)
def test_what_is_no_request_is_left_to_others(pager, message):
    assert pager.answer(message) is None


def test_without_a_spill_it_says_so():
    assert "not kept" in Pager().answer(page())[0]["reason"]


def test_a_place_behind_the_end_of_the_file_has_nothing_before_it(pager):
    assert "the file ends at byte 48,894" in pager.answer(older(before=48_895))[0]["reason"]


def test_a_file_that_cannot_be_read_is_said_without_its_path(pager):
    def read(offset, length):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/home/ada/output.log")

    pager.sources["output"].read = read
    for message in (page(), older()):
        content, _ = pager.answer(message)
        assert content["reason"] == "the file cannot be read: No such file or directory"


def test_a_flood_of_requests_is_slowed_down_and_told_to_come_again(pager, clock):
    answers = [pager.answer(page(id=number))[0] for number in range(10_000)]
    assert [answer["type"] for answer in answers[:BURST]] == ["page"] * BURST
    assert all(answer["type"] == "refused" and answer["retry"] for answer in answers[BURST:])
    assert pager.sources["output"].read_bytes == BURST * 100
    clock.now += 1 / RATE
    assert pager.answer(page())[0]["type"] == "page"
    assert pager.answer(page())[0]["type"] == "refused"


def test_only_so_many_are_answered_at_the_same_time(pager):
    inside, go_on = threading.Semaphore(0), threading.Event()

    def read(offset, length):
        inside.release()
        assert go_on.wait(60)
        return b"x"

    pager.sources["output"].read = read
    threads = [threading.Thread(target=pager.answer, args=[page()]) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    try:
        for _ in threads:
            assert inside.acquire(timeout=60)
        refused, _ = pager.answer(page(id=9))
        assert (refused["type"], refused["id"], refused["retry"]) == ("refused", 9, True)
    finally:
        go_on.set()
        for thread in threads:
            thread.join()
    assert pager.answer(page())[0]["type"] == "page"


def test_a_defect_of_the_source_does_not_take_the_room_for_others(pager, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(pager_module, "passage_before", broken)
    for _ in range(AT_ONCE + 1):
        with pytest.raises(ZeroDivisionError):
            pager.answer(older())
    assert pager.answer(page())[0]["type"] == "page"


def test_the_result_is_there_when_the_run_is_over(pager):
    content, _ = pager.answer({"type": "result", "id": 7})
    assert (content["type"], content["retry"]) == ("refused", False)
    pager.result = lambda: ("m", {"text/plain": "done"})
    assert pager.answer({"type": "result", "id": 7}) == (
        {"type": "result", "id": 7, "model": "m", "bundle": {"text/plain": "done"}},
        [],
    )
    refusal, _ = pager.answer({"type": "result", "id": 7, "model": "other"})
    assert refusal["type"] == "refused"


def test_the_result_is_made_no_more_often_than_a_page_may_ask(pager, clock):
    pager.result = lambda: ("m", {})
    kinds = [pager.answer({"type": "result", "id": 7})[0]["type"] for _ in range(BURST + 1)]
    assert kinds == ["result"] * BURST + ["refused"]


@pytest.mark.parametrize("kind", [None, 5, ["result"], {}, "results"], ids=repr)
def test_a_type_that_nobody_knows_is_left_to_others(pager, kind):
    assert pager.answer({"type": kind, "id": 7}) is None
