import "./tooltip.css";
import type { Attachment } from "svelte/attachments";
import { keepNextTo } from "./floating.ts";

const WAIT_MILLIS = 350;

/**
 * A short text next to a control while the pointer or the keyboard is on it: `<button {@attach tooltip("Undo")}>`.
 * Escape hides it. It is a description, not a name: controls without text still need an `aria-label`.
 */
export function tooltip(text: string | undefined | null): Attachment<HTMLElement> {
  return (anchor) => {
    if (text === undefined || text === null || text === "") return;
    let popup: HTMLElement | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stop: (() => void) | undefined;
    const open = (): void => {
      if (popup !== null) return;
      popup = document.createElement("div");
      popup.className = "tooltip";
      popup.setAttribute("role", "tooltip");
      popup.id = `tooltip-${Math.random().toString(36).slice(2)}`;
      popup.textContent = text;
      // An open dialog is above everything else in the page, so its tooltips have to be inside it.
      (anchor.closest("dialog[open]") ?? document.body).append(popup);
      anchor.setAttribute("aria-describedby", popup.id);
      stop = keepNextTo(anchor, popup, "bottom", 6);
    };
    const close = (): void => {
      clearTimeout(timer);
      stop?.();
      popup?.remove();
      popup = null;
      anchor.removeAttribute("aria-describedby");
    };
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(open, WAIT_MILLIS);
    };
    const focused = (): void => {
      if (anchor.matches(":focus-visible")) open();
    };
    const pressed = (event: KeyboardEvent): void => {
      if (event.key === "Escape") close();
    };
    anchor.addEventListener("pointerenter", wait);
    anchor.addEventListener("pointerleave", close);
    anchor.addEventListener("pointerdown", close);
    anchor.addEventListener("focus", focused);
    anchor.addEventListener("blur", close);
    anchor.addEventListener("keydown", pressed);
    return () => {
      close();
      anchor.removeEventListener("pointerenter", wait);
      anchor.removeEventListener("pointerleave", close);
      anchor.removeEventListener("pointerdown", close);
      anchor.removeEventListener("focus", focused);
      anchor.removeEventListener("blur", close);
      anchor.removeEventListener("keydown", pressed);
    };
  };
}
