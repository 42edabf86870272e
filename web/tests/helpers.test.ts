import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NO_HELPERS, splitNotes } from "../src/view-kit/helpers.ts";

test("what is said of helper threads is taken out of the notes", () => {
  const said = `${NO_HELPERS}: 126 locations (progress of MPI: 126).`;
  expect(splitNotes(["one", said, "two"])).toEqual({ helpers: said, others: ["one", "two"] });
  expect(splitNotes(["one"])).toEqual({ helpers: null, others: ["one"] });
});

test("the engine says it with the same words", () => {
  const engine = readFileSync("../crates/service/src/options.rs", "utf8").replaceAll(/\s+/g, " ");
  expect(engine).toContain(`pub(crate) const NO_HELPERS: &str = "${NO_HELPERS}";`);
});
