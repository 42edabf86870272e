// Generated from the table of formats in crates/import; `cargo xtask bless` writes it.

/** The tools whose data are read. */
export const FORMATS: readonly string[] = [
  "HPCToolkit",
  "TAU",
  "Callgrind",
  "Parallax",
  "Parceive",
  "OTF2",
  "Chrome and Kineto",
  "CODAR",
  "Chimbuko",
  "PaScal",
  "SPERF",
  "Extra-P",
  "TALP",
  "POP",
  "CSV",
];

/** Names of the files of a folder that cannot be listed. */
export const FILES_OF_FOLDERS: readonly string[] = [
  "meta.db",
  "profile.db",
  "cct.db",
  "trace.db",
];
