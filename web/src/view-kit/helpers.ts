/** How the engine's note begins where helper threads are excluded (`NO_HELPERS` of the engine, held by a test). */
export const NO_HELPERS = "Helper threads of MPI, drivers or the measurement tool are excluded";

/** What notes say of excluded helper threads, and the other notes. */
export interface Notes {
  /** Null where none are excluded. */
  readonly helpers: string | null;
  readonly others: readonly string[];
}

/** Takes what is said of helper threads out of notes: views show it as a link that includes them. */
export function splitNotes(notes: readonly string[]): Notes {
  const isHelpers = (note: string): boolean => note.startsWith(NO_HELPERS);
  return { helpers: notes.find(isHelpers) ?? null, others: notes.filter((note) => !isHelpers(note)) };
}
