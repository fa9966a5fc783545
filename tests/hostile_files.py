"""Whole files with false content: each function here writes one. Most begin as an honest file without compression,
of which one thing is changed; see `FILES`."""

from __future__ import annotations

import re
import struct
import zlib

import numpy as np
import whole_files as w

import sapwood

#: As many entries as nothing else in the file has of anything.
ENTRIES = 1237
FILES = {}


def hostile(make):
    FILES[make.__name__] = make
    return make


def honest(folder):
    """A tree of numbers, one of lists, a histogram and a text."""
    path = folder / "honest.root"
    if not path.exists():
        with sapwood.recreate(path, compression="none") as f:
            t = f.mktree("t", {"x": "f8", "s": "vector<string>", "v": "vector<float>"})
            t.extend({"x": np.arange(1.0 * ENTRIES), "s": [["a", "bc"]] * ENTRIES, "v": [[1.0, 2.0]] * ENTRIES})
            f["h"] = np.histogram(np.arange(10.0), bins=5)
            f["text"] = "some text"
            f["d/inner"] = "inner text"
    return path


def info(folder):
    return w.payload(honest(folder), "StreamerInfo")


def whole(folder, name, *objects, more=()):
    file = w.WholeFile(w.with_descriptions(info(folder), more) if more else info(folder))
    for o in objects:
        file.add(*o)
    return file.write(folder / f"{name}.root")


def patched(folder, name, change):
    """The honest file with some bytes changed: change(data, records by name)."""
    data = bytearray(honest(folder).read_bytes())
    change(data, w.records(honest(folder)))
    path = folder / f"{name}.root"
    path.write_bytes(data)
    return path


def basket(records, branch):
    return next(r for r in records if r[0] == "TBasket" and r[1] == branch)


def tree(records):
    return next(r for r in records if r[0] == "TTree")


def everywhere(data, old, new, within=None):
    start, end = within or (0, len(data))
    hits = [m.start() for m in re.finditer(re.escape(old), bytes(data[start:end]))]
    assert hits, old
    for at in hits:
        data[start + at : start + at + len(old)] = new


def in_header(data, records, old, new):
    _, _, _, at, keylen, _, payload, _ = tree(records)
    everywhere(data, old, new, (at + keylen, at + keylen + len(payload)))


@hostile
def a_list_that_holds_itself(folder):
    items = struct.pack(">I", 1) + b"\0"
    body = w.tobject() + w.text("") + struct.pack(">i", 3) + items * 3
    return whole(folder, "itself", ("TList", "l", w.counted(5, body)))


@hostile
def lists_nested_without_end(folder):
    body = w.list_of([])
    for _ in range(3000):
        body = w.list_of([w.pointer("TList", body)])
    return whole(folder, "nested", ("TList", "l", body))


@hostile
def a_list_of_as_many_as_can_be(folder):
    body = w.tobject() + w.text("") + struct.pack(">i", 0x7FFFFFFF)
    return whole(folder, "many", ("TList", "l", w.counted(5, body)), ("TObjArray", "a", w.counted(3, body + bytes(4))))


@hostile
def a_list_of_nothing_but_null_pointers(folder):
    n = (200 << 20) // 4
    front = w.tobject() + w.text("") + struct.pack(">ii", n, 0)
    size = 6 + len(front) + 4 * n
    head = struct.pack(">IH", 0x40000000 | (size - 4), 3) + front
    return whole(folder, "nulls", ("TObjArray", "a", w.Packed(w.zeros(size, head), size)))


@hostile
def a_list_of_many_small_objects(folder):
    one = b"\xff\xff\xff\xffTObject\0" + w.tobject()
    one = struct.pack(">I", 0x40000000 | len(one)) + one
    n = (60 << 20) // len(one)
    body = w.counted(3, w.tobject() + w.text("") + struct.pack(">ii", n, 0) + one * n)
    return whole(folder, "objects", ("TObjArray", "a", w.Packed(w.squeezed(body), len(body))))


