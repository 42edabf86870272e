//! `scaling`, `model` and `merge`, whose options and output are in [`crate::scaling`].

use super::Context;
use crate::scaling;

pub(super) use crate::scaling::{MergeArgs, ModelArgs, ScalingArgs};

pub(super) fn scaling(context: &Context, arguments: &ScalingArgs) -> anyhow::Result<()> {
    scaling::run(arguments, &context.output, &context.stderr, &context.control)
}

pub(super) fn model(context: &Context, arguments: &ModelArgs) -> anyhow::Result<()> {
    scaling::model(arguments, &context.output, &context.stderr, &context.control)
}

pub(super) fn merge(context: &Context, arguments: &MergeArgs) -> anyhow::Result<()> {
    scaling::merge(arguments, &context.output, &context.stderr)
}
