//! Requests are checked field by field, and errors name the field.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may stop")]

use arrow_array::Array as _;
use parallax_protocol::{
    Choice as _, EntityKind, LanesRequest, LineRow, LineTable, Question, RelatedRequest, Relation,
    TypedTable as _, UserEventRow, UserEventTable, UserEventsRequest,
};
use serde_json::{Map, Value, json};

fn fields(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { panic!("not an object") };
    fields
}

fn refused<Q: Question>(value: Value) -> String {
    Q::parse(fields(value)).err().unwrap().to_string()
}

#[test]
fn fields_that_are_left_out_have_their_defaults() {
    let (subject, request) = UserEventsRequest::parse(fields(json!({"item": "x1"}))).unwrap();
    assert_eq!(subject.item, "x1");
    assert_eq!(request, UserEventsRequest::default());
    let (_, request) = LanesRequest::parse(fields(json!({"item": "x1", "tops": [3]}))).unwrap();
    assert_eq!(request, LanesRequest { tops: vec![3], ..LanesRequest::default() });
}

#[test]
fn a_field_without_default_is_asked_for() {
    let request = json!({"item": "x1", "kind": "thread", "ids": [0]});
    assert_eq!(refused::<RelatedRequest>(request), "`related` needs the field `relation`");
    let error = refused::<UserEventsRequest>(json!({"event": "a"}));
    assert!(error.contains("item"), "{error}");
}

#[test]
fn unknown_fields_and_values_are_named_with_those_that_there_are() {
    let error = refused::<UserEventsRequest>(json!({"item": "x1", "evnt": "a"}));
    assert_eq!(error, "`user_events` has no field `evnt`; it has item, event, profiles");
    let request = json!({"item": "x1", "kind": "thrad", "ids": [], "relation": "calls"});
    let error = refused::<RelatedRequest>(request);
    for choice in EntityKind::ALL {
        assert!(error.contains(&choice.to_string()), "{error}");
    }
}

#[test]
fn choices_are_written_and_read_by_their_names() {
    for &relation in Relation::ALL {
        let written = serde_json::to_value(relation).unwrap();
        assert_eq!(written, json!(relation.to_string()));
        assert_eq!(serde_json::from_value::<Relation>(written).unwrap(), relation);
    }
}

#[test]
fn rows_become_columns_with_units_and_display_names() {
    let row = UserEventRow {
        event: "Message size".to_owned(),
        unit: "B".to_owned(),
        count: 2,
        sum: Some(24.0),
        mean: Some(12.0),
        min: None,
        max: None,
        std_dev: None,
        locations: 1,
        contexts: 0,
    };
    let table = [row].into_iter().collect::<UserEventTable>().into_table();
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let schema = UserEventTable::SCHEMA.columns;
    assert_eq!(names, schema.iter().map(|column| column.name).collect::<Vec<_>>());
    let batch = table.to_record_batch();
    let field = batch.schema_ref().field_with_name("std_dev").unwrap().clone();
    assert_eq!(field.metadata()["head"], "Std. dev.");
    assert_eq!(field.metadata()["doc"], "Standard deviation of all values.");
    assert!(batch.column_by_name("min").unwrap().is_null(0));
    assert_eq!(UserEventTable::SCHEMA.column("max").unwrap().title(), "Maximum");
    assert_eq!(UserEventTable::SCHEMA.column("count").unwrap().title(), "Count");
}

#[test]
fn numbers_that_say_which_one_are_marked_as_labels() {
    let row = LineRow {
        line: 14,
        what: "write",
        name: String::new(),
        times: 3,
        context_id: Some(7),
        reference: None,
    };
    let batch = [row].into_iter().collect::<LineTable>().into_table().to_record_batch();
    let role = |name: &str| {
        let field = batch.schema_ref().field_with_name(name).unwrap();
        field.metadata().get("role").cloned()
    };
    assert_eq!(role("line").as_deref(), Some("label"));
    assert_eq!(role("context_id").as_deref(), Some("label"));
    assert_eq!(role("times"), None);
    assert_eq!(role("name"), None);
}
