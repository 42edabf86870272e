// Whatever people open by mistake, and whatever happens to their files: a message that says what and
// what to do, and an application that goes on.
import { cpSync, mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { drop, seesMaps, seesTree, treeRow } from "./support/app.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const DATABASE = join(FIXTURES, "reactor/n1024-p8");
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function message(page: Page, text: RegExp | string): Locator {
  return page.getByRole("region", { name: "Messages" }).getByText(text);
}

/** The application is not stuck: it opens a sample. */
async function staysUsable(page: Page): Promise<void> {
  const sample = page.getByRole("main").getByRole("button", { name: /A solver on 1 to 16 cores/ });
  if (!(await sample.isVisible())) await page.getByRole("button", { name: "Parallax: start page" }).click();
  await sample.click();
  await seesMaps(page);
}

test.beforeEach(async ({ page }, info) => {
  mkdirSync(info.outputPath(), { recursive: true });
  await page.goto("");
});

test("a picture is of no known format, and the message says what is", async ({ page }, info) => {
  const file = info.outputPath("picture.png");
  writeFileSync(file, Buffer.from(PICTURE, "base64"));
  await drop(page, file);
  await expect(message(page, "picture.png could not be opened")).toBeVisible();
  await expect(message(page, /Parallax reads data of HPCToolkit, TAU/)).toBeVisible();
  await staysUsable(page);
});

test("a file of no known format next to a good one is named, and an empty one is called empty", async ({ page }, info) => {
  const [notes, empty] = [info.outputPath("notes.txt"), info.outputPath("empty.json")];
  writeFileSync(notes, "hello");
  writeFileSync(empty, "");
  await drop(page, join(FIXTURES, "pascal/solver-v1.json"), notes, empty);
  await seesMaps(page);
  await expect(message(page, /empty\.json is empty\. notes\.txt is of no known format\./)).toBeVisible();
});

test("the anchor of a trace alone asks for the whole folder", async ({ page }) => {
  await drop(page, join(FIXTURES, "otf2/all-records/traces.otf2"));
  await expect(message(page, /needs .*\.def, which is missing; open the whole folder/)).toBeVisible();
  await staysUsable(page);
});

test("a folder without meta.db names what is missing", async ({ page }, info) => {
  const folder = info.outputPath("database");
  cpSync(DATABASE, folder, { recursive: true });
  rmSync(join(folder, "meta.db"));
  await drop(page, folder);
  await expect(message(page, /[Nn]o meta\.db; copy the whole database folder/)).toBeVisible();
  await staysUsable(page);
});

test("an empty folder holds no files", async ({ page }, info) => {
  const folder = info.outputPath("empty");
  mkdirSync(folder);
  await drop(page, folder);
  await expect(message(page, "No files were dropped")).toBeVisible();
  await staysUsable(page);
});

test("a drag that ends without a word does not leave its notice over the page", async ({ page }, info) => {
  const file = info.outputPath("picture.png");
  writeFileSync(file, Buffer.from(PICTURE, "base64"));
  // As where what was below the pointer is gone by then: its event reaches nobody.
  await page.evaluate(() => { window.addEventListener("dragleave", (event) => { event.stopImmediatePropagation(); }, { capture: true }); });
  const session = await page.context().newCDPSession(page);
  const at = { x: 640, y: 400, data: { items: [], files: [file], dragOperationsMask: 1 } };
  for (const type of ["dragEnter", "dragOver"] as const) await session.send("Input.dispatchDragEvent", { type, ...at });
  await expect(page.getByText("Drop to open")).toBeVisible();
  await session.send("Input.dispatchDragEvent", { type: "dragCancel", ...at });
  await page.mouse.move(600, 300);
  await expect(page.getByText("Drop to open")).toBeHidden();
  await staysUsable(page);
});

for (const file of ["profile.db", "meta.db"]) {
  test(`of a ${file} that was cut off the rest is shown, with the issue`, async ({ page }, info) => {
    const folder = info.outputPath("database");
    cpSync(DATABASE, folder, { recursive: true });
    truncateSync(join(folder, file), Math.floor(statSync(join(folder, file)).size / 2));
    await drop(page, folder);
    await expect(page.getByRole("banner").getByRole("button", { name: /[1-9]\d* issues?/ })).toBeVisible();
    await page.getByRole("banner").getByRole("button", { name: /issues?/ }).click();
    await expect(page.getByRole("tabpanel", { name: "Issues" })).toContainText("it is truncated or was not finished");
    await staysUsable(page);
  });
}

test("half a PaScal file is opened as far as it goes, with the issue", async ({ page }, info) => {
  const file = info.outputPath("half.json");
  cpSync(join(FIXTURES, "pascal/solver-v1.json"), file);
  truncateSync(file, Math.floor(statSync(file).size / 2));
  await drop(page, file);
  await page.getByRole("banner").getByRole("button", { name: /[1-9]\d* issues?/ }).click();
  await expect(page.getByRole("tabpanel", { name: "Issues" }).getByRole("row")).not.toHaveCount(0);
  await staysUsable(page);
});

for (const [how, change] of [["removed", rmSync], ["cut short", (file: string) => { truncateSync(file, 1000); }]] as const) {
  test(`a file that is ${how} while it is open is named when it is needed`, async ({ page }, info) => {
    const folder = info.outputPath("database");
    cpSync(DATABASE, folder, { recursive: true });
    await drop(page, folder);
    await seesTree(page);
    change(join(folder, "trace.db"));
    await page.getByTestId("view-tree").getByTestId("filter").click();
    await page.getByRole("checkbox", { name: /Time from traces/ }).check();
    await page.getByRole("button", { name: "Apply" }).click();
    await expect(page.getByTestId("view-tree")).toContainText("The tree could not be read");
    await expect(page.getByTestId("view-tree")).toContainText(/trace\.db.*open it again/);
    await page.keyboard.press("Control+Z");
    await expect(treeRow(page, "<main thread>")).toBeVisible();
    await staysUsable(page);
  });
}

test("an address with nothing behind it says so", async ({ page, complaints }) => {
  complaints.expect(/404/);
  await page.goto("?url=data/no-such-file.json");
  await expect(message(page, /There is nothing at .*no-such-file\.json/)).toBeVisible();
  await staysUsable(page);
});

test("opening something large is cancelled", async ({ page }) => {
  await page.goto("?url=slow/data/reactor/n1024-p8/");
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("button", { name: "Cancel" })).toHaveCount(0);
  await expect(page.getByRole("treegrid")).toHaveCount(0);
  await staysUsable(page);
});
