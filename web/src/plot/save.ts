/** Hands a file to the user. */
export function saveBlob(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const saveText = (name: string, type: string, text: string) => saveBlob(name, new Blob([text], { type }));

export const saveJson = (name: string, value: unknown) =>
  saveText(name, "application/json", `${JSON.stringify(value)}\n`);

/** A file name that any system takes. */
export const fileName = (title: string, end: string) =>
  `${
    title
      .replace(/[^\p{L}\p{N}_.-]+/gu, "_")
      .replace(/^[_.]+|_+$/g, "")
      .slice(0, 80) || "histogram"
  }.${end}`;

export function svgText(svg: SVGSVGElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

/** The picture as PNG, with two pixels for one. */
export function png(svg: SVGSVGElement): Promise<Blob> {
  const { width, height } = svg.viewBox.baseVal;
  return pngOf(svgText(svg), width, height);
}

/** A picture of this size as PNG; as large as it says itself where no size is given. */
export async function pngOf(svg: string, width?: number, height?: number): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = (width ?? image.naturalWidth) * 2;
  canvas.height = (height ?? image.naturalHeight) * 2;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => {
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture cannot be written as PNG"))), "image/png");
  });
}
