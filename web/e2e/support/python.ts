// What tests of the widget in notebooks share: the Python that has the package, and what a user does.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { REPOSITORY } from "./test.ts";

/** The Python of the tests, into which `cargo xtask test` installs the package. */
export const PYTHON = process.env["PARALLAX_PYTHON"] ?? join(REPOSITORY, "target/tools/python-tests/bin/python");

/** Why there is no `frontEnd` to test in, the name of its Python module; empty where there is one. */
export function absent(frontEnd: "jupyterlab" | "marimo"): string {
  if (!existsSync(PYTHON)) return "no environment for the Python package (cargo xtask test python makes it)";
  try {
    execFileSync(PYTHON, ["-c", `import ${frontEnd}, anywidget, parallax`], { stdio: "ignore" });
    return "";
  } catch {
    return `${frontEnd} or the Python package is not installed (cargo xtask test python installs them)`;
  }
}

/** Selects the second quarter of the time on the axis of a timeline. */
export async function brush(page: Page, axis: Locator): Promise<void> {
  await axis.scrollIntoViewIfNeeded();
  const box = await axis.boundingBox();
  if (box === null) throw new Error("no axis");
  await page.mouse.move(box.x + box.width * 0.25, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 8, { steps: 4 });
  await page.mouse.up();
}
