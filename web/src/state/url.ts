import { deflateSync, inflateSync, strFromU8, strToU8 } from "fflate";
import { parseState, type AppState, type ParsedState } from "./app-state.ts";

const PREFIX = "#v1=";
/** A link that unfolds to more than this is damaged or hostile. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The fragment of an address that holds a state: `#v1=` and the deflated JSON in base64url. */
export function toFragment(state: AppState): string {
  const bytes = deflateSync(strToU8(JSON.stringify(state)), { level: 9 });
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return PREFIX + btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The state in a fragment; null when the fragment holds none, a problem in words when it is not readable. */
export function fromFragment(fragment: string): ParsedState | null {
  if (fragment === "" || fragment === "#") return null;
  if (!fragment.startsWith(PREFIX)) {
    return /^#v\d+=/.test(fragment)
      ? { problem: "This link was created by a newer version of Parallax. Reload the page to update, then open the link again." }
      : null;
  }
  try {
    const text = atob(fragment.slice(PREFIX.length).replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const out = new Uint8Array(MOST_BYTES);
    return parseState(JSON.parse(strFromU8(inflateSync(bytes, { out }))));
  } catch {
    return { problem: "The view in this link is damaged: part of the address may have been cut off." };
  }
}
