// The parts of JSROOT that the page calls.
declare module "jsroot/core" {
  export const settings: Record<string, unknown>;
  export function toJSON(object: unknown, spacing?: number): string;
}

declare module "jsroot/io" {
  export interface RootFile {
    readObject(name: string): Promise<{ _typename: string } | null>;
  }
  export function openFile(address: string): Promise<RootFile | null>;
}

declare module "jsroot/draw" {
  export function draw(element: HTMLElement, object: unknown, option: string): Promise<unknown>;
  export function cleanup(element: HTMLElement): void;
  export function makeImage(what: { format: string; object: unknown; width: number; height: number }): Promise<string>;
}
