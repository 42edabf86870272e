import type { Table } from "@uwdata/flechette";
import type { EntityKind, Relation } from "../../wire/protocol.ts";
import { numberColumn, textAt, textColumn, type TextColumn } from "../../view-kit/columns.ts";

export type { EntityKind, Relation };

/**
 * A table of entities. Columns are read when they are first asked for: of a hundred thousand calls
 * a picture needs five columns, a tip all of them, but of one row.
 */
export class Rows {
  readonly length: number;
  readonly #table: Table;
  readonly #numbers = new Map<string, Float64Array>();
  readonly #texts = new Map<string, TextColumn>();

  constructor(table: Table) {
    this.#table = table;
    this.length = table.numRows;
  }

  /** A column of numbers; NaN where there is none. Truth is 1. */
  numbers(name: string): Float64Array {
    let column = this.#numbers.get(name);
    if (column === undefined) this.#numbers.set(name, (column = numberColumn(this.#table, name)));
    return column;
  }

  number(name: string, row: number): number {
    return this.numbers(name)[row] ?? Number.NaN;
  }

  /** A number, or null where there is none. */
  numberOrNull(name: string, row: number): number | null {
    const value = this.number(name, row);
    return Number.isNaN(value) ? null : value;
  }

  text(name: string, row: number): string {
    let column = this.#texts.get(name);
    if (column === undefined) this.#texts.set(name, (column = textColumn(this.#table, name)));
    return textAt(column, row);
  }
}

/** A row of a table of entities. */
abstract class Entity {
  /** Its number among those of its kind. */
  readonly id: number;
  protected readonly rows: Rows;
  protected readonly row: number;

  constructor(id: number, rows: Rows, row: number) {
    this.id = id;
    this.rows = rows;
    this.row = row;
  }
}

/** What an activation is; a group is all calls of one function by one call. */
export type ActivationKind = "call" | "loop" | "iteration" | "group";

/** A call, an execution of a loop, an iteration; or a group of calls, whose id is that of the first. */
export class Activation extends Entity {
  /** A number that no other activation and no group has. */
  get key(): number { return this.id * 2; }
  get kind(): ActivationKind { return this.rows.text("kind", this.row) as ActivationKind; }
  get name(): string { return this.rows.text("name", this.row); }
  get contextId(): number { return this.rows.number("context_id", this.row); }
  /** Number of the function; of a loop or iteration that around it. */
  get functionId(): number | null { return this.rows.numberOrNull("function", this.row); }
  /** What is directly around it; null for entry calls. */
  get parent(): number | null { return this.rows.numberOrNull("parent", this.row); }
  /** The call around it; null for entry calls. */
  get caller(): number | null { return this.rows.numberOrNull("caller", this.row); }
  get thread(): number { return this.rows.number("thread", this.row); }
  /** Since the run's first, in nanoseconds. */
  get startNs(): number { return this.rows.number("start_ns", this.row); }
  /** Nanoseconds; of a group those of all its calls together. */
  get lengthNs(): number { return this.rows.number("length_ns", this.row); }
  /** Calls of a group, else 1. */
  get count(): number { return this.rows.number("count", this.row); }
  /** Of an iteration: which one. */
  get number(): number | null { return this.rows.numberOrNull("number", this.row); }
  /** Line of the call; null when unknown. */
  get line(): number | null { return this.rows.numberOrNull("line", this.row); }
  /** How many activations are directly inside. */
  get children(): number { return this.rows.number("children", this.row) || 0; }
  /** How many functions it calls, in its loops or not. */
  get groups(): number { return this.rows.number("groups", this.row) || 0; }
  /** How many executions of loops are directly inside. */
  get executions(): number { return this.rows.number("executions", this.row) || 0; }
  /** Of an execution of a loop: how many iterations. */
  get iterations(): number { return this.rows.number("iterations", this.row) || 0; }
  get isInLoop(): boolean { return this.rows.number("is_in_loop", this.row) === 1; }
  /** Whether its times are. */
  get isEstimated(): boolean { return this.rows.number("is_estimated", this.row) === 1; }
  /** How many references it reads or writes itself. */
  get touched(): number { return this.rows.number("touched", this.row) || 0; }
  /** Whether it or anything below reads or writes a reference. */
  get isTouchingWithin(): boolean { return this.rows.number("is_touching_within", this.row) === 1; }
}

/** All calls of one function by one call; its id is that of the first. */
class Group extends Activation {
  override get key(): number { return this.id * 2 + 1; }
  override get kind(): ActivationKind { return "group"; }
}

