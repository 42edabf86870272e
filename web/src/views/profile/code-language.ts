import { StreamLanguage } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

/** How to colour a file, told by the ending of its name; null for plain text. Loaded when first needed. */
export async function languageOf(path: string): Promise<Extension | null> {
  const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  switch (ending) {
    case "c": case "h": case "cc": case "cpp": case "cxx": case "hpp": case "hh": case "hxx": case "inl": case "ipp": case "tpp": case "cu": case "cuh": case "hip": case "cl":
      return (await import("@codemirror/lang-cpp")).cpp();
    case "py": case "pyx":
      return (await import("@codemirror/lang-python")).python();
    case "f": case "for": case "ftn": case "f77": case "f90": case "f95": case "f03": case "f08":
      return StreamLanguage.define((await import("@codemirror/legacy-modes/mode/fortran")).fortran);
    case "rs":
      return StreamLanguage.define((await import("@codemirror/legacy-modes/mode/rust")).rust);
    case "jl":
      return StreamLanguage.define((await import("@codemirror/legacy-modes/mode/julia")).julia);
    default:
      return null;
  }
}