@hostile
def class_names_behind_references(folder):
    """20 kB whose references to one class copy its name (6.5 s in show)."""
    name = "X" * 4000
    first = struct.pack(">I", 0x40000000 | (4 + len(name) + 1 + 6)) + b"\xff" * 4 + name.encode() + b"\0"
    head = w.tobject() + w.text("") + struct.pack(">i", 400_000)
    keylen = 26 + 6 + 2 + 1
    tag = 6 + len(head) + 4 + 2 + keylen
    empty = struct.pack(">IH", 0x40000002, 1)
    again = struct.pack(">II", 0x40000000 | 10, 0x80000000 | tag) + empty + b"\0"
    body = w.counted(5, head + first + empty + b"\0" + again * 399_999)
    return whole(folder, "references", ("TList", "l", w.Packed(w.squeezed(body), len(body))))


@hostile
def a_text_of_a_gibibyte(folder):
    size = (1 << 30) - 200
    front = struct.pack(">IH", 0x40000000 | (size - 4), 1) + w.tobject() + b"\xff" + struct.pack(">I", size - 21)
    return whole(folder, "text", ("TObjString", "s", w.Packed(w.zeros(size, front), size)))


@hostile
def a_text_that_ends_before_its_record(folder):
    return whole(folder, "short", ("TObjString", "s", w.payload(honest(folder), "text") + bytes(1000)))


@hostile
def a_histogram_of_a_gibibyte(folder):
    size = (1 << 30) - 200
    return whole(folder, "histogram", ("TH1D", "h", w.Packed(w.zeros(size), size)))


@hostile
def a_tree_of_a_gibibyte(folder):
    size = (1 << 30) - 200
    return whole(folder, "tree", ("TTree", "t", w.Packed(w.zeros(size), size)))


@hostile
def descriptions_of_a_gibibyte(folder):
    size = (1 << 30) - 200
    file = w.WholeFile(w.Packed(w.zeros(size), size))
    file.add("TH1D", "h", w.payload(honest(folder), "h"))
    return file.write(folder / "descriptions.root")


@hostile
def a_directory_of_a_gibibyte(folder):
    size = (1 << 30) - 200
    return whole(folder, "folder", ("TDirectory", "d", w.Packed(w.zeros(size), size)))


@hostile
def sixty_megabytes_of_an_empty_tree(folder):
    size = 60 << 20
    return whole(folder, "tree60", ("TTree", "t", w.Packed(w.zeros(size), size)))


@hostile
def payloads_that_are_not_what_their_keys_say(folder):
    text = w.payload(honest(folder), "text")
    return whole(
        folder,
        "contradictions",
        ("TObjString", "raw", w.Packed(text, len(text) + 1)),
        ("TObjString", "packed", w.squeezed(text)),
        ("TObjString", "most", w.Packed(text, 0x7FFFFFFF)),
        ("TObjString", "none", w.Packed(b"", 100)),
        ("TObjString", "less", w.Packed(w.squeezed(text * 5), len(text))),
    )


def lying_key(folder, **said):
    file = w.WholeFile(info(folder))
    file.add("TObjString", "text", w.payload(honest(folder), "text"))
    file.add("TObjString", "bad", w.payload(honest(folder), "text"), said=said)
    file.add("TObjString", "after", w.payload(honest(folder), "text"))
    return file.write(folder / f"key-{'-'.join(said)}.root")


@hostile
def a_key_of_two_gibibytes(folder):
    return lying_key(folder, nbytes=0x7FFFFFFF)


@hostile
def a_key_of_negative_length(folder):
    return lying_key(folder, nbytes=-100)


@hostile
def a_label_longer_than_its_record(folder):
    return lying_key(folder, keylen=0xFFFF)


@hostile
def an_object_of_four_gibibytes(folder):
    return lying_key(folder, objlen=-1)


@hostile
def a_key_that_leads_to_itself(folder):
    return lying_key(folder, seek=w.BEGIN)


