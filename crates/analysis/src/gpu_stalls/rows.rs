//! Rows of stalls: contexts of kernels, added up by kernel, function, line or instruction.

use std::collections::HashMap;

use parallax_base::ContextIdx;
use parallax_engine::display_name;
use parallax_model::{ContextKind, ContextTree};

use super::read::Columns;
use super::{Sampled, StallRow, Stalls, StallsBy};
use crate::taxonomy::GpuOperation;
use crate::taxonomy::classes::{Classes, CostClass};
use crate::taxonomy::gpu::{is_runtime, operation_of};

/// What makes two contexts one row: kernel, function, file, line, instruction.
type Key = (String, String, String, u32, String);

pub(super) fn stalls(tree: &ContextTree, columns: &Columns, by: StallsBy) -> Stalls {
    let kernels = kernels(tree, columns);
    let mut rows: Vec<StallRow> = Vec::new();
    let mut row_of: HashMap<Key, usize> = HashMap::new();
    // The cycles of the largest context of each row.
    let mut largest: Vec<f64> = Vec::new();
    let mut add = |key: Key, context: ContextIdx, sampled: Sampled, seconds: Option<f64>| {
        let at = *row_of.entry(key.clone()).or_insert(rows.len());
        if at == rows.len() {
            let (kernel, function, file, line, instruction) = key;
            largest.push(sampled.cycles);
            let row =
                StallRow { kernel, function, file, line, instruction, context, sampled, seconds };
            rows.push(row);
            return;
        }
        if let (Some(row), Some(most)) = (rows.get_mut(at), largest.get_mut(at)) {
            if sampled.cycles > *most {
                (*most, row.context) = (sampled.cycles, context);
            }
            row.sampled.add(&sampled);
            row.seconds = row.seconds.zip(seconds).map(|(a, b)| a + b);
        }
    };
    let empty = || (String::new(), String::new(), 0, String::new());
    for kernel in &kernels {
        if by == StallsBy::Kernel {
            let sampled = columns.inclusive(kernel.context);
            let seconds = columns.seconds.as_ref().map(|costs| costs.inclusive_of(kernel.context));
            let (function, file, line, instruction) = empty();
            let key = (kernel.name.clone(), function, file, line, instruction);
            add(key, kernel.named, sampled, seconds);
            continue;
        }
        for context in std::iter::once(kernel.context).chain(tree.descendants(kernel.context)) {
            if !is_row(tree, context, by) {
                continue;
            }
            let sampled = columns.exclusive(context);
            if sampled.cycles <= 0.0 {
                continue;
            }
            let function = tree.enclosing_function(context).filter(|f| kernel.has(tree, *f));
            let function =
                function.map(|f| display_name(tree.function_name(f).unwrap_or_default()));
            let (_, mut file, mut line, mut instruction) = empty();
            if by != StallsBy::Function {
                file = tree.file_path(context).unwrap_or_default().to_owned();
                line = tree.line(context);
            }
            if by == StallsBy::Instruction {
                let module = tree.module_path(context).unwrap_or_default();
                let module = module.rsplit('/').next().unwrap_or_default();
                instruction = format!("{module}+{:#x}", tree.offset(context));
            }
            let key = (kernel.name.clone(), function.unwrap_or_default(), file, line, instruction);
            add(key, context, sampled, None);
        }
    }
    rows.retain(|row| row.sampled.cycles > 0.0);
    rows.sort_by(|a, b| {
        (b.sampled.cycles.total_cmp(&a.sampled.cycles)).then_with(|| a.context.cmp(&b.context))
    });
    let whole = columns.whole();
    let placed: f64 = rows.iter().map(|row| row.sampled.cycles).sum();
    let unplaced = (whole.cycles - placed).max(0.0);
    Stalls {
        reasons: columns.reasons(),
        unplaced: if unplaced > whole.cycles * 1e-9 { unplaced } else { 0.0 },
        whole,
        rows,
        seconds: columns.seconds.as_ref().map(|costs| costs.total),
        period: columns.period(),
        dropped: columns.dropped(),
    }
}

/// A launch of a kernel in the tree.
struct Launched {
    name: String,
    /// What belongs to it: all below.
    context: ContextIdx,
    /// The context that has its name.
    named: ContextIdx,
    /// Whether `context` is the placeholder, which is no function of the device.
    is_placeholder: bool,
}

impl Launched {
    /// Whether a context is on the device.
    fn has(&self, tree: &ContextTree, context: ContextIdx) -> bool {
        tree.is_within(context, self.context) && !(self.is_placeholder && context == self.context)
    }
}

/// What was launched, in the order of contexts; what is below one is below no other.
fn kernels(tree: &ContextTree, columns: &Columns) -> Vec<Launched> {
    let classes = Classes::new(tree);
    let is_kernel = |context: ContextIdx| {
        let function = tree.function(context).and_then(|f| tree.functions().get(f.idx()));
        function.is_some_and(|f| {
            f.name.starts_with('<') && operation_of(f) == Some(GpuOperation::Kernel)
        })
    };
    let mut out = Vec::new();
    for placeholder in tree.iter().filter(|&context| is_kernel(context)) {
        if columns.cycles.inclusive_of(placeholder) <= 0.0 {
            continue;
        }
        let children: Vec<ContextIdx> = tree.children(placeholder).collect();
        let launched: Vec<ContextIdx> =
            children.iter().copied().filter(|&child| columns.is_launched(child)).collect();
        let name = |context| match tree.function_name(context) {
            Some(name) if tree.kind(context) == ContextKind::Function && !name.is_empty() => {
                display_name(name)
            }
            _ => kernels_of(tree, &classes, placeholder),
        };
        if let [named] = launched.as_slice() {
            out.push(Launched {
                name: name(*named),
                context: placeholder,
                named: *named,
                is_placeholder: true,
            });
        } else {
            out.extend(children.into_iter().map(|child| Launched {
                name: name(child),
                context: child,
                named: child,
                is_placeholder: false,
            }));
        }
    }
    out
}

/// What kernels without a name are called, by who launches them: `kernels of main`.
fn kernels_of(tree: &ContextTree, classes: &Classes, placeholder: ContextIdx) -> String {
    let is_program = |function: &ContextIdx| {
        tree.kind(*function) == ContextKind::Function
            && classes.of_context.get(function.idx()) == Some(&CostClass::Application)
            && !classes.is_library(tree, *function)
            && tree
                .function_name(*function)
                .is_some_and(|name| !name.starts_with("__") && !is_runtime(name))
    };
    let caller = tree.ancestors(placeholder).find(is_program);
    let caller = caller.and_then(|caller| tree.function_name(caller)).map(display_name);
    caller.map_or_else(|| "kernels".to_owned(), |caller| format!("kernels of {caller}"))
}

/// Whether a context is of the sort that rows are.
fn is_row(tree: &ContextTree, context: ContextIdx, by: StallsBy) -> bool {
    match (by, tree.kind(context)) {
        (StallsBy::Function, ContextKind::Function)
        | (StallsBy::Line, ContextKind::Line)
        | (StallsBy::Instruction, ContextKind::Instruction) => true,
        // An instruction that was called stands in no function.
        (StallsBy::Function, ContextKind::Instruction) => tree.relation(context).is_call(),
        _ => false,
    }
}
