import { describe, expect, it } from "vitest";
import { SavedQueries } from "../src/state/queries.svelte.ts";
import type { AnswerColumn } from "../src/view-kit/answers.ts";
import { chartColumns, heightColumns, labelOf, linePoints, lineTicks } from "../src/views/sql/chart.ts";
import { areLinked, placeOfRow, type Cell } from "../src/views/sql/row-links.ts";
import { isAnswerable, placeOf, suggestions, tablesIn, withoutPlace, written } from "../src/views/sql/statement.ts";
import { rowsTyped } from "../src/views/sql/states.ts";
import type { SqlSchemaReply } from "../src/wire/protocol.ts";
import { SQL_EXAMPLES } from "../src/wire/sql-examples.ts";

const column = (name: string, unit = "") => ({ name, kind: "Int64", unit, about: `About ${name}.` });

const SCHEMA: SqlSchemaReply = {
  tables: [
    { name: "contexts", columns: [column("context_id"), column("name")] },
    { name: "values", columns: [column("context_id"), column("value")] },
    { name: "samples", columns: [column("start_ns", "ns"), column("Odd name")] },
  ],
  functions: [
    { name: "flat", is_table: true, about: "Functions.", takes: "by, metric" },
    { name: "path", is_table: false, about: "The call path.", takes: "context" },
  ],
  common_functions: ["count", "sum"],
};

/** Names that are offered where the sign | stands, those that come first first. */
function offered(text: string): readonly string[] | null {
  const found = suggestions(text.replace("|", ""), text.indexOf("|"), SCHEMA);
  return found === null ? null : found.list.toSorted((a, b) => b.rank - a.rank).map(({ label }) => label);
}

describe("the place of an error", () => {
  it("is the word that the message names", () => {
    const statement = "SELECT name,\n  nam FROM contexts";
    expect(placeOf("No field named nam at Line: 2, Column: 3", statement)).toEqual({ from: 15, to: 18, line: 2, column: 3 });
    expect(statement.slice(15, 18)).toBe("nam");
    expect(withoutPlace("No field named nam at Line: 2, Column: 3")).toBe("No field named nam");
  });

  it("may be behind the end, and need not be known", () => {
    expect(placeOf("Expected: an expression, found: EOF at Line: 1, Column: 99", "SELECT 1 +")).toEqual({ from: 10, to: 10, line: 1, column: 99 });
    expect(placeOf("wrong at Line: 7, Column: 1", "SELECT 1")).toBeNull();
    expect(placeOf("cancelled", "SELECT 1")).toBeNull();
  });
});