@hostile
def a_directory_that_holds_itself(folder):
    def change(data, records):
        d = next(r for r in records if r[1] == "d" and r[0].startswith("TDirectory"))
        members = d[3] + d[4]
        root_keys = [r for r in records if r[0] == "TFile"][1]
        data[members + 10 : members + 14] = struct.pack(">i", root_keys[4] + len(root_keys[6]))
        data[members + 26 : members + 30] = struct.pack(">I", root_keys[3])

    return patched(folder, "self-directory", change)


@hostile
def a_list_of_keys_without_end(folder):
    def change(data, records):
        keys = [r for r in records if r[0] == "TFile"][1]
        at = keys[3] + keys[4]
        data[at : at + 4] = struct.pack(">i", 0x7FFFFFFF)

    return patched(folder, "keys", change)


@hostile
def free_segments_over_all(folder):
    def change(data, records):
        free = [r for r in records if r[0] == "TFile"][-1]
        at = free[3] + free[4]
        data[at : at + 10] = struct.pack(">HII", 1, 100, 0x7FFFFFFF)

    return patched(folder, "free", change)


@hostile
def entries_beyond_counting(folder):
    def change(data, records):
        in_header(data, records, struct.pack(">q", ENTRIES), struct.pack(">q", 2**62))

    return patched(folder, "entries", change)


@hostile
def baskets_all_at_one_place(folder):
    def change(data, records):
        x = basket(records, "x")
        for name in ("s", "v"):
            in_header(data, records, struct.pack(">q", basket(records, name)[3]), struct.pack(">q", x[3]))

    return patched(folder, "one-place", change)


@hostile
def baskets_without_number(folder):
    """fWriteBasket and fMaxBaskets as large as can be."""

    def change(data, records):
        in_header(data, records, struct.pack(">iq", 1, ENTRIES), struct.pack(">iq", 0x7FFFFFFF, ENTRIES))

    return patched(folder, "basket-count", change)


@hostile
def a_basket_that_is_the_tree(folder):
    def change(data, records):
        in_header(data, records, struct.pack(">q", basket(records, "x")[3]), struct.pack(">q", tree(records)[3]))

    return patched(folder, "basket-tree", change)


def in_label(folder, name, branch, change):
    """The members of a basket behind its key: version, buffer size, entry size, entries, last, flag."""

    def changed(data, records):
        b = basket(records, branch)
        at = b[3] + b[4] - len(b[5])
        label = bytearray(data[at : at + len(b[5])])
        change(label)
        data[at : at + len(b[5])] = label

    return patched(folder, name, changed)


def offsets_of(data, records, branch):
    """Where the table of offsets of a branch's first basket begins: their number, then the offsets."""
    b = basket(records, branch)
    payload = b[3] + b[4]
    (last,) = struct.unpack(">i", data[payload - 5 : payload - 1])
    return payload + last - b[4]


@hostile
def offsets_beyond_the_basket(folder):
    def change(data, records):
        at = offsets_of(data, records, "s")
        for i in range(1, 100):
            data[at + 4 + 4 * i : at + 8 + 4 * i] = struct.pack(">I", 0x7FFFFFFF - i)

    return patched(folder, "offsets", change)


@hostile
def more_offsets_than_can_be(folder):
    def change(data, records):
        at = offsets_of(data, records, "s")
        data[at : at + 4] = struct.pack(">i", 0x7FFFFFFF)

    return patched(folder, "offset-count", change)


@hostile
def a_basket_that_ends_nowhere(folder):
    return in_label(folder, "last", "v", lambda label: label.__setitem__(slice(-5, -1), struct.pack(">i", 0x7FFFFFFF)))


@hostile
def a_basket_without_entries(folder):
    return in_label(folder, "no-entries", "v", lambda label: label.__setitem__(slice(-9, -5), struct.pack(">i", -5)))


