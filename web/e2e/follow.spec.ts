// Files that are still being written: a sweep while it runs, and runs that are added.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { card, seesMaps, seesTree, stateInAddress, treeRow } from "./support/app.ts";
import { binary } from "./support/cli.ts";
import { serve } from "./support/server.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

let folder = "";

test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "parallax-follow-"));
});

test.afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("the maps of a sweep fill while it runs, keep what was chosen, and stay when it has ended", async ({ page }) => {
  // Each run waits until it is allowed to go on.
  const script = join(folder, "wait.sh");
  writeFileSync(script, 'n=$(ls "$1" | grep -c done); while [ ! -e "$1/go$n" ]; do sleep 0.02; done; : > "$1/done$n"\n');
  const file = join(folder, "sweep.json");
  const child = spawn(
    binary(),
    ["measure", "--cores", "1,2,4", "--reps", "2", "-o", file, "--open", "--no-browser", "--", "sh", script, folder],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(child, "exit");
  const said: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => { said.push(line); });
  try {
    const go = (run: number): void => { writeFileSync(join(folder, `go${String(run)}`), ""); };
    go(0);
    await expect.poll(() => said.join("\n")).toContain("Parallax is at http");
    const url = /http:\S+token=\w+/.exec(said.join("\n"))?.[0] ?? "";
    await page.goto(url);
    await seesMaps(page);
    await expect(page.getByTestId("following")).toHaveText("Following");
    const cells = card(page, "0").getByTestId("map-efficiency").getByTestId("map-cell");
    await expect(cells).toHaveCount(1);
    await page.getByRole("radiogroup", { name: "Differences" }).getByText("Relative").click();
    go(1);
    await expect(cells).toHaveCount(2);
    for (const run of [2, 3, 4, 5]) go(run);
    await expect(cells).toHaveCount(3);
    await expect(page.getByRole("radio", { name: "Relative" })).toBeChecked();
    await expect.poll(() => said.join("\n")).toContain("until Ctrl+C");
    // It has ended; the page still answers, and the file is whole.
    await page.reload();
    await seesMaps(page);
    await expect(cells).toHaveCount(3);
    expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("config.tool");
    await page.goto("about:blank");
    child.kill("SIGINT");
    expect(await ended, said.join("\n")).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("runs that are added to a folder are there without a reload, and the view stays", async ({ page }) => {
  const run = (name: string): void => {
    // As programs that copy do it well: whole, or not there.
    cpSync(join(FIXTURES, "reactor", name), join(folder, "copy"), { recursive: true });
    renameSync(join(folder, "copy"), join(folder, "runs", name));
  };
  mkdirSync(join(folder, "runs"));
  run("n256-p1");
  const server = await serve("--follow", join(folder, "runs"));
  try {
    await page.goto(server.url);
    await seesTree(page);
    const opened = page.url();
    await treeRow(page, "<main thread>").click();
    const before = await stateInAddress(page, opened);
    for (const name of ["n256-p2", "n256-p4"]) run(name);
    const items = page.getByRole("banner").getByRole("button", { name: "reactor" });
    const ensemble = page.getByRole("menu").getByText("3 experiments");
    // The menu is a list of its own, made when it is opened.
    await expect(async () => {
      await items.click();
      const isThere = await ensemble.isVisible();
      if (!isThere) await page.keyboard.press("Escape");
      expect(isThere).toBe(true);
    }).toPass({ timeout: 20_000 });
    await seesTree(page);
    expect(page.url()).toBe(before);
    await ensemble.click();
    await seesMaps(page);
    await expect(card(page, "0").getByTestId("map-efficiency").getByTestId("map-cell")).toHaveCount(3);
  } finally {
    await server.stop(page);
  }
});

test("a trace that grows is longer in the page, too", async ({ page }) => {
  const file = join(folder, "run.json");
  const event = (at: number): string => JSON.stringify({ name: `step ${String(at)}`, ph: "X", pid: 1, tid: 1, ts: at * 1000, dur: 900 });
  const write = (steps: number): void => {
    const text = `{"traceEvents": [${Array.from({ length: steps }, (_, at) => event(at)).join(",\n")}]}`;
    writeFileSync(join(folder, "new"), text);
    renameSync(join(folder, "new"), file);
  };
  write(3);
  const server = await serve("--follow", file);
  await page.goto(server.url);
  const shown = page.getByRole("banner");
  await expect(shown).toContainText("run.json");
  await expect(page.getByText("step 2").first()).toBeVisible();
  write(6);
  await expect(page.getByText("step 5").first()).toBeVisible();
  await server.stop(page);
});

test("a recording is in the page while the program runs, and stays there when it is complete", async ({ page }) => {
  const archive = join(folder, "run.parallax");
  const tried = spawnSync(binary(), ["record", "-o", join(folder, "tried.parallax"), "--", "true"], { encoding: "utf8" });
  test.skip(tried.status !== 0, `nothing can be recorded here: ${tried.stderr}`);
  // A shell that is busy until it may go on, and then another program that is busy until it may stop.
  const until = (what: string): string => `${folder}/${what}`;
  const busy = `BEGIN { while ((getline line < "${until("stop")}") < 0) close("${until("stop")}") }`;
  const script = `while [ ! -e ${until("go")} ]; do :; done; awk '${busy}'`;
  const recorder = spawn(binary(), ["record", "-o", archive, "--", "sh", "-c", script], { stdio: "ignore" });
  const ended = once(recorder, "exit");
  try {
    const server = await serve("--live", archive);
    await page.goto(server.url);
    const state = page.getByTestId("following");
    await expect(state).toHaveText("Recording");
    await expect(page.getByText(/^sh /).first()).toBeVisible();
    await expect(page.getByText(/awk /)).toHaveCount(0);
    // The page writes its state there once nothing changes for a moment.
    await expect(page).toHaveURL(/#v1=/);
    const address = page.url();
    writeFileSync(until("go"), "");
    await expect(page.getByText(/awk /).first()).toBeVisible();
    await expect(state).toHaveText("Recording");
    writeFileSync(until("stop"), "");
    expect(await ended).toEqual([0, null]);
    await expect(state).toHaveText("Complete");
    expect(page.url()).toBe(address);
    await server.stop(page);
  } finally {
    recorder.kill("SIGKILL");
  }
});
