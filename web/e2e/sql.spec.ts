// Statements in SQL in the page of `parallax open`: written with completed names, run, drawn, cut, withdrawn, and linked to other views.
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { isClean } from "./support/axe.ts";
import { seesMaps, seesTree, showView, stateInAddress } from "./support/app.ts";
import { ask } from "./support/cli.ts";
import { serve } from "./support/server.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const REACTOR = join(FIXTURES, "reactor");
const RUN = join(REACTOR, "n1024-p2");
const RUNS = ["n256-p1", "n256-p2", "n512-p1", "n512-p2"].map((run) => join(REACTOR, run));

function editorOf(view: Locator): Locator {
  return view.getByRole("textbox", { name: "SQL statement" });
}

/** Replaces what is in the editor, as if it was pasted. */
async function write(page: Page, view: Locator, statement: string): Promise<void> {
  await editorOf(view).click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(statement);
  await page.keyboard.press("Escape");
}

async function run(page: Page, view: Locator, statement: string): Promise<void> {
  await write(page, view, statement);
  await page.keyboard.press("Control+Enter");
}

async function open(page: Page, url: string): Promise<Locator> {
  await page.goto(url);
  await seesTree(page);
  return showView(page, "SQL", "view-sql");
}

test("a statement is written with completed names, and its rows lead to other views", async ({ page }) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const server = await serve(RUN);
  try {
    const view = await open(page, server.url);
    await expect(view).toContainText("Write a statement, or select one of the examples");
    await isClean(page, "view-sql");

    // A table, a column with its unit, and a function are completed.
    await editorOf(view).click();
    const names = page.getByRole("listbox");
    await page.keyboard.type("SELECT * FROM sam");
    await expect(names.getByRole("option", { selected: true })).toContainText("samples");
    await names.getByRole("option", { selected: true }).click();
    await expect(editorOf(view)).toHaveText("SELECT * FROM samples");
    await page.keyboard.type(" WHERE start_");
    await expect(names.getByRole("option", { selected: true })).toContainText("start_ns");
    await expect(names.getByRole("option", { selected: true })).toContainText("ns");
    await names.getByRole("option", { selected: true }).click();
    await page.keyboard.type(" > is_desc");
    await expect(names.getByRole("option", { selected: true })).toContainText("is_descendant");
    await page.keyboard.press("Escape");

    // The numbers are those of the command line.
    const statement = "SELECT profile_id, context_id, start_ns, end_ns, name FROM samples JOIN contexts USING (context_id) WHERE depth > 3 ORDER BY start_ns, profile_id LIMIT 5";
    await run(page, view, statement);
    await expect(view.getByTestId("sql-status")).toContainText("5 rows");
    const { rows } = ask("sql", RUN, statement);
    await expect(view.getByTestId("sql-name")).toHaveText(rows.map((row) => String(row["name"])));
    await expect(view.getByTestId("sql-context_id").first()).toHaveAttribute("data-value", String(rows[0]?.["context_id"]));
    await isClean(page, "view-sql");

    // A click selects its context, location and moment, which can be written into a statement.
    await view.getByTestId("sql-name").first().click();
    await view.getByRole("button", { name: "Insert" }).click();
    const menu = page.getByRole("menu");
    await expect(menu.getByRole("menuitem", { name: /^The selected context/ })).toContainText(`context_id = ${String(rows[0]?.["context_id"])}`);
    await expect(menu.getByRole("menuitem", { name: "The marked locations" })).toContainText(`profile_id IN (${String(rows[0]?.["profile_id"])})`);
    await expect(menu.getByRole("menuitem", { name: "The time window on screen" })).toContainText("overlaps(start_ns, end_ns, ");
    await menu.getByRole("menuitem", { name: /^The selected context/ }).click();
    await expect(editorOf(view)).toContainText(`context_id = ${String(rows[0]?.["context_id"])}`);

    // The tree follows.
    await run(page, view, "SELECT context_id, name FROM contexts WHERE name = 'exchange_halo' LIMIT 1");
    await expect(view.getByTestId("sql-status")).toHaveText("1 row");
    await view.getByTestId("sql-name").click();
    await expect(page.getByRole("treegrid", { name: "Calling context tree" }).getByRole("row", { selected: true })).toContainText("exchange_halo");
  } finally {
    await server.stop(page);
  }
});