@hostile
def a_basket_without_offsets(folder):
    def change(data, records):
        b = basket(records, "s")
        payload = b[3] + b[4]
        data[payload - 5 : payload - 1] = struct.pack(">i", b[4] + len(b[6]))

    return patched(folder, "no-offsets", change)


def bomb(folder, name, codec, size, entries=ENTRIES):
    """The branch x as one basket of zeros in a place of its own; all else as it was."""
    data = honest(folder).read_bytes()
    records = w.records(honest(folder))
    x, t = basket(records, "x"), tree(records)
    file = w.WholeFile(w.payload(honest(folder), "StreamerInfo"))
    stored = {
        "zlib": lambda: w.zeros(size),
        "lzma": lambda: w.zeros(size, codec="lzma"),
        "lie": lambda: b"".join(
            w.block(b"ZS\x01", bytes(600), min(w.BLOCK, size - at)) for at in range(0, size, w.BLOCK)
        ),
        "lz4": lambda: b"".join(
            w.block(b"L4\x01", bytes(70_000), min(w.BLOCK, size - at)) for at in range(0, size, w.BLOCK)
        ),
    }[codec]()
    more = bytearray(x[5])
    more[-5:-1] = struct.pack(">i", min(size + x[4], 0x7FFFFFFF))
    more[-9:-5] = struct.pack(">i", entries)
    label = {"cycle": struct.unpack(">H", data[x[3] + 16 : x[3] + 18])[0], "more": bytes(more), "listed": False}
    b = file.add("TBasket", "x", w.Packed(stored, size), "t", **label)
    payload = bytearray(t[6])
    kept = file.add("TTree", "t", b"", "")
    file.place()
    nbytes = len(b.bytes())
    for old, new in (
        (struct.pack(">q", x[3]), struct.pack(">q", b.at)),
        (struct.pack(">i", x[4] + len(x[6])), struct.pack(">i", nbytes)),
        (struct.pack(">q", ENTRIES), struct.pack(">q", entries)),
    ):
        everywhere(payload, old, new)
    kept.payload = bytes(payload)
    return file.write(folder / f"{name}.root")


@hostile
def a_zlib_bomb_in_a_basket(folder):
    return bomb(folder, "bomb-zlib", "zlib", (1 << 30) - 200)


@hostile
def a_lying_zstd_basket(folder):
    return bomb(folder, "bomb-zstd", "lie", (1 << 30) - 200)


@hostile
def a_lying_lz4_basket(folder):
    return bomb(folder, "bomb-lz4", "lz4", 1 << 28)


@hostile
def an_lzma_bomb_in_a_basket(folder):
    return bomb(folder, "bomb-lzma", "lzma", (1 << 30) - 200)


