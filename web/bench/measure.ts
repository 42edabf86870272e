// What the benchmarks of the page do with a browser, and how they write what came out.
import { readdirSync, statSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "@playwright/test";
import type { StaticServer } from "../e2e/support/static-server.ts";
import { MemoryWatch, type browserProcess } from "./memory.ts";

export const DIST = process.env["PARALLAX_WEB_DIST"] ?? new URL("../dist", import.meta.url).pathname;
/** The page of another commit, where two are compared. */
export const OTHER_DIST = process.env["PARALLAX_WEB_DIST_OTHER"];
export const SMALL_PASCAL = new URL("../../fixtures/pascal/solver-v1.json", import.meta.url).pathname;


export function data(name: "PASCAL" | "LARGE" | "WIDE"): string {
  const path = process.env[`PARALLAX_BENCH_${name}`];
  if (path === undefined) throw new Error("run `cargo xtask bench web`: it makes the data");
  return path;
}

export function bytesBelow(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    sum += entry.isDirectory() ? bytesBelow(path) : statSync(path).size;
  }
  return sum;
}

export const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 20e6 ? 1 : 0)} MB`;
export const millis = (time: number): string => `${time.toFixed(time < 100 ? 1 : 0)} ms`;

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** The machine, for above a table. */
export function machine(version: string): string {
  return `${String(cpus().length)} cores (${cpus()[0]?.model ?? "unknown"}), ${String(Math.round(totalmem() / 2 ** 30))} GiB, Chromium ${version}`;
}

/** A table in Markdown whose columns are aligned. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [head, widths.map((width) => "-".repeat(width)), ...rows].map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`).join("\n");
}

/** What the page notes by itself: when files were picked, when an answer came, when a thing was drawn. */
export interface Notes {
  picked: number;
  answered: Record<string, number>;
  engineBytes: number;
  drawn: Record<string, number>;
  /** Every request with when it was sent and answered. */
  asks: { name: string; sent: number; answered: number }[];
}

export async function takeNotes(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const notes: Notes = { picked: 0, answered: {}, engineBytes: 0, drawn: {}, asks: [] };
    Reflect.set(window, "notes", notes);
    addEventListener("change", () => { notes.picked = performance.now(); }, true);
    const asked = new Map<number, Notes["asks"][number]>();
    const Plain = Worker;
    Reflect.set(window, "Worker", class extends Plain {
      constructor(...words: ConstructorParameters<typeof Worker>) {
        super(...words);
        this.addEventListener("message", (event: MessageEvent<{ id: number; type: string; memory?: number }>) => {
          notes.engineBytes = Math.max(notes.engineBytes, event.data.memory ?? 0);
          const ask = asked.get(event.data.id);
          if (event.data.type !== "answer" || ask === undefined) return;
          ask.answered = performance.now();
          notes.answered[ask.name] ??= ask.answered;
        });
      }

      override postMessage(message: { id: number; request?: string }, ...more: []): void {
        if (message.request !== undefined) {
          const ask = { name: (JSON.parse(message.request) as { ask: string }).ask, sent: performance.now(), answered: Number.NaN };
          asked.set(message.id, ask);
          notes.asks.push(ask);
        }
        super.postMessage(message, ...more);
      }
    });
    const marks: Record<string, string> = { maps: '[data-testid="map-cell"]', tree: "[data-context]" };
    new MutationObserver(() => {
      for (const [name, selector] of Object.entries(marks)) {
        if (notes.drawn[name] !== undefined || document.querySelector(selector) === null) continue;
        notes.drawn[name] = 0;
        // After the next frame it is on the screen.
        requestAnimationFrame(() => { setTimeout(() => { notes.drawn[name] = performance.now(); }); });
      }
    }).observe(document, { childList: true, subtree: true });
  });
}

export function notesOf(page: Page): Promise<Notes> {
  return page.evaluate(() => Reflect.get(window, "notes") as Notes);
}

/** The start page in a process of its own, with the engine started, as it does while people read. */
export async function begin(browser: Browser, site: StaticServer): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await takeNotes(page);
  await page.goto(site.url);
  // Words of the start page change from commit to commit.
  await page.locator('[data-pick="files"]').waitFor({ state: "attached" });
  await page.waitForTimeout(4000);
  return page;
}

/** Milliseconds to the first paint of the empty application, with nothing cached. */
export async function firstPaint(browser: Browser, site: StaticServer): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(site.url);
  const paint = await page.evaluate(() => new Promise<number>((resolve) => {
    new PerformanceObserver((list) => {
      const first = list.getEntriesByName("first-contentful-paint")[0];
      if (first !== undefined) resolve(first.startTime);
    }).observe({ type: "paint", buffered: true });
  }));
  await context.close();
  return paint;
}

