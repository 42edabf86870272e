//! The protocol of the surfaces that talk to an engine: one request, one reply, some tables.
//!
//! A browser's worker and an HTTP server carry the same messages. A request is JSON
//! (`{"ask":"tree_table","with":{...}}`); its answer is a JSON reply and named tables in Arrow IPC.
//! The module `typescript`, behind the feature of that name, writes all of it down for the web.
//!
//! Fields that a request leaves out have the value that the command line has by default.

mod scaling;

use serde::{Deserialize, Serialize};

pub use parallax_protocol::NotesReply as TableOnlyReply;
pub use parallax_protocol::{ErrorReply, PROTOCOL_VERSION, RootReply};
pub use scaling::{
    CompareAsk, CompareReply, ComparedRegionReply, CurveAsk, CurveReply, ModelReply, ModelsAsk,
    ModelsReply, ParameterReply, RegionReply, ScalingAsk, ScalingReply, ScalingTableAsk,
    SpreadReply, ViewAsk,
};

/// What a request is answered with, beside its tables.
pub trait Ask {
    /// The reply.
    type Reply: Serialize;
}

/// Defines [`Request`] and which reply each request has, and keeps the list for TypeScript.
macro_rules! protocol {
    ($($(#[$doc:meta])* $variant:ident($ask:ty) => $reply:ty,)*) => {
        /// A question to an engine.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "ask", content = "with", rename_all = "snake_case")]
        pub enum Request {
            $($(#[$doc])* $variant($ask),)*
        }

        $(impl Ask for $ask { type Reply = $reply; })*

        /// Adds these requests to the types of the page.
        #[cfg(feature = "typescript")]
        pub fn describe(pages: &mut parallax_protocol::typescript::Pages) {
            $(pages.request::<$ask, $reply>(stringify!($variant), &[$(stringify!($doc)),*]);)*
        }
    };
}

protocol! {
    /// Regions, verdict and maps of an ensemble; tables `cells` and `losses`.
    Scaling(ScalingAsk) => ScalingReply,
    /// Another table of an ensemble; table `rows`.
    ScalingTable(ScalingTableAsk) => TableOnlyReply,
    /// Growth models of the regions of an ensemble.
    Models(ModelsAsk) => ModelsReply,
    /// Two ensembles as versions of one program; table `cells`.
    Compare(CompareAsk) => CompareReply,
}
