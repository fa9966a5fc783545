import { render } from "preact";
import { readSession } from "./api/client";
import { App } from "./app";
import { applyTheme } from "./common/screen";
import { follow, keepFragment, report } from "./state/actions";
import { listShown, session } from "./state/app_state";

applyTheme();
const page = document.getElementById("page");
if (page) render(<App />, page);
try {
  const opened = await readSession();
  await follow(location.hash);
  session.set(opened);
  // where the page is narrow it begins with the list
  if (!location.hash) listShown.set(true);
} catch (error) {
  report(error);
}
keepFragment();
