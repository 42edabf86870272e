import { fileURLToPath } from "node:url";
import { test as base, expect, type Page } from "@playwright/test";
import { serveFolder, type StaticServer } from "./static-server.ts";

/** The root of the repository. */
export const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
/** The small real data that samples are made of. */
export const FIXTURES = `${REPOSITORY}fixtures`;
/** The built application. */
export const DIST = process.env["PARALLAX_WEB_DIST"] ?? `${REPOSITORY}web/dist`;

/** What a page complained about: errors in the console, and what nobody caught. */
export class Complaints {
  readonly #all: string[] = [];
  readonly #expected: RegExp[] = [];

  /** A test that provokes an error says which; any other still fails it. */
  expect(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  listen(page: Page): void {
    page.on("console", (message) => {
      if (message.type() === "error") this.#all.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (error) => { this.#all.push(`uncaught: ${error.message}\n${error.stack ?? ""}`); });
    page.on("crash", () => { this.#all.push("the page crashed"); });
  }

  unexpected(): readonly string[] {
    return this.#all.filter((text) => !this.#expected.some((pattern) => pattern.test(text)));
  }
}

interface OfTest {
  complaints: Complaints;
}

interface OfWorker {
  /** The application as static files; the fixtures lie below `data/`. */
  site: StaticServer;
}

/** Every test fails on any complaint of any of its pages. */
export const test = base.extend<OfTest, OfWorker>({
  site: [
    async ({}, use) => {
      const site = await serveFolder(DIST, { data: FIXTURES });
      await use(site);
      await site.close();
    },
    { scope: "worker" },
  ],
  baseURL: async ({ site }, use) => { await use(site.url); },
  complaints: async ({}, use) => {
    const complaints = new Complaints();
    await use(complaints);
    expect(complaints.unexpected(), "errors that the page reported").toEqual([]);
  },
  context: async ({ context, complaints }, use) => {
    context.on("page", (page) => { complaints.listen(page); });
    await use(context);
  },
});

export { expect };
