import type { TreeNode } from "./nodes";

/** A line as it is shown. */
export interface Row {
  node: TreeNode;
  level: number;
  parent: number;
  /** Its number among its siblings, from 1, and how many there are. */
  position: number;
  siblings: number;
  expanded: boolean;
}

/** The lines that are open; with a filter, the nodes that match it, and those above them. */
export function rows(roots: TreeNode[], filter: string): Row[] {
  const wanted = filter.trim().toLowerCase();
  const matching = wanted ? matches(roots, wanted) : null;
  const out: Row[] = [];
  const add = (nodes: TreeNode[], level: number, parent: number) => {
    const shown = matching ? nodes.filter((n) => matching.has(n)) : nodes;
    shown.forEach((node, i) => {
      const expanded = !!node.children && (matching ? node.children.some((c) => matching.has(c)) : node.open);
      const index = out.push({ node, level, parent, position: i + 1, siblings: shown.length, expanded }) - 1;
      if (expanded && node.children) add(node.children, level + 1, index);
    });
  };
  add(roots, 1, -1);
  return out;
}

function matches(roots: TreeNode[], wanted: string): Set<TreeNode> {
  const found = new Set<TreeNode>();
  const visit = (node: TreeNode): boolean => {
    let any = node.search.includes(wanted);
    for (const child of node.children ?? []) if (visit(child)) any = true;
    if (any) found.add(node);
    return any;
  };
  for (const root of roots) visit(root);
  return found;
}