describe("what could be written", () => {
  it("behind FROM are tables and functions that give tables first", () => {
    expect(offered("SELECT * FROM con|")?.slice(0, 4)).toEqual(["contexts", "values", "samples", "flat"]);
    expect(offered("SELECT * FROM values JOIN |")?.[0]).toBe("contexts");
    expect(offered("SELECT * FROM |")).not.toContain("context_id");
  });

  it("elsewhere are the columns of the tables that the statement names", () => {
    const list = offered("SELECT | FROM contexts JOIN values USING (context_id)") ?? [];
    expect(list.slice(0, 4)).toEqual(["context_id", "context_id", "name", "value"]);
    expect(list).toContain("path");
    expect(list).toContain("count");
    expect(list).not.toContain("start_ns");
  });

  it("a column of several tables is written with each of them, and without where a join is by it", () => {
    const text = "SELECT * FROM contexts AS c JOIN \"values\" USING (context_id) WHERE ";
    const written = suggestions(text, text.length, SCHEMA)?.list.filter(({ kind }) => kind === "column").map(({ insert, detail }) => [insert, detail]);
    expect(written).toEqual([["c.context_id", "Int64 · c"], ["values.context_id", "Int64 · values"], ["name", "Int64 · c"], ["value", "Int64 · values"]]);
    const join = text.indexOf("context_id)");
    const by = suggestions(text, join, SCHEMA)?.list.filter(({ kind }) => kind === "column").map(({ insert, detail }) => [insert, detail]);
    expect(by).toEqual([["context_id", "Int64 · c, values"]]);
    const twice = "SELECT  FROM contexts AS a JOIN contexts AS b ON true";
    expect(suggestions(twice, 7, SCHEMA)?.list.filter(({ label }) => label === "name").map(({ insert }) => insert)).toEqual(["a.name", "b.name"]);
  });

  it("behind an alias are the columns of its table", () => {
    expect(offered("SELECT v.| FROM values AS v")).toEqual(["context_id", "value"]);
    expect(offered("SELECT c.na| FROM contexts c WHERE 1 = 1")).toEqual(["context_id", "name"]);
    expect(offered("SELECT other.| FROM contexts")).toEqual([]);
  });

  it("in a function behind FROM are its fields, and no value", () => {
    expect(offered("SELECT * FROM flat(|")).toEqual(["by", "metric"]);
    expect(offered("SELECT * FROM flat(by => 'module', m|")).toEqual(["by", "metric"]);
    expect(offered("SELECT * FROM flat(by => |")).not.toContain("metric");
  });

  it("in texts, comments and numbers is nothing", () => {
    expect(offered("SELECT 'con|")).toBeNull();
    expect(offered("SELECT 1 -- con|")).toBeNull();
    expect(offered("SELECT 12|")).toBeNull();
    expect(offered("SELECT 'it''s' AS a, | FROM contexts")).toContain("name");
  });

  it("is in quotes where a name needs them", () => {
    expect(written("context_id")).toBe("context_id");
    expect(written("Odd name")).toBe("\"Odd name\"");
    const found = suggestions("SELECT  FROM samples", 7, SCHEMA);
    expect(found?.list.find(({ label }) => label === "Odd name")?.insert).toBe("\"Odd name\"");
    expect(found?.list.find(({ label }) => label === "path")?.insert).toBe("path(");
  });

  it("knows tables in quotes, in lists and under other names", () => {
    const tables = tablesIn("SELECT * FROM \"values\" v, contexts WHERE v.value > 0 -- FROM samples", SCHEMA);
    expect([...tables].sort((a, b) => (a[0] < b[0] ? -1 : 1))).toEqual([["contexts", "contexts"], ["v", "values"]]);
  });
});

describe("examples", () => {
  it("are offered where their tables are", () => {
    expect(isAnswerable("WITH a AS (SELECT * FROM values) SELECT * FROM a JOIN flat() ON true", SCHEMA)).toBe(true);
    expect(isAnswerable("SELECT * FROM messages", SCHEMA)).toBe(false);
    expect(isAnswerable("SELECT * FROM flat", SCHEMA)).toBe(false);
    const fitting = SQL_EXAMPLES.filter(({ statement }) => isAnswerable(statement, SCHEMA));
    expect(fitting.length).toBeGreaterThan(0);
    expect(fitting.length).toBeLessThan(SQL_EXAMPLES.length);
    for (const { title } of SQL_EXAMPLES) expect(title).toMatch(/^[A-Z].*[^:]$/);
  });
});

describe("a row of a result", () => {
  const row = (cells: Record<string, Cell>, kind: "experiment" | "ensemble" = "experiment") => placeOfRow(Object.keys(cells), kind, (name) => cells[name]);

  it("leads to its context, location and time", () => {
    const place = row({ context_id: 7, profile_id: 3n, start_ns: 1_700_000_000_000_000_001n, end_ns: 1_700_000_000_000_000_009n });
    expect(place).toMatchObject({ context: 7, location: 3, time: { startNs: 1_700_000_000_000_000_001n, endNs: 1_700_000_000_000_000_009n, isClock: true } });
  });

  it("counts fractions of a question from the first record", () => {
    expect(row({ start_ns: 10.4, end_ns: 20 }).time).toEqual({ startNs: 10n, endNs: 20n, isClock: false });
  });

  it("leads nowhere by what is absent", () => {
    expect(row({ context_id: null, name: "main" })).toEqual({ context: null, location: null, regionId: null, region: null, time: null });
    expect(areLinked(["name", "total"], "experiment")).toBe(false);
    expect(areLinked(["time_ns"], "experiment")).toBe(true);
    expect(areLinked(["context_id"], "ensemble")).toBe(false);
  });

  it("of an ensemble leads to its region", () => {
    expect(row({ region_id: 2, cores: 4 }, "ensemble")).toMatchObject({ regionId: 2, region: null });
    expect(row({ region: "1.2" }, "ensemble")).toMatchObject({ region: "1.2" });
  });
});

