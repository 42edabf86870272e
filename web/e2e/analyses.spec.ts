// What the analyses of an experiment show: iterations, correlations, groups, racks and the report, with the numbers of the command line.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { pick, seesTree, showView, useClassicPicker, valueOf } from "./support/app.ts";
import { ask } from "./support/cli.ts";
import { isClean } from "./support/axe.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const REACTOR = join(FIXTURES, "reactor/n1024-p8");

test.describe.configure({ timeout: 180_000 });

async function open(page: Page, path: string): Promise<void> {
  await page.goto(`?url=data/${path}/`);
  await expect(page.getByTestId("view-tree")).toBeVisible({ timeout: 60_000 });
}

/** Middle of a cell of the map, from its upper left corner. */
async function cellOf(map: Locator, location: number, iteration: number): Promise<{ x: number; y: number }> {
  const number = async (name: string): Promise<number> => Number(await map.getAttribute(`data-${name}`));
  const [left, top, wide, tall] = [await number("left"), await number("top"), await number("cell-width"), await number("cell-height")];
  return { x: left + (iteration + 0.5) * wide, y: top + (location + 0.5) * tall };
}

test("iterations are found, and one click away from the timeline and the tree", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await open(page, "reactor/n1024-p8");
  const view = await showView(page, "Iterations", "view-iterations");
  // It opens next to the other pictures, not in a column of its own.
  await expect(page.getByRole("tablist").filter({ has: page.getByRole("tab", { name: "Iterations" }) }).getByRole("tab", { name: "Flame graph" })).toBeVisible();
  const iterations = ask("iterations", REACTOR, "--by", "iteration").rows;
  const map = view.getByTestId("iterations-map");
  await expect(map).toHaveAttribute("data-iterations", String(iterations.length));
  await expect(view.getByTestId("iterations-headline")).toContainText(`${String(iterations.length)} iterations of exchange_halo`);
  await expect(view.getByTestId("iterations-headline")).toContainText("on 8 of 8 main threads");
  await expect(view.getByText("of the intervals between iteration starts are within a factor of 1.5 of the median", { exact: false })).toBeVisible();
  await view.getByTestId("iterations-headline").locator("summary").click();

  // The table is that of the command line, what saves most first.
  const contexts = ask("iterations", REACTOR).rows.filter((row) => row["total_saving_s"] !== null).sort((a, b) => Number(b["total_saving_s"]) - Number(a["total_saving_s"]));
  await expect(view.getByTestId("iterations-total_saving_s").first()).toHaveAttribute("data-value", String(contexts[0]?.["total_saving_s"]));
  await view.getByTestId("iterations-context").first().click();
  await expect(view.getByRole("combobox", { name: "Map of" })).toHaveValue(String(contexts[0]?.["context_id"]));
  await expect(map).toHaveAttribute("aria-label", /time of each location in each iteration/);

  // Hover says what is under the pointer.
  await map.hover({ position: await cellOf(map, 2, 5) });
  const tip = view.getByRole("tooltip");
  await expect(tip).toContainText("iteration 5");
  await expect(tip).toContainText("Imbalance");

  // A drag over iterations restricts all views of the trace to them.
  const box = await map.boundingBox();
  const [from, to] = [await cellOf(map, 1, 10), await cellOf(map, 1, 14)];
  await page.mouse.move((box?.x ?? 0) + from.x, (box?.y ?? 0) + from.y);
  await page.mouse.down();
  await page.mouse.move((box?.x ?? 0) + to.x, (box?.y ?? 0) + to.y, { steps: 4 });
  await page.mouse.up();
  await expect(map).toHaveAttribute("data-chosen", "10 to 14");
  await expect(view.getByTestId("iterations-chosen")).toContainText("Iterations 10 to 14");
  const statistics = await showView(page, "Statistics", "view-statistics");
  const start = Math.floor(Number(iterations[10]?.["start_s"]) * 1e9);
  await expect(statistics.getByTestId("trace-window")).toHaveAttribute("data-from", String(start));
  await view.getByRole("button", { name: "Show in the timeline" }).click();
  await expect(page.getByRole("tab", { name: "Timeline", exact: true })).toHaveAttribute("aria-selected", "true");
  await showView(page, "Iterations", "view-iterations");
  await view.getByRole("button", { name: "Whole trace" }).click();
  await expect(view.getByTestId("iterations-chosen")).toHaveCount(0);
});

