import type { Item } from "../../state/item.ts";

/** What an item's format says about source text. */
type Formatted = Pick<Item, "format" | "has_activations">;

const FROM_DATABASE = "To include the text, compile the program with -g and run hpcprof where its sources are; -R OLD=NEW maps moved paths.";
const WITH_RECORDING = "Open the folder that contains both the recording and its sources to see the text.";

/** What to do where no source text came with an experiment: what its own tool can do. */
export function sourceHint(of: Formatted): string {
  if (of.has_activations) return WITH_RECORDING;
  if (of.format.startsWith("HPCToolkit")) return FROM_DATABASE;
  return `${toolOf(of)} files have names and lines of source files, but not their text. Copy the sources into the folder of the data and open the folder again.`;
}

/** What to do where one file is missing; `textPath` is where it is looked for. */
export function missingTextHint(of: Formatted, textPath: string): { readonly text: string; readonly command: string } {
  if (of.has_activations) return { text: WITH_RECORDING, command: "" };
  if (of.format.startsWith("HPCToolkit")) {
    return { text: `Its place in the database is ${textPath}. To include it, run hpcprof again where the file can be read, or map its path:`, command: "hpcprof -R OLD=NEW …" };
  }
  return { text: `Copy the file into the folder of the data, as ${textPath}, and open the folder again.`, command: "" };
}

/** `TAU` of `TAU profiles`: the tool that wrote the data. `samples of Parallax` does not begin with one. */
function toolOf({ format }: Pick<Item, "format">): string {
  const first = format.split(/[\s,(]/)[0] ?? "";
  return /^\p{Lu}/u.test(first) ? first : "These";
}
