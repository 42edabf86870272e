// `cargo xtask bench web`: the page in one Chromium, on data that `parallax-benches web-data` made.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { test, type Browser, type Page } from "@playwright/test";
import { serveFolder, type StaticServer } from "../e2e/support/static-server.ts";
import { browserProcess, MemoryWatch } from "./memory.ts";

const DIST = process.env["PARALLAX_WEB_DIST"] ?? new URL("../dist", import.meta.url).pathname;
const SMALL_PASCAL = new URL("../../fixtures/pascal/solver-v1.json", import.meta.url).pathname;
const REPEATS = 5;
const FRAME_MILLIS = 1000 / 60;

interface Line {
  readonly what: string;
  readonly ours: string;
  readonly beside: string;
  readonly target: string;
  readonly isMet: boolean | null;
}

const lines: Line[] = [];

function data(name: "PASCAL" | "LARGE" | "WIDE"): string {
  const path = process.env[`PARALLAX_BENCH_${name}`];
  if (path === undefined) throw new Error("run `cargo xtask bench web`: it makes the data");
  return path;
}

function bytesBelow(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    sum += entry.isDirectory() ? bytesBelow(path) : statSync(path).size;
  }
  return sum;
}

const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 20e6 ? 1 : 0)} MB`;
const millis = (time: number): string => `${time.toFixed(time < 100 ? 1 : 0)} ms`;

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** What the page notes by itself: when files were picked, when an answer came, when a thing was drawn. */
interface Notes {
  picked: number;
  answered: Record<string, number>;
  engineBytes: number;
  drawn: Record<string, number>;
  /** Every request with when it was sent and answered. */
  asks: { name: string; sent: number; answered: number }[];
}

async function takeNotes(page: Page): Promise<void> {
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

function notesOf(page: Page): Promise<Notes> {
  return page.evaluate(() => Reflect.get(window, "notes") as Notes);
}

/** The start page in a process of its own, with the engine started, as it does while people read. */
async function begin(browser: Browser, site: StaticServer): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await takeNotes(page);
  await page.goto(site.url);
  await page.getByRole("heading", { name: "See where your program loses time" }).waitFor();
  await page.waitForTimeout(4000);
  return page;
}

/** Opens a file of PaScal in a page of its own, to maps on the screen. */
async function openPascal(browser: Browser, site: StaticServer, chromium: ReturnType<typeof browserProcess>, path: string): Promise<{ notes: Notes; growth: number }> {
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

/** With PARALLAX_BENCH_TELL: what was asked for, and when, in milliseconds after files were picked. */
function tell(notes: Notes): void {
  if (process.env["PARALLAX_BENCH_TELL"] === undefined) return;
  for (const { name, sent, answered } of notes.asks) console.log(name.padEnd(16), (sent - notes.picked).toFixed(0).padStart(8), (answered - notes.picked).toFixed(0).padStart(8));
  console.log(JSON.stringify(Object.fromEntries(Object.entries(notes.drawn).map(([name, at]) => [name, Math.round(at - notes.picked)]))));
}

test("the page in one browser", async ({ browser }) => {
  const site = await serveFolder(DIST);
  const only = process.env["PARALLAX_BENCH_ONLY"];
  for (const [name, measure] of Object.entries({ empty, pascal, large, hover, timeline })) {
    if (only === undefined || only === name) await measure(browser, site);
  }
  await site.close();
  show(browser.version());
});

/** First paint and size of the empty application. */
async function empty(browser: Browser, site: StaticServer): Promise<void> {
  const paints: number[] = [];
  for (let at = 0; at < 5; at += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.goto(site.url);
    paints.push(await page.evaluate(() => new Promise<number>((resolve) => {
      new PerformanceObserver((list) => {
        const paint = list.getEntriesByName("first-contentful-paint")[0];
        if (paint !== undefined) resolve(paint.startTime);
      }).observe({ type: "paint", buffered: true });
    })));
    await context.close();
  }
  const paint = quantile(paints, 0.5);
  lines.push({ what: "first paint, nothing cached", ours: millis(paint), beside: `worst of ${String(paints.length)}: ${millis(Math.max(...paints))}`, target: "< 1 s", isMet: paint < 1000 });
  const wasmName = readdirSync(join(DIST, "assets")).find((name) => name.endsWith(".wasm"));
  if (wasmName === undefined) throw new Error("this build has no engine");
  const wasm = readFileSync(join(DIST, "assets", wasmName));
  const [gzip, brotli] = [gzipSync(wasm, { level: 9 }).length, brotliCompressSync(wasm).length];
  lines.push({ what: "engine, compressed", ours: `${mega(gzip)} gzip, ${mega(brotli)} brotli`, beside: `${mega(wasm.length)} plain`, target: "< 3 MB", isMet: gzip < 3e6 });
}

/** The PaScal file: to all maps, besides what the browser's own parser takes for its text alone. */
async function pascal(browser: Browser, site: StaticServer): Promise<void> {
  const chromium = browserProcess();
  const path = data("PASCAL");
  const size = statSync(path).size;
  const [ours, drawn, growth, engine]: [number[], number[], number[], number[]] = [[], [], [], []];
  const small: number[] = [];
  const bytes: number[] = [];
  const theirs: { read: number; parse: number; growth: number }[] = [];
  for (let at = 0; at < REPEATS; at += 1) {
    // Panels, maps and lines take memory whatever they show: a small file tells how much.
    small.push((await openPascal(browser, site, chromium, SMALL_PASCAL)).growth);
    const opening = await openPascal(browser, site, chromium, path);
    ours.push((opening.notes.answered["scaling"] ?? Number.NaN) - opening.notes.picked);
    drawn.push((opening.notes.drawn["maps"] ?? Number.NaN) - opening.notes.picked);
    growth.push(opening.growth);
    engine.push(opening.notes.engineBytes);
    // In turns, so that what else the machine does is shared by both.
    theirs.push(await parsePascal(browser, chromium, path));
    bytes.push(await streamPascal(browser, path));
  }
  const best = Math.min(...ours);
  const parse = Math.min(...theirs.map((one) => one.parse));
  const whole = Math.min(...theirs.map((one) => one.read + one.parse));
  const share = (time: number): string => `${(best / time).toFixed(2)} of it`;
  lines.push({ what: `PaScal, ${mega(size)}: picked to all maps`, ours: millis(best), beside: `reading and JSON.parse ${millis(whole)}: ${share(whole)}`, target: "<= 1/4 of that", isMet: best <= whole / 4 });
  // A text that is there already is more than a page is given: on some machines the bytes alone take a quarter of this.
  lines.push({ what: "the same, beside JSON.parse of a text that is there already", ours: millis(best), beside: `JSON.parse ${millis(parse)}: ${share(parse)}`, target: "", isMet: null });
  lines.push({ what: "the same, only the bytes into one buffer", ours: millis(Math.min(...bytes)), beside: "the least that any page waits", target: "", isMet: null });
  lines.push({ what: "the same, maps on the screen", ours: millis(Math.min(...drawn)), beside: "", target: "", isMet: null });
  const added = quantile(growth, 0.5) - quantile(small, 0.5);
  lines.push({ what: "the same, memory beyond that of a small file", ours: `${mega(added)}, engine ${mega(Math.min(...engine))}`, beside: `JSON.parse ${mega(quantile(theirs.map((one) => one.growth), 0.5))}`, target: `< ${mega(size / 4)}, 1/4 of the file`, isMet: added < size / 4 });
  lines.push({ what: "the same, memory with all views", ours: mega(quantile(growth, 0.5)), beside: `a file of ${mega(statSync(SMALL_PASCAL).size)}: ${mega(quantile(small, 0.5))}`, target: "", isMet: null });
}

/** An empty page that was given the file. */
async function pageWith(browser: Browser, path: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.setContent('<input type="file" id="file">');
  await page.locator("#file").setInputFiles(path);
  return page;
}

/** Reads the text of the file and makes objects of it. */
async function parsePascal(browser: Browser, chromium: ReturnType<typeof browserProcess>, path: string): Promise<{ read: number; parse: number; growth: number }> {
  const page = await pageWith(browser, path);
  const watch = new MemoryWatch(chromium);
  const told = await page.evaluate(async () => {
    const file = (document.getElementById("file") as HTMLInputElement).files?.[0];
    if (file === undefined) throw new Error("no file");
    const start = performance.now();
    const text = await file.text();
    const read = performance.now();
    const value = JSON.parse(text) as { data: object };
    const end = performance.now();
    return { read: read - start, parse: end - read, runs: Object.keys(value.data).length };
  });
  const growth = watch.stop();
  await page.context().close();
  return { read: told.read, parse: told.parse, growth };
}

/** Milliseconds for the bytes of the file alone, in the fastest way that is known. */
async function streamPascal(browser: Browser, path: string): Promise<number> {
  const page = await pageWith(browser, path);
  const time = await page.evaluate(async () => {
    const file = (document.getElementById("file") as HTMLInputElement).files?.[0];
    if (file === undefined) throw new Error("no file");
    const start = performance.now();
    const reader = file.stream().getReader({ mode: "byob" });
    let buffer = new ArrayBuffer(4 * 2 ** 20);
    let sum = 0;
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) break;
      sum += value.length;
      buffer = value.buffer;
    }
    if (sum !== file.size) throw new Error("not the whole file");
    return performance.now() - start;
  });
  await page.context().close();
  return time;
}

/** Frames while people zoom into a trace and out again, by the wheel; `PARALLAX_BENCH_TRACE` names another folder or archive. */
async function timeline(browser: Browser, site: StaticServer): Promise<void> {
  const folder = process.env["PARALLAX_BENCH_TRACE"] ?? data("LARGE");
  const page = await begin(browser, site);
  await page.locator('[data-pick="folder"]').setInputFiles(folder);
  const picture = page.getByTestId("timeline");
  await picture.waitFor({ timeout: 120_000 });
  await page.waitForTimeout(3000);
  const times = await picture.evaluate(async (element) => {
    const bounds = element.getBoundingClientRect();
    const at = { clientX: bounds.left + bounds.width / 2, clientY: bounds.top + bounds.height / 2 };
    const between: number[] = [];
    let last = performance.now();
    // Two seconds in, two seconds out, twice.
    for (let frame = 0; frame < 480; frame += 1) {
      element.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: frame % 240 < 120 ? -40 : 40, ctrlKey: true, bubbles: true, cancelable: true }));
      await new Promise((resolve) => { requestAnimationFrame(resolve); });
      const now = performance.now();
      between.push(now - last);
      last = now;
    }
    return between;
  });
  const [median, late] = [quantile(times, 0.5), quantile(times, 0.95)];
  const rows = (await picture.getAttribute("data-rows")) ?? "";
  lines.push({ what: `timeline, ${mega(bytesBelow(folder))}, ${rows} rows: frames while zooming`, ours: `median ${millis(median)}`, beside: `95 % within ${millis(late)}`, target: "60 frames a second", isMet: median < FRAME_MILLIS * 1.2 });
  await page.context().close();
}

/** A large database by its folder. */
async function large(browser: Browser, site: StaticServer): Promise<void> {
  const chromium = browserProcess();
  const folder = data("LARGE");
  const opened: number[] = [];
  const trees: number[] = [];
  const grown: number[] = [];
  const engines: number[] = [];
  for (let at = 0; at < REPEATS; at += 1) {
    const page = await begin(browser, site);
    const watch = new MemoryWatch(chromium);
    await page.locator('[data-pick="folder"]').setInputFiles(folder);
    await page.waitForFunction(() => ((Reflect.get(window, "notes") as Notes).drawn["tree"] ?? 0) > 0, null, { timeout: 120_000 });
    // What the other panels ask for belongs to opening, too.
    await page.waitForTimeout(3000);
    grown.push(watch.stop());
    const notes = await notesOf(page);
    tell(notes);
    await page.context().close();
    opened.push((notes.answered["open"] ?? Number.NaN) - notes.picked);
    trees.push((notes.drawn["tree"] ?? Number.NaN) - notes.picked);
    engines.push(notes.engineBytes);
  }
  const tree = Math.min(...trees);
  lines.push({ what: `database, ${mega(bytesBelow(folder))}: picked to its tree`, ours: millis(tree), beside: `opened after ${millis(Math.min(...opened))}`, target: "< 2 s", isMet: tree < 2000 });
  lines.push({ what: "the same, memory", ours: `${mega(quantile(grown, 0.5))}, engine ${mega(Math.min(...engines))}`, beside: "", target: "< 200 MB", isMet: quantile(grown, 0.5) < 200e6 });
}

/** Hover on a wide tree. */
async function hover(browser: Browser, site: StaticServer): Promise<void> {
  const page = await begin(browser, site);
  await page.locator('[data-pick="folder"]').setInputFiles(data("WIDE"));
  await page.getByTestId("flame").waitFor();
  await page.waitForTimeout(4000);
  const contexts = await page.getByTestId("flame").getAttribute("data-frames");
  for (const [what, selector] of [["flame graph", '[data-testid="flame"]'], ["tree", '[data-testid="cost-table"]']] as const) {
    const times = await hoverOver(page, selector);
    const [median, late] = [quantile(times, 0.5), quantile(times, 0.95)];
    lines.push({ what: `hover on a ${what} of ${Number(contexts).toLocaleString("en-GB")} contexts`, ours: `${millis(median)}, 95 % below ${millis(late)}`, beside: `${String(times.length)} moves, worst ${millis(Math.max(...times))}`, target: `95 % < ${FRAME_MILLIS.toFixed(1)} ms`, isMet: late < FRAME_MILLIS });
  }
  await page.context().close();
}

/** Moves the pointer over an element; times from the event until the frame with its answer is drawn. */
async function hoverOver(page: Page, selector: string): Promise<number[]> {
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

function show(version: string): void {
  const machine = `${String(cpus().length)} cores (${cpus()[0]?.model ?? "unknown"}), ${String(Math.round(totalmem() / 2 ** 30))} GiB, Chromium ${version}`;
  const rows = lines.map((line) => [line.what, line.ours, line.beside, line.target, line.isMet === null ? "" : line.isMet ? "ok" : "MISSED"]);
  const head = ["what", "Parallax", "beside", "target", ""];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const text = [head, widths.map((width) => "-".repeat(width)), ...rows].map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  console.log(`\n${machine}; times are the best of ${String(REPEATS)}, memory is the median\n\n${text.join("\n")}\n`);
}
