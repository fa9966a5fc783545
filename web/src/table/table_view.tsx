import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ScanRow } from "../api/types";
import { Copyable } from "../common/copyable";
import { count } from "../common/format";
import { saveText } from "../plot/save";
import { columns as chosenColumns, form, selection, topEntry, tree } from "../state/app_state";
import { useValue } from "../state/value";
import { Pages } from "./pages";

const ROW_HEIGHT = 24;
/** Browsers cannot scroll through more pixels than some ten millions. */
const MOST_PIXELS = 8_000_000;

/** The entries of the tree as a table. */
export function TableView() {
  const chosen = useValue(selection);
  const info = useValue(tree);
  const wanted = useValue(chosenColumns);
  const [typed, setTyped] = useState(wanted);
  const [cut, setCut] = useState(form.get().cut);
  const top = useValue(topEntry);
  // the first entry, and as a fraction the share of its rows that is above
  const [at, setAt] = useState(top);
  const [height, setHeight] = useState(400);
  const box = useRef<HTMLDivElement>(null);
  const placed = useRef(-1);
  const place = chosen?.kind === "tree" ? chosen.place : null;

  const pages = useMemo(() => {
    if (!place) return null;
    return new Pages(place, wanted, cut);
  }, [place, wanted, cut]);
  useEffect(() => () => pages?.stop(), [pages]);
  useEffect(() => setTyped(wanted), [wanted]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [place]);

  const entries = pages?.entries ?? info?.entries ?? 0;
  const visible = Math.max(1, Math.ceil(height / ROW_HEIGHT) - 1);
  const pixels = Math.min(MOST_PIXELS, entries * ROW_HEIGHT + height - ROW_HEIGHT);
  const entry = Math.floor(at + 1e-6);
  const skip = Math.floor(Math.max(0, at - entry) * (pages?.rowsOf(entry) ?? 1));

  /** Shows an entry. In a long tree a pixel of the scroll bar is many entries: the bar follows, it does not lead. */
  const goTo = (to: number) => {
    const next = Math.max(0, Math.min(Math.max(0, entries - 1), to));
    setAt(next);
    topEntry.set(Math.floor(next + 1e-6));
    const element = box.current;
    if (!element || entries < 2) return;
    element.scrollTop = (next / (entries - 1)) * (pixels - height);
    placed.current = element.scrollTop;
  };
  const scrolled = (scrollTop: number) => {
    if (Math.abs(scrollTop - placed.current) < 1 || pixels <= height) return;
    placed.current = -1;
    const next = Math.min(1, scrollTop / (pixels - height)) * Math.max(0, entries - 1);
    setAt(next);
    topEntry.set(Math.floor(next + 1e-6));
  };
  // a link and a new size move the bar
  useEffect(() => {
    if (entries > 0) goTo(Math.floor(at + 1e-6) === top ? at : top);
  }, [top === entry, entries, pixels, height]);
  // wheel listeners of the framework are passive
  const wheel = useRef((_: WheelEvent) => {});
  wheel.current = (event) => {
    if (pixels < MOST_PIXELS || event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
    event.preventDefault();
    const rows = [event.deltaY / ROW_HEIGHT, event.deltaY, event.deltaY * visible][event.deltaMode] ?? 0;
    goTo(at + rows);
  };
  useEffect(() => {
    const element = box.current;
    const listen = (event: WheelEvent) => wheel.current(event);
    element?.addEventListener("wheel", listen, { passive: false });
    return () => element?.removeEventListener("wheel", listen);
  }, [place]);

  if (!place || !pages) return <p class="note">Choose a tree on the left.</p>;
  return (
    <section class="table-view" aria-label="Entries">
      <form
        class="table-form"
        aria-label="Columns"
        onSubmit={(event) => {
          event.preventDefault();
          chosenColumns.set(typed);
          setCut(form.get().cut);
        }}
      >
        <label for="columns">Columns</label>
        <input
          id="columns"
          type="text"
          value={typed}
          placeholder="all branches, or a:b:sqrt(c)"
          autocomplete="off"
          spellcheck={false}
          onInput={(e) => setTyped(e.currentTarget.value)}
        />
        <label for="go-to">Entry</label>
        <input
          id="go-to"
          type="number"
          min={0}
          max={Math.max(0, entries - 1)}
          onChange={(e) => goTo(Number(e.currentTarget.value))}
        />
        <button type="submit">Show</button>
        <span class="dim" role="status">
          {count(entries)} entries{cut ? `, those with ${cut}` : ""}
        </span>
      </form>
      {pages.fault && (
        <p class="fault" role="alert">
          {pages.fault.message}
        </p>
      )}
      <div
        class="table-box"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label="Table of entries"
        onScroll={(e) => scrolled(e.currentTarget.scrollTop)}
        onKeyDown={(event) => {
          const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: visible, PageUp: -visible };
          const ends: Record<string, number> = { Home: 0, End: entries - visible };
          const to = event.key in steps ? entry + steps[event.key] : ends[event.key];
          if (to === undefined) return;
          event.preventDefault();
          goTo(to);
        }}
      >
        <div class="table-space" style={{ height: `${pixels}px` }}>
          <Rows pages={pages} entry={entry} skip={skip} visible={visible} />
        </div>
      </div>
      <TableExports pages={pages} entry={entry} skip={skip} visible={visible} />
    </section>
  );
}

interface RowsProps {
  pages: Pages;
  entry: number;
  skip: number;
  visible: number;
}

function Rows({ pages, entry, skip, visible }: RowsProps) {
  useValue(pages.changes);
  const rows = pages.rows(entry, skip, visible);
  const several = rows.some((row) => row.instance > 0);
  const cut = pages.cutAt(entry);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Entry</th>
          {several && <th scope="col">Instance</th>}
          {pages.columns.map((column, i) => (
            <th key={i} scope="col" title={column}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.entry}:${row.instance}`}>
            <th scope="row">{row.entry}</th>
            {several && <td>{row.instance}</td>}
            {row.cells.map((cell, i) => (
              <td key={i}>{cell}</td>
            ))}
          </tr>
        ))}
        {cut !== null && rows.at(-1)?.entry === cut && (
          <tr>
            <td colSpan={pages.columns.length + 1}>entry {cut} has more rows than are shown here</td>
          </tr>
        )}
        {rows.length === 0 && (
          <tr>
            <td>{pages.busy ? "reading…" : "no rows"}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function TableExports({ pages, entry, skip, visible }: RowsProps) {
  useValue(pages.changes);
  if (!pages.command) return null;
  const shown = () => pages.rows(entry, skip, visible);
  return (
    <div class="exports">
      <div class="buttons" role="group" aria-label="Save the rows in sight as">
        <span class="dim">Save the rows in sight as</span>
        <button type="button" onClick={() => saveText("entries.csv", "text/csv", rowsCsv(pages.columns, shown()))}>
          CSV
        </button>
        <button
          type="button"
          onClick={() => {
            const text = JSON.stringify({ columns: pages.columns, rows: shown() });
            saveText("entries.json", "application/json", text);
          }}
        >
          JSON
        </button>
      </div>
      <Copyable label="Command" text={pages.command} />
      <Copyable label="Python" text={pages.python} />
    </div>
  );
}

function rowsCsv(columns: string[], rows: ScanRow[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = rows.map((row) => [row.entry, row.instance, ...row.cells.map(quoted)].join(","));
  return `${["entry,instance", ...columns.map(quoted)].join(",")}\r\n${lines.join("\r\n")}\r\n`;
}
