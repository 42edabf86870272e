/** A list in which the entry at `from` lies at `to`; the others keep their order. */
export function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const entry = list[from];
  if (entry === undefined || from === to) return list;
  const rest = list.filter((_, index) => index !== from);
  const at = Math.max(0, Math.min(to, rest.length));
  return [...rest.slice(0, at), entry, ...rest.slice(at)];
}
