import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { displayName } from "../src/base/display-name.ts";

test("names are abbreviated as the engine abbreviates them", () => {
  const lines = readFileSync("../fixtures/names.txt", "utf8").split("\n");
  const cases = lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split("\t"));
  expect(cases.length).toBeGreaterThan(30);
  for (const [name = "", short = ""] of cases) {
    expect(displayName(name), name).toBe(short);
    expect(displayName(short), short).toBe(short);
  }
});
