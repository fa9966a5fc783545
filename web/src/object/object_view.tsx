import { useEffect, useRef, useState } from "preact/hooks";
import { readAgain } from "../api/client";
import { Copyable } from "../common/copyable";
import { useDark, useWidth } from "../common/screen";
import { fileName, pngOf, saveBlob, saveText } from "../plot/save";
import { report } from "../state/actions";
import { selection } from "../state/app_state";
import { useValue } from "../state/value";
import type { DrawnObject } from "./jsroot";
import { NoPicture } from "./no_picture";

/** What is shown of an object that is text; all of it is saved. */
const MOST_TEXT = 100_000;

/** An object of the file that is no tree, drawn by JSROOT. */
export function ObjectView() {
  const chosen = useValue(selection);
  const dark = useDark();
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const [drawn, setDrawn] = useState<DrawnObject | null>(null);
  const [text, setText] = useState("");
  const [state, setState] = useState<"reading" | "done" | string>("reading");
  const object = chosen?.kind === "object" ? chosen : null;
  const wide = Math.round(width / 40);
  const [again, setAgain] = useState<{ command: string; python: string } | null>(null);
  useEffect(() => {
    setAgain(null);
    if (!object) return;
    const controller = new AbortController();
    // what is wrong with the file is told by the picture
    readAgain(object.place, controller.signal).then(setAgain, () => {});
    return () => controller.abort();
  }, [object]);

  useEffect(() => {
    const box = element.current;
    if (!box || !object || wide === 0) return;
    let over = false;
    let picture: DrawnObject | null = null;
    setState("reading");
    setDrawn(null);
    setText("");
    import("./jsroot")
      .then((jsroot) => (over ? null : jsroot.drawObject(box, object.place, dark)))
      .then((result) => {
        if (over) {
          result?.remove();
          return;
        }
        picture = result;
        setDrawn(result);
        setState("done");
      })
      .catch((error) => {
        if (over) return;
        const isText = error instanceof NoPicture;
        if (isText) setText(error.message);
        setState(isText ? "done" : error instanceof Error ? error.message : String(error));
      });
    return () => {
      over = true;
      picture?.remove();
      box.replaceChildren();
    };
  }, [object, dark, wide]);

  if (!object) return <p class="note">Choose an object on the left.</p>;
  const name = (end: string) => fileName(object.label, end);
  return (
    <section class="object" aria-label="Object" data-state={state === "reading" || state === "done" ? state : "failed"}>
      <h2>
        {object.label} <span class="type">{object.className}</span>
      </h2>
      {state === "reading" && <p class="note">Reading the object…</p>}
      {state !== "reading" && state !== "done" && (
        <p class="fault" role="alert">
          {state}
        </p>
      )}
      <div
        class={text ? "jsroot no-picture" : "jsroot"}
        ref={element}
        role="img"
        aria-label={`${object.className} ${object.label}`}
      />
      {drawn?.missing && (
        <p class="fault" role="alert">
          Not in the picture: {drawn.missing}
        </p>
      )}
      {text && (
        <pre class="object-text" tabIndex={0} role="region" aria-label="Contents">
          {text.slice(0, MOST_TEXT)}
        </pre>
      )}
      <div class="buttons" role="group" aria-label="Save as">
        <span class="dim">Save as</span>
        <button
          type="button"
          disabled={!drawn}
          onClick={() => drawn?.svg().then((svg) => svg && saveText(name("svg"), "image/svg+xml", svg), report)}
        >
          SVG
        </button>
        <button
          type="button"
          disabled={!drawn}
          onClick={() => {
            const made = drawn?.svg().then((svg) => (svg ? pngOf(svg, 900, 600) : null));
            made?.then((blob) => blob && saveBlob(name("png"), blob), report);
          }}
        >
          PNG
        </button>
        <button
          type="button"
          disabled={!drawn && !text}
          onClick={() => saveText(name("json"), "application/json", drawn?.json() ?? text)}
        >
          JSON
        </button>
        <button
          type="button"
          disabled={!drawn?.csv}
          onClick={() => drawn?.csv && saveText(name("csv"), "text/csv", drawn.csv())}
        >
          CSV
        </button>
      </div>
      {again && (
        <>
          <Copyable label="Command" text={again.command} />
          <Copyable label="Python" text={again.python} />
        </>
      )}
    </section>
  );
}
