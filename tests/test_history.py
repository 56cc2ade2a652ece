"""The native history: against a plain list of units, and as a Python object."""

import gc
import io
import threading
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from muntin._core import History
from muntin.exceptions import DuplicateCall, InputError, UnknownCall

GROUPS = [(b'{"role":"user","content":[', b"]}", 4), (b'{"role":"assistant","content":[', b"]}", 3), (b"", b"", 0)]
RUN, TURN, RESPONSE = 1, 2, 4


@dataclass(frozen=True)
class Unit:
    group: int
    wire: bytes
    tokens: int
    entry: int = 0
    kind: int = 0
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()


class Model:
    """The history as the documentation tells it, nothing kept that can be computed."""

    def __init__(self, units=()):
        self.units = list(units)

    def lead(self, group, at):
        if at == 0:
            return GROUPS[group][0]
        before = self.units[at - 1].group
        return b"," if before == group else GROUPS[before][1] + b"," + GROUPS[group][0]

    def stored(self, start, stop):
        return b"".join(self.lead(self.units[i].group, i) + self.units[i].wire for i in range(start, stop))

    def total(self, start, stop):
        opening = [i for i in range(start, stop) if i == 0 or self.units[i - 1].group != self.units[i].group]
        return sum(u.tokens for u in self.units[start:stop]) + sum(GROUPS[self.units[i].group][2] for i in opening)

    def open_calls(self, start=0, stop=None):
        calls = []
        for unit in self.units[start:stop]:
            for call in unit.opens:
                if call in calls:
                    raise DuplicateCall(call)
                calls.append(call)
            for call in unit.closes:
                if call not in calls:
                    raise UnknownCall(call)
                calls.remove(call)
        return calls

    def grade(self, cut):
        kind = self.units[cut].kind if cut < len(self.units) else 0
        return (
            0 if self.open_calls(stop=cut) else 3 if kind & RUN else 2 if kind & TURN else 1 if kind & RESPONSE else 0
        )

    def of_kind(self, start, stop, bits):
        return [unit for unit in range(start, stop) if self.units[unit].kind & bits == bits]

    def answers(self, start, stop):
        return [unit for unit in range(start, stop) if self.units[unit].closes and self.total(unit, unit + 1) >= 100]

    def clearable(self, start, stop, keep):
        size = len(self.units)
        old = [unit for unit in range(start, stop) if self.total(unit + 1, size) >= keep]
        answers = self.answers(start, start + len(old))
        if not answers:
            return None
        return start + len(old), answers[0], len(answers), sum(self.total(unit, unit + 1) for unit in answers)

    def search(self, start, stop, keep, tolerance):
        size = len(self.units)
        cuts = [(cut, self.grade(cut), self.total(cut, size)) for cut in range(start + 1, stop + 1) if self.grade(cut)]
        fit = [(cut, grade) for cut, grade, left in cuts if left <= keep]
        near = [(cut, grade) for cut, grade, left in cuts if keep - tolerance <= left <= keep]
        if near:
            return max(near, key=lambda found: (found[1], -found[0]))
        return fit[0] if fit else cuts[-1][:2] if cuts else None


def add(history, unit):
    return history.append(unit.group, unit.wire, unit.tokens, unit.entry, unit.kind, unit.opens, unit.closes)


def outcome(call, *args):
    try:
        return call(*args), None
    except (DuplicateCall, UnknownCall) as error:
        return None, type(error)


def filled(n, size=200):
    history = History(GROUPS)
    for i in range(n):
        history.append(i % 2, b"%0*d" % (size, i), 50, i)
    return history


ids = st.lists(st.sampled_from("abcd"), max_size=2).map(tuple)
units = st.builds(
    Unit,
    group=st.integers(0, 2),
    wire=st.binary(max_size=12) | st.builds(bytes, st.sampled_from([20_000, 70_000])),
    tokens=st.integers(0, 40) | st.integers(95, 120),
    entry=st.integers(0, 2**32 - 1),
    kind=st.integers(0, 63),
    opens=st.just(()) | ids,
    closes=st.just(()) | ids,
)


