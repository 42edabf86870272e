/** What `JSON.parse` can return. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A plain object of JSON. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Whether a value is a JSON object: neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text of a member, or `fallback` when it is absent or not text. */
export function textOf(value: Json | undefined, fallback = ""): string {
  return typeof value === "string" ? value : fallback;
}

/** Whether two JSON values say the same; the order of members does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => sameJson(value, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) if (!sameJson(a[key], b[key])) return false;
  return true;
}
