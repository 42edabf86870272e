//! A large file that several dispatchers read together is what one reads alone.

use std::fmt::Write as _;
use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, MemoryFolder};
use parallax_dispatch::{Dispatcher, Response};
use parallax_protocol::ErrorReply;

const PATH: &str = "large.json";

/// A PaScal file of more than 8 MiB: 4 core counts, 2 inputs, 2 repetitions.
fn text() -> Vec<u8> {
    let mut text = r#"{"config":{"pkg":"./solver","data_descriptor":{"values":["start_time","stop_time"],"extras":{"regions":{"values":["start_time","stop_time","start_line","stop_line","thread_id","filename"]}},"keys":["cores","input","repetitions"]},"arguments":["10","20"]},"data":{"#.to_owned();
    for run in 0..16 {
        let (cores, input, repetition) = (1 << (run / 4), run / 2 % 2, run % 2 + 1);
        let _ = write!(
            text,
            r#"{}"{cores};{input};{repetition}":{{"regions":{{"#,
            if run > 0 { "," } else { "" }
        );
        for region in 1..=4 {
            let _ = write!(text, r#"{}"{region}":["#, if region > 1 { "," } else { "" });
            for entry in 0..3_200 {
                let start = 1_000.0 + f64::from(entry) * 0.25;
                let stop = start + 0.2 / f64::from(cores) + f64::from(region) * 0.001;
                let comma = if entry > 0 { "," } else { "" };
                let _ = write!(
                    text,
                    r#"{comma}[{start:.6},{stop:.6},{region}1,{region}7,{},"solver.c"]"#,
                    entry % cores
                );
            }
            text.push(']');
        }
        let _ =
            write!(text, r#"}},"start_time":1000.0,"stop_time":{}}}"#, 1_700.0 + f64::from(run));
    }
    text.push_str("}}");
    text.into_bytes()
}

fn dispatcher(text: &[u8]) -> Dispatcher {
    let folder: Arc<dyn Folder> =
        Arc::new(MemoryFolder::new("dropped", [(PATH.to_owned(), text.to_vec())]));
    let dispatcher = Dispatcher::new(Limits::default());
    dispatcher.add_root("r", "dropped", folder);
    dispatcher
}

fn opened(dispatcher: &Dispatcher) -> Result<(Response, Response), ErrorReply> {
    let control = Control::new();
    let open = dispatcher.answer_json(r#"{"ask":"open","with":{"root":"r"}}"#, &control)?;
    Ok((open, dispatcher.answer_json(r#"{"ask":"scaling","with":{"item":"e1"}}"#, &control)?))
}

/// Where parts begin and end for somebody who has the file in `pieces` pieces, one after the other.
fn bounds(dispatcher: &Dispatcher, len: u64, pieces: u64) -> Result<Vec<u64>, ErrorReply> {
    let mut bounds = vec![0];
    for piece in 1..pieces {
        let from = bounds.last().copied().unwrap_or_default();
        bounds.extend(dispatcher.part_end("r", PATH, from, len * piece / pieces)?);
    }
    bounds.push(len);
    Ok(bounds)
}

#[test]
fn parts_of_several_hosts_make_the_answer_of_one() {
    let text = text();
    assert!(text.len() > 8 << 20, "{} bytes are not large", text.len());
    let main = dispatcher(&text);
    let bounds = bounds(&main, text.len() as u64, 3).unwrap();
    assert_eq!(bounds.len(), 4, "{bounds:?}");
    let parts: Vec<Vec<u8>> = bounds
        .windows(2)
        .map(|part| dispatcher(&text).read_part("r", PATH, part[0], part[1]).unwrap())
        .collect();
    assert!(parts.iter().all(|part| !part.is_empty()));
    // Far smaller than the text: only what the entries become travels.
    assert!(parts.iter().map(Vec::len).sum::<usize>() < text.len() / 20);
    main.add_parts("r", PATH, parts);
    assert_eq!(opened(&main).unwrap(), opened(&dispatcher(&text)).unwrap());
}

#[test]
fn parts_that_do_not_fit_are_not_believed() {
    let text = text();
    let main = dispatcher(&text);
    let bounds = bounds(&main, text.len() as u64, 2).unwrap();
    let first = main.read_part("r", PATH, bounds[0], bounds[1]).unwrap();
    main.add_parts("r", PATH, vec![first.clone(), first]);
    assert_eq!(opened(&main).unwrap(), opened(&dispatcher(&text)).unwrap());
}