test("iterations by keyboard, as tables, and clean", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await open(page, "reactor/n1024-p8");
  const view = await showView(page, "Iterations", "view-iterations");
  const map = view.getByTestId("iterations-map");
  await map.focus();
  await map.press("ArrowRight");
  await map.press("ArrowDown");
  await map.press("Enter");
  await expect(map).toHaveAttribute("data-chosen", "1 to 1");
  await map.press("Shift+ArrowRight");
  await map.press("Shift+ArrowRight");
  await expect(map).toHaveAttribute("data-chosen", "1 to 3");
  await map.press("Escape");
  await expect(map).toHaveAttribute("data-chosen", "");
  await isClean(page, "view-iterations");
  for (const [rows, table] of [["Iterations", "Iterations"], ["Locations", "Locations"]] as const) {
    await view.getByRole("radiogroup", { name: "Rows" }).getByText(rows, { exact: true }).click();
    await expect(view.getByRole("grid", { name: table })).toBeVisible();
  }
  await expect(view.getByTestId("iterations-location")).toHaveCount(8);
  await page.emulateMedia({ colorScheme: "dark" });
  await isClean(page, "view-iterations");
});

test("a program without iterations is given none, and why", async ({ page }) => {
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open folder", join(FIXTURES, "otf2/all-records"));
  await expect(page.getByTestId("view-tree")).toBeVisible({ timeout: 60_000 });
  const view = await showView(page, "Iterations", "view-iterations");
  await expect(view.getByTestId("iterations-none")).toContainText("No regular iterations");
  await expect(view.getByTestId("iterations-none")).toContainText("no context repeats at least three times at regular intervals");
  await isClean(page, "view-iterations");
});

test("correlations are those of the command line, with a scatter plot of each pair", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await open(page, "reactor/n1024-p8");
  const view = await showView(page, "Correlations", "view-correlations");
  const pairs = ask("correlate", REACTOR).rows;
  // All costs are of one metric, which the rows need not repeat.
  const short = (name: unknown): string => String(name).replace(" (REALTIME)", "");
  await expect(view.getByTestId("correlations-first").first()).toHaveText(short(pairs[0]?.["first"]));
  expect(await valueOf(view.getByTestId("correlations-pearson").first())).toBe(pairs[0]?.["pearson"]);
  expect(await valueOf(view.getByTestId("correlations-spearman_p").first())).toBe(pairs[0]?.["spearman_p"]);
  const plot = view.getByTestId("correlations-scatter");
  await expect(plot).toHaveAttribute("data-points", "8");
  await view.getByTestId("correlations-first").nth(1).click();
  await expect(plot).toHaveAttribute("aria-label", `${short(pairs[1]?.["first"])} and ${short(pairs[1]?.["second"])} at 8 locations`);
  // The function of the pair has the focus of all views.
  await expect(page.getByTestId("distribution-context")).toContainText(short(pairs[1]?.["first"]));
  await plot.focus();
  await plot.press("Home");
  await expect(view.getByRole("tooltip")).toContainText("rank");
  await isClean(page, "view-correlations");
  await view.getByTestId("correlations-with").fill("rank");
  await view.getByTestId("correlations-with").press("Enter");
  const withRank = ask("correlate", REACTOR, "--with", "rank").rows;
  await expect.poll(() => valueOf(view.getByTestId("correlations-pearson").first())).toBe(withRank[0]?.["pearson"]);
  await page.emulateMedia({ colorScheme: "dark" });
  await isClean(page, "view-correlations");
});

