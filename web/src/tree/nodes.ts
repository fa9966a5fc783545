import { list, readTree } from "../api/client";
import type { EntryKind, ListEntry, Place, TreeInfo } from "../api/types";

export type NodeKind = EntryKind | "branch" | "note";

/** A line of the list on the left, and what is below it. */
export interface TreeNode {
  id: string;
  kind: NodeKind;
  name: string;
  /** In lower case, for the filter. */
  search: string;
  className: string;
  title: string;
  bytes: number | null;
  place: Place;
  /** What draws a branch; null where it cannot be drawn. */
  expression: string | null;
  /** Whether there may be something below it. */
  opens: boolean;
  children: TreeNode[] | null;
  open: boolean;
  loading: boolean;
}

function node(place: Place, kind: NodeKind, name: string, more: Partial<TreeNode>): TreeNode {
  return {
    id: [place.target, place.file, place.object, kind].join("\n"),
    kind,
    name,
    search: name.toLowerCase(),
    className: "",
    title: "",
    bytes: null,
    place,
    expression: null,
    opens: false,
    children: null,
    open: false,
    loading: false,
    ...more,
  };
}

export function targetNode(id: number, name: string, kind: "file" | "directory"): TreeNode {
  const place = { target: id, file: "", object: "" };
  const [, above, own] = /^(.*\/)([^/]+\/?)$/s.exec(name) ?? ["", "", name];
  // the last part tells files apart; the rest of a long path would push it out of sight
  return node(place, kind === "file" ? "file" : "folder", own, {
    className: above,
    search: name.toLowerCase(),
    opens: true,
  });
}

const below = (path: string, name: string) => (path && !path.endsWith("/") ? `${path}/${name}` : path + name);

function placeOf(parent: TreeNode, entry: ListEntry): Place {
  const { target, file, object } = parent.place;
  // the slash tells folders of servers from files
  if (entry.kind === "folder") return { target, file: `${below(file, entry.name)}/`, object: "" };
  if (entry.kind === "file") return { target, file: below(file, entry.name), object: "" };
  // a directory on the way is named without its cycle
  const path = below(object.replace(/;\d+$/, ""), entry.name);
  return { target, file, object: entry.cycle === null ? path : `${path};${entry.cycle}` };
}

function entryNode(parent: TreeNode, entry: ListEntry, older: boolean): TreeNode {
  const inFile = entry.kind !== "folder" && entry.kind !== "file";
  const cycle = inFile && older && entry.cycle !== null ? `;${entry.cycle}` : "";
  return node(placeOf(parent, entry), entry.kind, entry.name + cycle, {
    className: inFile ? (entry.class ?? "") : "",
    title: entry.title ?? "",
    bytes: entry.bytes,
    opens: entry.kind !== "object",
  });
}

function branchNodes(parent: TreeNode, info: TreeInfo): TreeNode[] {
  const b = info.branches;
  const top: TreeNode[] = [];
  const made: TreeNode[] = [];
  for (let i = 0; i < b.name.length; i++) {
    const reason = b.reason?.[i];
    const child: TreeNode = {
      id: `${parent.id}\n${i}`,
      kind: "branch",
      name: b.name[i],
      search: b.name[i].toLowerCase(),
      className: b.typename[i],
      title: reason ? `cannot be drawn: ${reason}` : (b.title[i] ?? ""),
      bytes: b.compressed_bytes[i],
      place: parent.place,
      expression: b.expression[i],
      opens: false,
      children: null,
      open: false,
      loading: false,
    };
    made.push(child);
    const owner = b.parent[i] >= 0 ? made[b.parent[i]] : null;
    if (!owner) top.push(child);
    else {
      owner.children ??= [];
      owner.children.push(child);
      owner.opens = true;
    }
  }
  return top;
}

/** Reads what is below a node. `known` is the tree where it is read already. */
export async function load(parent: TreeNode, known?: TreeInfo): Promise<TreeNode[]> {
  if (parent.kind === "tree" || parent.kind === "ntuple") {
    return branchNodes(parent, known ?? (await readTree(parent.place)));
  }
  const listing = await list(parent.place);
  const seen = new Set<string>();
  const nodes = listing.entries.map((entry) => {
    const older = seen.has(entry.name);
    seen.add(entry.name);
    return entryNode(parent, entry, older);
  });
  if (listing.truncated) nodes.push(node(parent.place, "note", "more entries than can be listed", {}));
  return nodes;
}
