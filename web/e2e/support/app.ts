import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { expect, FIXTURES } from "./test.ts";

/** The runs that become one ensemble; next to them lie runs of other kinds. */
export const ENSEMBLE_RUNS: readonly string[] = [256, 512, 1024].flatMap((size) => [1, 2, 4, 8].map((ranks) => `n${String(size)}-p${String(ranks)}`));

/** Copies the twelve runs of the reactor into a folder of their own. */
export function ensembleFolder(below: string): string {
  const folder = join(below, "runs");
  mkdirSync(folder, { recursive: true });
  for (const run of ENSEMBLE_RUNS) cpSync(join(FIXTURES, "reactor", run), join(folder, run), { recursive: true });
  return folder;
}

/** Drags files and folders of this computer into the window, as a person does: the browser itself makes the data of the drop. */
export async function drop(page: Page, ...paths: readonly string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [...paths], dragOperationsMask: 1 };
  const at = { x: 640, y: 400, data };
  const isAccepted = page.getByText("Drop to open");
  const dropped = await page.evaluateHandle(() => {
    const seen = { drops: 0 };
    window.addEventListener("drop", () => { seen.drops += 1; }, { capture: true });
    return seen;
  });
  // The browser delivers a drop only where the page has accepted what is above it, and forgets the drag otherwise: a hand tries again.
  await expect(async () => {
    await session.send("Input.dispatchDragEvent", { type: "dragEnter", ...at });
    await session.send("Input.dispatchDragEvent", { type: "dragOver", ...at });
    await expect(isAccepted).toBeVisible({ timeout: 2000 });
    await session.send("Input.dispatchDragEvent", { type: "drop", ...at });
    await expect.poll(() => dropped.evaluate((seen) => seen.drops), { timeout: 5000 }).toBe(1);
  }).toPass();
  await expect(isAccepted).toBeHidden();
  await session.detach();
}

/** Picks files or a folder with the buttons of the start page, in a browser that has only the classic picker. */
export async function pick(page: Page, button: "Open files" | "Open folder", paths: string | string[]): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("main").getByRole("button", { name: button }).click();
  await (await chooser).setFiles(paths);
}

/** Browsers with the newer picker show a dialog of the system, which no test can press; the others use an input. */
export async function useClassicPicker(page: Page): Promise<void> {
  await page.addInitScript(() => {
    Reflect.deleteProperty(window, "showOpenFilePicker");
    Reflect.deleteProperty(window, "showDirectoryPicker");
  });
}

/** Waits until the maps of an ensemble are on screen. */
export async function seesMaps(page: Page): Promise<void> {
  await expect(page.getByTestId("map-card").first().getByTestId("map-cell").first()).toBeVisible();
}

/** Waits until the tree of an experiment is on screen. */
export async function seesTree(page: Page): Promise<void> {
  await expect(treeRow(page, "<main thread>")).toBeVisible();
}

/** A card of maps, by the id of its region. */
export function card(page: Page, region: string): Locator {
  return page.locator(`[data-testid="map-card"][data-region="${region}"]`);
}

/** Ids of the regions whose cards are shown, in their order. */
export async function cards(page: Page): Promise<readonly string[]> {
  return page.getByTestId("map-card").evaluateAll((all) => all.map((one) => one.getAttribute("data-region") ?? ""));
}

/** The check box of a region in the tree of regions. */
export function regionCheck(page: Page, region: string): Locator {
  return page.locator(`[data-testid="region-check"][data-region="${region}"]`);
}

/** A row of the calling context tree by the name of its context. */
export function treeRow(page: Page, name: string): Locator {
  return page.getByRole("treegrid", { name: "Calling context tree" }).getByRole("row").filter({ has: page.getByTestId("context-name").getByText(name, { exact: true }) }).first();
}

/** The number in an element's `data-value`; null where nothing is known. */
export async function valueOf(element: Locator): Promise<number | null> {
  const text = await element.getAttribute("data-value");
  return text === null || text === "" ? null : Number(text);
}

/** Opens the palette. Keys that are pressed before the window is there are heard by nobody. */
export async function openPalette(page: Page): Promise<Locator> {
  await expect(page.getByRole("banner")).toBeVisible();
  await page.keyboard.press("Control+K");
  const field = page.getByRole("combobox", { name: "Find a command" });
  await expect(field).toBeVisible();
  return field;
}

/** The command of the open palette that Enter runs. */
export function chosenCommand(page: Page): Locator {
  return page.getByRole("listbox", { name: "Commands" }).getByRole("option", { selected: true });
}

/** Runs a command of the palette. */
export async function command(page: Page, title: string): Promise<void> {
  await (await openPalette(page)).fill(title);
  // Views that come late bring commands with them: what Enter runs is the one that is chosen now.
  await expect(chosenCommand(page)).toContainText(title);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("combobox", { name: "Find a command" })).toHaveCount(0);
}

/** Waits until the address has the state on screen, which is written a moment after a change. */
export async function stateInAddress(page: Page, before: string): Promise<string> {
  await expect.poll(() => page.url()).not.toBe(before);
  // Several changes in a row are written once, after the last.
  await expect(page.locator("html[data-address-behind]")).toHaveCount(0);
  return page.url();
}

/** Brings a view to the front by the palette; gives its panel. */
export async function showView(page: Page, view: string, testid: string): Promise<Locator> {
  await command(page, `Show ${view}`);
  await expect(page.getByRole("tab", { name: view, exact: true })).toHaveAttribute("aria-selected", "true");
  const panel = page.getByTestId(testid);
  await expect(panel).toBeVisible();
  return panel;
}