/** A variable or an allocation. */
export class Reference extends Entity {
  get name(): string { return this.rows.text("name", this.row); }
  get storage(): string { return this.rows.text("storage", this.row); }
  /** Null when unknown. */
  get sizeBytes(): number | null { return this.rows.numberOrNull("size_bytes", this.row); }
  /** Of the whole run where it was asked for by its number, else of what it was asked for with. */
  get reads(): number { return this.rows.number("reads", this.row) || 0; }
  get writes(): number { return this.rows.number("writes", this.row) || 0; }
  /** The activation that allocated it; null for variables. */
  get allocatedBy(): number | null { return this.rows.numberOrNull("allocated_by", this.row); }
  get freedBy(): number | null { return this.rows.numberOrNull("freed_by", this.row); }
  get allocatedLine(): number | null { return this.rows.numberOrNull("allocated_line", this.row); }
  get freedLine(): number | null { return this.rows.numberOrNull("freed_line", this.row); }
}

export class Thread extends Entity {
  get name(): string { return this.rows.text("name", this.row); }
  /** Its first call; null where it made none. */
  get entry(): number | null { return this.rows.numberOrNull("entry", this.row); }
  /** The thread that started it; null for the first. */
  get creator(): number | null { return this.rows.numberOrNull("creator", this.row); }
  /** The activation that started it. */
  get createdBy(): number | null { return this.rows.numberOrNull("created_by", this.row); }
  get createdLine(): number | null { return this.rows.numberOrNull("created_line", this.row); }
  get startNs(): number | null { return this.rows.numberOrNull("start_ns", this.row); }
  get lengthNs(): number | null { return this.rows.numberOrNull("length_ns", this.row); }
  get calls(): number { return this.rows.number("calls", this.row) || 0; }
}

export class FunctionRecord extends Entity {
  get name(): string { return this.rows.text("name", this.row); }
  get file(): number | null { return this.rows.numberOrNull("file", this.row); }
  get path(): string { return this.rows.text("path", this.row); }
  /** Of the definition. */
  get line(): number | null { return this.rows.numberOrNull("line", this.row); }
  get calls(): number { return this.rows.number("calls", this.row) || 0; }
  /** Recursive calls count once. */
  get timeNs(): number { return this.rows.number("time_ns", this.row) || 0; }
}

export class FileRecord extends Entity {
  get path(): string { return this.rows.text("path", this.row); }
  get functions(): number { return this.rows.number("functions", this.row) || 0; }
}

/** An interval of a thread that was marked with a name. */
export class Tag extends Entity {
  get name(): string { return this.rows.text("name", this.row); }
  get what(): string { return this.rows.text("what", this.row); }
  get thread(): number { return this.rows.number("thread", this.row); }
  get startNs(): number { return this.rows.number("start_ns", this.row); }
  get lengthNs(): number { return this.rows.number("length_ns", this.row); }
  get counter(): number { return this.rows.number("counter", this.row); }
  /** The activation that stands for it; NaN when it is an interval of time only. */
  get activation(): number { return this.rows.number("activation", this.row); }
}

/** The record of each kind. */
export interface EntityOf {
  activation: Activation;
  group: Activation;
  reference: Reference;
  thread: Thread;
  function: FunctionRecord;
  file: FileRecord;
  tag: Tag;
}

/** What each relation leads to. */
export interface ResultOf {
  parent: "activation";
  caller: "activation";
  ancestors: "activation";
  children: "activation";
  calls: "activation";
  groups: "group";
  executions: "activation";
  iterations: "activation";
  within: "activation";
  references: "reference";
  references_within: "reference";
  touchers: "activation";
  threads: "thread";
  functions: "function";
  tags: "tag";
}

export const RESULT: { readonly [R in Relation]: ResultOf[R] } = {
  parent: "activation", caller: "activation", ancestors: "activation", children: "activation", calls: "activation", groups: "group",
  executions: "activation", iterations: "activation", within: "activation", references: "reference", references_within: "reference",
  touchers: "activation", threads: "thread", functions: "function", tags: "tag",
};

type Make = new (id: number, rows: Rows, row: number) => EntityOf[EntityKind];

const RECORDS: { readonly [K in EntityKind]: readonly [column: string, make: Make] } = {
  activation: ["activation", Activation],
  group: ["activation", Group],
  reference: ["reference", Reference],
  thread: ["thread", Thread],
  function: ["function", FunctionRecord],
  file: ["file", FileRecord],
  tag: ["tag", Tag],
};

/** The entity of each row. `known` gives one that is there already. */
export function recordsOf<K extends EntityKind>(kind: K, rows: Rows, known: (id: number) => EntityOf[K] | undefined): EntityOf[K][] {
  const [column, make] = RECORDS[kind];
  const ids = rows.numbers(column);
  const out: EntityOf[K][] = new Array<EntityOf[K]>(rows.length);
  for (let row = 0; row < rows.length; row += 1) {
    const id = ids[row] ?? -1;
    out[row] = known(id) ?? (new make(id, rows, row) as EntityOf[K]);
  }
  return out;
}
