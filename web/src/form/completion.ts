/** A name that can stand where the caret is. */
export interface Suggestion {
  text: string;
  detail: string;
}

const NAME = /[\p{L}_][\p{L}\p{N}_.]*$/u;
const MOST = 50;

/** The part of a name before the caret. */
export function wordBefore(text: string, caret: number): string {
  return NAME.exec(text.slice(0, caret))?.[0] ?? "";
}

/** Names that begin with what was typed, then those that contain it. */
export function suggest(word: string, names: Suggestion[]): Suggestion[] {
  if (!word) return [];
  const wanted = word.toLowerCase();
  const begin: Suggestion[] = [];
  const contain: Suggestion[] = [];
  for (const name of names) {
    const at = name.text.toLowerCase().indexOf(wanted);
    if (at < 0 || name.text === word) continue;
    (at === 0 ? begin : contain).push(name);
    if (begin.length >= MOST) break;
  }
  return [...begin, ...contain].slice(0, MOST);
}
