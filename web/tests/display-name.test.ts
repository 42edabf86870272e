import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { displayName, distinctNames } from "../src/base/display-name.ts";

test("names are abbreviated as the engine abbreviates them", () => {
  const lines = readFileSync("../fixtures/names.txt", "utf8").split("\n");
  const cases = lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split("\t"));
  expect(cases.length).toBeGreaterThan(30);
  for (const [name = "", short = ""] of cases) {
    expect(displayName(name), name).toBe(short);
    expect(displayName(short), short).toBe(short);
  }
});

test("names of a list are abbreviated as far as they stay different", () => {
  const lists = readFileSync("../fixtures/distinct-names.txt", "utf8").replaceAll(/^#.*\n/gm, "").trim().split("\n\n").map((list) => list.split("\n").map((line) => line.split("\t")));
  expect(lists.length).toBeGreaterThan(3);
  for (const list of lists) {
    const distinct = distinctNames(list.map(([name = ""]) => name));
    for (const [name = "", short = ""] of list) expect(distinct.get(name) ?? displayName(name), name).toBe(short);
  }
});
