//! Host tables: what each kind says, and which line is wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

use std::net::Ipv4Addr;

use parallax_formats::hosts::{HostFormat, HostRecord, NamePart, read, read_system};
use proptest::prelude::*;

fn hosts(text: &str) -> Vec<HostRecord> {
    read(text.as_bytes(), "f").unwrap().hosts
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    let error = read(text.as_bytes(), "f").unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn tables_have_host_ids_in_both_notations() {
    let text = "# made by hand\nxname,hostid,ip\nx1c0s0b0n0,0x800a0100,10.128.0.1\n\n\
                \"x1c0s1b0n0\" , 800a0200,\n";
    let found = hosts(text);
    assert_eq!(found[0].host_id, Some(0x800a_0100));
    assert_eq!(found[0].addresses, [Ipv4Addr::new(10, 128, 0, 1)]);
    assert_eq!((found[1].host_id, found[1].line), (Some(0x800a_0200), 5));
    assert_eq!(found[1].names, ["x1c0s1b0n0"]);
    // `hostid` prints eight digits; a decimal column has some that are longer or shorter.
    assert_eq!(hosts("hostid,xname\n00710101,a\n")[0].host_id, Some(0x0071_0101));
    assert_eq!(hosts("hostid,xname\n2148139264,a\n710101,b\n")[0].host_id, Some(2_148_139_264));
    // Without a head, and as a signed number of 64 bits.
    assert_eq!(hosts("ffffffffa8c02780,x1c0s0b0n0\n")[0].host_id, Some(0xa8c0_2780));
    let placed = hosts("name;rack;chassis;slot\nn1;r1;2;3\n");
    assert_eq!(placed[0].place.rack.as_deref(), Some("r1"));
    assert_eq!(placed[0].place.slot.as_deref(), Some("3"));
}

#[test]
fn etc_hosts_leaves_out_what_every_host_has() {
    let file = read(
        b"127.0.0.1 localhost\n::1 localhost ip6-localhost\n10.1.0.7\tnid7 x1c0s0b0n0 # blade\n",
        "hosts",
    )
    .unwrap();
    assert_eq!((file.format, file.hosts.len(), file.notes.len()), (HostFormat::EtcHosts, 1, 2));
    assert_eq!(file.hosts[0].names, ["nid7", "x1c0s0b0n0"]);
    fails("10.0.0.1 a\n10.0.0.300 b\n", "f, line 2: expected an address, found \"10.0.0.300\"");
    fails("10.0.0.1\n", "f, line 1: 10.0.0.1 has no name");
}

#[test]
fn pbsnodes_gives_names_and_tiers() {
    let text = r#"{"timestamp": 1, "pbs_version": "2022", "nodes": {
        "x3101c0s1b0n0": {"Mom": "x3101c0s1b0n0.hsn.example", "ntype": "PBS",
            "resources_available": {"host": "x3101c0s1b0n0", "tier0": "x3101-g4", "tier1": "g4"}},
        "login": {}}}"#;
    let found = hosts(text);
    assert_eq!(found[0].names, ["x3101c0s1b0n0", "x3101c0s1b0n0.hsn.example"]);
    assert_eq!(found[0].place.rack.as_deref(), Some("x3101"));
    assert_eq!(found[0].place.group.as_deref(), Some("g4"));
    assert_eq!(found[1].names, ["login"]);
    fails("{\"a\": 1}", "f is no host table: it is JSON without an object \"nodes\"");
    fails("{\"nodes\": {\n\"a\": {\"Mom\": }}}", "f, line 2: ");
}

