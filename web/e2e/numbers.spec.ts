// Every number on screen is the number that the command line gives for the same question: the same
// 64 bits, not the same rounded text.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { card, ensembleFolder, pick, seesMaps, seesTree, treeRow, useClassicPicker, valueOf } from "./support/app.ts";
import { ask, type CliTable } from "./support/cli.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const DATABASE = join(FIXTURES, "reactor/n1024-p8");
const MAPS = [["efficiency", "efficiency"], ["scalability", "scalability_abs"], ["strong", "strong_abs"], ["weak", "weak_abs"]] as const;

/** Rows of a table by one of its columns. */
function by(table: CliTable, column: string): Map<string, CliTable["rows"][number]> {
  return new Map(table.rows.map((row) => [String(row[column]), row]));
}

/** All rows of a virtual table: those on screen, page by page. */
async function allRows<T>(page: Page, table: string, read: (row: Element) => T): Promise<T[]> {
  const grid = page.getByRole("treegrid", { name: table }).or(page.getByRole("grid", { name: table })).or(page.getByRole("table", { name: table })).first();
  const found = new Map<number, T>();
  await grid.evaluate((element) => { element.scrollTop = 0; });
  for (;;) {
    // Rows are drawn in the frame after a scroll.
    await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => { requestAnimationFrame(resolve); }); }));
    const some = await grid.locator("[role=row]").evaluateAll(
      (rows, source) => {
        const reader = (new Function(`return (${source})`) as () => (row: Element) => unknown)();
        return rows.filter((row) => row.querySelector("[role=columnheader]") === null).map((row) => [Number(row.getAttribute("aria-rowindex")), reader(row)] as const);
      },
      read.toString(),
    );
    for (const [at, row] of some) found.set(at, row as T);
    const isEnd = await grid.evaluate((element) => {
      const before = element.scrollTop;
      element.scrollTop += element.clientHeight * 0.8;
      return element.scrollTop === before;
    });
    if (isEnd) return [...found].sort(([a], [b]) => a - b).map(([, row]) => row);
  }
}

const readCosts = (row: Element): { id: string; name: string; costs: (string | null)[] } => ({
  id: row.querySelector("[data-context]")?.getAttribute("data-context") ?? "",
  name: row.querySelector("[data-testid=context-name]")?.textContent?.trim() ?? "",
  costs: [...row.querySelectorAll(".number")].map((cell) => cell.getAttribute("data-value")),
});

async function expectMaps(page: Page, region: string, answers: CliTable): Promise<void> {
  const rows = answers.rows.filter((row) => row["region"] === region);
  expect(rows.length).toBeGreaterThan(0);
  const inputs = [...new Set(rows.map((row) => row["input"]))];
  for (const [kind, column] of MAPS) {
    const cells = await card(page, region).locator(`[data-testid="map-${kind}"]`).getByTestId("map-cell").evaluateAll((all) => all.map((cell) => ({ row: cell.getAttribute("data-row"), column: cell.getAttribute("data-column"), value: cell.getAttribute("data-value") })));
    expect(cells, `${kind} of region ${region}`).toHaveLength(rows.length);
    for (const cell of cells) {
      const input = inputs[Number(cell.column?.replace(/^i/, "")) - 1];
      const row = rows.find((one) => String(one["cores"]) === cell.row && one["input"] === input);
      expect(cell.value === "" ? null : Number(cell.value), `${kind} of region ${region}, ${String(cell.row)} cores, ${String(input)}`).toBe(row?.[column]);
    }
  }
}

