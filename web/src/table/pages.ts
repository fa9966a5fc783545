import { ServerError, scan } from "../api/client";
import type { Fault, Place, ScanPage, ScanRow } from "../api/types";
import { Value } from "../state/value";

const ROWS = 200;
const MOST_PAGES = 60;

interface Page extends ScanPage {
  first: number;
}

/** The rows of a table, fetched in pages as they come into sight. */
export class Pages {
  readonly changes = new Value(0);
  columns: string[] = [];
  /** Entries of the tree, once a page is read. */
  entries: number | null = null;
  command = "";
  python = "";
  fault: Fault | null = null;
  private readonly pages: Page[] = [];
  private controller: AbortController | null = null;
  private fetching = -1;
  private readonly place: Place;
  private readonly wanted: string;
  private readonly cut: string;

  /** `columns`: expressions with colons or commas between them; empty for all branches. */
  constructor(place: Place, columns: string, cut: string) {
    this.place = place;
    this.wanted = columns;
    this.cut = cut;
  }

  get busy(): boolean {
    return this.controller !== null;
  }

  stop(): void {
    this.controller?.abort();
    this.controller = null;
    this.fetching = -1;
  }

  /** The page that holds an entry, if it is here. */
  private pageOf(entry: number): Page | undefined {
    return this.pages.find((page) => page.first <= entry && (page.next === null || entry < page.next));
  }

  /**
   * Rows from an entry on, `skip` of its rows left out, as many as are here. What is missing is fetched.
   */
  rows(entry: number, skip: number, count: number): ScanRow[] {
    const out: ScanRow[] = [];
    let at = entry;
    while (out.length < count + skip) {
      const page = this.pageOf(at);
      if (!page) {
        this.fetch(at);
        break;
      }
      for (const row of page.rows) if (row.entry >= entry) out.push(row);
      if (page.next === null) break;
      at = page.next;
    }
    return out.slice(skip, skip + count);
  }

  /** The entry of which rows are left out, if the page that holds an entry ends with one. */
  cutAt(entry: number): number | null {
    const page = this.pageOf(entry);
    return page?.truncated ? (page.rows.at(-1)?.entry ?? null) : null;
  }

  /** How many rows an entry has. */
  rowsOf(entry: number): number {
    return this.pageOf(entry)?.rows.filter((row) => row.entry === entry).length ?? 1;
  }

  private fetch(first: number): void {
    if (this.fetching === first || this.fault) return;
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.fetching = first;
    const what = { columns: this.wanted, cut: this.cut, first, count: ROWS };
    scan(this.place, what, controller.signal)
      .then((page) => {
        this.columns = page.columns;
        this.entries = page.entries;
        this.command = page.command;
        this.python = page.python;
        // a page that ends where it begins would be fetched for ever
        const next = page.next !== null && page.next <= first ? null : page.next;
        this.pages.push({ ...page, first, next });
        if (this.pages.length > MOST_PAGES) this.pages.shift();
      })
      .catch((error) => {
        if (controller.signal.aborted) return;
        this.fault = error instanceof ServerError ? error.fault : { message: String(error) };
      })
      .finally(() => {
        if (this.controller !== controller) return;
        this.controller = null;
        this.fetching = -1;
        this.changes.set(this.changes.get() + 1);
      });
  }
}
