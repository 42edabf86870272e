import type { Column, Table } from "@uwdata/flechette";

/** A column of texts of which equal ones are stored once. */
export interface TextColumn {
  /** Position in `texts` of each row; -1 where there is none. */
  readonly codes: Int32Array;
  readonly texts: readonly string[];
}

/** Pixels of a letter in a table, on average; of what stands around a name; and what the column of names takes of a small panel. */
const LETTER_PIXELS = 6.6;
const AROUND_PIXELS = 36;
const NAME_PIXELS = { least: 120, most: 220 } as const;

/** Width of a column of names: short names are read whole, long ones leave other columns their room. */
export function nameWidth(names: Iterable<string>): number {
  let longest = 0;
  for (const name of names) longest = Math.max(longest, name.length);
  return Math.round(Math.min(NAME_PIXELS.most, Math.max(NAME_PIXELS.least, longest * LETTER_PIXELS + AROUND_PIXELS)));
}

/** The text of a row; empty where there is none. */
export function textAt(column: TextColumn, row: number): string {
  return column.texts[column.codes[row] ?? -1] ?? "";
}

/** A batch of a dictionary column, by what the library keeps in it but does not declare. */
interface DictionaryBatch {
  readonly length: number;
  readonly nullCount: number;
  readonly values: ArrayLike<number>;
  readonly dictionary: Column<string>;
  isValid(index: number): boolean;
}

function isDictionary(batch: object): batch is DictionaryBatch {
  return "dictionary" in batch && "values" in batch;
}

/** Texts as codes without making a string for each row; a missing column is empty texts. */
export function textColumn(table: Table, name: string): TextColumn {
  const column = table.getChild(name) as Column<string | null> | undefined;
  const codes = new Int32Array(table.numRows).fill(-1);
  const texts: string[] = [];
  const known = new Map<string, number>();
  const codeOf = (text: string): number => {
    let code = known.get(text);
    if (code === undefined) {
      code = texts.push(text) - 1;
      known.set(text, code);
    }
    return code;
  };
  let row = 0;
  for (const batch of (column?.data ?? []) as readonly object[]) {
    if (isDictionary(batch)) {
      const translated = Int32Array.from(batch.dictionary, (text) => (text === null ? -1 : codeOf(text)));
      for (let at = 0; at < batch.length; at += 1, row += 1) {
        if (batch.nullCount === 0 || batch.isValid(at)) codes[row] = translated[batch.values[at] ?? -1] ?? -1;
      }
    } else {
      for (const text of batch as Iterable<string | boolean | null>) {
        if (text !== null) codes[row] = codeOf(String(text));
        row += 1;
      }
    }
  }
  return { codes, texts };
}

/** Numbers; NaN where there is none. */
export function numberColumn(table: Table, name: string): Float64Array {
  const values = rawColumn(table, name);
  if (values instanceof Float64Array) return values;
  const out = new Float64Array(table.numRows).fill(Number.NaN);
  for (let row = 0; row < values.length; row += 1) {
    const value = values[row];
    if (value !== null && value !== undefined) out[row] = Number(value);
  }
  return out;
}

/** Whole numbers from 0 to 4294967295. */
export function wholeColumn(table: Table, name: string): Uint32Array {
  const values = rawColumn(table, name);
  return values instanceof Uint32Array ? values : Uint32Array.from(values, (value) => Number(value ?? 0));
}

function rawColumn(table: Table, name: string): ArrayLike<number | bigint | null> {
  return (table.getChild(name)?.toArray() ?? []) as ArrayLike<number | bigint | null>;
}