@hostile
def a_basket_of_true_zeros_beyond_belief(folder):
    """All of it fits: it contains that many numbers, each 0."""
    return bomb(folder, "zeros", "zlib", (1 << 30) - 200 - 200 % 8, ((1 << 30) - 200 - 200 % 8) // 8)


@hostile
def a_class_that_is_its_own_base(folder):
    own = w.description("Own", 1, [w.element("Own", "BASE", 0, 0, "TStreamerBase", counter=struct.pack(">i", 1))])
    return whole(folder, "own-base", ("Own", "o", w.counted(1, bytes(400))), more=[own])


@hostile
def bases_of_each_other(folder):
    def derived(name, base):
        e = w.element(base, "BASE", 0, 0, "TStreamerBase", counter=struct.pack(">i", 1))
        return w.description(name, 1, [e, e, e])

    both = [derived("A", "B"), derived("B", "A")]
    return whole(folder, "bases", ("A", "o", struct.pack(">H", 1) * 3000), more=both)


@hostile
def an_array_of_all_dimensions(folder):
    most = (0x7FFFFFFF,) * 5
    e = w.element("a", "double", 28, 8)
    lying = e.replace(struct.pack(">9i", 28, 8, 0, 0, 0, 0, 0, 0, 0), struct.pack(">9i", 28, 8, 0x7FFFFFFF, 5, *most))
    assert lying != e
    return whole(folder, "dimensions", ("A", "o", w.counted(1, bytes(400))), more=[w.description("A", 1, [lying])])


@hostile
def members_without_bytes(folder):
    nothing = w.element("n", "int", 23, 0).replace(struct.pack(">ii", 23, 0), struct.pack(">ii", 23, 4))
    empty = w.description("E", 1, [nothing] * 20_000)
    many = w.element("e", "E", 82, 0, "TStreamerObjectAny")
    body = w.counted(
        3, w.tobject() + w.text("") + struct.pack(">ii", 5000, 0) + w.pointer("E", struct.pack(">H", 1)) * 5000
    )
    return whole(folder, "nothing", ("TObjArray", "a", body), more=[empty, w.description("F", 1, [many])])


@hostile
def a_class_of_fifty_thousand_members(folder):
    members = [w.element(f"m{i}", "int", 3, 4) for i in range(50_000)]
    one = w.pointer("M", w.counted(0, struct.pack(">I", 7)))
    body = w.counted(3, w.tobject() + w.text("") + struct.pack(">ii", 20_000, 0) + one * 20_000)
    described = w.with_descriptions(info(folder), [w.description("M", 1, members, checksum=7)])
    file = w.WholeFile(w.Packed(w.squeezed(described), len(described)))
    file.add("TObjArray", "a", w.Packed(w.squeezed(body), len(body)))
    return file.write(folder / "members.root")


@hostile
def names_of_fifty_thousand_letters(folder):
    name = "N" * 50_000
    described = [
        w.description(f"{name}{i}", 1, [w.element("a", f"{name}{i + 1}", 62, 4, "TStreamerObjectAny")])
        for i in range(300)
    ]
    info_ = w.with_descriptions(info(folder), described)
    file = w.WholeFile(w.Packed(w.squeezed(info_), len(info_)))
    file.add(f"{name}0", "o", w.counted(1, bytes(600)))
    file.add("TH1D", "h", w.payload(honest(folder), "h"))
    return file.write(folder / "names.root")


@hostile
def a_checksum_that_fits_another_stream(folder):
    data = bytearray(zlib.compress(bytes(100_000)))
    data[-4:] = b"\1\2\3\4"
    return whole(folder, "adler", ("TObjString", "s", w.Packed(w.block(b"ZL\x08", bytes(data), 100_000), 100_000)))


def fixed_dimensions(folder, name, entries, claimed):
    """A branch `double x[1000][1000][999]` without entries, or `x[9999][9999]` with one whose basket holds 8 kB; the
    tree and the branch claim others."""
    path = folder / f"{name}.root"
    dims = (10, 10, 10) if entries else (1000, 1000, 100)
    with sapwood.recreate(path, compression="none") as f:
        t = f.mktree("t", {"x": np.dtype(("f8", dims))})
        if entries:
            t.extend({"x": np.zeros((entries, *dims))})
    data = bytearray(path.read_bytes())
    if entries:
        old, new, size, most = b"x[10][10][10]", b"x[9999][9999]", 1000, 9999 * 9999
    else:
        old, new, size, most = b"x[1000][1000][100]", b"x[1000][1000][999]", 10**8, 999 * 10**6
    everywhere(data, old + struct.pack(">i", size), new + struct.pack(">i", most))
    everywhere(data, old, new)
    (_, _, _, at, keylen, _, payload, _) = tree(w.records(path))
    start = at + keylen
    data[start + 61 : start + 69] = struct.pack(">q", claimed)
    # the branch's next entry stands before its features (the last ones: the tree has some, too); behind these its
    # offset, its baskets, its split level, its entries
    *_, features = (m.start() for m in re.finditer(re.escape(bytes.fromhex("40000007 0000 1aa12f10 00")), payload))
    for place in (features - 8, features + 11 + 12):
        data[start + place : start + place + 8] = struct.pack(">q", claimed)
    path.write_bytes(data)
    return path