test("idle GPUs are blamed on what threads do meanwhile, as the command line does", async ({ page }, info) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await useClassicPicker(page);
  const path = info.outputPath("train.json");
  const name = (pid: number, tid: number | null, kind: string, text: string): object => ({ ph: "M", name: kind, pid, ...(tid === null ? {} : { tid }), args: { name: text } });
  const call = (pid: number, tid: number, what: string, ts: number, dur: number): object => ({ ph: "X", name: what, pid, tid, ts, dur });
  const events = [
    name(700, null, "process_name", "python"), name(0, null, "process_name", "GPU 0"), name(0, 7, "thread_name", "stream 7"),
    call(700, 700, "train", 0, 100_000), call(700, 700, "load", 10_000, 40_000), call(0, 7, "saxpy", 60_000, 30_000),
  ];
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents: events }));
  await page.goto("");
  await pick(page, "Open files", path);
  await expect(page.getByTestId("view-timeline")).toBeVisible({ timeout: 60_000 });
  const view = await showView(page, "GPU idle time", "view-idle-gpus");
  const rows = ask("idleness", path, "--blame").rows;
  expect(rows.map((row) => row["idle"])).toEqual([0.04, 0.03]);
  await expect(view.getByTestId("idle-gpus-call_path")).toHaveText(rows.map((row) => String(row["call_path"]).split(" > ").join(" › ")));
  expect(await valueOf(view.getByTestId("idle-gpus-idle").first())).toBe(rows[0]?.["idle"]);
  await expect(view.getByTestId("idle-gpus-sentence")).toContainText("for 57.1 % of it");
  // A call that is chosen has the focus of all views.
  await view.getByTestId("idle-gpus-call_path").first().click();
  const locations = await showView(page, "Locations", "view-distribution");
  await expect(locations.getByTestId("distribution-context")).toContainText("load");
  await showView(page, "GPU idle time", "view-idle-gpus");
  await isClean(page, "view-idle-gpus");
  await page.emulateMedia({ colorScheme: "dark" });
  await isClean(page, "view-idle-gpus");
});

test("planted slow nodes are a group of their own, and stand where a host table says", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await open(page, "congested");
  const groups = await showView(page, "Clusters", "view-groups");
  await expect(groups.getByTestId("groups-findings")).toContainText("2 clusters: 72 locations");
  await expect(groups.getByTestId("groups-scatter")).toHaveAttribute("data-points", "96");
  await groups.getByTestId("groups-scatter").focus();
  await groups.getByTestId("groups-scatter").press("End");
  await expect(groups.getByRole("tooltip")).toContainText("cluster");
  await isClean(page, "view-groups");
  for (const part of ["Distribution", "Numbers"]) {
    await groups.getByText(part, { exact: true }).click();
    await isClean(page, "view-groups");
  }
  const racks = await showView(page, "Racks", "view-racks");
  await expect(page.getByRole("tablist").filter({ has: page.getByRole("tab", { name: "Racks" }) }).getByRole("tab", { name: "Clusters" })).toBeVisible();
  await expect(racks.getByText("96 nodes, racks unknown")).toBeVisible();
  await racks.getByTestId("racks-files").setInputFiles(join(FIXTURES, "congested/hosts.csv"));
  await expect(racks.getByTestId("racks-map")).toBeVisible();
  await expect(racks.getByTestId("racks-findings")).toContainText("all nodes of 2 chassis");
  await expect(racks.locator("[role=option][data-group='2']")).toHaveCount(24);
  await racks.getByTestId("racks-map").focus();
  await racks.getByTestId("racks-map").press("End");
  await expect(racks.getByTestId("racks-active")).toContainText("x4102");
  // What runs on a node is marked in all views, by click as by key.
  await racks.getByTestId("racks-map").press("Enter");
  const marked = racks.locator("[data-node][aria-selected=true]");
  await expect(marked).toHaveCount(1);
  await racks.locator("[role=option][data-group='2']").first().click();
  await expect(marked).toHaveAttribute("data-group", "2");
  await racks.locator("[role=option][data-group='2']").nth(1).click({ modifiers: ["Control"] });
  await expect(marked).toHaveCount(2);
  await isClean(page, "view-racks");
  await racks.getByText("Value", { exact: true }).click();
  await page.emulateMedia({ colorScheme: "dark" });
  await isClean(page, "view-racks");
});

test("the report has the top findings, and leads to where they are", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  await page.goto("?sample=reactor-run");
  await seesTree(page);
  const report = await showView(page, "Report", "view-report");
  const findings = report.getByTestId("finding");
  await expect(findings.first()).toBeVisible();
  await findings.first().locator("summary").click();
  await expect(findings.first().locator("dd").first()).toBeVisible();
  await isClean(page, "view-report");
  // A button leads to the view that shows it, with the context that it is about.
  const named = findings.filter({ has: page.getByRole("button", { name: "Show over locations" }) }).first();
  await named.getByRole("button", { name: "Show over locations" }).click();
  await expect(page.getByRole("tab", { name: "Locations", exact: true })).toHaveAttribute("aria-selected", "true");
  await expect(page.getByTestId("distribution-context")).not.toContainText("whole execution");
});
