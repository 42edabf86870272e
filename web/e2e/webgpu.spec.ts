// Cells of timelines have the same dots by WebGPU and by the processor, whatever happens to the device.
import { writeFileSync } from "node:fs";
import type { Browser, Locator, Page, TestInfo } from "@playwright/test";
import config from "../playwright.config.ts";
import { drop } from "./support/app.ts";
import { expect, test, type Complaints } from "./support/test.ts";

const launch = config.use?.launchOptions ?? {};
// The software device of Chromium draws cells; what it draws comes onto canvases through Mesa's EGL, without which they stay empty.
// The window has room for all controls of the timeline.
const ARGS = [...(launch.args ?? []).filter((arg) => arg !== "--disable-gpu"), "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--use-angle=gl-egl", "--ignore-gpu-blocklist"];
test.use({ viewport: { width: 1920, height: 1000 }, launchOptions: { ...launch, args: ARGS } });

const TRACKS = 400;
const CALLS = 60;

/** Writes a trace of so many threads that its rows are too low for calls of their own; lengths and gaps differ everywhere. */
function writeWide(path: string): void {
  const events: object[] = [];
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let tid = 1; tid <= TRACKS; tid += 1) {
    let ts = random(400);
    for (let call = 0; call < CALLS; call += 1) {
      const dur = 20 + random(900);
      events.push({ ph: "X", name: `outer ${String(random(9))}`, pid: 1, tid, ts, dur });
      events.push({ ph: "X", name: `inner ${String(random(40))}`, pid: 1, tid, ts: ts + 5, dur: Math.max(1, random(dur - 6)) });
      ts += dur + random(300);
    }
  }
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
}

type Choice = "webgpu" | "processor" | "auto";

/** Opens the trace in a page of its own that colours cells in a given way. */
async function openWide(page: Page, info: TestInfo, choice: Choice): Promise<Locator> {
  const file = info.outputPath("wide.json");
  writeWide(file);
  await page.addInitScript((cells) => { localStorage.setItem("parallax.preferences.1", JSON.stringify({ cells, theme: "light" })); }, choice);
  // Chromium moves canvases between its two ways of drawing, which scale differently: those on the page are drawn in one of them.
  await page.addInitScript(() => {
    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string) {
      return getContext.call(this, kind, kind === "2d" ? { willReadFrequently: true } : undefined);
    } as typeof getContext;
  });
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  const timeline = page.getByTestId("timeline");
  await expect(timeline).toHaveAttribute("data-rows", /^\d{2,}$/);
  return timeline;
}

/** Counts what is submitted to devices, and keeps the last one. */
async function watchDevices(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: { submits: number; device: GPUDevice | null; loseAt: number } = { submits: 0, device: null, loseAt: Number.POSITIVE_INFINITY };
    Object.assign(window, { seen });
    const { requestDevice } = GPUAdapter.prototype;
    GPUAdapter.prototype.requestDevice = async function (...given): Promise<GPUDevice> {
      seen.device = await requestDevice.apply(this, given);
      return seen.device;
    };
    const { submit } = GPUQueue.prototype;
    GPUQueue.prototype.submit = function (commands): undefined {
      seen.submits += 1;
      if (seen.submits >= seen.loseAt) seen.device?.destroy();
      submit.call(this, commands);
    };
  });
}

interface Seen {
  readonly seen: { submits: number; readonly device: GPUDevice | null; loseAt: number };
}

function submits(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as Seen).seen.submits);
}

