// User events: the numbers of the command line, by event, context and location, and what the view shares with others.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { pick, showView, stateInAddress, useClassicPicker } from "./support/app.ts";
import { isClean } from "./support/axe.ts";
import { ask, binary, type CliTable } from "./support/cli.ts";
import { expect, test } from "./support/test.ts";

test.describe.configure({ timeout: 120_000 });

const NUMBERS = ["count", "sum", "mean", "min", "max", "std_dev", "locations"] as const;

/** A user event in a profile: name and values. */
type Event = readonly [name: string, values: readonly number[]];

/** The profile of a thread as TAU writes it: three functions, one call path, and its user events. */
function profile(events: readonly Event[]): string {
  const timers = ["main", "solve", "write", "main => solve", "main => solve => write"];
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  const line = ([name, values]: Event): string =>
    `"${name}" ${String(values.length)} ${String(Math.max(...values))} ${String(Math.min(...values))} ${String(sum(values) / values.length)} ${String(sum(values.map((value) => value * value)))}`;
  return [
    `${String(timers.length)} templated_functions_MULTI_TIME`,
    "# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>",
    ...timers.map((name) => `"${name}" 1 1 1000000 3000000 0 GROUP="TAU_USER" `),
    "0 aggregates", `${String(events.length)} userevents`, "# eventname numevents max min mean sumsqr", ...events.map(line), "",
  ].join("\n");
}

/** Two coupled programs: four threads that send and write, and one that only reads. */
function workflow(place: string): string {
  const folder = (name: string, profiles: Readonly<Record<string, readonly Event[]>>): string => {
    mkdirSync(join(place, name), { recursive: true });
    for (const [file, events] of Object.entries(profiles)) writeFileSync(join(place, name, file), profile(events));
    return join(place, name);
  };
  const sends = (scale: number): readonly Event[] => [
    ["Message size sent", [8, 8, 64 * scale, 4096]],
    ["Message size sent : main => solve", [8, 64 * scale]],
    ["Message size sent : main => solve => write", [4096]],
    ["Bytes written : main => solve => write", [1000 * scale, 3000]],
    ["Bytes written", [1000 * scale, 3000]],
    ["Heap in use (KB)", [500, 520 + scale]],
  ];
  const md = folder("md", { "profile.0.0.0": sends(1), "profile.0.0.1": sends(2), "profile.1.0.0": sends(3), "profile.1.0.1": sends(4) });
  const viz = folder("viz", { "profile.0.0.0": [["Message size sent", [16, 32]], ["Heap in use (KB)", [90]]] });
  const merged = join(place, "coupled.json");
  execFileSync(binary(), ["convert", md, viz, merged, "--quiet"]);
  return merged;
}

async function open(page: Page, path: string): Promise<Locator> {
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open files", path);
  await expect(page.getByTestId("view-tree")).toBeVisible({ timeout: 45_000 });
  return showView(page, "User events", "view-user-events");
}

/** The rows on screen, unrounded. */
function rows(view: Locator): Promise<readonly { name: string; context: number | null; numbers: (number | null)[] }[]> {
  return view.locator("[role=row]").evaluateAll((all, names) =>
    all.flatMap((row) => {
      const name = row.querySelector("[data-testid=event-name]");
      if (name === null) return [];
      const context = name.getAttribute("data-context");
      const numbers = names.map((column) => {
        const value = Number(row.querySelector(`[data-testid=event-${column}]`)?.getAttribute("data-value"));
        return Number.isNaN(value) ? null : value;
      });
      return [{ name: name.textContent, context: context === null ? null : Number(context), numbers }];
    }), NUMBERS);
}

const numbersOf = (row: CliTable["rows"][number] | undefined): unknown[] => NUMBERS.map((column) => row?.[column] ?? null);

test("events and their contexts have the numbers of the command line, for all locations and for some", async ({ page }, info) => {
  const path = workflow(info.outputPath("run"));
  const view = await open(page, path);
  const agrees = async (...words: readonly string[]): Promise<void> => {
    const events = ask("user-events", path, ...words).rows;
    const contexts = ask("user-events", path, "--by", "context", ...words).rows;
    await expect(async () => {
      const found = await rows(view);
      const heads = found.filter(({ name }) => events.some((row) => row["event"] === name));
      expect(heads.map(({ name, numbers }) => [name, numbers])).toEqual(events.map((row) => [row["event"], numbersOf(row)]));
      const below = found.filter((row) => !heads.includes(row));
      expect(below.map(({ context, numbers }) => [context, numbers])).toEqual(contexts.map((row) => [row["context_id"], numbersOf(row)]));
    }).toPass({ timeout: 15_000 });
  };
  const grid = view.getByRole("treegrid", { name: "User events" });
  await expect(grid.getByRole("row").nth(1)).toBeVisible();
  // Open all: star opens what is below the current row.
  await grid.focus();
  for (const event of ask("user-events", path).rows) {
    await grid.getByRole("row").filter({ has: page.getByText(String(event["event"]), { exact: true }) }).first().click();
    await page.keyboard.press("ArrowRight");
  }
  await agrees();
  await view.getByTestId("locations-choice").fill("application(0).rank(1)");
  await page.keyboard.press("Enter");
  await agrees("--profiles", "application(0).rank(1)");
});

