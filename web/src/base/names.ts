/**
 * Long names where there is little room, shortened as on the command line: arguments of templates and functions go
 * first, the longest first, because `solve<…>(…)` still names the function; then the middle, because beginnings name
 * the library and ends name the case.
 */

const ELLIPSIS = "…";

/** Letters of a name that a row or a sentence has room for. */
const ROW_LETTERS = 48;

/** `text` in at most so many letters. */
export function shortened(text: string, letters: number): string {
  if (text.length <= letters) return text;
  const short = withoutArguments(text, letters);
  return short.length <= letters ? short : withoutMiddle(short, letters);
}

/** `text` with as many outermost `<...>` and `(...)` emptied as it takes to fit. */
export function withoutArguments(text: string, letters = ROW_LETTERS): string {
  if (text.length <= letters) return text;
  const groups = argumentGroups(text).filter(([start, end]) => end - start > ELLIPSIS.length);
  let length = text.length;
  const emptied: (readonly [start: number, end: number])[] = [];
  for (const group of groups.toSorted((a, b) => b[1] - b[0] - (a[1] - a[0]) || a[0] - b[0])) {
    if (length <= letters) break;
    length -= group[1] - group[0] - ELLIPSIS.length;
    emptied.push(group);
  }
  let out = "";
  let from = 0;
  for (const [start, end] of emptied.toSorted((a, b) => a[0] - b[0])) {
    out += text.slice(from, start) + ELLIPSIS;
    from = end;
  }
  return out + text.slice(from);
}

function withoutMiddle(text: string, letters: number): string {
  const room = letters - ELLIPSIS.length;
  if (room <= 0) return text.slice(0, Math.max(0, letters));
  const head = Math.ceil(room / 2);
  return text.slice(0, head) + ELLIPSIS + (room > head ? text.slice(head - room) : "");
}

/** As much of a name as has room, by a measure of its width; empty where not even its beginning does. */
export function fittedName(name: string, room: number, widthOf: (text: string) => number): string {
  const width = widthOf(name);
  if (width <= room) return name;
  const letters = Math.floor((room / width) * name.length);
  const short = withoutArguments(name, letters);
  if (short !== name && widthOf(short) <= room) return short;
  const shortWidth = widthOf(short);
  const most = Math.floor((room / shortWidth) * short.length) - 1;
  return most < 2 ? "" : `${short.slice(0, most).trimEnd()}${ELLIPSIS}`;
}

/** The insides of outermost brackets. None where brackets do not match. */
function argumentGroups(text: string): readonly (readonly [start: number, end: number])[] {
  const groups: (readonly [number, number])[] = [];
  const open: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.startsWith("operator", at)) {
      const name = text.slice(at + "operator".length);
      at += "operator".length - 1 + (name.startsWith("()") ? 2 : (/^[<>=\-!+*/%^&|~,]*/.exec(name)?.[0].length ?? 0));
      continue;
    }
    if (text.startsWith("->", at)) {
      at += 1;
      continue;
    }
    const letter = text.charAt(at);
    if (letter === "<" || letter === "(") {
      if (open.length === 0) start = at + 1;
      open.push(letter);
    } else if (letter === ">" || letter === ")") {
      if (open.pop() !== (letter === ">" ? "<" : "(")) return [];
      // A group at the very start is the name itself, as in `(anonymous namespace)::f` or `<unknown>`.
      if (open.length === 0 && start > 1) groups.push([start, at]);
    }
  }
  return open.length === 0 ? groups : [];
}
