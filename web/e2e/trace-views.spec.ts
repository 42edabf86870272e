// What the views of a trace say: the numbers of the command line for the same window, and one window for all of them.
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { command, pick, stateInAddress, useClassicPicker, valueOf } from "./support/app.ts";
import { ask, type CliTable } from "./support/cli.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const SAMPLES = join(FIXTURES, "reactor/n1024-p8");
const EVENTS = join(FIXTURES, "otf2/all-records/traces.otf2");

test.describe.configure({ timeout: 120_000 });

/** Opens what lies at an address below the fixtures, and shows a view of it. */
async function open(page: Page, path: string, view: string): Promise<void> {
  if (path.startsWith("otf2/")) {
    // The list of a trace's files is in its folder, which an address does not tell.
    await useClassicPicker(page);
    await page.goto("");
    await pick(page, "Open folder", join(FIXTURES, path));
  } else await page.goto(`?url=data/${path}/`);
  await expect(page.getByTestId("view-tree")).toBeVisible({ timeout: 45_000 });
  await show(page, view);
}

async function show(page: Page, view: string): Promise<void> {
  await command(page, `Show ${view}`);
  await expect(page.getByRole("tab", { name: view })).toHaveAttribute("aria-selected", "true");
}

const numbers = (cells: Locator): Promise<(number | null)[]> =>
  cells.evaluateAll((all) => all.map((cell) => { const text = cell.getAttribute("data-value"); return text === null || text === "NaN" ? null : Number(text); }));

/** The rows on screen of the statistics, unrounded. */
async function statistics(page: Page): Promise<readonly { name: string; exclusive: number; inclusive: number; share: number }[]> {
  return page.getByTestId("view-statistics").locator("[role=row]").evaluateAll((rows) =>
    rows.filter((row) => row.querySelector("[data-testid=stat-name]") !== null).map((row) => {
      const value = (name: string): number => Number(row.querySelector(`[data-testid=stat-${name}]`)?.getAttribute("data-value"));
      return { name: row.querySelector("[data-testid=stat-name]")?.getAttribute("data-name") ?? "", exclusive: value("exclusive"), inclusive: value("inclusive"), share: value("share") };
    }));
}

function byName(table: CliTable): Map<string, CliTable["rows"][number]> {
  return new Map(table.rows.map((row) => [String(row["name"]), row]));
}

async function agrees(page: Page, ...words: readonly string[]): Promise<void> {
  const answers = byName(ask("stats", ...words));
  // The answer for another window replaces the one on screen when it is there.
  await expect(async () => {
    const rows = await statistics(page);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toEqual(rows.map(({ name }) => {
      const answer = answers.get(name);
      return { name, exclusive: answer?.["exclusive_s"], inclusive: answer?.["inclusive_s"], share: answer?.["share_percent"] };
    }));
  }).toPass();
}

test("the statistics of the whole trace are those of the command line", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 1600 });
  await open(page, "reactor/n1024-p8", "Statistics");
  await agrees(page, SAMPLES);
  const view = page.getByTestId("view-statistics");
  const first = await statistics(page);
  expect(first[0]?.exclusive).toBe(Math.max(...first.map((row) => row.exclusive)));
  await view.getByText("Call paths", { exact: true }).click();
  await agrees(page, SAMPLES, "--by", "context");
  await view.getByText("Groups", { exact: true }).click();
  await agrees(page, SAMPLES, "--by", "group");
});

test("the statistics of a window are those of the command line, and go back to the whole trace", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 1600 });
  await open(page, "reactor/n1024-p8", "Call stack");
  const icicle = page.getByTestId("icicle");
  await icicle.focus();
  // Twice as near, a quarter to the right.
  await icicle.press("w");
  await icicle.press("d");
  await show(page, "Statistics");
  const words = page.getByTestId("view-statistics").getByTestId("trace-window");
  const [from, to] = [Number(await words.getAttribute("data-from")), Number(await words.getAttribute("data-to"))];
  expect(to).toBeGreaterThan(from);
  expect(from).toBeGreaterThan(0);
  // Ranges of expressions include their end.
  const window = `${String(from)}ns..${String(to - 1)}ns`;
  await agrees(page, SAMPLES, "--window", window);
  await page.getByTestId("view-statistics").getByRole("button", { name: "Whole trace", exact: true }).click();
  await agrees(page, SAMPLES);
  await page.keyboard.press("Control+Z");
  await agrees(page, SAMPLES, "--window", window);
});

test("the window is the same in all views, and comes back with a link", async ({ page }) => {
  await open(page, "reactor/n1024-p8", "Call stack");
  const icicle = page.getByTestId("icicle");
  await icicle.focus();
  await icicle.press("w");
  await icicle.press("w");
  const from = await icicle.getAttribute("data-from");
  const before = page.url();
  await icicle.press("ArrowDown");
  await show(page, "Find calls");
  const words = page.getByTestId("view-find").getByTestId("trace-window");
  await expect(words).toHaveAttribute("data-from", from ?? "");
  await stateInAddress(page, before);
  await page.reload();
  await expect(page.getByTestId("view-find").getByTestId("trace-window")).toHaveAttribute("data-from", from ?? "");
  await show(page, "Call stack");
  await expect(page.getByTestId("view-node-detail").locator("select")).toHaveValue("1");
});

