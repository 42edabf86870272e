// `cargo xtask bench web`: the page in one Chromium, on data that `parallax-benches web-data` made.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { test, type Browser, type Page } from "@playwright/test";
import { serveFolder, type StaticServer } from "../e2e/support/static-server.ts";
import { begin, bytesBelow, data, DIST, firstPaint, hoverOver, machine, mega, millis, openFolder, openPascal, OTHER_DIST, quantile, SMALL_PASCAL, tableText, zoomFrames } from "./measure.ts";
import { browserProcess, MemoryWatch } from "./memory.ts";

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

test("the page in one browser", async ({ browser }) => {
  test.skip(OTHER_DIST !== undefined, "two builds are measured in turn");
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
    paints.push(await firstPaint(browser, site));
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
  const times = await zoomFrames(picture);
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
    const { notes, growth } = await openFolder(browser, site, chromium, folder);
    grown.push(growth);
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

function show(version: string): void {
  const rows = lines.map((line) => [line.what, line.ours, line.beside, line.target, line.isMet === null ? "" : line.isMet ? "ok" : "MISSED"]);
  console.log(`\n${machine(version)}; times are the best of ${String(REPEATS)}, memory is the median\n\n${tableText(["what", "Parallax", "beside", "target", ""], rows)}\n`);
}
