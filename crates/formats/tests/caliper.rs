//! Caliper: the fixtures, and damaged copies of them.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::path::Path;

use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::caliper::{CaliperProfile, read_caliper};

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/caliper");
    std::fs::read(folder.join(name)).unwrap()
}

/// The profile, and where something was dropped.
fn read(bytes: &[u8]) -> Option<(CaliperProfile, Vec<String>)> {
    let mut issues = Issues::new();
    let source = MemorySource::new(bytes.to_vec());
    let profile = read_caliper(&source, "heat", &Limits::default(), &mut issues).ok()?;
    Some((profile, issues.list().iter().map(|issue| issue.place.to_string()).collect()))
}

/// Paths of nested nodes with the values of one attribute, in the order of the file.
fn values(profile: &CaliperProfile, attribute: &str) -> Vec<(String, f64)> {
    let of = |at: u32| profile.attributes[at as usize].name.as_str();
    let path = |nodes: &[u32]| {
        let all = nodes.iter().flat_map(|&node| profile.path(node, 100));
        let labels = all.map(|node| profile.nodes[node as usize].label.clone());
        labels.collect::<Vec<_>>().join(" > ")
    };
    let mut out = Vec::new();
    for record in &profile.records {
        let values = record.values.iter().filter(|(column, _)| of(*column) == attribute);
        out.extend(values.map(|(_, value)| (path(&record.nodes), *value)));
    }
    out
}

#[test]
fn both_forms_have_the_same_regions_and_times() {
    let (json, issues) = read(&fixture("heat.json")).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    let (text, issues) = read(&fixture("heat.cali")).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    let seconds = values(&text, "sum#time.duration");
    let micros = values(&json, "sum#time.duration");
    let same: Vec<_> = micros.iter().map(|(path, value)| (path.clone(), value / 1e6)).collect();
    assert_eq!(seconds, same);
    let last = ("main > solve > dot,product".to_owned(), 3.0);
    assert_eq!((seconds.len(), &seconds[7]), (8, &last));
    assert_eq!(values(&text, "mpi.rank"), values(&json, "mpi.rank"));
    let time = text.attributes.iter().find(|one| one.name == "sum#time.duration").unwrap();
    assert_eq!((time.unit.as_deref(), time.alias.as_deref()), (Some("sec"), Some("Time (exc)")));
    assert_eq!(text.globals, [("executable".to_owned(), "./heat=fast".to_owned())]);
    let nested = |profile: &CaliperProfile| {
        let nested = profile.attributes.iter().filter(|attribute| attribute.is_nested);
        nested.map(|attribute| attribute.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!((nested(&json), nested(&text)), (vec!["path".into()], vec!["function".into()]));
}

#[test]
fn a_record_that_cannot_be_read_is_named_by_its_byte() {
    let first = "__rec=node,id=1,attr=31,data=main\n";
    for wrong in [
        "__rec=ctx,ref=7,attr=9,data=1\n",
        "__rec=ctx,ref=1,attr=9=9,data=1\n",
        "__rec=node,id=2,attr=31,data=x,parent=9\n",
        "what is this\n",
    ] {
        let (profile, issues) = read(format!("{first}{wrong}").as_bytes()).unwrap();
        assert_eq!((profile.nodes.len(), profile.records.len()), (1, 0), "{wrong}");
        assert!(issues[0].ends_with(&first.len().to_string()), "{wrong} {issues:?}");
    }
}

#[test]
fn damage_gives_less_or_an_error() {
    for name in ["heat.json", "heat.cali"] {
        let whole = fixture(name);
        let check = |bytes: &[u8]| {
            let Some((profile, _)) = read(bytes) else { return };
            let (nodes, attributes) = (profile.nodes.len(), profile.attributes.len());
            for (at, node) in profile.nodes.iter().enumerate() {
                assert!(node.parent.is_none_or(|above| (above as usize) < at));
                assert!((node.attribute as usize) < attributes);
            }
            for record in &profile.records {
                assert!(record.nodes.iter().all(|node| (*node as usize) < nodes));
                let is_good =
                    |(at, value): &(u32, f64)| (*at as usize) < attributes && value.is_finite();
                assert!(record.values.iter().all(is_good));
            }
        };
        for end in 0..whole.len() {
            check(&whole[..end]);
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x55] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                check(&bytes);
            }
        }
    }
}