test("a call is found and shown: its window, its track, what is active in it", async ({ page }) => {
  await open(page, "otf2/all-records", "Find calls");
  const view = page.getByTestId("view-find");
  await view.getByTestId("find-name").fill("MPI_*");
  await view.getByTestId("find-name").press("Enter");
  const row = view.getByTestId("find-row").first();
  await expect(row).toHaveText("MPI_Send");
  const [start, end] = [Number(await row.getAttribute("data-start")), Number(await row.getAttribute("data-end"))];
  expect(await valueOf(view.getByTestId("find-total"))).toBe(1);
  const words = view.getByTestId("trace-window");
  const whole = Number(await words.getAttribute("data-to")) - Number(await words.getAttribute("data-from"));
  await row.click();
  await view.getByRole("grid", { name: "Calls" }).press("Enter");
  // The timeline comes to the front, here in the place of the calls.
  const timeline = page.getByTestId("timeline");
  const edge = async (name: string): Promise<number> => Number(await timeline.getAttribute(name));
  await expect.poll(async () => (await edge("data-to")) - (await edge("data-from"))).toBeLessThan(whole);
  expect(await edge("data-from")).toBeLessThanOrEqual(start);
  expect(await edge("data-to")).toBeGreaterThanOrEqual(end);
  await show(page, "Call stack");
  await expect(page.getByTestId("path-step").last()).toContainText("MPI_Send");
});

test("messages by pair are those of the command line", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 1600 });
  await open(page, "otf2/all-records", "Messages");
  const view = page.getByTestId("view-messages");
  await expect(view.getByTestId("matrix")).toBeVisible();
  await view.getByText("Pairs", { exact: true }).click();
  await expect(view.getByTestId("pair-sender").first()).toBeVisible();
  const answers = ask("messages", EVENTS);
  const [senders, receivers] = [await view.getByTestId("pair-sender").allInnerTexts(), await view.getByTestId("pair-receiver").allInnerTexts()];
  const [messages, bytes] = [await numbers(view.getByTestId("pair-messages")), await numbers(view.getByTestId("pair-bytes"))];
  const shown = senders.map((sender, at) => [sender, receivers[at], messages[at], bytes[at]]);
  expect(shown.map((row) => row.join(" ")).toSorted()).toEqual(answers.rows.map((row) => [row["sender"], row["receiver"], row["messages"], row["bytes"]].join(" ")).toSorted());
  expect(await valueOf(view.getByTestId("message-total"))).toBe(answers.rows.reduce((sum, row) => sum + Number(row["messages"]), 0));
});

test("profiles of all locations add up to the whole, and parts are omitted", async ({ page }) => {
  await open(page, "reactor/n1024-p8", "Profiles");
  const view = page.getByTestId("view-stacks");
  await expect(view.getByTestId("stack-part").first()).toBeVisible();
  const parts = await numbers(view.getByTestId("stack-part"));
  const whole = await valueOf(view.getByTestId("stack-total"));
  expect(parts.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBeCloseTo(whole ?? 0, 6);
  const flat = ask("flat", SAMPLES);
  const most = [...flat.rows].sort((a, b) => Number(b["exclusive"]) - Number(a["exclusive"]))[0];
  expect(parts[0]).toBeCloseTo(Number(most?.["exclusive"]), 6);
  // The other locations run helpers of MPI only.
  await view.getByRole("button", { name: "Helper threads excluded: show" }).click();
  await expect.poll(() => valueOf(view.getByTestId("stack-total"))).toBeGreaterThan((whole ?? 0) * 2);
  const all = ask("flat", SAMPLES, "--helpers");
  const largest = [...all.rows].sort((a, b) => Number(b["exclusive"]) - Number(a["exclusive"]))[0];
  expect((await numbers(view.getByTestId("stack-part")))[0]).toBeCloseTo(Number(largest?.["exclusive"]), 6);
  await view.getByTestId("stack-part").first().click();
  await expect(view.getByTestId("stack-part").first()).toHaveAttribute("aria-pressed", "false");
  await view.getByRole("button", { name: "Show all" }).click();
  await view.getByText("Treemap", { exact: true }).click();
  await expect(page.getByTestId("treemap")).toBeVisible();
  const cells = Number(await page.getByTestId("treemap").getAttribute("data-cells"));
  expect(cells).toBeGreaterThan(10);
  await page.getByTestId("treemap").focus();
  await page.keyboard.press("PageDown");
  await page.keyboard.press("Enter");
  await expect(view.getByTestId("crumbs")).toBeVisible();
  const steps = await view.getByTestId("crumbs").getByRole("button").count();
  for (let step = 0; step < steps; step += 1) await page.keyboard.press("Escape");
  await expect(view.getByTestId("crumbs")).toBeHidden();
});

for (const theme of ["light", "dark"] as const) {
  test.describe(theme, () => {
    test.use({ colorScheme: theme });
    test.describe.configure({ timeout: 180_000 });

    test("axe finds nothing wrong in the views of a trace", async ({ page }) => {
      await open(page, "otf2/all-records", "Statistics");
      const isClean = async (testid: string, where: string): Promise<void> => {
        const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] }).include(`[data-testid=${testid}]`);
        if (theme === "dark") axe.withRules(["color-contrast"]);
        const { violations } = await axe.analyze();
        expect(violations.flatMap((one) => one.nodes.map((node) => `${where}: ${one.id}: ${node.target.join(" ")}`))).toEqual([]);
      };
      for (const [view, testid, parts] of [
        ["Statistics", "view-statistics", ["Groups"]],
        ["Call stack", "view-node-detail", []],
        ["Find calls", "view-find", []],
        ["Messages", "view-messages", ["Sizes", "Pairs"]],
        ["Profiles", "view-stacks", ["Treemap"]],
        ["Counters", "view-counters", []],
      ] as const) {
        await show(page, view);
        const panel = page.getByTestId(testid);
        await expect(panel).toBeVisible();
        await isClean(testid, view);
        for (const part of parts) {
          await panel.getByText(part, { exact: true }).first().click();
          await isClean(testid, `${view}, ${part}`);
        }
      }
    });
  });
}
