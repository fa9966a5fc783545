import { useEffect, useRef, useState } from "preact/hooks";
import type { Fault } from "../api/types";
import { type Suggestion, suggest, wordBefore } from "./completion";

interface Props {
  id: string;
  label: string;
  value: string;
  placeholder: string;
  names: Suggestion[];
  fault: Fault | null;
  onInput: (value: string) => void;
  onSubmit: () => void;
}

/** A box for an expression: completes names, and marks an error at its column. */
export function ExpressionInput({ id, label, value, placeholder, names, fault, onInput, onSubmit }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [found, setFound] = useState<Suggestion[]>([]);
  const [chosen, setChosen] = useState(-1);
  const [scrolled, setScrolled] = useState(0);
  const column = fault?.column ?? null;

  useEffect(() => {
    const element = input.current;
    if (column === null || !element || document.activeElement !== element) return;
    element.setSelectionRange(column, column);
  }, [fault, column]);

  const close = () => {
    setFound([]);
    setChosen(-1);
  };
  const look = (element: HTMLInputElement) => {
    setFound(suggest(wordBefore(element.value, element.selectionStart ?? 0), names));
    setChosen(-1);
  };
  const take = (suggestion: Suggestion) => {
    const element = input.current;
    if (!element) return;
    const caret = element.selectionStart ?? 0;
    const begin = caret - wordBefore(element.value, caret).length;
    const next = element.value.slice(0, begin) + suggestion.text;
    // at once: what is typed before the next frame belongs behind the name
    element.value = next + element.value.slice(caret);
    element.focus();
    element.setSelectionRange(next.length, next.length);
    onInput(element.value);
    close();
  };
  const keys = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    const open = found.length > 0;
    if (event.key === "Enter") {
      if (open && chosen >= 0) take(found[chosen]);
      else {
        close();
        onSubmit();
      }
    } else if (event.key === "Tab" && open && chosen >= 0) take(found[chosen]);
    else if (event.key === "ArrowDown" && open) setChosen((chosen + 1) % found.length);
    else if (event.key === "ArrowDown" || (event.key === " " && event.ctrlKey)) look(event.currentTarget);
    else if (event.key === "ArrowUp" && open) setChosen((chosen + found.length - 1) % found.length);
    else if (event.key === "Escape" && open) {
      event.stopPropagation();
      close();
    } else return;
    event.preventDefault();
  };

  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="expression">
        <input
          id={id}
          ref={input}
          type="text"
          role="combobox"
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-expanded={found.length > 0}
          aria-autocomplete="list"
          aria-controls={`${id}-names`}
          aria-activedescendant={chosen >= 0 ? `${id}-name-${chosen}` : undefined}
          aria-invalid={fault !== null}
          aria-describedby={fault ? "draw-fault" : undefined}
          onInput={(e) => {
            onInput(e.currentTarget.value);
            look(e.currentTarget);
          }}
          onScroll={(e) => setScrolled(e.currentTarget.scrollLeft)}
          onKeyDown={keys}
          onBlur={() => setTimeout(close, 150)}
        />
        {column !== null && (
          <span
            class="mark"
            aria-hidden="true"
            data-column={column}
            style={{ left: `calc(${column}ch + 7px - ${scrolled}px)` }}
          />
        )}
        <div
          id={`${id}-names`}
          class="names"
          role="listbox"
          aria-label={`Names for ${label}`}
          hidden={found.length === 0}
        >
          {found.map((suggestion, i) => (
            <div
              key={suggestion.text}
              id={`${id}-name-${i}`}
              role="option"
              aria-selected={i === chosen}
              onMouseDown={(e) => {
                e.preventDefault();
                take(suggestion);
              }}
            >
              <span>{suggestion.text}</span>
              <span class="type">{suggestion.detail}</span>
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
