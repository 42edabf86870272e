// Two runs over each other: aligned by iteration and by a call, and what each iteration takes more or less.
import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page, TestInfo } from "@playwright/test";
import { command, pick, stateInAddress, useClassicPicker, valueOf } from "./support/app.ts";
import { ask } from "./support/cli.ts";
import { expect, test } from "./support/test.ts";
import { MADE, writeTrace } from "./support/trace.ts";

test.describe.configure({ timeout: 120_000 });

/** The round of the second run that takes longer, and by how much. */
const SLOW = 7;
const MORE_MICROS = 400;
/** When the first round begins to solve: the iterations that are found begin with it. */
const FIRST_NS = 50_000;
const ROUND_NS = MADE.roundMicros * 1000;

interface Files {
  readonly first: string;
  readonly second: string;
}

/** Opens two made runs, of which the second one is slower in one round, and shows the view that compares them. */
async function open(page: Page, info: TestInfo, second: Parameters<typeof writeTrace>[1] = { longerMicros: (round) => (round === SLOW ? MORE_MICROS : 0) }): Promise<Files> {
  const files = { first: info.outputPath("first.json"), second: info.outputPath("second.json") };
  writeTrace(files.first);
  writeTrace(files.second, second);
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open files", [files.first, files.second]);
  // Two runs of one program are an ensemble; its first member is looked at.
  await page.getByRole("button", { name: "first.json – 2 experiments" }).click();
  await page.getByRole("menuitemcheckbox").filter({ hasText: "Experiment ·" }).first().click();
  // Commands of a trace are there once its desk is.
  const tab = page.getByRole("tab", { name: "Compare runs" });
  await expect(tab).toBeVisible();
  await expect(page.getByTestId("timeline")).toBeVisible();
  await command(page, "Show Compare runs");
  await expect(tab).toHaveAttribute("aria-selected", "true");
  await expect(view(page).getByTestId("compare-strips")).toBeVisible();
  return files;
}

const view = (page: Page): Locator => page.getByTestId("view-trace-compare");
const rows = (page: Page): Locator => view(page).getByRole("grid", { name: "Differences by iteration" }).locator("[role=row]").filter({ has: page.getByTestId("iteration-number") });

async function align(page: Page, by: "Starts" | "A call" | "Iterations"): Promise<void> {
  await view(page).getByRole("radiogroup", { name: "Align" }).getByText(by, { exact: true }).click();
}

async function numbers(page: Page, column: string): Promise<readonly (number | null)[]> {
  return view(page).getByTestId(`iteration-${column}`).evaluateAll((all) => all.map((one) => { const value = Number(one.getAttribute("data-value")); return Number.isNaN(value) ? null : value; }));
}

/** Lengths of the iterations of a run, as the command line says them. */
function lengths(file: string): readonly number[] {
  return ask("iterations", file, "--by", "iteration").rows.map((row) => Number(row["length_s"]));
}

/** Sorts by the difference; the first click puts what this run takes more first. */
async function sortByLess(page: Page): Promise<void> {
  const head = view(page).getByRole("columnheader", { name: /^This − other \(µs\)/ });
  await head.getByRole("button").click();
  await expect(head).toHaveAttribute("aria-sort", "descending");
  await head.getByRole("button").click();
  await expect(head).toHaveAttribute("aria-sort", "ascending");
}

async function shows(page: Page, fromNs: number, toNs: number): Promise<void> {
  const strips = view(page).getByTestId("compare-strips");
  await expect(strips).toHaveAttribute("data-from", String(fromNs));
  await expect(strips).toHaveAttribute("data-to", String(toNs));
}

