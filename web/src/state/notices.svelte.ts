import { sentence } from "../base/format.ts";

/** Something to do about a notice. */
export interface NoticeAction {
  readonly label: string;
  run(): void;
}

/** A message that blocks nothing. */
export interface Notice {
  readonly id: number;
  readonly tone: "error" | "warning" | "info";
  /** What happened, one line. */
  readonly title: string;
  /** Why, and what to do. */
  readonly text: string;
  readonly actions: readonly NoticeAction[];
}

const INFO_MILLIS = 5000;
const MOST = 4;

/** The messages on screen. */
export class Notices {
  #list = $state.raw<readonly Notice[]>([]);
  #nextId = 1;

  get list(): readonly Notice[] {
    return this.#list;
  }

  /** Shows a message; information goes by itself, errors and warnings stay until closed. */
  add(tone: Notice["tone"], title: string, text = "", actions: readonly NoticeAction[] = []): void {
    const id = this.#nextId;
    this.#nextId += 1;
    const others = this.#list.filter((notice) => notice.title !== title || notice.text !== text);
    this.#list = [...others, { id, tone, title, text, actions }].slice(-MOST);
    if (tone === "info") setTimeout(() => { this.close(id); }, INFO_MILLIS);
  }

  /** Shows an error: `what` did not work, the error's own message, and its hint. */
  error(what: string, error: unknown, actions: readonly NoticeAction[] = []): void {
    if (isCancelled(error)) return;
    this.add("error", what, errorText(error), actions);
  }

  close(id: number): void {
    this.#list = this.#list.filter((notice) => notice.id !== id);
  }
}

/** Whether an error only says that Cancel was pressed. */
export function isCancelled(error: unknown): boolean {
  if (error instanceof DOMException && error.name === "AbortError") return true;
  return error instanceof Error && "kind" in error && error.kind === "cancelled";
}

/** An error in words: its message, then what to do unless the message says it. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = "hint" in error && typeof error.hint === "string" ? error.hint : "";
  const message = sentence(error.message);
  return quoted(hint === "" || error.message.includes(hint) ? message : `${message} ${sentence(hint)}`);
}

/** Messages mark code as a terminal shows it, in backticks; those of a metric such as `` $`IO Bytes` `` are part of an expression. */
function quoted(text: string): string {
  return text.replace(/(?<!\$)`([^`\n]+)`/gu, "“$1”");
}
