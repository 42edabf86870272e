/** What a statement consists of, as far as helping to write it needs to know. Pure. */
import type { SqlSchemaReply } from "../../wire/protocol.ts";

/** A place in a statement that an error is about. */
export interface ErrorPlace {
  /** Letters before it. */
  readonly from: number;
  /** After what is wrong there: a word, or one letter. */
  readonly to: number;
  readonly line: number;
  readonly column: number;
}

/** The place that a message names (`at Line: 2, Column: 5`), both counted from 1; null where it names none. */
export function placeOf(message: string, statement: string): ErrorPlace | null {
  const found = /Line: (\d+), Column: (\d+)/.exec(message);
  if (found === null) return null;
  const [line, column] = [Number(found[1]), Number(found[2])];
  const lines = statement.split("\n");
  const text = lines[line - 1];
  if (text === undefined || column < 1) return null;
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const from = before + Math.min(column - 1, text.length);
  const word = /^(?:[\p{L}\d_]+|"[^"]*"?|.)/u.exec(statement.slice(from))?.[0] ?? "";
  return { from, to: from + word.length, line, column };
}

/** A message without the place, which is said on its own. */
export function withoutPlace(message: string): string {
  return message.replace(/,? at Line: \d+, Column: \d+/, "");
}

/** Something that could stand where the cursor is. */
export interface Suggestion {
  readonly label: string;
  readonly kind: "table" | "column" | "function" | "field";
  /** Next to the name: a type, a unit, or where it is from. */
  readonly detail: string;
  /** What it means. */
  readonly info: string;
  /** What is written. */
  readonly insert: string;
  /** Higher ones come first. */
  readonly rank: number;
}

export interface Suggestions {
  /** Where the word begins that is being written. */
  readonly from: number;
  readonly list: readonly Suggestion[];
}

/** The statement with everything in quotes and comments as spaces, so that places stay. */
export function bare(text: string): string {
  return text.replace(/'(?:[^']|'')*'?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (part) => " ".repeat(part.length));
}

/** Words that stand around tables and are no names. */
const WORDS = "ON|USING|WHERE|FROM|JOIN|INNER|LEFT|RIGHT|FULL|CROSS|NATURAL|GROUP|ORDER|LIMIT|HAVING|WINDOW|UNION|EXCEPT|INTERSECT|OFFSET|AS|SELECT|FETCH";
const NAME = `(?!(?:${WORDS})\\b)([\\p{L}_][\\p{L}\\d_]*)`;
/** A table behind FROM, JOIN or a comma, and what it is called there. */
const TABLE = new RegExp(`(?:\\b(?:FROM|JOIN)\\s+|,\\s*)(?:"([^"]+)"|${NAME})(?:\\s+(?:AS\\s+)?${NAME})?`, "giu");

/** Words of the language that are offered and coloured: those of statements that only read, and none that are likely names of columns. */
export const KEYWORDS = "all and any as asc between by case cast cross current desc describe distinct else end except exists explain extract false filter first following from full group having in inner intersect interval into is join last lateral left like ilike limit natural not null nulls offset on or order outer over partition preceding qualify range recursive right row rows select show similar some then true unbounded union unnest using when where window with within";
export const TYPES = "bigint boolean date double float int integer numeric real smallint text time timestamp varchar";

/** The tables that a statement names, by what it calls them there, in lower case. One that has another name has only that. */
export function tablesIn(statement: string, schema: SqlSchemaReply): ReadonlyMap<string, string> {
  const known = new Map(schema.tables.map(({ name }) => [name.toLowerCase(), name]));
  const found = new Map<string, string>();
  for (const [, quoted, plain, alias] of bare(statement).matchAll(TABLE)) {
    const name = known.get((quoted ?? plain ?? "").toLowerCase());
    if (name !== undefined) found.set((alias ?? name).toLowerCase(), name);
  }
  return found;
}

/** What could be written at a place of a statement; null inside of texts and comments. */
export function suggestions(statement: string, at: number, schema: SqlSchemaReply): Suggestions | null {
  const before = statement.slice(0, at);
  const plain = bare(before);
  // What is open at the cursor was made of spaces up to there.
  const word = /[\p{L}\d_]*$/u.exec(before)?.[0] ?? "";
  if (/'(?:[^']|'')*$|--[^\n]*$/.test(stripped(before)) || /^\d/.test(word)) return null;
  const from = at - word.length;
  const tables = tablesIn(statement, schema);
  const qualifier = /(?:"([^"]+)"|([\p{L}_][\p{L}\d_]*))\.$/u.exec(plain.slice(0, from));
  if (qualifier !== null) {
    const table = tables.get((qualifier[1] ?? qualifier[2] ?? "").toLowerCase());
    return { from, list: table === undefined ? [] : columnsOf(schema, table, 3) };
  }
  const field = openFunction(plain.slice(0, from), schema);
  if (field !== null && field.length > 0) return { from, list: field };
  const isSource = /\b(?:FROM|JOIN)\s+$/i.test(plain.slice(0, from)) || /\bFROM\s+[^()]*,\s*$/i.test(plain.slice(0, from).split(/\b(?:SELECT|WHERE|ON|BY)\b/i).at(-1) ?? "");
  const list: Suggestion[] = [];
  for (const { name, columns } of schema.tables) {
    list.push({ label: name, kind: "table", detail: "table", info: columns.map((column) => column.name).join(", "), insert: written(name), rank: isSource ? 3 : 0 });
  }
  for (const { name, is_table: isTable, about, takes } of schema.functions) {
    list.push({ label: name, kind: "function", detail: isTable ? "after FROM" : `(${takes})`, info: isTable && takes !== "" ? `${about} Takes ${takes}.` : about, insert: `${name}(`, rank: isTable === isSource ? 2 : 0 });
  }
  if (isSource) return { from, list };
  list.push(...namedColumns(tables, /\bUSING\s*\([^()]*$/i.test(plain), schema));
  for (const name of schema.common_functions) list.push({ label: name, kind: "function", detail: "", info: "", insert: `${name}(`, rank: -1 });
  return { from, list };
}

