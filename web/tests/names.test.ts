// Long names are shortened as `crates/cli/src/text/fit.rs` does it, with the cases of its tests.
import { expect, test } from "vitest";
import { fittedName, shortened, withoutArguments } from "../src/base/names.ts";

test("arguments go before names", () => {
  const name = "hypre::Solver<double, std::vector<int>>::apply(int, std::pair<int, int>)";
  for (const [letters, text] of [
    [80, name],
    [60, "hypre::Solver<…>::apply(int, std::pair<int, int>)"],
    [40, "hypre::Solver<…>::apply(…)"],
    [20, "hypre::Sol…:apply(…)"],
  ] as const) expect(shortened(name, letters)).toBe(text);
});

test("brackets that are no arguments stay", () => {
  for (const [name, letters, text] of [
    ["std::ostream::operator<<(std::ostream&, long)", 34, "std::ostream::operator<<(…)"],
    ["Functor::operator()(unsigned long, int) const", 34, "Functor::operator()(…) const"],
    ["(anonymous namespace)::f(int, long)", 32, "(anonymous namespace)::f(…)"],
    ["a < b and a long remark about it", 20, "a < b and … about it"],
    ["<unknown procedure>", 10, "<unkn…ure>"],
    ["hypre_BoomerAMGBuildCoarseOperatorKT", 20, "hypre_Boom…peratorKT"],
  ] as const) expect(shortened(name, letters)).toBe(text);
});

test("rows keep whole names that are short, and the beginning of others", () => {
  expect(withoutArguments("MPI_Allreduce")).toBe("MPI_Allreduce");
  expect(withoutArguments("void gemm_kernel<float, 128, 64>(float const*, float*, unsigned long)")).toBe("void gemm_kernel<float, 128, 64>(…)");
  const widthOf = (text: string): number => text.length * 6;
  expect(fittedName("solve(std::vector<double> const&, int)", 60, widthOf)).toBe("solve(…)");
  expect(fittedName("a_long_name_without_arguments", 60, widthOf)).toBe("a_long_na…");
  expect(fittedName("abc", 6, widthOf)).toBe("");
});