#[test]
fn slurm_knows_switches_groups_and_blocks() {
    let text = "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n\
                SwitchName=t0 Switches=s0\nSwitchName=t1 Switches=s1\nSwitchName=top Switches=t[0-1]\n";
    let found = hosts(text);
    let place = |at: usize| {
        let place = &found[at].place;
        (place.switch.as_deref(), place.group.as_deref())
    };
    assert_eq!(found.len(), 4);
    assert_eq!((place(0), place(2)), ((Some("s0"), Some("t0")), (Some("s1"), Some("t1"))));
    // One switch above all says nothing.
    let flat =
        hosts("SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b\nSwitchName=t Switches=s[0-1]\n");
    assert!(flat.iter().all(|host| host.place.group.is_none()));
    let blocks = hosts("BlockName=b1 Nodes=n[01-02]\nBlockSizes=2\n");
    assert_eq!(
        (blocks[1].names[0].as_str(), blocks[1].place.group.as_deref()),
        ("n02", Some("b1"))
    );
    fails(
        "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s0 Nodes=n2",
        "f, line 2: s0 is in line 1 already",
    );
    fails("SwitchName=s0 Nodes=n[0-", "f, line 1: [ without ]");
}

#[test]
fn other_files_are_refused_with_what_they_are() {
    fails("", "f is no host table: it is empty");
    fails("once upon a time\n", "f is no host table: line 1 is \"once upon a time\"");
    fails("hostid,xname\n12x4,a\n", "f, line 2: \"12x4\" is no host id");
    fails("hostid,xname\n1,a,b\n", "f, line 2: 3 columns, but the head has 2");
    fails("hostid,xname\n,\n", "f, line 2: no host id, address or name");
    assert!(read(b"a\n\xff", "f").unwrap_err().to_string().starts_with("f, line 2: this is not"));
}

/// A few bytes that multiply to many names are refused, with the line and the list.
#[test]
fn lists_that_multiply_are_refused_over_the_whole_file() {
    let lists = |names: u32| -> String {
        (0..5).map(|nth| format!("SwitchName=s{nth} Nodes=n{nth}x[0-9][1-{names}]\n")).collect()
    };
    let found = read(lists(10_000).as_bytes(), "f").unwrap();
    assert_eq!(found.hosts.len(), 500_000);
    let text = lists(15_000);
    assert!(text.len() < 200, "{}", text.len());
    let error = read(text.as_bytes(), "f").unwrap_err().to_string();
    assert!(error.starts_with("f, line 4: with \"n3x[0-9][1-15000]\""), "{error}");
    assert!(error.contains("more than 524288 names"), "{error}");
}

#[test]
fn systems_are_described_in_a_few_lines() {
    let text = "name = mine\nnode = r{rack}-c{chassis}  # as on the labels\nracks-per-group = 4\n";
    let system = read_system(text.as_bytes(), "f").unwrap();
    let literal = |text: &str| NamePart::Literal(text.into());
    let expected = vec![literal("r"), NamePart::Rack, literal("-c"), NamePart::Chassis];
    assert_eq!((system.patterns, system.racks_per_group), (vec![expected], Some(4)));
    for (text, expected) in [
        ("name = a\n", "f is no host table: no line says what nodes are called"),
        ("node = n{node}\n", "f, line 1: \"n{node}\" says nothing about where"),
        ("node = {rack}{slot}\n", "f, line 1: nothing between two numbers"),
        ("\nnode = {rak}\n", "f, line 2: unknown {rak}"),
        ("colour = red\n", "f, line 1: unknown \"colour\""),
        ("node = r{rack}\nracks_per_group = 0\n", "f, line 2: expected a number above 0"),
    ] {
        let error = read_system(text.as_bytes(), "f").unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

proptest! {
    /// Whatever the bytes, there is an answer or an error.
    #[test]
    fn any_text_is_read_or_refused(
        start in prop::sample::select(vec![
            "", "hostid,xname\n", "{\"nodes\":{", "SwitchName=s Nodes=", "10.0.0.1 a\n", "node = ",
        ]),
        rest in "[ -~\n]{0,80}",
    ) {
        let text = format!("{start}{rest}");
        let _ = read(text.as_bytes(), "f");
        let _ = read_system(text.as_bytes(), "f");
    }
}
