// The widget in JupyterLab: the page on the kernel's machine, whose state Python reads and sets.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type FrameLocator, type Page } from "@playwright/test";
import { absent, brush, PYTHON } from "./support/python.ts";
import { FIXTURES } from "./support/test.ts";

interface Lab {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts JupyterLab with one notebook, everything that it writes below `folder`. */
async function lab(folder: string, cells: readonly string[]): Promise<Lab> {
  const runtime = join(folder, "runtime");
  mkdirSync(runtime, { recursive: true });
  const code = cells.map((source, at) => ({ cell_type: "code", id: `c${String(at)}`, metadata: {}, outputs: [], execution_count: null, source }));
  const kernelspec = { name: "python3", display_name: "Python 3" };
  writeFileSync(join(folder, "test.ipynb"), JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: { kernelspec }, cells: code }));
  const own = { JUPYTER_RUNTIME_DIR: runtime, JUPYTER_CONFIG_DIR: join(folder, "config"), JUPYTER_DATA_DIR: join(folder, "data"), IPYTHONDIR: join(folder, "ipython") };
  const words = ["-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", `--ServerApp.root_dir=${folder}`];
  words.push("--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate");
  const child = spawn(PYTHON, words, { stdio: "ignore", env: { ...process.env, ...own } });
  const ended = once(child, "exit");
  let url = "";
  await expect.poll(() => {
    const file = readdirSync(runtime).find((name) => /^jpserver-\d+\.json$/u.test(name));
    if (file === undefined) return false;
    const said = JSON.parse(readFileSync(join(runtime, file), "utf8")) as { port: number; token: string };
    url = `http://127.0.0.1:${String(said.port)}/doc/tree/test.ipynb?reset&token=${said.token}`;
    return said.port > 0;
  }, { message: "the server of JupyterLab", timeout: 90_000 }).toBe(true);
  return { url, stop: async () => { child.kill("SIGTERM"); await ended; } };
}

interface Kernel {
  readonly status: string;
  requestExecute(content: object, dispose: boolean): { readonly done: Promise<{ readonly content: { readonly user_expressions: Record<string, { readonly data?: Record<string, string> }> } }> };
}
interface JupyterApp {
  readonly commands: { execute(id: string): Promise<unknown> };
  readonly shell: { readonly currentWidget: { readonly sessionContext: { readonly session: { readonly kernel: Kernel } | null } } | null };
}
declare global {
  interface Window { readonly jupyterapp?: JupyterApp }
}

/** What an expression is in the kernel, as JSON. */
async function inKernel(page: Page, expression: string): Promise<unknown> {
  const text = await page.evaluate(async (asked) => {
    const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext.session?.kernel;
    if (kernel === undefined) return "null";
    const content = { code: "", silent: true, user_expressions: { it: `__import__("json").dumps(${asked})` } };
    const reply = await kernel.requestExecute(content, true).done;
    return reply.content.user_expressions["it"]?.data?.["text/plain"] ?? "null";
  }, expression);
  return JSON.parse(text.replace(/^'|'$/gu, ""));
}

/** Runs a statement in the kernel. */
async function run(page: Page, code: string): Promise<void> {
  await page.evaluate(async (asked) => {
    await window.jupyterapp?.shell.currentWidget?.sessionContext.session?.kernel.requestExecute({ code: asked, silent: true }, true).done;
  }, code);
}

const CELLS = (path: string): string[] => [
  `import parallax, traitlets\nexperiment = parallax.open(${JSON.stringify(path)})\none = experiment.view("timeline", height=420)\none`,
  `other = experiment.view("flat", height=360)\nfor name in ("window", "selection"):\n    traitlets.link((one, name), (other, name))\nother`,
];

test("in JupyterLab a view is zoomed, and Python reads and sets what is selected in two linked views", async ({ page }, info) => {
  const why = absent("jupyterlab");
  test.skip(why !== "", why);
  await page.setViewportSize({ width: 1280, height: 1150 });
  const server = await lab(info.outputDir, CELLS(join(FIXTURES, "reactor/n1024-p8")));
  try {
    await page.goto(server.url);
    await expect.poll(() => page.evaluate(() => window.jupyterapp?.shell.currentWidget?.sessionContext.session?.kernel.status), { timeout: 90_000 }).toBe("idle");
    await page.evaluate(async () => { await window.jupyterapp?.commands.execute("notebook:run-all-cells"); });
    const frames = page.locator('iframe[title="Parallax"]');
    await expect(frames).toHaveCount(2, { timeout: 90_000 });
    const [one, other]: readonly FrameLocator[] = [frames.nth(0).contentFrame(), frames.nth(1).contentFrame()];
    if (one === undefined || other === undefined) throw new Error("no frames");

    // Each shows the view that was asked for, and that alone.
    const axis = one.getByTestId("timeline-axis");
    await expect(axis).toBeVisible({ timeout: 90_000 });
    await expect(other.getByTestId("view-flat").getByTestId("context-name").first()).toBeVisible({ timeout: 90_000 });
    await expect(one.getByTestId("view-flat")).toHaveCount(0);
    expect(await inKernel(page, "[one.window, one.selection]")).toEqual([null, null]);

    // A part of the time is selected in one view: Python knows it, and the linked view has it.
    await brush(page, axis);
    await expect.poll(() => inKernel(page, "one.window is not None")).toBe(true);
    const [from, to] = (await inKernel(page, "list(one.window)")) as [number, number];
    expect(to).toBeGreaterThan(from);
    await expect.poll(() => inKernel(page, "other.window == one.window")).toBe(true);
    await expect.poll(() => inKernel(page, `other.state["links"]["spot"]["window"] == list(one.window)`)).toBe(true);

    // The timeline is zoomed to it.
    const timeline = one.getByTestId("timeline");
    const shown = async (): Promise<number> => Number(await timeline.getAttribute("data-to")) - Number(await timeline.getAttribute("data-from"));
    const whole = await shown();
    await timeline.press("f");
    await expect.poll(shown).toBeLessThan(whole * 0.5);

    // A function is selected in the other view, and read in Python from the first.
    await other.getByTestId("view-flat").getByTestId("context-name").nth(1).click();
    await expect.poll(() => inKernel(page, "one.selection is not None or other.selection is not None")).toBe(true);
    await expect.poll(() => inKernel(page, "one.selection == other.selection")).toBe(true);

    // Python sets a time, and both pages say it in their addresses.
    await run(page, "one.window = (200_000_000, 400_000_000)");
    for (const name of ["one", "other"]) {
      await expect.poll(() => inKernel(page, `${name}.state["links"]["spot"]["window"]`)).toEqual([200_000_000, 400_000_000]);
    }
    await expect(page.getByText("Error displaying widget")).toHaveCount(0);
    // What is for pages without scripts does not stand below the page.
    await expect(page.locator("[data-parallax-saved]").filter({ visible: true })).toHaveCount(0);
    await page.screenshot({ path: info.outputPath("jupyterlab.png") });
  } finally {
    await page.goto("about:blank");
    await server.stop();
  }
});