test("all rows of the calling context tree", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 3000 });
  await page.goto("?url=data/reactor/n1024-p8/");
  await seesTree(page);
  const tree = page.getByRole("treegrid", { name: "Calling context tree" });
  // Close the program's threads and open everything below the main one.
  await treeRow(page, "<main thread>").click();
  await tree.press("*");
  const rows = await allRows(page, "Calling context tree", readCosts);
  const answers = by(ask("tree", DATABASE), "context_id");
  expect(rows.length).toBeGreaterThan(100);
  for (const { id, name, costs } of rows) {
    const answer = answers.get(id);
    expect({ name, costs: costs.map(Number) }, `context ${id}`).toEqual({ name: answer?.["name"], costs: [answer?.["inclusive"], answer?.["exclusive"]] });
  }
  expect(await valueOf(page.getByTestId("view-tree").getByTestId("total"))).toBeCloseTo(totalOf(answers), 9);
});

/** What the entries cost together. */
function totalOf(rows: Map<string, CliTable["rows"][number]>): number {
  let sum = 0;
  for (const row of rows.values()) if (row["depth"] === 0) sum += Number(row["inclusive"]);
  return sum;
}

test("all rows of the flat view", async ({ page }) => {
  await page.goto("?url=data/reactor/n1024-p8/");
  await seesTree(page);
  await page.getByRole("tab", { name: "Flat" }).click();
  await expect(page.getByTestId("view-flat").getByTestId("context-name").first()).toBeVisible();
  const rows = await allRows(page, "Flat profile by function", readCosts);
  const answers = ask("flat", DATABASE);
  expect(rows).toHaveLength(answers.rows.length);
  const known = answers.rows.map((row) => JSON.stringify([row["name"], row["inclusive"], row["exclusive"]])).sort();
  const header = await page.getByTestId("view-flat").getByRole("columnheader").allInnerTexts();
  const isInclusiveFirst = header.findIndex((text) => text.includes("incl")) < header.findIndex((text) => text.includes("excl"));
  const shown = rows.map(({ name, costs }) => {
    const [first, second] = [Number(costs[0]), Number(costs[1])];
    return JSON.stringify(isInclusiveFirst ? [name, first, second] : [name, second, first]);
  });
  expect(shown.sort()).toEqual(known);
});

test("the distribution of a context over its locations", async ({ page }) => {
  await page.goto("?url=data/reactor/n1024-p8/");
  await seesTree(page);
  await page.getByTestId("view-tree").getByTestId("search").fill("react");
  await page.getByTestId("view-tree").getByRole("button", { name: "Match whole words" }).click();
  await page.keyboard.press("Tab");
  await page.getByTestId("view-tree").getByTestId("search").press("Enter");
  await treeRow(page, "react").click();
  await expect(page.getByTestId("distribution-context")).toHaveText("react");
  const id = await treeRow(page, "react").getByTestId("context-name").getAttribute("data-context");
  const values = ask("distribution", DATABASE, "--context", id ?? "").rows.map((row) => Number(row["value"]));
  const ordered = [...values].sort((a, b) => a - b);
  const view = page.getByTestId("view-distribution");
  expect(await valueOf(view.getByTestId("statistic-max"))).toBe(ordered.at(-1));
  expect(await valueOf(view.getByTestId("statistic-min"))).toBe(ordered[0]);
  const download = page.waitForEvent("download");
  await view.getByRole("button", { name: "Download" }).click();
  await page.getByRole("menuitem").filter({ hasText: "csv" }).first().click();
  const lines = readFileSync(await (await download).path(), "utf8").trim().split("\n").map((line) => line.split(","));
  const column = lines[0]?.findIndex((name) => name.startsWith("value") || name.includes("REALTIME")) ?? -1;
  expect(lines.slice(1).map((line) => Number(line[column])).sort((a, b) => a - b)).toEqual(ordered);
});

test("all cells of the maps of an ensemble of databases", async ({ page }, info) => {
  await useClassicPicker(page);
  await page.goto("");
  const folder = ensembleFolder(info.outputPath());
  await pick(page, "Open folder", folder);
  await seesMaps(page);
  const answers = ask("scaling", folder);
  const shown = await page.getByTestId("map-card").evaluateAll((all) => all.map((one) => one.getAttribute("data-region") ?? ""));
  expect(shown).toHaveLength(2);
  for (const region of shown) await expectMaps(page, region, answers);
});