class Histories(RuleBasedStateMachine):
    """Any appends, extensions and forks, each history beside its model."""

    histories = Bundle("histories")

    def __init__(self):
        super().__init__()
        self.pairs = []

    def keep(self, history, model):
        self.pairs.append((history, model))
        return history, model

    @rule(target=histories)
    def begin(self):
        return self.keep(History(GROUPS), Model())

    @rule(pair=histories, unit=units)
    def append(self, pair, unit):
        history, model = pair
        _, refused = outcome(Model([*model.units, unit]).open_calls)
        index, error = outcome(add, history, unit)
        assert error is refused
        if error is None:
            assert index == len(model.units)
            model.units.append(unit)

    @rule(pair=histories, n=st.integers(200, 300), kind=st.integers(0, 7))
    def append_many(self, pair, n, kind):
        history, model = pair
        if len(model.units) < 600:
            for unit in [Unit(i % 2, b"%d" % i, i % 3, i, kind if i % 7 == 0 else 0) for i in range(n)]:
                add(history, unit)
                model.units.append(unit)

    @rule(target=histories, pair=histories, data=st.data())
    def fork(self, pair, data):
        history, model = pair
        at = data.draw(st.integers(0, len(model.units)))
        return self.keep(history.fork(at), Model(model.units[:at]))

    @rule(to=histories, source=histories, data=st.data())
    def extend(self, to, source, data):
        (history, model), (other, others) = to, source
        start = data.draw(st.integers(0, len(others.units)))
        stop = data.draw(st.integers(start, min(len(others.units), start + 300)))
        added = others.units[start:stop]
        _, clash = outcome(Model([*model.units, *added]).open_calls)
        _, error = outcome(history.extend, other, start, stop)
        assert (error is None) == (clash is None)
        if error is None:
            model.units.extend(added)

    @rule(pair=histories, data=st.data())
    def search(self, pair, data):
        history, model = pair
        size = len(model.units)
        if size > 40:
            return  # the model looks at all cuts of all units
        start = data.draw(st.integers(0, size))
        stop = data.draw(st.integers(start, size))
        keep = data.draw(st.integers(0, history.total() + 5))
        tolerance = data.draw(st.integers(0, keep + 5))
        assert history.search(start, stop, keep, tolerance) == model.search(start, stop, keep, tolerance)

    @rule(pair=histories, data=st.data())
    def look(self, pair, data):
        history, model = pair
        size = len(model.units)
        start = data.draw(st.integers(0, size))
        stop = data.draw(st.integers(start, size))
        stored = model.stored(start, stop)
        assert b"".join(history.slices(start, stop)) == stored
        assert history.byte_len(start, stop) == len(stored)
        assert history.total(start, stop) == model.total(start, stop)
        assert history.kinds(start, stop) == bytes(unit.kind for unit in model.units[start:stop])
        assert history.entries(start, stop) == [unit.entry for unit in model.units[start:stop]]
        bits = data.draw(st.sampled_from([1, 8, 64, 48]))
        assert history.of_kind(start, stop, bits) == model.of_kind(start, stop, bits)
        assert history.answers(start, stop) == model.answers(start, stop)
        keep = data.draw(st.integers(0, history.total() + 5))
        if size <= 40:
            assert history.clearable(start, stop, keep) == model.clearable(start, stop, keep)
        assert history.is_legal(stop) == (not model.open_calls(stop=stop))
        assert history.grade(stop) == model.grade(stop)
        assert history.close(stop) == (GROUPS[model.units[stop - 1].group][1] if stop else b"")
        for group in range(len(GROUPS)):
            assert history.lead(group, stop) == model.lead(group, stop)
        if start < size:
            unit = model.units[start]
            seen = (history.group(start), history.wire(start), history.entry(start), history.kind(start))
            assert seen == (unit.group, unit.wire, unit.entry, unit.kind)

    @rule(left=histories, right=histories)
    def compare(self, left, right):
        (history, model), (other, others) = left, right
        size = min(len(model.units), len(others.units))
        same = (i for i in range(size) if model.stored(i, i + 1) != others.stored(i, i + 1))
        prefix = next(same, size)
        assert history.common_prefix(other) == prefix
        assert history.chain(prefix) == other.chain(prefix)

    @invariant()
    def nothing_is_shared_that_grows(self):
        for history, model in self.pairs:
            assert len(history) == len(model.units)
            assert history.open_calls() == model.open_calls()


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


