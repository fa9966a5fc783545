"""Writes xrdpfc_print.txt: what `xrdpfc_print -v -u B` of XRootD 5.5 prints of two files of a cache.

The lines are those of the real tool (`tests/test_simulate_xcache.py` reads its output where it is installed), with
numbers that the tests of `sapwood-grid` know.
"""

import time
from pathlib import Path

COLUMNS = "%-6s %-13s  %-13s  %-12s %5s %5s %15s %15s %15s\n"
#: By file: its bytes and blocks, and the accesses: seconds after the first one, seconds that it took (none: still
#: open), bytes.
FILES = {
    "/cache/store/a.root": (8035620, 62, [(0, 1, 36172, 1599850, 0), (3, 0, 1636022, 0, 0), (5, 0, 0, 0, 0)]),
    "/cache/store/b.root": (2000000000, 15259, [(86400, None, 1000000000, 1500000000, 500000000)]),
}
FIRST = 1795740127


def stamp(seconds):
    return "------:------" if seconds is None else time.strftime("%y%m%d:%H%M%S", time.gmtime(seconds))


def listing(name, size, blocks, accesses):
    yield f"FILE: {name}.cinfo\n"
    yield "version 4, created Fri Nov 27 00:42:07 2026; cksum net\n"
    yield f"file_size {size} B, buffer_size 131072 B, n_blocks {blocks}, n_downloaded {min(blocks, 62)}, "
    yield "state complete [100.000%]\n" if blocks == 62 else f"state incomplete [{6200 / blocks:.3f}%]\n"
    if blocks == 62:
        yield f"printing {blocks} blocks:\n   {'':9}1{'':9}2{'':9}3{'':9}4{'':9}5{'':9}6\n"
        yield f"   {'0123456789' * 6}0123\n 0 {'x' * blocks}\n"
    yield f"Access records (N_acc_total={len(accesses)}):\n"
    words = ("Record", "Attach", "Detach", "Duration", "N_ios", "N_mrg", "B_hit[B]", "B_miss[B]", "B_bypass[B]")
    yield COLUMNS % words
    for number, (after, lasted, *bytes_read) in enumerate(accesses, 1):
        begin = FIRST + after
        end = None if lasted is None else begin + lasted
        yield COLUMNS % (number, stamp(begin), stamp(end), f"0:00:{lasted or 0:02}", 1, 0, *bytes_read)


def main():
    text = "notes.txt is not cinfo file.\n\n"
    text += "\n".join("".join(listing(name, *file)) for name, file in FILES.items())
    (Path(__file__).parent / "xrdpfc_print.txt").write_text(text)


if __name__ == "__main__":
    main()