test("the planted difference is that of its iteration, and all lengths are those of the command line", async ({ page }, info) => {
  await page.setViewportSize({ width: 1280, height: 1200 });
  const files = await open(page, info);
  await align(page, "Iterations");
  await expect(rows(page)).toHaveCount(MADE.rounds);
  const [before, after] = [await numbers(page, "before"), await numbers(page, "after")];
  expect(before).toEqual(lengths(files.second));
  expect(after).toEqual(lengths(files.first));
  const seconds = await numbers(page, "seconds");
  seconds.forEach((value, round) => { expect(value).toBeCloseTo(round === SLOW ? -MORE_MICROS / 1e6 : 0, 12); });
  const said = view(page).getByTestId("compare-sum");
  await expect(said).toContainText(`This run takes 400.0\u202fµs less`);
  await expect(said).toContainText(`iteration ${String(SLOW)} differs most: 1.000\u202fms instead of 1.400\u202fms, 400.0\u202fµs less (\u221228.6\u202f%)`);
  await expect(said).toContainText("Iterations begin with solve in both runs.");
  // What this run takes less first.
  await sortByLess(page);
  await expect(rows(page).first().getByTestId("iteration-number")).toHaveAttribute("data-value", String(SLOW));
});

test("a click shows an iteration in both runs; the tip tells the other run's own time; undo, link and reload keep it", async ({ page }, info) => {
  await page.setViewportSize({ width: 1280, height: 1440 });
  await open(page, info);
  await align(page, "Iterations");
  await rows(page).nth(SLOW).click();
  const from = FIRST_NS + SLOW * ROUND_NS;
  await shows(page, from, from + ROUND_NS);
  await expect(rows(page).nth(SLOW)).toHaveAttribute("aria-selected", "true");
  await expect(view(page)).toContainText("its window is 7.050\u202fms to 8.450\u202fms");
  // In the middle of the iteration, halfway down the other run: half of 1.4 ms after its begin.
  const strips = view(page).getByTestId("compare-strips");
  const box = await strips.boundingBox();
  if (box === null) throw new Error("no strips");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.8);
  const other = view(page).getByTestId("compare-other-time");
  await expect(other).toBeVisible();
  const pixelNs = (ROUND_NS + MORE_MICROS * 1000) / box.width;
  expect(Math.abs((await valueOf(other) ?? 0) - (from + (ROUND_NS + MORE_MICROS * 1000) / 2))).toBeLessThanOrEqual(pixelNs);
  expect(Math.abs((await valueOf(view(page).getByTestId("compare-own-time")) ?? 0) - (from + ROUND_NS / 2))).toBeLessThanOrEqual(pixelNs);
  await expect(view(page).getByTestId("compare-iteration")).toHaveText(String(SLOW));
  await page.mouse.move(2, 2);

  const before = page.url();
  await rows(page).nth(2).click();
  await shows(page, FIRST_NS + 2 * ROUND_NS, FIRST_NS + 3 * ROUND_NS);
  await page.keyboard.press("Control+Z");
  await shows(page, from, from + ROUND_NS);
  await page.keyboard.press("Control+Shift+Z");
  await shows(page, FIRST_NS + 2 * ROUND_NS, FIRST_NS + 3 * ROUND_NS);
  // The alignment, the iteration and the order of rows come back with the page.
  await sortByLess(page);
  await expect(rows(page).first().getByTestId("iteration-number")).toHaveAttribute("data-value", String(SLOW));
  await stateInAddress(page, before);
  await page.reload();
  await expect(rows(page).first().getByTestId("iteration-number")).toHaveAttribute("data-value", String(SLOW));
  await shows(page, FIRST_NS + 2 * ROUND_NS, FIRST_NS + 3 * ROUND_NS);
});

test("bars and rows choose iterations by keyboard", async ({ page }, info) => {
  await page.setViewportSize({ width: 1280, height: 1440 });
  await open(page, info);
  await align(page, "Iterations");
  const bars = view(page).getByTestId("value-plot");
  await expect(bars).toHaveAttribute("data-count", String(MADE.rounds));
  await bars.focus();
  await bars.press("Home");
  for (let step = 0; step < SLOW; step += 1) await bars.press("ArrowRight");
  expect(await valueOf(bars.getByTestId("plot-value"))).toBeCloseTo(-MORE_MICROS / 1e6, 12);
  await bars.press("Enter");
  await shows(page, FIRST_NS + SLOW * ROUND_NS, FIRST_NS + (SLOW + 1) * ROUND_NS);
  // Two iterations with Shift.
  await bars.press("Shift+ArrowRight");
  await shows(page, FIRST_NS + SLOW * ROUND_NS, FIRST_NS + (SLOW + 2) * ROUND_NS);
  await expect(rows(page).and(page.locator("[aria-selected=true]"))).toHaveCount(2);
  const table = view(page).getByRole("grid", { name: "Differences by iteration" });
  await table.focus();
  await table.press("Home");
  await table.press("Enter");
  await shows(page, FIRST_NS, FIRST_NS + ROUND_NS);
  // The other alignments have no iterations.
  await align(page, "Starts");
  await expect(table).toBeHidden();
  await expect(view(page).getByRole("grid", { name: "Differences by function" })).toBeVisible();
});

