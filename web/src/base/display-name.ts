/** What a function is called in a sentence or a narrow column: the engine's `display_name`, held to it by the same cases (`fixtures/names.txt`). Pure. */

/** What compilers append to names of code that they split or copied. */
const ADDED: readonly string[] = [".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm.", ".localalias", "._omp_fn.", ".omp_outlined", "@@"];

/** What may follow the arguments of a function in C++. */
const QUALIFIERS: readonly string[] = ["const", "volatile", "&", "noexcept", "["];

/** A name without return type, arguments, template arguments, load module, place in the source and what compilers append; what is no such name stays as it is. */
export function displayName(name: string): string {
  const whole = name.trim();
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
  const short = shortened(text) ?? text;
  return short === "" ? whole : short;
}

/** A name without template arguments, arguments and return type; null where it is no such name. */
function shortened(text: string): string | null {
  let out = "";
  // Where the name of an operator begins in `out`: blanks behind it belong to it.
  let operator: number | null = null;
  let hasArguments = false;
  let rest = text;
  while (rest !== "") {
    const first = rest.charAt(0);
    const isAfterWord = /[\p{L}\p{N}_]$/u.test(out);
    const symbol = !isAfterWord && rest.startsWith("operator") ? operatorSymbol(rest.slice("operator".length)) : null;
    if (symbol !== null) {
      operator = out.length;
      const length = "operator".length + symbol;
      out += rest.slice(0, length);
      rest = rest.slice(length);
    } else if (first === "<" && (isAfterWord || /[()[\]]$/.test(out))) {
      const end = closed(rest, "<", ">");
      if (end === null) return null;
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
      out += first;
      rest = rest.slice(1);
    }
  }
  if (hasArguments) {
    const blank = out.slice(0, operator ?? out.length).lastIndexOf(" ");
    if (blank >= 0) out = out.slice(blank + 1);
  }
  return out.trim().replace(/^[*&]+/, "");
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