@given(st.lists(st.sampled_from([0, 1, 2]), max_size=30))
def test_stored_bytes_are_json_once_closed(groups):
    history = History([(b'["u"', b"]", 1), (b'["a"', b"]", 1), (b'["t"', b"]", 1)])
    for group in groups:
        history.append(group, b"" if len(history) % 3 else b'"x"', 1, 0)
    body = b"".join(history.slices(0, len(history))) + history.close()
    assert body.count(b"[") == body.count(b"]") == sum(a != b for a, b in zip([None, *groups], groups, strict=False))


def test_an_empty_history_has_a_legal_cut_and_nothing_else():
    history = History(GROUPS)
    assert (len(history), history.total(), history.byte_len(), history.slices(0, 0)) == (0, 0, 0, [])
    assert (history.close(), history.lead(1), history.chain(0)) == (b"", GROUPS[1][0], bytes(16))
    assert (history.is_legal(0), history.grade(0), history.search(0, 0, 10, 0)) == (True, 0, None)


def test_digests_are_big_endian_and_of_the_stored_bytes():
    history = History([(b"", b"", 0)])
    history.append(0, b"", 0, 0)
    assert history.digest(0).hex() == "99aa06d3014798d86001c324468d497f"


def test_chains_are_the_ones_that_another_implementation_of_xxh3_computes():
    history = History([(b"", b"", 0)])
    history.append(0, b"a", 0, 0)
    history.append(0, b"b", 0, 0)
    assert history.chain(2).hex() == "5b00f51e543c84f658d2d6bdafa6ebe2"


def test_a_slice_outlives_its_history():
    history = filled(1000)
    expected = b"".join(history.slices(0, 900))
    views = history.fork(900).slices(0, 900)
    assert isinstance(views[0], memoryview)
    del history
    gc.collect()
    filled(1000, 201)  # whatever was freed would be written over
    assert b"".join(views) == expected


def test_slices_are_read_only():
    history = filled(1000)
    view = history.slices(0, 1000)[0]
    assert view.readonly
    assert (view.format, view.itemsize, view.ndim, view.contiguous) == ("B", 1, 1, True)
    with pytest.raises(TypeError):
        view[0] = 0
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(b"x").readinto(view.obj)
    assert bytes(view[10:20]) == bytes(view)[10:20]


def test_sealed_bytes_are_not_copied_for_forks():
    import numpy as np  # noqa: PLC0415 - one test needs addresses

    history = filled(1000)
    ours, theirs = (np.frombuffer(h.slices(0, 1000)[0], np.uint8) for h in (history, history.fork()))
    assert np.shares_memory(ours, theirs)


def test_slices_of_a_growing_history_stay_what_they_were():
    history = filled(300)
    before = history.slices(0, 300)
    expected = b"".join(before)
    for i in range(1000):
        history.append(0, b"more", 1, i)
    assert b"".join(before) == expected


def test_a_unit_may_answer_the_call_that_it_makes():
    history = History(GROUPS)
    history.append(0, b"1", 1, 0, 0, ["a"], ["a"])
    assert history.open_calls() == []
    assert history.is_legal(1)


def test_parallel_calls_block_cuts_until_all_are_answered():
    history = History(GROUPS)
    history.append(1, b"1", 1, 0, RESPONSE, ["a", "b"])
    history.append(0, b"2", 1, 1, 0, (), ["b"])
    history.append(0, b"3", 1, 2, 0, (), ["a"])
    history.append(1, b"4", 1, 3, RESPONSE)
    assert [history.is_legal(cut) for cut in range(5)] == [True, False, False, True, True]
    assert [history.grade(cut) for cut in range(5)] == [1, 0, 0, 1, 0]
    assert history.fork(2).open_calls() == ["a"]


def test_a_refused_unit_changes_nothing():
    history = History(GROUPS)
    history.append(1, b"1", 1, 0, 0, ["a"])
    with pytest.raises(DuplicateCall, match="open already"):
        history.append(1, b"2", 1, 1, 0, ["b", "a"])
    with pytest.raises(UnknownCall, match="nobody"):
        history.append(1, b"2", 1, 1, 0, ["b"], ["a", "nobody"])
    assert (len(history), history.open_calls()) == (1, ["a"])