test("iterations without a counterpart are named and not counted", async ({ page }, info) => {
  await page.setViewportSize({ width: 1280, height: 1440 });
  await open(page, info, { rounds: MADE.rounds + 2 });
  await align(page, "Iterations");
  await expect(rows(page)).toHaveCount(MADE.rounds + 2);
  const said = view(page).getByTestId("compare-sum");
  await expect(said).toContainText(`in the ${String(MADE.rounds)} iterations that both runs have`);
  await expect(said).toContainText("This run has 10 iterations, the other one 12: iterations 10 to 11 of the other run have no counterpart.");
  await expect(rows(page).last()).toContainText("only in the other run");
  expect((await numbers(page, "seconds")).slice(-2)).toEqual([null, null]);
});

test("where one run has no iterations, it says so and offers another alignment", async ({ page }, info) => {
  await open(page, info, { rounds: 1 });
  await align(page, "Iterations");
  await expect(view(page)).toContainText("The runs cannot be aligned by iteration");
  await expect(view(page)).toContainText("The other run has none:");
  await view(page).getByRole("button", { name: "Align a call", exact: true }).click();
  await expect(view(page).getByTestId("compare-strips")).toBeVisible();
  // Only what both runs have can be aligned.
  const functions = view(page).getByRole("combobox", { name: "Function" });
  expect((await functions.locator("option").allTextContents()).map((text) => text.trim()).sort()).toEqual(["MPI_Send()", "main", "solve"]);
});

test("what begins iterations in one run can be named for both", async ({ page }, info) => {
  // Two rounds out of ten that differ are too many to be found by themselves.
  const more = (round: number): number => (round === SLOW ? MORE_MICROS : round === 3 ? -150 : 0);
  await open(page, info, { longerMicros: more });
  await align(page, "Iterations");
  await view(page).getByRole("button", { name: "Use marker solve in both", exact: true }).click();
  await expect(view(page).getByTestId("compare-sum")).toContainText("takes 250.0\u202fµs less");
  await expect(view(page).getByTestId("compare-marker")).toHaveValue("function(solve)");
  await page.keyboard.press("Control+Z");
  await expect(view(page)).toContainText("The runs cannot be aligned by iteration");
});

test("a call that begins later in the other run is put over that of this run", async ({ page }, info) => {
  await open(page, info);
  await align(page, "A call");
  await view(page).getByRole("combobox", { name: "Function" }).selectOption({ label: "solve" });
  // Calls of all ranks come in order of time: the ninth of the first rank is the first after all eight rounds before.
  await view(page).getByRole("spinbutton", { name: "Number of the call" }).fill(String(MADE.ranks * (SLOW + 1) + 1));
  await view(page).getByRole("spinbutton", { name: "Number of the call" }).press("Enter");
  await expect(view(page)).toContainText("The other run is shown 400.0\u202fµs earlier than recorded");
});

for (const theme of ["light", "dark"] as const) {
  test(`axe finds nothing wrong in runs aligned by iteration, ${theme}`, async ({ page }, info) => {
    await page.emulateMedia({ colorScheme: theme });
    await open(page, info);
    await align(page, "Iterations");
    await rows(page).nth(SLOW).click();
    await shows(page, FIRST_NS + SLOW * ROUND_NS, FIRST_NS + (SLOW + 1) * ROUND_NS);
    const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] }).include("[data-testid=view-trace-compare]");
    if (theme === "dark") axe.withRules(["color-contrast"]);
    const { violations } = await axe.analyze();
    expect(violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}`))).toEqual([]);
  });
}
