import { useState } from "preact/hooks";
import { openTarget } from "./api/client";
import { report } from "./state/actions";
import { problem, session } from "./state/app_state";

/** Asks for a file where none was named on the command line. */
export function OpenForm() {
  const [url, setUrl] = useState("");
  const [busy, setBusy] = useState(false);
  const open = async () => {
    setBusy(true);
    try {
      const target = await openTarget(url.trim());
      const known = session.get();
      if (known) session.set({ ...known, targets: [...known.targets.filter((t) => t.id !== target.id), target] });
      problem.set(null);
      setUrl("");
    } catch (error) {
      report(error);
    }
    setBusy(false);
  };
  return (
    <form
      class="open-form"
      aria-label="Open"
      onSubmit={(event) => {
        event.preventDefault();
        if (url.trim()) open();
      }}
    >
      <label for="url">File, folder or URL</label>
      <input
        id="url"
        type="text"
        value={url}
        placeholder="/data/file.root or root://server//path/file.root"
        autocomplete="off"
        spellcheck={false}
        onInput={(e) => setUrl(e.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={busy}>
        Open
      </button>
    </form>
  );
}