test("an event has a bar for each location, by component; marks are shared, and restrict what counts", async ({ page }, info) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const path = workflow(info.outputPath("run"));
  const view = await open(page, path);
  await expect(view.getByTestId("event-chosen")).toHaveText("Message size sent");
  const bars = view.getByTestId("stack-bars");
  // Five locations below the heads of two components.
  await expect(bars).toHaveAttribute("data-rows", "7");
  await view.getByLabel("Group").selectOption({ label: "No groups" });
  await expect(bars).toHaveAttribute("data-rows", "5");
  await view.getByLabel("Bars").selectOption({ label: "Mean" });
  await view.getByLabel("Order").selectOption({ label: "Largest first" });
  const each = ask("user-events", path, "--by", "location", "--event", "Message size sent").rows;
  const largest = [...each].sort((a, b) => Number(b["mean"]) - Number(a["mean"]))[0];
  await bars.focus();
  await page.keyboard.press("ArrowDown");
  await expect(view.locator("[aria-live=polite]").last()).toContainText(String(largest?.["label"]));
  await page.keyboard.press("Enter");
  await view.getByTestId("event-marked").click();
  const only = ask("user-events", path, "--profiles", `profile(${String(largest?.["location"])})`).rows;
  await expect.poll(async () => (await rows(view)).map(({ numbers }) => numbers)).toEqual(only.map(numbersOf));
  await expect(bars).toHaveAttribute("data-rows", "1");
});

test("a context that is chosen by keyboard is that of all views; a text finds contexts; a reload keeps both", async ({ page }, info) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const path = workflow(info.outputPath("run"));
  const view = await open(page, path);
  const before = page.url();
  await view.getByTestId("event-find").fill("write");
  // By keyboard: down to the contexts of the first event that is left.
  const grid = view.getByRole("treegrid", { name: "User events" });
  const written = grid.getByRole("row").filter({ has: page.getByText("write", { exact: true }) }).first();
  await expect(written).toBeVisible();
  await grid.focus();
  await page.keyboard.press("Home");
  for (let step = 0; step < 4 && (await written.getAttribute("class"))?.includes("active") !== true; step += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(view.getByTestId("event-chosen")).toContainText(" in write");
  await expect(page.getByTestId("distribution-context")).toHaveText("write");
  await stateInAddress(page, before);
  await expect(written).toHaveAttribute("aria-selected", "true");
  await page.reload();
  await expect(view.getByTestId("event-chosen")).toContainText(" in write", { timeout: 45_000 });
  await expect(view.getByTestId("event-find")).toHaveValue("write");
  await expect(written).toHaveAttribute("aria-selected", "true");
  await view.getByTestId("event-find").fill("no such event");
  await expect(view.getByText("No event or call matches")).toBeVisible();
});

test("the file has every event and context as the command line gives them", async ({ page }, info) => {
  const path = workflow(info.outputPath("run"));
  const view = await open(page, path);
  await expect(view.getByTestId("event-chosen")).toBeVisible();
  const download = page.waitForEvent("download");
  await view.getByRole("button", { name: "Download" }).first().click();
  await page.getByRole("menuitem", { name: /Numbers/ }).click();
  const text = readFileSync(await (await download).path(), "utf8").trim().split("\r\n");
  const events = ask("user-events", path).rows;
  const contexts = ask("user-events", path, "--by", "context").rows;
  expect(text).toHaveLength(1 + events.length + contexts.length);
  for (const row of [...events, ...contexts]) {
    const values = NUMBERS.map((name) => row[name] ?? "").join(",");
    expect(text.some((line) => line.startsWith(String(row["event"])) && line.endsWith(`,${values}`)), `${String(row["event"])}: ${values}`).toBe(true);
  }
});

for (const theme of ["light", "dark"] as const) {
  test(`axe finds nothing wrong in user events, ${theme}`, async ({ page }, info) => {
    await page.emulateMedia({ colorScheme: theme });
    const view = await open(page, workflow(info.outputPath("run")));
    await expect(view.getByTestId("event-chosen")).toBeVisible();
    await isClean(page, "view-user-events");
  });
}

test("experiments without user events do not offer the view", async ({ page }) => {
  await page.goto("?url=data/reactor/n1024-p8/");
  await expect(page.getByTestId("view-tree")).toBeVisible({ timeout: 45_000 });
  await page.keyboard.press("Control+K");
  await page.getByRole("combobox", { name: "Find a command" }).fill("Show User events");
  await expect(page.getByRole("option", { name: /Show User events/ })).toHaveCount(0);
});