/** Columns of all tables of a statement. Those that several have are written with their table, but for those that a join is by. */
function namedColumns(tables: ReadonlyMap<string, string>, isJoin: boolean, schema: SqlSchemaReply): readonly Suggestion[] {
  const by = new Map<string, { readonly called: string; readonly column: Suggestion }[]>();
  for (const [called, table] of tables) {
    for (const column of columnsOf(schema, table, 3)) {
      const others = by.get(column.label) ?? [];
      others.push({ called, column });
      by.set(column.label, others);
    }
  }
  return Array.from(by.values()).flatMap((found) => {
    const isShared = found.length > 1;
    if (isJoin && !isShared) return [];
    return found.slice(0, isJoin ? 1 : undefined).map(({ called, column }) => {
      const of = isJoin ? found.map((one) => one.called).join(", ") : called;
      const insert = isShared && !isJoin ? `${written(called)}.${column.insert}` : column.insert;
      return { ...column, detail: column.detail === "" ? of : `${column.detail} · ${of}`, insert };
    });
  });
}

/** A text without the quoted parts and comments that have an end. */
function stripped(text: string): string {
  return text.replace(/'(?:[^']|'')*'|--[^\n]*\n|\/\*[\s\S]*?\*\//g, "");
}

function columnsOf(schema: SqlSchemaReply, table: string, rank: number): readonly Suggestion[] {
  const columns = schema.tables.find(({ name }) => name === table)?.columns ?? [];
  return columns.map(({ name, kind, unit, about }) => ({ label: name, kind: "column", detail: unit === "" ? kind : `${kind}, ${unit}`, info: about, insert: written(name), rank }));
}

/** A name as a statement has it: in quotes where capitals or signs would change it. */
export function written(name: string): string {
  return /^[a-z_][a-z\d_]*$/.test(name) ? name : `"${name.replace(/"/g, "\"\"")}"`;
}

/** The fields of the function behind FROM whose parentheses are open; null outside of such. */
function openFunction(before: string, schema: SqlSchemaReply): readonly Suggestion[] | null {
  let depth = 0;
  for (let at = before.length - 1; at >= 0; at -= 1) {
    const letter = before[at];
    if (letter === ")") depth += 1;
    else if (letter === "(") {
      depth -= 1;
      if (depth >= 0) continue;
      const name = /([\p{L}_][\p{L}\d_]*)\s*$/u.exec(before.slice(0, at))?.[1]?.toLowerCase();
      const of = schema.functions.find((one) => one.is_table && one.name === name);
      // Behind the sign stands a value, of which nothing is known here.
      if (of === undefined || /=>\s*$/.test(before)) return null;
      const fields = of.takes.split(", ").filter((field) => /^[a-z_]+$/.test(field));
      return fields.map((field) => ({ label: field, kind: "field", detail: `of ${of.name}`, info: "", insert: `${field} => `, rank: 3 }));
    }
  }
  return null;
}

/** Whether everything that a statement reads is there; names that it makes itself do not count. */
export function isAnswerable(statement: string, schema: SqlSchemaReply): boolean {
  const text = bare(statement);
  const own = new Set(Array.from(text.matchAll(/([\p{L}_][\p{L}\d_]*)\s+AS\s*\(/giu), (found) => (found[1] ?? "").toLowerCase()));
  const tables = new Set(schema.tables.map(({ name }) => name.toLowerCase()));
  const functions = new Set(schema.functions.map(({ name }) => name.toLowerCase()));
  // A question may be called as a table is: `messages()` is there where the table `messages` is not.
  return Array.from(text.matchAll(/\b(?:FROM|JOIN)\s+([\p{L}_][\p{L}\d_]*)\s*(\(?)/giu)).every(([, word, opens]) => {
    const name = (word ?? "").toLowerCase();
    return opens === "(" ? functions.has(name) : own.has(name) || tables.has(name);
  });
}
