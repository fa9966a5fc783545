import { DoctorView } from "./doctor/doctor_view";
import { DrawForm } from "./form/draw_form";
import { IoView } from "./io/io_view";
import { MapView } from "./map/map_view";
import { ObjectView } from "./object/object_view";
import { PlotView } from "./plot/plot_view";
import { selection, type View, view } from "./state/app_state";
import { useValue } from "./state/value";
import { TableView } from "./table/table_view";

const NAMES: Record<View, string> = {
  plot: "Plot",
  entries: "Entries",
  io: "I/O",
  map: "Map",
  doctor: "Doctor",
  object: "Object",
};

const VIEWS: Record<string, View[]> = {
  tree: ["plot", "entries", "io", "map", "doctor"],
  file: ["map", "doctor"],
  object: ["object"],
};

/** The right side of the page: the boxes for a draw, and one view of what is chosen. */
export function Views() {
  const chosen = useValue(selection);
  const current = useValue(view);
  const names = VIEWS[chosen?.kind ?? "tree"];
  const step = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const next = names[(names.indexOf(current) + by + names.length) % names.length];
    view.set(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <main>
      {chosen?.kind === "tree" && <DrawForm />}
      <div class="tabs" role="tablist" aria-label="Views" onKeyDown={step}>
        {names.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={name === current}
            aria-controls="view"
            tabIndex={name === current ? 0 : -1}
            onClick={() => view.set(name)}
          >
            {NAMES[name]}
          </button>
        ))}
      </div>
      <div id="view" role="tabpanel" aria-labelledby={`tab-${current}`}>
        {current === "plot" && <PlotView />}
        {current === "entries" && <TableView />}
        {current === "io" && <IoView />}
        {current === "map" && <MapView />}
        {current === "doctor" && <DoctorView />}
        {current === "object" && <ObjectView />}
      </div>
    </main>
  );
}
