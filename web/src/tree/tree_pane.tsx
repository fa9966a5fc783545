import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawLeaf, report, select } from "../state/actions";
import { selection, session, tree } from "../state/app_state";
import { useValue } from "../state/value";
import { load, type TreeNode, targetNode } from "./nodes";
import { type Row, rows } from "./rows";
import { TreeRow } from "./tree_row";
import { Lines, useReveal, useVisible } from "./virtual_list";

const ROW_HEIGHT = 24;

/** Targets, directories, keys and branches. */
export function TreePane() {
  const known = useValue(session);
  const chosen = useValue(selection);
  const [filter, setFilter] = useState("");
  const [version, setVersion] = useState(0);
  const [current, setCurrent] = useState(0);
  const roots = useRef<TreeNode[]>([]);
  const box = useRef<HTMLDivElement>(null);
  const changed = () => setVersion((n) => n + 1);

  const toggle = async (node: TreeNode, open = !node.open) => {
    node.open = open;
    if (open && !node.children && !node.loading) {
      node.loading = true;
      changed();
      try {
        const info = samePlace(node, selection.get()?.place) ? (tree.get() ?? undefined) : undefined;
        node.children = await load(node, info);
        const only = node.children.length === 1 ? node.children[0] : null;
        const free = !selection.get() || selection.get()?.place === node.place;
        // one tree in a file: that is what it is opened for
        if (only && (only.kind === "directory" || (only.opens && only.kind !== "branch" && free))) {
          await activate(only);
        }
        // what a link chose is shown in the list
        const chosen = selection.get()?.place;
        for (const child of node.children) if (chosen && leadsTo(child, chosen)) await toggle(child, true);
      } catch (error) {
        node.open = false;
        report(error);
      }
      node.loading = false;
    }
    changed();
  };

  const activate = async (node: TreeNode, second = false): Promise<void> => {
    if (node.kind === "branch") {
      if (!samePlace(node, selection.get()?.place) || selection.get()?.kind !== "tree") await choose(node, "tree");
      if (node.expression !== null) drawLeaf(node.expression, second);
      else if (node.children) await toggle(node);
      return;
    }
    if (second) return;
    if (node.kind === "tree" || node.kind === "ntuple") {
      const selected = choose(node, "tree");
      if (!node.children) await selected;
      await toggle(node, samePlace(node, chosen?.place) ? !node.open : true);
    } else if (node.kind === "object") await choose(node, "object");
    else if (node.kind !== "note") {
      if (node.kind === "file") await choose(node, "file");
      await toggle(node);
    }
  };

  useEffect(() => {
    if (!known) return;
    const old = new Map(roots.current.map((node) => [node.place.target, node]));
    const fresh = known.targets.filter((t) => !old.has(t.id));
    roots.current = known.targets.map((t) => old.get(t.id) ?? targetNode(t.id, t.name, t.kind));
    changed();
    for (const target of fresh) {
      const node = roots.current.find((n) => n.place.target === target.id);
      if (node && known.targets.length <= 8) toggle(node).catch(report);
    }
  }, [known]);

  const shown = useMemo(() => rows(roots.current, filter), [version, filter, known]);
  const active = Math.min(current, shown.length - 1);
  const { first, last } = useVisible(box, shown.length, ROW_HEIGHT);
  useReveal(box, active, ROW_HEIGHT);

  const keys = (event: KeyboardEvent) => {
    const row: Row | undefined = shown[active];
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / ROW_HEIGHT) - 1);
    const move = (to: number) => setCurrent(Math.max(0, Math.min(shown.length - 1, to)));
    if (event.key === "ArrowDown") move(active + 1);
    else if (event.key === "ArrowUp") move(active - 1);
    else if (event.key === "PageDown") move(active + page);
    else if (event.key === "PageUp") move(active - page);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(shown.length - 1);
    else if (!row) return;
    else if (event.key === "ArrowRight") {
      if (row.expanded) move(active + 1);
      else if (row.node.opens) toggle(row.node, true).catch(report);
    } else if (event.key === "ArrowLeft") {
      if (row.expanded && !filter) toggle(row.node, false).catch(report);
      else if (row.parent >= 0) move(row.parent);
    } else if (event.key === "Enter" || event.key === " ") {
      // Shift draws on top, as the double click does
      if (event.shiftKey && row.node.expression !== null) {
        activate(row.node)
          .then(() => activate(row.node, true))
          .catch(report);
      } else activate(row.node).catch(report);
    } else return;
    event.preventDefault();
  };

  return (
    <nav class="tree-pane" aria-label="Contents">
      <div class="filter">
        <input
          id="filter"
          type="search"
          value={filter}
          placeholder="Filter ( / )"
          aria-label="Filter names"
          autocomplete="off"
          spellcheck={false}
          onInput={(e) => {
            setFilter(e.currentTarget.value);
            setCurrent(0);
          }}
          onKeyDown={(e) => {
            if (e.key === "Escape") setFilter("");
            if (e.key === "ArrowDown" || e.key === "Enter") {
              e.preventDefault();
              box.current?.focus();
            }
          }}
        />
        <span class="dim" role="status">
          {filter ? `${shown.filter((r) => r.node.kind === "branch" && !r.node.children).length} branches` : ""}
        </span>
      </div>
      <div
        class="tree"
        role="tree"
        ref={box}
        tabIndex={0}
        aria-label="Files, keys and branches"
        aria-activedescendant={shown.length ? `row-${active}` : undefined}
        onKeyDown={keys}
      >
        <Lines total={shown.length} height={ROW_HEIGHT} first={first}>
          {shown.slice(first, Math.max(last, first)).map((row, i) => (
            <TreeRow
              key={row.node.id}
              row={row}
              index={first + i}
              active={first + i === active}
              chosen={row.node.kind !== "branch" && row.node.kind !== "note" && samePlace(row.node, chosen?.place)}
              onToggle={() => toggle(row.node).catch(report)}
              onActivate={(second) => {
                setCurrent(first + i);
                activate(row.node, second).catch(report);
              }}
            />
          ))}
        </Lines>
      </div>
    </nav>
  );
}

function samePlace(node: TreeNode, place: TreeNode["place"] | undefined): boolean {
  return (
    !!place &&
    node.place.target === place.target &&
    node.place.file === place.file &&
    node.place.object === place.object
  );
}

/** Whether a place is this node's, or below it. */
function leadsTo({ kind, place }: TreeNode, to: TreeNode["place"]): boolean {
  if (place.target !== to.target || kind === "object" || kind === "note" || kind === "branch") return false;
  if (kind === "folder") return to.file.startsWith(place.file);
  if (kind === "file") return place.file === to.file && to.object !== "";
  if (place.file !== to.file) return false;
  if (kind === "directory") return to.object.startsWith(`${place.object.replace(/;\d+$/, "")}/`);
  return place.object === to.object;
}

function choose(node: TreeNode, kind: "tree" | "object" | "file"): Promise<void> {
  const object = node.place.object.split("/").pop() ?? "";
  const label = kind === "file" ? node.name : object.replace(/;\d+$/, "");
  return select({ place: node.place, kind, label, className: node.className });
}
