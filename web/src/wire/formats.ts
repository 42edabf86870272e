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
  "Caliper",
  "Nsight Systems",
  "PaScal",
  "SPERF",
  "Extra-P",
  "TALP",
  "POP",
  "CSV",
];

/** Every format that is read: what it is called, what it is, and its files. */
export const READ_FORMATS: readonly { readonly name: string; readonly kind: string; readonly files: string }[] = [
  { name: "HPCToolkit database", kind: "profile", files: "a folder with meta.db, profile.db, cct.db and trace.db" },
  { name: "TAU profiles", kind: "profile", files: "a folder with a file for each thread, or such a folder for each metric" },
  { name: "TAU packed profile", kind: "profile", files: "one file" },
  { name: "TAU workflow profile", kind: "profile", files: "one file" },
  { name: "Callgrind, Cachegrind", kind: "profile", files: "one file, or a folder with those of the processes and threads of one program" },
  { name: "Parallax recording of C, C++ and Rust programs", kind: "recording", files: "one file" },
  { name: "Parceive database", kind: "recording", files: "one file" },
  { name: "OTF2 trace", kind: "trace", files: "an anchor (.otf2) with its .def file and its folder of locations" },
  { name: "TAU trace", kind: "trace", files: "tau.trc with tau.edf, or tautrace.N.C.T.trc with events.N.edf" },
  { name: "Chrome trace events, Kineto JSON", kind: "trace", files: "one file" },
  { name: "CODAR event JSON", kind: "trace", files: "one file" },
  { name: "Chimbuko event rows", kind: "trace", files: "one file; names of functions may be in JSON files of the same folder" },
  { name: "Chimbuko executions", kind: "trace", files: "one file, or a folder with a file for each window of time" },
  { name: "Parallax archive", kind: "trace", files: "a folder with manifest.arrow and a file for each table" },
  { name: "Caliper", kind: "profile", files: "one file" },
  { name: "Nsight Systems", kind: "trace", files: "one file" },
  { name: "PaScal Analyzer", kind: "measurements", files: "one file" },
  { name: "SPERF", kind: "measurements", files: "one file" },
  { name: "Extra-P", kind: "measurements", files: "one file" },
  { name: "TALP", kind: "measurements", files: "a file for each configuration" },
  { name: "POP metrics", kind: "measurements", files: "one file" },
  { name: "CSV table", kind: "measurements", files: "one file" },
];

/** Names of the files of a folder that cannot be listed. */
export const FILES_OF_FOLDERS: readonly string[] = [
  "meta.db",
  "profile.db",
  "cct.db",
  "trace.db",
];
