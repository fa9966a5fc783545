import { type Fact, Facts } from "../common/facts";
import { bytes, count } from "../common/format";
import { selection, tree } from "../state/app_state";
import { useValue } from "../state/value";

/** What there is to say about the chosen tree before anything is drawn. */
export function TreeFacts() {
  const info = useValue(tree);
  const chosen = useValue(selection);
  if (!info) {
    const reading = chosen?.kind === "tree";
    return <p class="note">{reading ? "Reading the tree…" : "Choose a tree on the left, then a branch to draw it."}</p>;
  }
  const ratio = info.compressed_bytes > 0 ? info.bytes / info.compressed_bytes : 1;
  const clusters = Array.isArray(info.clusters) ? info.clusters.length : info.clusters;
  const facts: Fact[] = [
    ["Class", info.class],
    ["Title", info.title],
    ["Entries", count(info.entries)],
    ["Branches", count(info.branches.name.length)],
    ["Clusters", clusters === null ? "" : count(clusters)],
    ["Bytes", bytes(info.bytes)],
    ["Compressed", `${bytes(info.compressed_bytes)} (1 to ${ratio.toFixed(2)})`],
    ["File", bytes(info.file_bytes)],
  ];
  return (
    <div class="facts">
      <h2>{info.name}</h2>
      <Facts facts={facts} />
      <p class="note">
        Click a branch to draw it, click it twice to draw it on top of what is shown. Press / to search.
      </p>
    </div>
  );
}
