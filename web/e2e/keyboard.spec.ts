// Everything without a mouse.
import type { Page } from "@playwright/test";
import { cards, chosenCommand, openPalette, seesMaps, seesTree, stateInAddress } from "./support/app.ts";
import { expect, test } from "./support/test.ts";

/** Presses Tab until the element that has the keyboard is the one that is wanted. */
async function tabTo(page: Page, isWanted: (element: Element) => boolean): Promise<void> {
  for (let presses = 0; presses < 120; presses += 1) {
    const found = await page.evaluate((source) => {
      const wanted = (new Function(`return (${source})`) as () => (element: Element) => boolean)();
      return document.activeElement !== null && wanted(document.activeElement);
    }, isWanted.toString());
    if (found) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${isWanted.toString()}`);
}

test("from the start page to the maps of a region", async ({ page }) => {
  await page.goto("");
  await expect(page.getByText("A solver on 1 to 16 cores")).toBeVisible();
  await tabTo(page, (element) => element.textContent.includes("A solver on 1 to 16 cores") && element.tagName === "BUTTON");
  const ring = await page.evaluate(() => document.activeElement === null ? "" : getComputedStyle(document.activeElement).outlineStyle);
  expect(ring).not.toBe("none");
  await page.keyboard.press("Enter");
  await seesMaps(page);
  await tabTo(page, (element) => element.getAttribute("role") === "treegrid" && element.getAttribute("aria-label") === "Regions");
  for (let row = 0; row < 3; row += 1) await page.keyboard.press("ArrowDown");
  const name = await page.evaluate(() => document.getElementById(document.activeElement?.getAttribute("aria-activedescendant") ?? "")?.querySelector("[data-testid=region-name]")?.getAttribute("data-region"));
  await page.keyboard.press("Space");
  await expect.poll(() => cards(page)).toEqual([name]);
  await tabTo(page, (element) => element.getAttribute("role") === "grid" && (element.getAttribute("aria-label") ?? "").startsWith("Efficiency"));
  await page.keyboard.press("ArrowDown");
  await expect(page.getByTestId("chart-tip")).toContainText("Cores");
});

test("from the start page to the distribution of a context", async ({ page }) => {
  await page.goto("");
  await expect(page.getByText("One run of the reactor on 8 ranks")).toBeVisible();
  await tabTo(page, (element) => element.textContent.includes("One run of the reactor on 8 ranks") && element.tagName === "BUTTON");
  await page.keyboard.press("Enter");
  await seesTree(page);
  await tabTo(page, (element) => element.getAttribute("role") === "treegrid" && element.getAttribute("aria-label") === "Calling context tree");
  await page.keyboard.press("Home");
  for (let row = 0; row < 4; row += 1) await page.keyboard.press("ArrowDown");
  const name = await page.evaluate(() => document.getElementById(document.activeElement?.getAttribute("aria-activedescendant") ?? "")?.querySelector("[data-testid=context-name]")?.textContent?.trim() ?? "");
  expect(name).not.toBe("");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("distribution-context")).toHaveText(name);
});

test("the palette finds commands, runs them and gives the keyboard back", async ({ page }) => {
  await page.goto("?sample=pascal-solver");
  await seesMaps(page);
  await (await openPalette(page)).fill("numbers");
  await expect(chosenCommand(page)).toContainText("Numbers");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("tab", { name: "Numbers" })).toHaveAttribute("aria-selected", "true");
  await openPalette(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("Ctrl");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Alt+T");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.keyboard.press("F6");
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("BODY");
});

test("a maximised panel fills the window after a reload as well, and is restored there", async ({ page }) => {
  await page.goto("");
  await page.getByRole("button", { name: "One run of the reactor on 8 ranks" }).click();
  await seesTree(page);
  const widest = (): Promise<number> => page.locator("[data-panel]").evaluateAll((all) => Math.max(...all.map((one) => one.clientWidth)));
  const shared = await widest();
  const address = page.url();
  await page.keyboard.press("Alt+m");
  await expect.poll(widest).toBeGreaterThan(shared + 100);
  const whole = await widest();
  await stateInAddress(page, address);
  await page.reload();
  await expect.poll(widest).toBe(whole);
  const maximised = page.url();
  await page.keyboard.press("Alt+m");
  // The dock rounds to whole pixels.
  const isShared = async (): Promise<boolean> => Math.abs(await widest() - shared) < 4;
  await expect.poll(isShared).toBe(true);
  await stateInAddress(page, maximised);
  await page.reload();
  await seesTree(page);
  expect(await isShared()).toBe(true);
});

test("a dialog that is gone from the screen takes no keys", async ({ page }) => {
  await page.goto("");
  await expect(page.getByText("A solver on 1 to 16 cores")).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("Ctrl");
  // Both in one task: nothing of the browser's comes between them.
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).evaluate((button: HTMLElement) => {
    button.click();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }));
  });
  await expect(page.getByRole("dialog", { name: "Find a command" })).toBeVisible();
  for (let round = 0; round < 5; round += 1) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog")).toContainText("Ctrl");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+K");
    await expect(page.getByRole("dialog", { name: "Find a command" })).toBeVisible();
  }
});
