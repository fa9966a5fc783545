import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { useValue, Value } from "../state/value";

export type ThemeChoice = "auto" | "light" | "dark";

const KEY = "sapwood-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

function kept(): ThemeChoice {
  try {
    const choice = localStorage.getItem(KEY);
    return choice === "light" || choice === "dark" ? choice : "auto";
  } catch {
    return "auto";
  }
}

export const themeChoice = new Value<ThemeChoice>(kept());

/** Light, dark, or as the system has it. */
export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.set(choice);
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // nothing may be kept here: the choice holds for this page
  }
  applyTheme();
}

export function applyTheme(): void {
  const choice = themeChoice.get();
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}

/** Whether the page is dark now. */
export function useDark(): boolean {
  const choice = useValue(themeChoice);
  const [dark, setDark] = useState(system.matches);
  useEffect(() => {
    const listen = () => setDark(system.matches);
    system.addEventListener("change", listen);
    return () => system.removeEventListener("change", listen);
  }, []);
  return choice === "auto" ? dark : choice === "dark";
}

/** The width of an element, as it changes. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return;
    const measure = () => setWidth(Math.floor(box.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