/** Opens a file of PaScal in a page of its own, to maps on the screen. */
export async function openPascal(browser: Browser, site: StaticServer, chromium: ReturnType<typeof browserProcess>, path: string): Promise<{ notes: Notes; growth: number }> {
  const page = await begin(browser, site);
  const watch = new MemoryWatch(chromium);
  await page.locator('[data-pick="files"]').setInputFiles(path);
  await page.waitForFunction(() => ((Reflect.get(window, "notes") as Notes).drawn["maps"] ?? 0) > 0, null, { timeout: 120_000 });
  const growth = watch.stop();
  const notes = await notesOf(page);
  tell(notes);
  await page.context().close();
  return { notes, growth };
}

/** Opens a folder in a page of its own, to its tree on the screen and what the other panels ask for. */
export async function openFolder(browser: Browser, site: StaticServer, chromium: ReturnType<typeof browserProcess>, folder: string): Promise<{ notes: Notes; growth: number }> {
  const page = await begin(browser, site);
  const watch = new MemoryWatch(chromium);
  await page.locator('[data-pick="folder"]').setInputFiles(folder);
  await page.waitForFunction(() => ((Reflect.get(window, "notes") as Notes).drawn["tree"] ?? 0) > 0, null, { timeout: 120_000 });
  // What the other panels ask for belongs to opening, too.
  await page.waitForTimeout(3000);
  const growth = watch.stop();
  const notes = await notesOf(page);
  tell(notes);
  await page.context().close();
  return { notes, growth };
}

/** With PARALLAX_BENCH_TELL: what was asked for, and when, in milliseconds after files were picked. */
export function tell(notes: Notes): void {
  if (process.env["PARALLAX_BENCH_TELL"] === undefined) return;
  for (const { name, sent, answered } of notes.asks) console.log(name.padEnd(16), (sent - notes.picked).toFixed(0).padStart(8), (answered - notes.picked).toFixed(0).padStart(8));
  console.log(JSON.stringify(Object.fromEntries(Object.entries(notes.drawn).map(([name, at]) => [name, Math.round(at - notes.picked)]))));
}

/** The picture of the timeline, which may be behind the tab of another view. */
export async function timelineOf(page: Page): Promise<Locator> {
  const [tab, picture] = [page.getByRole("tab", { name: "Timeline", exact: true }), page.getByTestId("timeline")];
  await tab.or(picture).first().waitFor({ timeout: 120_000 });
  if (!await picture.isVisible()) await tab.click();
  await picture.waitFor({ timeout: 120_000 });
  return picture;
}

/** Milliseconds between frames while a timeline is zoomed by the wheel: two seconds in, two seconds out, twice. */
export function zoomFrames(picture: Locator): Promise<number[]> {
  return picture.evaluate(async (element) => {
    const bounds = element.getBoundingClientRect();
    const at = { clientX: bounds.left + bounds.width / 2, clientY: bounds.top + bounds.height / 2 };
    const between: number[] = [];
    let last = performance.now();
    for (let frame = 0; frame < 480; frame += 1) {
      element.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: frame % 240 < 120 ? -40 : 40, ctrlKey: true, bubbles: true, cancelable: true }));
      await new Promise((resolve) => { requestAnimationFrame(resolve); });
      const now = performance.now();
      between.push(now - last);
      last = now;
    }
    return between;
  });
}

/** Moves the pointer over an element; times from the event until the frame with its answer is drawn. */
export async function hoverOver(page: Page, selector: string): Promise<number[]> {
  const box = await page.locator(selector).first().boundingBox();
  if (box === null) throw new Error(`${selector} is not on the screen`);
  await page.evaluate(() => {
    const times: number[] = [];
    Reflect.set(window, "hovers", times);
    addEventListener("pointermove", () => {
      const start = performance.now();
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        // A message sent in a frame arrives after it is drawn.
        channel.port1.onmessage = () => { times.push(performance.now() - start); };
        channel.port2.postMessage(null);
      });
    }, true);
  });
  for (let step = 0; step < 240; step += 1) {
    const [across, down] = [(step * 0.618) % 1, (step * 0.755) % 1];
    await page.mouse.move(box.x + 8 + across * (box.width - 24), box.y + 34 + down * Math.min(box.height - 60, 240));
  }
  await page.waitForTimeout(200);
  return page.evaluate(() => Reflect.get(window, "hovers") as number[]);
}
