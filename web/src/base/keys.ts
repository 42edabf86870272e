/** Keys as they are written: `Ctrl+Shift+Z`, `F6`, `?`. On a Mac `Ctrl` means the command key. */

const MAC = typeof navigator !== "undefined" && /mac|iphone|ipad/i.test(navigator.platform);

/** Whether a key press is the one that is written. */
export function isPressed(event: KeyboardEvent, keys: string, mac = MAC): boolean {
  const parts = keys.split("+");
  const key = (parts.at(-1) === "" ? "+" : parts.at(-1)) ?? "";
  const ctrl = parts.includes("Ctrl");
  const shift = parts.includes("Shift");
  const alt = parts.includes("Alt");
  if ((mac ? event.metaKey : event.ctrlKey) !== ctrl || event.altKey !== alt) return false;
  if ((mac ? event.ctrlKey : event.metaKey)) return false;
  // Signs such as `?` need Shift on some keyboards and not on others.
  const isSign = key.length === 1 && !/[a-z0-9]/i.test(key);
  if (!isSign && event.shiftKey !== shift) return false;
  if (event.key.toLowerCase() === key.toLowerCase()) return true;
  // With Alt some systems put another letter into `key`.
  return alt && key.length === 1 && event.code === `Key${key.toUpperCase()}`;
}

/** Keys for the screen, one part for each key: `["⌘", "K"]` on a Mac, `["Ctrl", "K"]` elsewhere. */
export function keyParts(keys: string, mac = MAC): readonly string[] {
  const signs: Readonly<Record<string, string>> = mac
    ? { Ctrl: "⌘", Shift: "⇧", Alt: "⌥", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" }
    : { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
  // The plus key itself: alone, or behind others, as in `Ctrl++`.
  const parts = keys.endsWith("+") ? [...keys.slice(0, -1).split("+").filter((part) => part !== ""), "+"] : keys.split("+");
  return parts.map((part) => signs[part] ?? part);
}

/** Keys as one text: `Ctrl+K`. */
export function keyLabel(keys: string, mac = MAC): string {
  return keyParts(keys, mac).join(mac ? "" : "+");
}

/** Whether the keyboard is in a field for typing. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "range", "button"].includes(target.type);
}
