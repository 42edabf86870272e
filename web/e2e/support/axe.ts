import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect } from "./test.ts";

/** What axe finds wrong in a part of the page: nothing. */
export async function isClean(page: Page, testid: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] }).include(`[data-testid=${testid}]`).analyze();
  expect(violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`))).toEqual([]);
}