test("a result is cut where it was asked to be, drawn, and its statement is in the link", async ({ page }) => {
  await page.setViewportSize({ width: 1400, height: 900 });
  const server = await serve(RUN);
  try {
    const view = await open(page, server.url);
    await view.getByTestId("sql-rows").fill("4");
    await view.getByTestId("sql-rows").press("Enter");
    await run(page, view, "SELECT name, depth FROM contexts WHERE depth > 0 ORDER BY context_id");
    await expect(view.getByTestId("sql-status")).toContainText("First 4 rows; there are more");
    await expect(view.getByTestId("sql-depth")).toHaveCount(4);

    // As bars by name, and as a line.
    await view.getByText("Chart", { exact: true }).click();
    await expect(view.getByTestId("value-plot")).toHaveAttribute("data-count", "4");
    await expect(view.getByRole("combobox", { name: "X" })).toHaveValue("name");
    await expect(view.getByRole("combobox", { name: "Y" })).toHaveValue("depth");
    await view.getByText("Line", { exact: true }).click();
    await expect(view.getByTestId("line-point")).toHaveCount(4);
    await isClean(page, "view-sql");
    const download = page.waitForEvent("download");
    await view.getByRole("button", { name: "Download" }).click();
    await page.getByRole("menuitem", { name: "Numbers" }).click();
    expect((await download).suggestedFilename()).toMatch(/sql\.csv$/);

    // It is saved by name, and offered again.
    await view.getByRole("button", { name: "Saved" }).click();
    await page.getByRole("menuitem", { name: "Save this statement" }).click();
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("By depth");
    const before = page.url();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await write(page, view, "SELECT 1");
    await stateInAddress(page, before);

    // A link has the statement, and runs nothing.
    await page.reload();
    const again = page.getByTestId("view-sql");
    await expect(editorOf(again)).toHaveText("SELECT 1");
    await expect(again).toContainText("The statement has not run");
    await again.getByRole("button", { name: "Saved" }).click();
    await page.getByRole("menuitem", { name: "By depth" }).first().click();
    await expect(editorOf(again)).toContainText("SELECT name, depth FROM contexts");
    await again.getByRole("button", { name: "Run" }).click();
    await expect(again.getByTestId("sql-status")).toContainText("First 4 rows; there are more");

    // Examples are those whose tables are there.
    await again.getByRole("button", { name: "Examples" }).click();
    await expect(page.getByRole("menuitem", { name: "Who sends to whom" })).toHaveCount(0);
    await page.getByRole("menuitem", { name: "How a metric differs between locations" }).click();
    await again.getByRole("button", { name: "Run" }).click();
    await expect(again.getByTestId("sql-status")).not.toContainText("a different statement");
  } finally {
    await server.stop(page);
  }
});

test("a mistake is marked where it is, and a statement that takes long is withdrawn", async ({ page }) => {
  const server = await serve(RUN);
  try {
    const view = await open(page, server.url);
    await run(page, view, "SELECT name,\n  nam FROM contexts");
    const problem = view.getByRole("alert");
    await expect(problem).toContainText("nam");
    await expect(view.locator(".cm-wrong")).toHaveText("nam");
    await isClean(page, "view-sql");
    await problem.getByRole("button", { name: "Line 2, column 3" }).click();
    await expect(editorOf(view)).toBeFocused();
    await run(page, view, "DROP TABLE contexts");
    await expect(problem).toContainText("statements only read");

    await run(page, view, "SELECT count(*) FROM contexts a, contexts b, contexts c, contexts d WHERE a.depth + b.depth + c.depth > d.depth * 7");
    await expect(view.getByRole("button", { name: "Cancel" })).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(view).toContainText("The statement was cancelled");
    await run(page, view, "SELECT 41 + 1 AS answer");
    await expect(view.getByTestId("sql-answer")).toHaveAttribute("data-value", "42");

    // What EXPLAIN says is read whole.
    await run(page, view, "EXPLAIN SELECT value FROM values WHERE context_id = 5");
    await expect(view.getByTestId("sql-plan")).toContainText("read=[context_id=5]");
  } finally {
    await server.stop(page);
  }
});

test("rows of several runs lead to their region", async ({ page }) => {
  const server = await serve(...RUNS);
  try {
    await page.goto(server.url);
    await seesMaps(page);
    const view = await showView(page, "SQL", "view-sql");
    const statement = "SELECT region_id, name, min(time) AS time FROM runs JOIN regions USING (region_id) GROUP BY region_id, name ORDER BY region_id LIMIT 3";
    await run(page, view, statement);
    const { rows } = ask("sql", RUNS[0] ?? "", statement, "--with", ...RUNS.slice(1));
    await expect(view.getByTestId("sql-name")).toHaveText(rows.map((row) => String(row["name"])));
    // The table has the number of a region: its id is asked for before it is selected.
    await expect(page.locator("html[data-address-behind]")).toHaveCount(0);
    const before = page.url();
    await view.getByTestId("sql-name").nth(1).click();
    await stateInAddress(page, before);
    await view.getByRole("button", { name: "Insert" }).click();
    await expect(page.getByRole("menuitem", { name: "The selected region" })).toContainText("region = '");
  } finally {
    await server.stop(page);
  }
});

test("a page without a server says why it has no SQL", async ({ page }) => {
  await page.goto("?sample=reactor-run");
  await seesTree(page);
  const view = await showView(page, "SQL", "view-sql");
  await expect(view).toContainText("SQL is not available");
  await expect(view).toContainText("Run parallax open with these files");
  await isClean(page, "view-sql");
});
