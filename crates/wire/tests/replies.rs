//! The promised names of replies.

use parallax_protocol::{
    InfoReply, IssueReply, IssueSeverity, IssueStage, KindReply, MetricReply, SpanReply,
};
use parallax_wire::write_reply;

#[test]
fn info_keeps_the_names_that_were_promised() {
    let issue = IssueReply {
        kind: "block-outside".into(),
        severity: IssueSeverity::Error,
        stage: IssueStage::Read,
        place: "cct.db at byte 64".into(),
        file: Some("cct.db".into()),
        offset: Some(64),
        message: "lost".into(),
        count: 2,
    };
    let reply = InfoReply {
        title: "amg".into(),
        format: "HPCToolkit 4.0".into(),
        contexts: 97_833,
        locations: 1000,
        metrics: 3,
        traces: 1000,
        samples: 1_300_000,
        issues: 1,
        entries: vec!["main thread".into()],
        kinds: vec![KindReply { name: "rank".into(), count: 1000 }],
        span: Some(SpanReply { start_ns: 1, end_ns: u64::MAX }),
        metric_list: vec![MetricReply {
            name: "cputime".into(),
            unit: "s".into(),
            scopes: vec!["inclusive".into()],
            statistics: vec!["sum".into()],
            description: "Wall time.".into(),
            total: Some(1.5),
            formula: None,
        }],
        issue_list: vec![issue],
        ..InfoReply::default()
    };
    let mut out = Vec::new();
    write_reply(&reply, &mut out).unwrap();
    assert_eq!(out.last(), Some(&b'\n'));
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["format"], "HPCToolkit 4.0");
    let counts = ["contexts", "locations", "metrics", "traces", "samples", "issues"];
    assert_eq!(
        counts.map(|name| json[name].as_u64().unwrap()),
        [97_833, 1000, 3, 1000, 1_300_000, 1]
    );
    assert_eq!(json["span"]["end_ns"], u64::MAX);
    let issue = &json["issue_list"][0];
    assert_eq!(issue["kind"], "block-outside");
    assert_eq!(issue["severity"], "error");
    assert_eq!(issue["place"], "cct.db at byte 64");
    assert_eq!(issue["offset"], 64);
    assert_eq!(issue["count"], 2);
    assert_eq!(serde_json::from_slice::<InfoReply>(&out).unwrap(), reply);
}
