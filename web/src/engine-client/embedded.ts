import type { NamedFile } from "./client.ts";

/** Files that a page of its own brought along, by the name of what they belong to. */
interface EmbeddedRoot {
  name: string;
  files: NamedFile[];
}

/**
 * Reads the files inside this page: elements
 * `<script type="application/x-parallax-file" data-root="NAME" data-path="PATH">` with gzip in base64.
 */
export async function embeddedRoots(): Promise<EmbeddedRoot[]> {
  if (typeof document === "undefined") return [];
  const roots = new Map<string, NamedFile[]>();
  const elements = document.querySelectorAll<HTMLScriptElement>(
    'script[type="application/x-parallax-file"]',
  );
  for (const element of elements) {
    const { root, path } = element.dataset;
    if (root === undefined || path === undefined) continue;
    const files = roots.get(root) ?? [];
    files.push({ path, file: await unpacked(element.textContent ?? "") });
    roots.set(root, files);
    // The text is three times as large as the bytes.
    element.remove();
  }
  return [...roots].map(([name, files]) => ({ name, files }));
}

/**
 * What starts the engine that this page brought along as elements; null for a page that loads its engine.
 * The worker's script unpacks `self.parallaxEngine` itself; `build/single.ts` writes both elements.
 */
export async function embeddedWorker(): Promise<(() => Worker) | null> {
  const content = (type: string) => document.querySelector(`script[type="application/x-parallax-${type}"]`)?.textContent;
  const [script, engine] = [content("worker"), content("engine")];
  if (script === undefined || engine === undefined) return null;
  const first = `self.parallaxEngine = ${JSON.stringify(engine)};\n`;
  const url = URL.createObjectURL(new Blob([first, await unpacked(script)], { type: "text/javascript" }));
  // Not a module: Chromium loads no module from a blob of a page that lies on a disk.
  return () => new Worker(url, { name: "engine" });
}

/** Letters that are decoded at once: a multiple of four, which stand for three bytes. */
const CHUNK = 1 << 20;

/** Bytes in base64, piece by piece: in between, the page draws and answers. */
function decoded(base64: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const letters = atob(base64.slice(at, at + CHUNK));
      at += CHUNK;
      const bytes = new Uint8Array(letters.length);
      for (let index = 0; index < letters.length; index += 1) bytes[index] = letters.charCodeAt(index);
      controller.enqueue(bytes);
      if (at >= base64.length) controller.close();
    },
  });
}

async function unpacked(base64: string): Promise<Blob> {
  return new Response(decoded(base64.trim()).pipeThrough(new DecompressionStream("gzip"))).blob();
}
