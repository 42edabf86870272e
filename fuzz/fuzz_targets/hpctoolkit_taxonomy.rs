//! `metrics/default.yaml`: whatever the text, the formulas only name inputs that there are.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::hpctoolkit::{Expression, Formula, Taxonomy, TaxonomyNode};

fn check_expression(expression: &Expression, num_inputs: usize) {
    match expression {
        Expression::Number(_) => {}
        Expression::Input(input) => assert!(*input < num_inputs),
        Expression::Apply { arguments, .. } => {
            assert!(!arguments.is_empty());
            arguments.iter().for_each(|argument| check_expression(argument, num_inputs));
        }
    }
}

fn check(node: &TaxonomyNode, num_inputs: usize) {
    for variant in &node.variants {
        if let Formula::Own { inclusive, exclusive } = &variant.formula {
            let all = [inclusive, exclusive].map(|pair| [&pair.custom, &pair.standard]);
            let all = all.into_iter().flatten().flatten();
            all.for_each(|expression| check_expression(expression, num_inputs));
        }
    }
    node.children.iter().for_each(|child| check(child, num_inputs));
}

fuzz_target!(|bytes: &[u8]| {
    let source = MemorySource::new(bytes.to_vec());
    let taxonomy = Taxonomy::read(&source, &Limits::default(), &mut Issues::new());
    taxonomy.roots.iter().for_each(|root| check(root, taxonomy.inputs.len()));
});
