// The widget in marimo: cells that name what is selected run when it changes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { absent, brush, PYTHON } from "./support/python.ts";
import { FIXTURES } from "./support/test.ts";

const NOTEBOOK = (path: string): string => `
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import parallax

    one = parallax.open(${JSON.stringify(path)}).view("timeline", height=420)
    shown = mo.ui.anywidget(one)
    shown
    return mo, one, shown


@app.cell
def _(mo, one, shown):
    shown.value
    mo.md(f"selected: {one.window}")
    return


@app.cell
def _(mo, one):
    def narrow(_):
        one.window = (200_000_000, 400_000_000)

    mo.ui.button(label="Narrow", on_click=narrow)
    return
`;

/** Starts marimo with one notebook, everything that it writes below `folder`. */
async function served(folder: string, notebook: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "test.py");
  writeFileSync(file, notebook);
  const words = ["-m", "marimo", "--yes", "run", file, "--headless", "--no-token", "--host", "127.0.0.1"];
  const own = { XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder };
  const child = spawn(PYTHON, words, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...own } });
  const ended = once(child, "exit");
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => { said += text; });
  await expect.poll(() => said, { message: "the server of marimo", timeout: 90_000 }).toMatch(/http:\/\/\S+:\d+/u);
  const port = /http:\/\/[^\s:]+:(\d+)/u.exec(said)?.[1] ?? "";
  return { url: `http://127.0.0.1:${port}/`, stop: async () => { child.kill("SIGTERM"); await ended; } };
}

test("in marimo a cell follows what is selected, and another one selects", async ({ page }, info) => {
  const why = absent("marimo");
  test.skip(why !== "", why);
  await page.setViewportSize({ width: 1280, height: 900 });
  const server = await served(info.outputDir, NOTEBOOK(join(FIXTURES, "reactor/n1024-p8")));
  try {
    await page.goto(server.url);
    const view = page.locator('iframe[title="Parallax"]').contentFrame();
    const axis = view.getByTestId("timeline-axis");
    await expect(axis).toBeVisible({ timeout: 90_000 });
    await expect(page.getByText("selected: None")).toBeVisible();

    await brush(page, axis);
    const told = page.getByText(/selected: \(\d+, \d+\)/u);
    await expect(told).toBeVisible();
    const [from = 0, to = 0] = [...(await told.innerText()).matchAll(/\d+/gu)].map(([number]) => Number(number));
    expect(to).toBeGreaterThan(from);

    await page.getByRole("button", { name: "Narrow" }).click();
    await expect(page.getByText("selected: (200000000, 400000000)")).toBeVisible();
    // The page shows how long the selected time is.
    await expect(view.getByText("200.0 ms", { exact: true })).toBeVisible();
    await page.screenshot({ path: info.outputPath("marimo.png") });
  } finally {
    await page.goto("about:blank");
    await server.stop();
  }
});
