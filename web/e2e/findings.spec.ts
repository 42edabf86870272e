// Every button of a report leads to the view that shows its finding, with the context that the finding is about.
import type { Locator, Page } from "@playwright/test";
import { showView } from "./support/app.ts";
import { ask } from "./support/cli.ts";
import { DIST, expect, test } from "./support/test.ts";

test.use({ viewport: { width: 1440, height: 900 } });
test.describe.configure({ timeout: 240_000 });

/** What a view must show of a finding besides the context that has the focus. */
const SHOWS: Readonly<Record<string, (page: Page, finding: Finding, name: string) => Promise<void>>> = {
  "profile.distribution": async (page, _finding, name) => {
    const view = page.getByTestId("view-distribution");
    await expect(view).toBeVisible();
    await expect(view.getByTestId("distribution-context")).toHaveAttribute("title", beginningWith(name));
    await expect(view.getByRole("combobox", { name: "Compare" })).toHaveValue("rank");
    await expect(view.getByTestId("statistic-max")).toHaveAttribute("data-value", /\d/);
  },
  "profile.callers": async (page, _finding, name) => {
    const view = page.getByTestId("view-callers");
    await expect(view).toBeVisible();
    await expect(async () => {
      // Names are abbreviated in the row, not in its title, where the place follows.
      await expect((await current(view)).getByTestId("context-name")).toHaveAttribute("title", beginningWith(name), { timeout: 500 });
    }).toPass();
  },
  "trace.waits": async (page, finding) => {
    const view = page.getByTestId("view-waits");
    await expect(view).toBeVisible();
    const path = view.getByRole("radio", { name: "Critical path" });
    if (finding.button === "Show the critical path") await expect(path).toBeChecked();
    else {
      await expect(path).not.toBeChecked();
      await expect(view.getByRole("combobox", { name: "Kind" })).toHaveValue(finding.button === "Show the late launches" ? "late_launch" : "all");
    }
    await expect(view.getByRole("row").nth(1)).toContainText(/\d/);
  },
  "trace.iterations": async (page) => {
    await expect(page.getByTestId("iterations-headline")).toContainText(/\d+ iterations/);
  },
  "trace.idle-gpus": async (page) => {
    await expect(page.getByTestId("idle-gpus-sentence")).toContainText(/%/);
  },
  "item.information": async (page) => {
    await expect(page.getByTestId("view-information")).toContainText("cores");
  },
};

interface Finding {
  readonly title: string;
  readonly view: string;
  /** Id; null where it is about the whole program. */
  readonly context: string | null;
  readonly button: string;
}

function beginningWith(name: string): RegExp {
  return new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(\n|$)`);
}

/** The row on which the keyboard is. */
async function current(view: Locator): Promise<Locator> {
  const table = view.locator("[aria-activedescendant]");
  await expect(table).toBeAttached();
  return view.locator(`[id="${(await table.getAttribute("aria-activedescendant")) ?? ""}"]`);
}

async function findingsOf(report: Locator): Promise<readonly Finding[]> {
  const items = report.getByTestId("finding");
  await expect(items.first()).toBeVisible();
  return items.evaluateAll((all) => all.map((one) => ({
    title: one.querySelector(".title")?.textContent ?? "", view: one.getAttribute("data-view") ?? "", context: one.getAttribute("data-context"), button: [...one.querySelectorAll("button")].at(-1)?.textContent.trim() ?? "",
  })));
}

for (const [sample, views] of Object.entries({
  "reactor-run": ["profile.callers", "profile.distribution", "trace.iterations"],
  "gpu-trace": ["profile.callers", "trace.idle-gpus", "trace.waits"],
  "halo-trace": ["profile.callers", "profile.distribution", "trace.iterations", "trace.waits"],
})) {
  test(`every finding of ${sample} is shown where its button leads`, async ({ page }) => {
    await page.goto(`?sample=${sample}`);
    await expect(page.getByRole("tab").first()).toBeVisible({ timeout: 120_000 });
    // What the command line calls each context.
    const names = new Map(ask("tree", `${DIST}/samples/${sample}`).rows.map((row) => [String(row["context_id"]), String(row["name"])]));
    const findings = await findingsOf(await showView(page, "Report", "view-report"));
    expect([...new Set(findings.map((one) => one.view))].sort()).toEqual(expect.arrayContaining(views));
    for (const [at, finding] of findings.entries()) {
      await test.step(finding.title, async () => {
        const report = await showView(page, "Report", "view-report");
        await report.getByTestId("finding").nth(at).getByRole("button", { name: finding.button }).click();
        const shows = SHOWS[finding.view];
        if (shows === undefined) throw new Error(`the test does not know the view ${finding.view}`);
        await shows(page, finding, names.get(finding.context ?? "") ?? "");
      });
    }
  });
}