def test_extend_goes_on_from_the_calls_that_are_open():
    history = History(GROUPS)
    history.append(1, b"1", 1, 0, 0, ["a"])
    history.append(0, b"2", 1, 1, 0, (), ["a"])
    other = History(GROUPS)
    with pytest.raises(UnknownCall):
        other.extend(history, 1, 2)
    assert len(other) == 0
    other.extend(history, 0, 1)
    with pytest.raises(DuplicateCall):
        other.extend(history, 0, 2)
    assert (len(other), other.open_calls()) == (1, ["a"])
    with pytest.raises(InputError, match="different groups"):
        other.extend(History([]), 0, 0)


def test_extending_a_history_by_itself_repeats_it():
    history = filled(300)
    history.extend(history, 0, 300)
    assert len(history) == 600
    assert history.total() == 2 * history.total(0, 300)


OUTSIDE = [-1, 11, 2**64, -(2**64)]


@pytest.mark.parametrize("unit", [*OUTSIDE, 10])
@pytest.mark.parametrize("ask", ["digest", "entry", "kind", "group", "wire"])
def test_units_outside_are_index_errors(ask, unit):
    with pytest.raises(IndexError):
        getattr(filled(10), ask)(unit)


@pytest.mark.parametrize("place", OUTSIDE)
@pytest.mark.parametrize("ask", ["chain", "fork", "total", "byte_len", "close", "is_legal", "grade"])
def test_places_outside_are_index_errors(ask, place):
    with pytest.raises(IndexError):
        getattr(filled(10), ask)(place)


@pytest.mark.parametrize("place", OUTSIDE)
def test_ranges_outside_are_index_errors(place):
    history = filled(10)
    for call in (history.slices, history.kinds, history.total, history.byte_len):
        with pytest.raises(IndexError):
            call(0, place)
    with pytest.raises(IndexError):
        history.lead(0, place)
    with pytest.raises(IndexError):
        history.search(0, place, 0, 0)
    with pytest.raises(IndexError):
        history.extend(history, 0, place)


@pytest.mark.parametrize(
    "call",
    [
        lambda h: h.append(3, b"", 0, 0),
        lambda h: h.append(-1, b"", 0, 0),
        lambda h: h.append(0, b"", -1, 0),
        lambda h: h.append(0, b"", 2**32, 0),
        lambda h: h.append(0, b"", 0, 2**32),
        lambda h: h.append(0, b"", 0, 0, 256),
        lambda h: h.append(0, b"", 0, 10**5000),
        lambda h: h.lead(3),
        lambda h: h.slices(2, 1),
        lambda h: h.total(2, 1),
        lambda h: h.search(2, 1, 0, 0),
        lambda h: h.search(0, 1, -1, 0),
        lambda h: h.search(0, 1, 0, 2**64),
        lambda _: History([(b"", b"", 0)] * 17),
        lambda _: History([(b"x" * 65_536, b"", 0)]),
        lambda _: History([(b"", b"", -1)]),
    ],
)
def test_bad_input_is_an_input_error(call):
    with pytest.raises(InputError):
        call(filled(10))


def test_a_dead_call_blocks_every_cut_behind_it():
    history = filled(600)
    history.append(1, b"{}", 1, 600, RESPONSE, ["dead"])
    for i in range(1000):
        history.append(0, b"{}", 1, i, TURN)
    assert history.search(601, len(history), 10, 10) is None
    assert history.search(0, len(history), 10, 10) == (600, 1)
    assert history.fork(1200).open_calls() == ["dead"]


def test_threads_may_grow_and_read_one_history():
    history = filled(100)
    failures = []

    def work(seed):
        try:
            for i in range(300):
                history.append(0, b"%d" % seed * 100, 1, i)
                history.extend(history, 0, 3)
                size = len(history)
                assert history.byte_len(0, size) == sum(map(len, history.slices(0, size)))
                assert history.fork(size // 2).common_prefix(history) == size // 2
        except Exception as error:  # noqa: BLE001 - reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(history) == 100 + 4 * 300 * 4
