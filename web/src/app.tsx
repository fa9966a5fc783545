import { useEffect } from "preact/hooks";
import { Header } from "./header";
import { OpenForm } from "./open_form";
import { stopDraws } from "./state/actions";
import { listShown, problem, session } from "./state/app_state";
import { useValue } from "./state/value";
import { TreePane } from "./tree/tree_pane";
import { Views } from "./views";

/** The whole page. */
export function App() {
  const known = useValue(session);
  const wrong = useValue(problem);
  const list = useValue(listShown);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const typing = target.matches("input:not([type=checkbox]):not([type=range]), select, textarea");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        listShown.set(true);
        const focus = () => document.getElementById("filter")?.focus();
        // at once, for keys that follow; a hidden list first has to be shown
        focus();
        if (document.activeElement?.id !== "filter") requestAnimationFrame(focus);
      } else if (event.key === "Escape") {
        if (typing) target.blur();
        problem.set(null);
        listShown.set(false);
        stopDraws();
      }
    };
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  }, []);

  const empty = known !== null && known.targets.length === 0;
  return (
    <>
      <Header />
      {wrong && (
        <div class="problem" role="alert">
          <span>{wrong.message}</span>
          <button type="button" class="quiet" onClick={() => problem.set(null)}>
            Close
          </button>
        </div>
      )}
      {known?.can_open && <OpenForm />}
      {!empty && (
        <div class={list ? "columns list-shown" : "columns"}>
          <TreePane />
          <Views />
        </div>
      )}
    </>
  );
}
