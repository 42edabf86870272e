// What people do with what happened when: look, zoom, point, omit, follow messages, share.
import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page, TestInfo } from "@playwright/test";
import { drop, seesTree, stateInAddress } from "./support/app.ts";
import { expect, test } from "./support/test.ts";
import { MADE, writeTrace } from "./support/trace.ts";

const SPAN_NS = MADE.rounds * MADE.roundMicros * 1000;

async function open(page: Page, info: TestInfo): Promise<Locator> {
  const file = info.outputPath("made.json");
  writeTrace(file);
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  const timeline = page.getByTestId("timeline");
  await expect(timeline).toHaveAttribute("data-rows", String(MADE.ranks));
  await expect(page.getByTestId("timeline-calls")).toContainText("calls");
  return timeline;
}

/** The window on screen, in nanoseconds. */
async function shown(timeline: Locator): Promise<readonly [from: number, to: number]> {
  return [Number(await timeline.getAttribute("data-from")), Number(await timeline.getAttribute("data-to"))];
}

/** Where the picture begins and how long a nanosecond is, from the axis, which is as wide as the picture. */
async function place(page: Page, timeline: Locator, ns: number, row: number): Promise<{ x: number; y: number }> {
  const axis = await page.getByTestId("timeline-axis").boundingBox();
  const box = await timeline.boundingBox();
  const [from, to] = await shown(timeline);
  if (axis === null || box === null) throw new Error("no timeline");
  const high = Math.max(10, Math.min(box.height / MADE.ranks, 120));
  return { x: axis.x + ((ns - from) / (to - from)) * axis.width, y: box.y + (row + 0.5) * high };
}

test("the trace opens with all ranks, all calls and all messages", async ({ page }, info) => {
  const timeline = await open(page, info);
  expect(await shown(timeline)).toEqual([0, SPAN_NS]);
  // Each rank: main, and two calls in each round.
  await expect(timeline).toHaveAttribute("data-calls", String(MADE.ranks * (1 + 2 * MADE.rounds)));
  await expect(page.getByTestId("timeline-links")).toHaveText(`${String(MADE.ranks * MADE.rounds)} messages`);
  const legend = page.getByTestId("timeline-legend");
  const solve = (MADE.solveMicros / MADE.roundMicros) * 100;
  await expect(legend.getByRole("button").filter({ hasText: "solve" })).toContainText(solve.toFixed(1));
});

test("pointing at a call names it, its time and its callers; a click says it aloud and moves the other views", async ({ page }, info) => {
  const timeline = await open(page, info);
  const at = await place(page, timeline, (3 * MADE.roundMicros + 50 + MADE.solveMicros / 2) * 1000, 1);
  await page.mouse.move(at.x, at.y);
  const tip = page.getByTestId("view-timeline").getByRole("tooltip");
  await expect(tip).toContainText("solve");
  await expect(tip).toContainText("main");
  await expect(tip.getByTestId("tip-duration")).toHaveAttribute("data-value", String(MADE.solveMicros * 1000));
  await page.mouse.click(at.x, at.y);
  await expect(page.getByTestId("timeline-spoken")).toContainText("main calls solve");
  await timeline.press("f");
  await expect.poll(async () => { const [from, to] = await shown(timeline); return to - from; }).toBeLessThan(MADE.solveMicros * 1000 * 1.5);
  await timeline.press("]");
  await expect(page.getByTestId("timeline-spoken")).toContainText("MPI_Send");
});

test("keys, wheel and the brush move the window; undo, history and the link bring it back", async ({ page }, info) => {
  const timeline = await open(page, info);
  const before = page.url();
  await timeline.press("w");
  await expect.poll(async () => { const [from, to] = await shown(timeline); return to - from; }).toBe(SPAN_NS / 2);
  await timeline.press("d");
  await expect.poll(async () => (await shown(timeline))[0]).toBeGreaterThan(SPAN_NS / 4);
  const moved = await shown(timeline);
  await stateInAddress(page, before);
  await page.reload();
  await expect(timeline).toHaveAttribute("data-rows", String(MADE.ranks));
  expect(await shown(timeline)).toEqual(moved);
  await timeline.press("Home");
  await expect.poll(() => shown(timeline)).toEqual([0, SPAN_NS]);
  await timeline.press("z");
  await expect.poll(() => shown(timeline)).toEqual(moved);
  const at = await place(page, timeline, (moved[0] + moved[1]) / 2, 1);
  await page.mouse.move(at.x, at.y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -300);
  await page.keyboard.up("Control");
  await expect.poll(async () => { const [from, to] = await shown(timeline); return to - from; }).toBeLessThan(moved[1] - moved[0]);
  await page.getByTestId("timeline-window").fill("1ms..3ms");
  await page.getByTestId("timeline-window").press("Enter");
  await expect.poll(() => shown(timeline)).toEqual([1e6, 3e6]);
  await page.getByTestId("timeline-window").fill("nonsense");
  await page.getByTestId("timeline-window").press("Enter");
  await expect(page.getByTestId("timeline-window")).toHaveAttribute("aria-invalid", "true");
  const slider = page.getByRole("slider", { name: "End of the window" });
  await slider.press("Shift+ArrowRight");
  await expect.poll(async () => (await shown(timeline))[1]).toBeGreaterThan(3e6);
});

