import type { Engine } from "./pkg/parallax_wasm.js";

/** Entries of each region of each run: enough that the browser takes the engine's loops for hot. */
const ENTRIES = 1500;

/** Ranks and functions of the made-up profiles. */
const [RANKS, FUNCTIONS] = [8, 40] as const;

const never = (): boolean => false;

/**
 * Opens made-up files, asks what the page asks first, and forgets them. A browser compiles wasm when it is
 * first called, in a hurry, and well only when code turns out to run often; a first file of 100 MB would be
 * read half by the hurried code, and a first database would wait for it.
 */
export function warmUp(engine: Engine): void {
  for (const part of [measurements, profiles]) {
    try {
      part(engine);
    } catch (error) {
      // It was not asked for. But code that is not warmed up shows nowhere else.
      console.error("the engine was not warmed up", error);
    }
  }
}

/** Measurements of a sweep, in parts as large files are read. */
function measurements(engine: Engine): void {
  const key = "warm-up";
  const path = "warm-up.json";
  const text = new Blob([madeUp()]);
  engine.add_files(key, key, [path], [text]);
  const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(text));
  const [front, back] = [engine.read_part(key, path, 0, bytes.subarray(0, -1000), false), engine.read_part(key, path, 999, bytes.subarray(999), false)];
  back.free();
  const end = engine.read_part(key, path, front.to, bytes.subarray(front.to), true);
  engine.add_parts(key, path, [front.bytes, end.bytes]);
  front.free();
  end.free();
  asks(engine, key, ["scaling"]);
}

/** Profiles of a few ranks. */
function profiles(engine: Engine): void {
  const key = "warm-up-profiles";
  const paths = Array.from({ length: RANKS }, (_, rank) => `profile.${String(rank)}.0.0`);
  engine.add_files(key, key, paths, paths.map((_, rank) => new Blob([profile(rank)])));
  asks(engine, key, ["metrics", "source_files", "tree_table", "distribution"]);
}

/** Opens a root, asks its items, and closes them. */
function asks(engine: Engine, root: string, names: readonly string[]): void {
  const opened = engine.answer(JSON.stringify({ ask: "open", with: { root } }), never);
  const { items } = JSON.parse(opened.json) as { items: { item: string }[] };
  opened.free();
  for (const { item } of items) {
    for (const ask of [...names, "close"]) engine.answer(JSON.stringify({ ask, with: { item } }), never).free();
  }
}

/** What TAU writes for a rank. */
function profile(rank: number): string {
  const lines = Array.from({ length: FUNCTIONS }, (_, at) => {
    const path = Array.from({ length: at === 0 ? 1 : 2 + (at % 4) }, (_step, depth) => (depth === 0 ? "main" : `f${String(depth)}_${String(at)} [{a.c} {${String(at)},0}]`)).join(" => ");
    return `"${path}" 1 1 ${String(1000 + at)} ${String(100_000 + at * rank)} 0 GROUP="TAU_CALLPATH"`;
  });
  return [`${String(lines.length)} templated_functions_MULTI_TIME`, "# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>", ...lines, "0 aggregates", ""].join("\n");
}

/** A file of PaScal Analyzer with two core counts. */
function madeUp(): string {
  const runs = [1, 2, 4, 8].map((cores) => {
    const regions = ["1", "1.1", "2"].map((region) => {
      const entries: string[] = [];
      for (let at = 0; at < ENTRIES; at += 1) {
        const start = 1_700_000_000 + at * 0.123457;
        entries.push(`[${start.toFixed(6)}, ${(start + 0.1 / cores).toFixed(7)}, 10, 20, ${String(at % cores)}, "a.c"]`);
      }
      return `"${region}": [${entries.join(", ")}]`;
    });
    return `"${String(cores)};0;1": {"regions": {${regions.join(", ")}}, "start_time": 1700000000.5, "stop_time": 1700000900.25}`;
  });
  return `{"config": {"pkg": "a", "data_descriptor": {"values": ["start_time", "stop_time"], "extras": {"regions": {"values": ["start_time", "stop_time", "start_line", "stop_line", "thread_id", "filename"]}}, "keys": ["cores", "input", "repetitions"]}, "arguments": ["1"]}, "data": {${runs.join(", ")}}}`;
}
