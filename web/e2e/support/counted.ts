import { readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { drop } from "./app.ts";
import { expect, REPOSITORY } from "./test.ts";
import { brush } from "./trace.ts";

/** Clicks (a drop and a drag are one each) and keys that were pressed, each letter of a text included. */
export class Counted {
  clicks = 0;
  keys = 0;
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Opens a trace from the start page. */
  async open(path: string): Promise<void> {
    await this.start();
    this.clicks += 1;
    await drop(this.#page, path);
    await expect(this.#page.getByTestId("timeline")).toHaveAttribute("data-calls", /^[1-9]/);
  }

  /** The start page, on which nothing was done yet. */
  async start(): Promise<void> {
    await this.#page.goto("");
    await expect(this.#page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  }

  async click(on: Locator): Promise<void> {
    this.clicks += 1;
    await on.click();
  }

  async clickAt(at: { readonly x: number; readonly y: number }): Promise<void> {
    this.clicks += 1;
    await this.#page.mouse.click(at.x, at.y);
  }

  async drag(from: number, to: number): Promise<void> {
    this.clicks += 1;
    await brush(this.#page, from, to);
  }

  async key(key: string): Promise<void> {
    this.keys += 1;
    await this.#page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    this.keys += text.length;
    await this.#page.keyboard.type(text);
  }

  async choose(select: Locator, value: string): Promise<void> {
    // A list that opens, and an entry of it.
    this.clicks += 2;
    await select.selectOption(value);
  }

  /** What the table in the documents says of a task. */
  expectAsDocumented(task: string): void {
    const line = readFileSync(`${REPOSITORY}docs/web.md`, "utf8").split("\n").find((one) => one.startsWith(`| ${task} |`));
    expect(line, `docs/web.md has no line "${task}"`).toBeDefined();
    expect(line?.split("|")[3]?.trim()).toBe(said(this.clicks, this.keys));
  }
}

function said(clicks: number, keys: number): string {
  const parts = [...(clicks > 0 ? [`${String(clicks)} ${clicks === 1 ? "click" : "clicks"}`] : []), ...(keys > 0 ? [`${String(keys)} ${keys === 1 ? "key" : "keys"}`] : [])];
  return parts.join(", ");
}
