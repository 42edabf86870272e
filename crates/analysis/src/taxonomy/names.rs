//! [`FunctionNames`]: what functions are called in sentences, so that different ones have different
//! names and what a program numbers has one.

use std::collections::{BTreeMap, HashMap};

use parallax_base::{ContextIdx, FunctionIdx};
use parallax_engine::display_name;
use parallax_model::{ContextKind, ContextTree, Function};

use super::Phases;

/// What compilers append to the name of a function for the code of its parallel regions.
const OUTLINED: [&str; 2] = ["._omp_fn.", ".omp_outlined"];

/// Display names of functions: numbered phases have one name, `Step[*]`, and several parallel regions
/// of one function have a name each, `solve (solver.c:20)`, or `solve (parallel region 2)` where
/// nothing says where they are.
#[derive(Debug, Clone, Default)]
pub struct FunctionNames {
    /// What is numbered.
    pub phases: Phases,
    /// Names of parallel regions that would share one.
    regions: HashMap<FunctionIdx, String>,
}

impl FunctionNames {
    /// Of the functions of a tree.
    #[must_use]
    pub fn new(tree: &ContextTree) -> Self {
        Self { phases: Phases::new(tree), regions: regions(tree) }
    }

    /// Display name of a context.
    #[must_use]
    pub fn display(&self, tree: &ContextTree, context: ContextIdx) -> String {
        let is_function = tree.kind(context) == ContextKind::Function;
        let own = tree.function(context).filter(|_| is_function);
        match own.and_then(|function| self.regions.get(&function)) {
            Some(name) => name.clone(),
            None => display_name(&self.phases.label(tree, context)),
        }
    }
}

/// Names of the parallel regions of functions that have several.
fn regions(tree: &ContextTree) -> HashMap<FunctionIdx, String> {
    let mut by_name: BTreeMap<String, Vec<(FunctionIdx, &Function)>> = BTreeMap::new();
    for (at, function) in tree.functions().iter().enumerate() {
        if OUTLINED.iter().any(|mark| function.name.find(mark).is_some_and(|at| at > 0)) {
            let list = by_name.entry(display_name(&function.name)).or_default();
            list.push((FunctionIdx::from_len(at), function));
        }
    }
    let mut out = HashMap::new();
    for (name, mut list) in by_name.into_iter().filter(|(_, list)| list.len() > 1) {
        // Compilers number them in the order of the source.
        list.sort_by(|a, b| {
            let key = |function: &Function| (function.name.len(), function.name.clone());
            key(a.1).cmp(&key(b.1)).then(a.0.cmp(&b.0))
        });
        let places: Vec<Option<String>> =
            list.iter().map(|(_, function)| place(tree, function)).collect();
        for (nth, (function, _)) in list.iter().enumerate() {
            let own = places.get(nth).cloned().flatten();
            let is_only = |place: &String| {
                places.iter().flatten().filter(|other| *other == place).count() == 1
            };
            let which =
                own.filter(is_only).unwrap_or_else(|| format!("parallel region {}", nth + 1));
            out.insert(*function, format!("{name} ({which})"));
        }
    }
    out
}

/// `solver.c:20`; `None` where the file or the line is unknown.
fn place(tree: &ContextTree, function: &Function) -> Option<String> {
    let file = function.file.and_then(|file| tree.files().get(file.idx()))?;
    let base = file.path.rsplit('/').next().unwrap_or(&file.path);
    (function.line > 0).then(|| format!("{base}:{}", function.line))
}

#[cfg(test)]
mod tests {
    use parallax_base::FileIdx;
    use parallax_model::{ContextTreeBuilder, Node, Relation, SourceFile};

    use super::*;

    #[test]
    fn parallel_regions_of_one_function_have_names_of_their_own() {
        let function = |&(name, line): &(&str, u32)| Function {
            name: name.into(),
            group: None,
            module: None,
            file: Some(FileIdx::new(0)),
            line,
        };
        let all = [
            ("solve", 10),
            ("solve._omp_fn.1", 30),
            ("solve._omp_fn.0", 20),
            ("react._omp_fn.2", 50),
            ("norm._omp_fn.10", 0),
            ("norm._omp_fn.9", 0),
            ("Step[0]", 0),
            ("Step[1]", 0),
            ("Step[2]", 0),
            ("Step[3]", 0),
        ];
        let file = SourceFile { path: "/src/solver.c".into(), is_copied: false };
        let functions = all.iter().map(function).collect();
        let mut builder = ContextTreeBuilder::new(0, functions, vec![file], Vec::new());
        for number in 0..all.len() as u32 {
            let node = Node {
                source_id: number + 1,
                kind: ContextKind::Function,
                relation: Relation::Call,
                function: Some(FunctionIdx::new(number)),
                file: None,
                line: 0,
                module: None,
                offset: 0,
            };
            builder.push(ContextTree::ROOT, node);
        }
        let tree = builder.finish();
        let names = FunctionNames::new(&tree);
        let shown: Vec<String> = tree.iter().skip(1).map(|at| names.display(&tree, at)).collect();
        let expected = [
            "solve",
            "solve (solver.c:30)",
            "solve (solver.c:20)",
            "react",
            "norm (parallel region 2)",
            "norm (parallel region 1)",
            "Step[*]",
            "Step[*]",
            "Step[*]",
            "Step[*]",
        ];
        assert_eq!(shown, expected);
        let step = |context| names.phases.first(ContextIdx::new(context)).get();
        assert_eq!((step(7), step(10), step(3)), (7, 7, 3));
        assert_eq!(names.phases.all(ContextIdx::new(9)).len(), 4);
    }
}
