import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect } from "./test.ts";

/** What axe finds wrong in a part of the page: nothing. */
export async function isClean(page: Page, testid: string): Promise<void> {
  // Where less motion is asked for, as in these tests, nothing is on its way from one look to another.
  expect(await page.evaluate(() => document.getAnimations().filter((one) => one instanceof CSSTransition).length)).toBe(0);
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] }).include(`[data-testid=${testid}]`).analyze();
  expect(violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`))).toEqual([]);
}
