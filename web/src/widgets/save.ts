/** Offers bytes or text as a download. */
export function saveFile(name: string, content: Blob | string, type = "text/plain"): void {
  const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the address after the click has returned.
  setTimeout(() => { URL.revokeObjectURL(url); }, 10_000);
}

/** A name for a file that every system takes: no path signs, no spaces. */
export function fileName(...parts: readonly string[]): string {
  const name = parts.join("-").replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/-{2,}/g, "-").replace(/^-|-$/g, "");
  return name === "" ? "parallax" : name.slice(0, 120);
}

/** Rows as CSV (RFC 4180); the first row has the names. */
export function csv(rows: Iterable<readonly (string | number | bigint | boolean | null | undefined)[]>): string {
  let text = "";
  for (const row of rows) {
    text += row.map((cell) => {
      const plain = cell === null || cell === undefined ? "" : String(cell);
      return /[",\r\n]/.test(plain) ? `"${plain.replace(/"/g, "\"\"")}"` : plain;
    }).join(",");
    text += "\r\n";
  }
  return text;
}

/** What is on screen, to be taken along. */
export interface Picture {
  /** As dots. */
  png(): Promise<Blob>;
  /** As a vector picture. */
  svg(): string;
}

/** An SVG element as a file of its own: computed colours and fonts are written into it. */
export function svgText(source: SVGSVGElement): string {
  const copy = source.cloneNode(true) as SVGSVGElement;
  const from = [source, ...source.querySelectorAll<SVGElement>("*")];
  const to = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline"];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    const target = to[index];
    for (const name of KEPT) target?.style.setProperty(name, style.getPropertyValue(name));
  });
  const box = source.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.round(box.width)));
  copy.setAttribute("height", String(Math.round(box.height)));
  return new XMLSerializer().serializeToString(copy);
}

/** An SVG as a picture of dots, `scale` dots for each pixel. */
export async function svgPicture(source: SVGSVGElement, scale = 2): Promise<Blob> {
  const box = source.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(source))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(box.width * scale));
  canvas.height = Math.max(1, Math.round(box.height * scale));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvasPicture(canvas);
}

/** What a canvas shows, as a PNG. */
export function canvasPicture(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error("The picture could not be created: it may be too large. Make the panel smaller and try again."));
      else resolve(blob);
    }, "image/png");
  });
}
