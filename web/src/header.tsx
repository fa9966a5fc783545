import { chooseTheme, type ThemeChoice, themeChoice } from "./common/screen";
import { listShown, selection, session } from "./state/app_state";
import { useValue } from "./state/value";

/** The name of what is seen, and how the page looks. */
export function Header() {
  const known = useValue(session);
  const chosen = useValue(selection);
  const choice = useValue(themeChoice);
  const list = useValue(listShown);
  const target = known?.targets.find((t) => t.id === chosen?.place.target);
  const path = [target?.name, chosen?.place.file, chosen?.place.object].filter(Boolean).join(" : ");
  return (
    <header>
      <button
        type="button"
        class="list-button"
        aria-expanded={list}
        aria-label="Contents of the files"
        onClick={() => listShown.set(!list)}
      >
        Contents
      </button>
      <h1>Sapwood</h1>
      <span class="path" title={path}>
        {path}
      </span>
      <span class="dim version">
        {known?.version}{" "}
        <a href="assets/licenses.txt" target="_blank" rel="noreferrer">
          Licenses
        </a>
      </span>
      <label class="theme">
        <span class="visually-hidden">Colours of the page</span>
        <select value={choice} onChange={(e) => chooseTheme(e.currentTarget.value as ThemeChoice)}>
          <option value="auto">Auto</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
    </header>
  );
}
