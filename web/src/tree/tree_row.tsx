import { bytes } from "../common/format";
import type { TreeNode } from "./nodes";
import type { Row } from "./rows";

const KIND_NAMES: Record<TreeNode["kind"], string> = {
  folder: "folder",
  file: "file",
  directory: "directory",
  tree: "tree",
  ntuple: "ntuple",
  object: "object",
  branch: "branch",
  note: "note",
};

interface Props {
  row: Row;
  index: number;
  active: boolean;
  chosen: boolean;
  onToggle: () => void;
  onActivate: (second: boolean) => void;
}

/** One line of the list on the left. */
export function TreeRow({ row, index, active, chosen, onToggle, onActivate }: Props) {
  const { node, level } = row;
  const dead = node.kind === "branch" && node.expression === null && !node.children;
  const classes = ["row", active && "active", chosen && "chosen", dead && "dead"].filter(Boolean).join(" ");
  const details = [node.name, node.className, node.title, node.bytes === null ? "" : `${bytes(node.bytes)} compressed`];
  return (
    <div
      id={`row-${index}`}
      class={classes}
      role="treeitem"
      aria-level={level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={node.opens ? row.expanded : undefined}
      aria-selected={chosen || active}
      aria-busy={node.loading}
      aria-disabled={dead}
      title={details.filter(Boolean).join("\n")}
      style={{ paddingLeft: `${4 + (level - 1) * 14}px` }}
      onClick={(event) => onActivate(event.detail === 2)}
    >
      <span
        class={node.opens ? (row.expanded ? "caret open" : "caret") : "caret none"}
        aria-hidden="true"
        onClick={(event) => {
          if (!node.opens) return;
          event.stopPropagation();
          onToggle();
        }}
      />
      <span class={`kind ${node.kind}`} aria-hidden="true" />
      <span class="visually-hidden">{KIND_NAMES[node.kind]} </span>
      <span class="name">{node.name}</span>
      <span class="type">{node.className}</span>
      <span class="size">{bytes(node.bytes)}</span>
    </div>
  );
}
