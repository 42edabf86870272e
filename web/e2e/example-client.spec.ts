// The example client of docs/protocol.md gets from a server what the command line says.
import { Engine } from "../examples/client.ts";
import { ask } from "./support/cli.ts";
import { serve } from "./support/server.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

test("fifty lines of TypeScript ask the engine and read its tables", async ({ page }) => {
  const path = `${FIXTURES}/reactor/n256-p1`;
  const served = await serve(path);
  const engine = new Engine(served.url, served.token);
  const { reply: hello } = await engine.ask("hello", {});
  const { reply: opened } = await engine.ask("open", { root: hello.roots[0]?.key ?? "" });
  const item = opened.items[0]?.item ?? "";
  const { tables } = await engine.ask("flat", { item });
  const table = tables["rows"];
  const said = ask("flat", path);
  expect(table?.numRows).toBe(said.rows.length);
  await expect(engine.ask("info", { item: "none" })).rejects.toThrow();
  await served.stop(page);
});