test("all cells of the maps of a PaScal file, absolute and relative", async ({ page }) => {
  await page.goto("?sample=pascal-solver");
  await seesMaps(page);
  const answers = ask("scaling", join(FIXTURES, "pascal/solver-v1.json"));
  await expectMaps(page, "0", answers);
  await expectMaps(page, "1.2.5", answers);
  await page.getByRole("radiogroup", { name: "Differences" }).getByText("Relative").click();
  const strong = card(page, "1.2.5").locator('[data-testid="map-strong"] [data-testid="map-cell"][data-row="8"][data-column="i3"]');
  const row = answers.rows.find((one) => one["region"] === "1.2.5" && one["cores"] === 8 && one["input"] === "4000");
  await expect.poll(() => valueOf(strong)).toBe(row?.["strong_rel"]);
  // What the file was made with: a serial region on 16 cores, a region whose slowest thread has 1.6 times the mean.
  const efficiency = (region: string): CliTable["rows"][number] | undefined => answers.rows.find((one) => one["region"] === region && one["cores"] === 16 && one["input"] === "16000");
  expect(Number(efficiency("1.2.5")?.["efficiency"])).toBeCloseTo(1 / 16, 4);
  expect(Number(efficiency("1.2.3")?.["efficiency"])).toBeCloseTo(1 / 1.6, 4);
  expect(Number(efficiency("1.2.4")?.["efficiency"])).toBeCloseTo(1, 4);
});

test("losses, shares and the verdict of an ensemble", async ({ page }) => {
  await page.goto("?sample=pascal-solver");
  await seesMaps(page);
  const losses = by(ask("scaling", join(FIXTURES, "pascal/solver-v1.json"), "--table", "losses"), "region");
  const shown = await page.getByTestId("verdict-loss").evaluateAll((all) => all.map((one) => [one.getAttribute("data-region") ?? "", Number(one.getAttribute("data-value"))] as const));
  expect(shown.length).toBeGreaterThan(3);
  for (const [region, loss] of shown) expect(loss, `own loss of region ${region}`).toBe(losses.get(region)?.["own_loss"]);
  expect(shown[0]?.[0]).toBe("1.2.5");
});

test("a comparison of two versions", async ({ page }) => {
  await page.goto("?sample=pascal-compare");
  await seesMaps(page);
  await page.getByRole("tab", { name: "Compare" }).click();
  const view = page.getByTestId("scaling-compare");
  await expect(view.getByTestId("map-cell").first()).toBeVisible();
  // What is shown is the new version, the other one the old.
  const answers = ask("compare", join(FIXTURES, "pascal/solver-v2.json"), join(FIXTURES, "pascal/solver-v1.json"));
  const counts = await view.getByRole("row").filter({ has: page.locator(".count") }).evaluateAll((rows) =>
    rows.map((row) => [...row.querySelectorAll(".count")].map((cell) => Number(cell.getAttribute("data-value")))));
  const regions = [...new Set(answers.rows.map((row) => row["region"]))].slice(0, counts.length);
  const counted = (region: unknown, change: string): number => answers.rows.filter((row) => row["region"] === region && row["change"] === change).length;
  expect(counts.length).toBeGreaterThan(3);
  expect(counts).toEqual(regions.map((region) => [counted(region, "slower"), counted(region, "faster")]));
  await view.getByLabel("Show").selectOption("Efficiency");
  const cells = view.getByTestId("map-cell");
  for (const row of answers.rows.filter((one) => one["region"] === "0")) {
    const column = `i${String(["1000", "2000", "4000", "8000", "16000"].indexOf(String(row["input"])) + 1)}`;
    const cell = cells.and(page.locator(`[data-row="${String(row["cores"])}"][data-column="${column}"]`));
    expect(await valueOf(cell), `${String(row["cores"])} cores, ${column}`).toBe(row["efficiency"]);
  }
});