/** The dots of the rows, once nothing is asked for any more and they are others than those of the step before. */
async function dots(page: Page, before = ""): Promise<string> {
  const read = (): Promise<string> =>
    page.evaluate(async () => {
      // What was asked for before has come to the page by the second frame.
      for (let frame = 0; frame < 2; frame += 1) await new Promise((resolve) => { requestAnimationFrame(resolve); });
      const timeline = document.querySelector<HTMLElement>("[data-testid=timeline]");
      const canvas = timeline?.querySelector("canvas") ?? null;
      const context = canvas?.getContext("2d") ?? null;
      if (timeline === null || canvas === null || context === null) return "none";
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
      const colours = new Set(new Uint32Array(data.buffer)).size;
      const window = `${String(timeline.dataset["rows"])} rows, ${String(timeline.dataset["from"])} to ${String(timeline.dataset["to"])}`;
      return `${window}, ${String(canvas.width)} x ${String(canvas.height)}, ${String(colours)} colours, ${[...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    });
  let last = await read();
  // The window glides to where it goes, and finer pieces come one after the other.
  await expect(async () => {
    await page.waitForTimeout(400);
    await expect(page.getByTestId("timeline")).toHaveAttribute("data-complete", "true");
    const next = await read();
    const isSettled = next === last && next !== before;
    last = next;
    expect(isSettled).toBe(true);
  }).toPass();
  return last;
}

/** What a person does to a timeline, each step leading to other cells or colours. */
const STEPS: readonly { readonly name: string; readonly act: (page: Page, timeline: Locator) => Promise<void> }[] = [
  { name: "the whole trace", act: () => Promise.resolve() },
  { name: "dark", act: async (page) => { await look(page, "Dark"); } },
  { name: "nearer", act: async (_, timeline) => { await timeline.press("w"); await timeline.press("w"); await timeline.press("d"); } },
  { name: "much nearer", act: async (_, timeline) => { for (let time = 0; time < 4; time += 1) await timeline.press("w"); } },
  { name: "colours by group", act: async (page) => { await look(page, "By group"); } },
  { name: "one function lit", act: async (page) => { await page.getByTestId("timeline-legend").getByRole("button").filter({ hasText: "outer 3" }).hover(); } },
  { name: "busy share", act: async (page) => { await cells(page, "busy share"); } },
  { name: "depth", act: async (page, timeline) => { await page.mouse.move(2, 2); await cells(page, "call depth"); await timeline.press("Home"); } },
];

async function look(page: Page, entry: string): Promise<void> {
  await page.getByRole("button", { name: "Theme and colours" }).click();
  await page.getByRole("menuitemcheckbox", { name: entry }).or(page.getByRole("menuitemradio", { name: entry })).or(page.getByRole("menuitem", { name: entry })).first().click();
  // Where the menu was, the pointer would be over rows, and light what is below it sooner or later.
  await page.mouse.move(2, 2);
}

async function cells(page: Page, title: string): Promise<void> {
  await page.getByTestId("view-timeline").getByLabel("Cells").selectOption({ label: title });
}

async function pictures(page: Page, timeline: Locator): Promise<readonly string[]> {
  const found: string[] = [];
  let last = "";
  for (const { name, act } of STEPS) {
    await act(page, timeline);
    last = await dots(page, last);
    found.push(`${name}: ${last}`);
  }
  return found;
}

async function byProcessor(browser: Browser, url: string, complaints: Complaints, info: TestInfo): Promise<readonly string[]> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1920, height: 1000 }, colorScheme: "light", reducedMotion: "reduce", locale: "en-GB" });
  context.on("page", (page) => { complaints.listen(page); });
  const page = await context.newPage();
  const found = await pictures(page, await openWide(page, info, "processor"));
  await expect(page.getByTestId("timeline")).toHaveAttribute("data-cells-by", "processor");
  await context.close();
  return found;
}

test("all dots are the same with and without WebGPU, at several zooms, in both themes and all modes", async ({ page, browser, baseURL, complaints }, info) => {
  await watchDevices(page);
  const timeline = await openWide(page, info, "webgpu");
  await expect(timeline).toHaveAttribute("data-cells-by", "webgpu");
  const before = await submits(page);
  const drawn = await pictures(page, timeline);
  // It was drawn there, and not only there was a device.
  expect(await submits(page)).toBeGreaterThan(before + STEPS.length);
  await expect(timeline).toHaveAttribute("data-cells-by", "webgpu");
  await expect(page.getByTestId("timeline-cells")).toHaveAttribute("title", /^WebGPU, as selected: .* ms for 65,536 cells with WebGPU \(google swiftshader\), .* ms on the CPU\.$/);
  const other = await byProcessor(browser, baseURL ?? "", complaints, info);
  expect(drawn).toEqual(other);
  // Every step shows something else.
  expect(new Set(drawn.map((text) => text.split(", ").at(-1))).size).toBe(STEPS.length);
});

test("where the device is lost, also while a picture is drawn, the processor draws it again", async ({ page, browser, baseURL, complaints }, info) => {
  complaints.expect(/WebGPU|destroyed|GPU/);
  await watchDevices(page);
  const timeline = await openWide(page, info, "webgpu");
  await expect(timeline).toHaveAttribute("data-cells-by", "webgpu");
  await dots(page);
  // The next piece, of all that the other theme colours in one frame, is submitted to a device that is no longer there.
  await page.evaluate(() => {
    const { seen } = window as unknown as Seen;
    seen.loseAt = seen.submits + 1;
  });
  const drawn = await pictures(page, timeline);
  await expect(timeline).toHaveAttribute("data-cells-by", "processor");
  await page.getByRole("button", { name: "Theme and colours" }).click();
  await expect(page.getByRole("menu", { name: "Theme and colours" })).toContainText("the WebGPU device was lost");
  await page.keyboard.press("Escape");
  expect(drawn).toEqual(await byProcessor(browser, baseURL ?? "", complaints, info));
});

for (const [name, take, reason] of [
  ["the browser has no WebGPU", (): void => { Reflect.deleteProperty(Navigator.prototype, "gpu"); }, "WebGPU is not available to this page in this browser"],
  ["WebGPU finds no device", (): void => { GPU.prototype.requestAdapter = () => Promise.resolve(null); }, "WebGPU found no device"],
] as const) {
  test(`where ${name}, the processor draws, and the menu says why`, async ({ page }, info) => {
    await page.addInitScript(take);
    const timeline = await openWide(page, info, "webgpu");
    expect(await dots(page)).toMatch(/\d{2,} colours/);
    await expect(timeline).toHaveAttribute("data-cells-by", "processor");
    await page.getByRole("button", { name: "Theme and colours" }).click();
    await expect(page.getByRole("menu", { name: "Theme and colours" })).toContainText(`CPU: ${reason}.`);
  });
}