describe("a chart", () => {
  const numbers = (id: string, values: readonly number[], most: number): AnswerColumn => ({
    id, title: id, head: { id, title: id, width: 80 }, texts: null, numbers: Float64Array.from(values), format: { unit: "", text: String }, most,
  });
  const texts = (id: string, values: readonly string[]): AnswerColumn => ({ id, title: id, head: { id, title: id, width: 80 }, texts: values, numbers: null, format: null, most: 0 });
  const name = texts("name", ["a", "b", "c"]);
  const id = numbers("context_id", [3, 1, 2], 0);
  const total = numbers("total", [30, 10, 20], 30);

  it("takes a quantity over a name by itself, and what was chosen where it is there", () => {
    expect(chartColumns([id, name, total], "", "")).toEqual({ x: name, y: total });
    expect(chartColumns([id, name, total], "context_id", "total")?.x).toBe(id);
    expect(chartColumns([id, name, total], "gone", "gone")).toEqual({ x: name, y: total });
    expect(chartColumns([name], "", "")).toBeNull();
    expect(heightColumns([id, name, total])).toEqual([total, id]);
  });

  it("orders a line by numbers, and keeps the order of rows over texts", () => {
    expect(linePoints({ x: id, y: total, rows: [0, 1, 2] }).map(({ x, y }) => [x, y])).toEqual([[1, 10], [2, 20], [3, 30]]);
    expect(linePoints({ x: name, y: total, rows: [2, 0, 1] }).map(({ x, y }) => [x, y])).toEqual([[0, 20], [1, 30], [2, 10]]);
    const data = { x: name, y: total, rows: [2, 0, 1] };
    expect(lineTicks(data, linePoints(data)).map(({ label }) => label)).toEqual(["c", "a"]);
    expect(labelOf(null, 4)).toBe("Row 5");
  });
});

describe("numbers of rows", () => {
  it("are whole and within bounds", () => {
    expect(rowsTyped("50")).toBe(50);
    expect(rowsTyped("1,000")).toBe(1000);
    expect(rowsTyped("0")).toBe(1);
    expect(rowsTyped("9999999")).toBe(100_000);
    for (const wrong of ["", "all", "-5", "1e3"]) expect(rowsTyped(wrong)).toBeNull();
  });
});

describe("saved statements", () => {
  it("are kept by name, also by another window, and removed", () => {
    const kept = new Map<string, string>();
    const storage = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => { kept.set(key, value); } };
    const [one, other] = [new SavedQueries(storage), new SavedQueries(storage)];
    one.save({ name: "b", statement: "SELECT 1" });
    other.save({ name: "a", statement: "SELECT 2" });
    expect(other.all.map(({ name }) => name)).toEqual(["a", "b"]);
    other.save({ name: "b", statement: "SELECT 3" });
    other.remove("a");
    expect(new SavedQueries(storage).all).toEqual([{ name: "b", statement: "SELECT 3" }]);
  });

  it("last as long as the page where nothing can be stored, and survive what is damaged", () => {
    const none = new SavedQueries(null);
    none.save({ name: "a", statement: "SELECT 1" });
    none.save({ name: "b", statement: "SELECT 2" });
    expect(none.all).toHaveLength(2);
    const damaged = new SavedQueries({ getItem: () => "[{\"name\":1},null,{\"name\":\"x\",\"statement\":\"SELECT 1\"}", setItem: () => undefined });
    expect(damaged.all).toEqual([]);
  });
});
