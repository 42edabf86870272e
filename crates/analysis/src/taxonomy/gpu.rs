//! What contexts have to do with GPUs, by the table of names in [`super::gpu_calls`].

use parallax_model::{ContextKind, ContextTree, Function};

use super::GpuOperation;
pub(crate) use super::gpu_calls::{RuntimeCall, is_copy_to_pageable};
use super::gpu_calls::{is_idle, operation};

/// Whether a function belongs to a GPU runtime, also where it is linked into the program.
pub(crate) fn is_runtime(name: &str) -> bool {
    RuntimeCall::of(name).is_some()
}

/// The operation of a GPU that a function stands for; `None` for functions of the host.
pub(crate) fn operation_of(function: &Function) -> Option<GpuOperation> {
    operation(&function.name, function.group.as_deref().unwrap_or(""))
}

/// By position in the tree, whether a track in a context only looks on: a stream that does nothing,
/// a thread that asks or waits for a GPU, or the span for which Kineto records.
pub(crate) fn onlooking_contexts(tree: &ContextTree) -> Vec<bool> {
    let mut out = idle_contexts(tree);
    for (context, slot) in tree.iter().zip(&mut out) {
        let function = tree.function(context).and_then(|f| tree.functions().get(f.idx()));
        let Some(function) = function else { continue };
        let is_asking = matches!(
            RuntimeCall::of(&function.name),
            Some(RuntimeCall::Poll | RuntimeCall::Synchronise)
        );
        let is_span = function.group.as_deref() == Some("Trace")
            && function.name.starts_with("PyTorch Profiler");
        *slot |= is_asking || is_span;
    }
    out
}

/// By position in the tree, whether a stream in a context does nothing.
pub(crate) fn idle_contexts(tree: &ContextTree) -> Vec<bool> {
    by_enclosing_function(tree, |function| {
        is_idle(&function.name, function.group.as_deref().unwrap_or(""))
    })
}

/// By position in the tree, whether a stream in a context copies or sets memory.
pub(crate) fn copying_contexts(tree: &ContextTree) -> Vec<bool> {
    by_enclosing_function(tree, |function| {
        matches!(operation_of(function), Some(GpuOperation::Copy | GpuOperation::Memset))
    })
}

/// By position in the tree, what holds for the function in whose code a context lies; `false`
/// outside of functions.
fn by_enclosing_function(tree: &ContextTree, holds: impl Fn(&Function) -> bool) -> Vec<bool> {
    let of_function: Vec<bool> = tree.functions().iter().map(holds).collect();
    let mut out = vec![false; tree.len()];
    // Parents come before their children: a walk upwards from each context would take long in deep
    // trees.
    for context in tree.iter().skip(1) {
        let own = match tree.kind(context) {
            ContextKind::Function => {
                tree.function(context).and_then(|f| of_function.get(f.idx()).copied())
            }
            _ => tree.parent(context).and_then(|above| out.get(above.idx()).copied()),
        };
        if let Some(slot) = out.get_mut(context.idx()) {
            *slot = own.unwrap_or(false);
        }
    }
    out
}
