import type { Engine } from "./pkg/parallax_wasm.js";

/** Entries of each region of each run: enough that the browser takes the engine's loops for hot. */
const ENTRIES = 1500;

/**
 * Opens a made-up file, in parts as large ones are read, and forgets it. A browser compiles wasm when it
 * is first called, in a hurry, and well only when code turns out to run often; a first file of 100 MB would
 * be read half by the hurried code.
 */
export function warmUp(engine: Engine): void {
  const never = () => false;
  const key = "warm-up";
  const path = "warm-up.json";
  const text = new Blob([madeUp()]);
  engine.add_files(key, key, [path], [text]);
  try {
    const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(text));
    const [front, back] = [engine.read_part(key, path, 0, bytes.subarray(0, -1000), false), engine.read_part(key, path, 999, bytes.subarray(999), false)];
    back.free();
    const end = engine.read_part(key, path, front.to, bytes.subarray(front.to), true);
    engine.add_parts(key, path, [front.bytes, end.bytes]);
    front.free();
    end.free();
    const opened = engine.answer(JSON.stringify({ ask: "open", with: { root: key } }), never);
    const { items } = JSON.parse(opened.json) as { items: { item: string }[] };
    opened.free();
    for (const { item } of items) {
      engine.answer(JSON.stringify({ ask: "scaling", with: { item } }), never).free();
      engine.answer(JSON.stringify({ ask: "close", with: { item } }), never).free();
    }
  } catch {
    // It was not asked for.
  }
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
