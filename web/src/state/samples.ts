import { isObject, textOf } from "../base/json.ts";

/** An entry of the sample gallery. */
export interface Sample {
  readonly id: string;
  readonly title: string;
  /** What sort of data it is, and of which tool. */
  readonly kind: string;
  readonly description: string;
  /** Relative to the gallery's folder. */
  readonly files: readonly string[];
  /** Where the parameters of an ensemble come from: `cores=ranks`. */
  readonly parameters: readonly string[];
}

/** Folder of the gallery, next to the page. */
export function samplesUrl(): string {
  return new URL("samples/", document.baseURI).href;
}

/** The gallery; empty when this copy of the application has none. */
export async function loadSamples(): Promise<readonly Sample[]> {
  // A page on a disk has no files next to it that it may read.
  if (!location.protocol.startsWith("http")) return [];
  try {
    const answer = await fetch(new URL("index.json", samplesUrl()));
    return answer.ok ? parseSamples(await answer.json()) : [];
  } catch {
    return [];
  }
}

/** Reads the listing; entries without files are omitted. */
export function parseSamples(value: unknown): readonly Sample[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    if (!isObject(one) || typeof one["id"] !== "string" || !Array.isArray(one["files"])) return [];
    const files = one["files"].filter((file) => typeof file === "string");
    const parameters = Array.isArray(one["parameters"]) ? one["parameters"].filter((parameter) => typeof parameter === "string") : [];
    if (files.length === 0) return [];
    return [{ id: one["id"], kind: textOf(one["kind"]), title: textOf(one["title"], one["id"]), description: textOf(one["description"]), files, parameters }];
  });
}
