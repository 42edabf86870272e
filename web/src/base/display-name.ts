/** What a function is called in a sentence or a narrow column: the engine's `display_name`, held to it by the same cases (`fixtures/names.txt`). Pure. */

/** What compilers append to names of code that they split or copied. */
const ADDED: readonly string[] = [".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm.", ".localalias", "._omp_fn.", ".omp_outlined", "@@"];

/** Names that are short already: most of C and Fortran. */
const PLAIN = /^(?!PMPI_)\w+$/;

/** What may follow the arguments of a function in C++. */
const QUALIFIERS: readonly string[] = ["const", "volatile", "&", "noexcept", "["];

/** A name without return type, arguments, template arguments, load module, place in the source and what compilers append; what is no such name stays as it is. */
export function displayName(name: string): string {
  return abbreviated(name, false);
}

/** Names that have the same display name as others in the list, as short as they differ: with template arguments, else in full. The others are as `displayName` has them. */
export function distinctNames(names: Iterable<string>): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  const alike = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const short = displayName(name);
    const other = first.get(short);
    const list = alike.get(short);
    if (other === undefined) first.set(short, name);
    else if (list === undefined) alike.set(short, [other, name]);
    else list.push(name);
  }
  const out = new Map<string, string>();
  for (const list of alike.values()) {
    const longer = list.map((name) => abbreviated(name, true));
    const times = new Map<string, number>();
    for (const text of longer) times.set(text, (times.get(text) ?? 0) + 1);
    list.forEach((name, at) => {
      const text = longer[at] ?? name;
      out.set(name, times.get(text) === 1 ? text : name.trim());
    });
  }
  return out;
}

/** What `displayName` says, with template arguments or without them. */
function abbreviated(name: string, withTemplates: boolean): string {
  const whole = name.trim();
  if (PLAIN.test(whole)) return whole;
  let text = whole;
  const place = text.indexOf("[{");
  if (place > 0 && text.slice(0, place).trim() !== "") text = text.slice(0, place).trimEnd();
  while (!text.startsWith("<") && text.endsWith("]")) {
    const at = text.lastIndexOf(" [");
    if (at <= 0) break;
    text = text.slice(0, at).trimEnd();
  }
  const added = Math.min(...ADDED.map((one) => text.indexOf(one)).map((at) => (at > 0 ? at : Number.POSITIVE_INFINITY)));
  if (Number.isFinite(added)) text = text.slice(0, added);
  if (text.startsWith("PMPI_")) text = text.slice(1);
  text = text.replaceAll("(anonymous namespace)::", "").replaceAll("{anonymous}::", "");
  if (/^[<([]/.test(text)) return text;
  const short = shortened(text, withTemplates) ?? text;
  return short === "" ? whole : short;
}

/** The first of the characters that stand for template arguments until the name is known; a name has no such characters. */
const STANDS_FOR = 0xe000;

/** A name without arguments and return type, and without template arguments unless they are wanted; null where it is no such name. */
function shortened(text: string, withTemplates: boolean): string | null {
  let out = "";
  const templates: string[] = [];
  // Where the name of an operator begins in `out`: blanks behind it belong to it.
  let operator: number | null = null;
  let hasArguments = false;
  let rest = text;
  while (rest !== "") {
    const first = rest.charAt(0);
    const isAfterWord = /[\p{L}\p{N}_]$/u.test(out.slice(-2));
    const symbol = !isAfterWord && rest.startsWith("operator") ? operatorSymbol(rest.slice("operator".length)) : null;
    if (symbol !== null) {
      operator = out.length;
      const length = "operator".length + symbol;
      out += rest.slice(0, length);
      rest = rest.slice(length);
    } else if (first === "<" && (isAfterWord || /[()[\]]$/.test(out.slice(-1)))) {
      const end = closed(rest, "<", ">");
      if (end === null) return null;
      if (withTemplates) {
        out += String.fromCharCode(STANDS_FOR + templates.length);
        templates.push(withoutArguments(rest.slice(0, end)));
      }
      rest = rest.slice(end);
    } else if (first === "{") {
      const end = closed(rest, "{", "}");
      if (end === null) return null;
      const inner = rest.slice(0, end);
      const open = inner.indexOf("(");
      const close = inner.lastIndexOf(")");
      out += `${(open < 0 ? inner : inner.slice(0, open)).replace(/\}+$/, "")}${close < 0 ? "" : inner.slice(close + 1).replace(/\}+$/, "")}}`;
      rest = rest.slice(end);
    } else if (first === "(" && out !== "") {
      const isAnnotation = out.endsWith(" ");
      const end = closed(rest, "(", ")");
      if (end === null) return null;
      rest = rest.slice(end);
      if (rest.startsWith("::")) {
        hasArguments = true;
        continue;
      }
      const after = rest.trimStart();
      // TAU appends the language.
      if (after !== "C" && after !== "" && !QUALIFIERS.some((one) => after.startsWith(one))) return null;
      hasArguments ||= !isAnnotation;
      rest = "";
    } else {
      let end = 1;
      while (end < rest.length && !"<({".includes(rest.charAt(end)) && !rest.startsWith("operator", end)) end += 1;
      out += rest.slice(0, end);
      rest = rest.slice(end);
    }
  }
  if (hasArguments) {
    const blank = out.slice(0, operator ?? out.length).lastIndexOf(" ");
    if (blank >= 0) out = out.slice(blank + 1);
  }
  const short = out.trim().replace(/^[*&]+/, "");
  return templates.length === 0 ? short : short.replace(/[\ue000-\uf8ff]/g, (one) => templates[one.charCodeAt(0) - STANDS_FOR] ?? one);
}

/** Template arguments without the arguments of functions in them: `<run::{lambda#1}>` of `<run(int)::{lambda(int)#1}>`. */
function withoutArguments(text: string): string {
  let out = "";
  for (let at = 0; at < text.length; at += 1) {
    const end = text.charAt(at) === "(" && /\w$/.test(out) ? closed(text.slice(at), "(", ")") : null;
    if (end === null) out += text.charAt(at);
    else at += end - 1;
  }
  return out;
}

/** The length of what follows `operator` in the name of one; null where it is another word. */
function operatorSymbol(rest: string): number | null {
  if (rest.startsWith("()") || rest.startsWith("[]")) return 2;
  const symbols = /^[-+*/%^&|~!=<>,]+/.exec(rest)?.[0].length ?? 0;
  if (symbols > 0) return symbols;
  if (!rest.startsWith(" ")) return null;
  // `operator new[]`, `operator unsigned int`.
  const open = rest.indexOf("(");
  return open < 0 ? rest.length : open;
}

/** The length of the part that begins with `open` up to what closes it; null where nothing does. The arrow `->` closes nothing. */
function closed(text: string, open: string, close: string): number | null {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const one = text.charAt(at);
    if (one === open) depth += 1;
    else if (one === close && text.charAt(at - 1) !== "-") {
      depth -= 1;
      if (depth < 0) return null;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}
