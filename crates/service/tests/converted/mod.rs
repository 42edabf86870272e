//! Traces of planned calls, converted in memory.

use std::sync::Arc;

use parallax_base::{Folder, MemorySink};
use parallax_import::events::{Conversion, TrackIdentity};
use parallax_model::IdentityKind;
use parallax_service::{OpenExperiment, OpenLimits, open};

/// Identity of a track, and its calls: from when to when, and which function.
pub(crate) type Track<N> = (Vec<(IdentityKind, u64)>, Vec<(u64, u64, N)>);

/// An archive of tracks whose calls do not nest.
pub(crate) fn converted<N: AsRef<str>>(tracks: &[Track<N>]) -> OpenExperiment {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    for (identity, calls) in tracks {
        let identity = identity.clone();
        let track = conversion.track(TrackIdentity { identity, ..TrackIdentity::default() });
        for (start, end, name) in calls {
            let group = if name.as_ref().starts_with("MPI_") { "MPI" } else { "" };
            let function = conversion.function(name.as_ref(), group);
            let builder = conversion.builder(track).unwrap();
            builder.enter(*start, function);
            builder.leave(*end, None);
        }
    }
    conversion.finish().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
    open(&folder, &OpenLimits::default()).unwrap()
}