test("a drag selects a time on the axis, and Shift zooms to it in the picture", async ({ page }, info) => {
  const timeline = await open(page, info);
  const axis = await page.getByTestId("timeline-axis").boundingBox();
  if (axis === null) throw new Error("no axis");
  await page.mouse.move(axis.x + axis.width * 0.25, axis.y + 8);
  await page.mouse.down();
  await page.mouse.move(axis.x + axis.width * 0.5, axis.y + 8, { steps: 4 });
  await page.mouse.up();
  await expect(page.getByTestId("view-timeline")).toContainText(/2\.\d+\sms/);
  await timeline.press("f");
  await expect.poll(async () => { const [from, to] = await shown(timeline); return to - from; }).toBeLessThan(SPAN_NS * 0.3);
  await timeline.press("Home");
  await expect.poll(() => shown(timeline)).toEqual([0, SPAN_NS]);
  const [a, b] = [await place(page, timeline, SPAN_NS * 0.1, 1), await place(page, timeline, SPAN_NS * 0.2, 2)];
  await page.keyboard.down("Shift");
  await page.mouse.move(a.x, a.y);
  await page.mouse.down();
  await page.mouse.move(b.x, b.y, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await expect.poll(async () => { const [from, to] = await shown(timeline); return (to - from) / SPAN_NS; }).toBeCloseTo(0.1, 1);
});

test("the legend leaves functions out, and only one in", async ({ page }, info) => {
  await open(page, info);
  const legend = page.getByTestId("timeline-legend");
  const solve = legend.getByRole("button").filter({ hasText: "solve" });
  await solve.click();
  await expect(solve).toHaveAttribute("aria-pressed", "false");
  await expect(solve).toContainText("hidden");
  await solve.click({ modifiers: ["Alt"] });
  await expect(solve).toHaveAttribute("aria-pressed", "true");
  await expect(legend.getByRole("button").filter({ hasText: "main" })).toHaveAttribute("aria-pressed", "false");
  await legend.getByRole("button", { name: "Show all" }).click();
  await legend.getByRole("searchbox").fill("mpi");
  await expect(legend.getByRole("listitem")).toHaveCount(1);
});

test("a message says from where to where, how large and how long", async ({ page }, info) => {
  const timeline = await open(page, info);
  const sent = (5 * MADE.roundMicros + 50 + MADE.solveMicros + MADE.sendMicros / 4) * 1000;
  await page.getByTestId("timeline-window").fill(`${String(sent - 50_000)}ns..${String(sent + 100_000)}ns`);
  await page.getByTestId("timeline-window").press("Enter");
  await expect.poll(async () => (await shown(timeline))[0]).toBeGreaterThan(sent - 60_000);
  await expect(page.getByTestId("timeline-links")).toContainText("4 messages");
  // Half way in time is half way between the two rows.
  const from = await place(page, timeline, sent + MADE.sendMicros * 250, 1);
  const to = await place(page, timeline, sent + MADE.sendMicros * 250, 2);
  await page.mouse.move(from.x, (from.y + to.y) / 2);
  const tip = page.getByTestId("view-timeline").getByRole("tooltip");
  await expect(tip).toContainText("1.02 kB");
  await expect(tip).toContainText("rank 1");
  await expect(tip).toContainText("rank 2");
});

test("samples of a database have a timeline, too, and its tree is next to it", async ({ page }) => {
  await page.goto("?url=data/reactor/n1024-p4/");
  await seesTree(page);
  await page.getByRole("tab", { name: "Timeline", exact: true }).click();
  await expect(page.getByTestId("timeline")).toHaveAttribute("data-rows", /^[1-9]/);
  await expect(page.getByTestId("timeline-calls")).toContainText("samples");
  await expect(page.getByTestId("timeline-legend").getByRole("listitem").first()).toBeVisible();
});

for (const theme of ["light", "dark"] as const) {
  test(`axe finds nothing wrong, ${theme}`, async ({ page }, info) => {
    await page.emulateMedia({ colorScheme: theme });
    await open(page, info);
    const { violations } = await new AxeBuilder({ page }).include("[data-testid=view-timeline]").analyze();
    expect(violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`))).toEqual([]);
  });
}
