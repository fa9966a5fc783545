import { useMemo } from "preact/hooks";
import type { Fault, Field } from "../api/types";
import { draw, drawOver, formSpec, stopDraws } from "../state/actions";
import { draws, type Form, form, tree } from "../state/app_state";
import { useJobs } from "../state/use_jobs";
import { useValue } from "../state/value";
import type { Suggestion } from "./completion";
import { ExpressionInput } from "./expression_input";

const OPTIONS = [
  ["", "Histogram"],
  ["prof", "Profile"],
  ["profs", "Profile, spread"],
  ["norm", "Normalised"],
  ["candle", "Candles"],
  ["para", "Parallel coordinates"],
];

/** Expression, cut and bins, as in TTree::Draw. */
export function DrawForm() {
  const info = useValue(tree);
  const values = useValue(form);
  const jobs = useJobs();
  const running = jobs.some((job) => job.state === "running");

  const names = useMemo<Suggestion[]>(() => {
    if (!info) return [];
    const b = info.branches;
    const branches = b.name.flatMap((_, i) => {
      const expression = b.expression[i];
      return expression === null ? [] : [{ text: expression, detail: b.typename[i] }];
    });
    return [...branches, ...info.functions.map((name) => ({ text: `${name}(`, detail: "function" }))];
  }, [info]);

  const put = (change: Partial<Form>) => form.set({ ...form.get(), ...change });
  const submit = (over: boolean) => {
    const spec = formSpec();
    if (!spec?.expression.trim()) return;
    if (over && draws.get().length) drawOver(spec);
    else draw(spec);
  };
  // an error stands at its box as long as the box says what was wrong
  const fault = (field: Field): Fault | null => {
    const wrong = jobs.find((job) => job.fault?.field === field && job.spec[field] === values[field]);
    return wrong?.fault ?? null;
  };

  const faults = { expression: fault("expression"), cut: fault("cut"), bins: fault("bins") };
  const said = faults.expression ?? faults.cut ?? faults.bins ?? fault("option");

  return (
    <form
      class="draw-form"
      aria-label="Draw"
      onSubmit={(event) => {
        event.preventDefault();
        submit(false);
      }}
    >
      <ExpressionInput
        id="expression"
        label="Expression"
        placeholder="sqrt(px^2+py^2) or y:x"
        value={values.expression}
        names={names}
        fault={faults.expression}
        onInput={(expression) => put({ expression })}
        onSubmit={() => submit(false)}
      />
      <ExpressionInput
        id="cut"
        label="Cut"
        placeholder="n > 1 && pt > 20"
        value={values.cut}
        names={names}
        fault={faults.cut}
        onInput={(cut) => put({ cut })}
        onSubmit={() => submit(false)}
      />
      <ExpressionInput
        id="bins"
        label="Bins"
        placeholder="100,0,50"
        value={values.bins}
        names={[]}
        fault={faults.bins}
        onInput={(bins) => put({ bins })}
        onSubmit={() => submit(false)}
      />
      <div class="field option">
        <label for="option">Kind</label>
        <select id="option" value={values.option} onChange={(e) => put({ option: e.currentTarget.value })}>
          {OPTIONS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <div class="buttons">
        <button type="submit" class="primary" disabled={!info}>
          Draw
        </button>
        <button type="button" disabled={!info || jobs.length === 0} onClick={() => submit(true)}>
          Add
        </button>
        <button type="button" disabled={!running} onClick={stopDraws}>
          Stop
        </button>
      </div>
      {said && (
        <p id="draw-fault" class="fault" role="alert">
          {said.message}
        </p>
      )}
    </form>
  );
}
