//! Requests as a hostile client sends them, to an engine that has an archive and a table open: every
//! one ends, within the limits, with an answer or with a reason why there is none.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use parallax_base::{Control, MemoryFolder};
use parallax_dispatch::Dispatcher;
use parallax_fuzz::{STEPS, dispatcher};

#[path = "../../crates/import/tests/archives/mod.rs"]
mod archives;

const TABLE: &[u8] = b"cores,input,time\n1,1,8\n2,1,4.5\n4,1,2.5\n1,2,16\n2,2,8.5\n4,2,4.5\n";

static HOST: LazyLock<Dispatcher> = LazyLock::new(|| {
    let dispatcher = dispatcher(archives::files(STEPS));
    let table = [("scaling.csv".to_owned(), TABLE.to_vec())];
    dispatcher.add_root("s", "table", Arc::new(MemoryFolder::new("table", table)));
    for (root, item) in [("r", "\"x1\""), ("s", "\"e2\"")] {
        let open = format!(r#"{{"ask":"open","with":{{"root":"{root}"}}}}"#);
        let opened = dispatcher.answer_json(&open, &Control::new());
        assert!(opened.as_ref().is_ok_and(|reply| reply.json.contains(item)), "{opened:?}");
    }
    dispatcher
});

fuzz_target!(|request: &str| {
    // What is open stays as it is, so that a finding can be repeated.
    if ["open", "combine", "close", "\\u"].iter().any(|word| request.contains(word)) {
        return;
    }
    let _ = HOST.answer_json(request, &Control::new());
});
