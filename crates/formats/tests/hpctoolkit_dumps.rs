//! Databases against the dumps that the toolkit's own reader made of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod hpctoolkit;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use hpctoolkit::{Bytes, Everything, corpus, lending};
use parallax_formats::hpctoolkit::{Combine, Contexts};
use saphyr_parser::{Event, Parser};

/// A YAML node of any tag; an alias is the node it stands for.
enum Node {
    Scalar(String),
    List(Vec<Rc<Node>>),
    Map(Vec<(String, Rc<Node>)>),
}

impl Node {
    fn load(path: &Path) -> Rc<Self> {
        let text = std::fs::read_to_string(path).unwrap();
        let mut events = Parser::new_from_str(&text).map(|event| event.unwrap().0);
        let mut anchors = HashMap::new();
        assert_eq!(events.next(), Some(Event::StreamStart));
        assert!(matches!(events.next(), Some(Event::DocumentStart(_))));
        let first = events.next().unwrap();
        Self::read(first, &mut events, &mut anchors)
    }

    fn read<'t>(
        event: Event<'t>,
        events: &mut impl Iterator<Item = Event<'t>>,
        anchors: &mut HashMap<usize, Rc<Self>>,
    ) -> Rc<Self> {
        let (anchor, node) = match event {
            Event::Alias(anchor) => return Rc::clone(&anchors[&anchor]),
            Event::Scalar(text, _, anchor, _) => (anchor, Self::Scalar(text.into_owned())),
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match events.next().unwrap() {
                        Event::SequenceEnd => break,
                        event => items.push(Self::read(event, events, anchors)),
                    }
                }
                (anchor, Self::List(items))
            }
            Event::MappingStart(anchor, _) => {
                let mut pairs = Vec::new();
                loop {
                    match events.next().unwrap() {
                        Event::MappingEnd => break,
                        Event::Scalar(key, ..) => {
                            let event = events.next().unwrap();
                            pairs.push((key.into_owned(), Self::read(event, events, anchors)));
                        }
                        other => panic!("a key is {other:?}"),
                    }
                }
                (anchor, Self::Map(pairs))
            }
            other => panic!("{other:?} is not a node"),
        };
        let node = Rc::new(node);
        anchors.insert(anchor, Rc::clone(&node));
        node
    }

    fn at(&self, path: &str) -> &Self {
        path.split('.').fold(self, |node, key| match node {
            Self::Map(pairs) => {
                let found = pairs.iter().find(|(k, _)| k == key);
                &found.unwrap_or_else(|| panic!("no `{key}` of {path}")).1
            }
            _ => panic!("no mapping for `{key}` of {path}"),
        })
    }

    fn text(&self) -> &str {
        let Self::Scalar(text) = self else { panic!("not a scalar") };
        text
    }

    /// The texts of a list, in order of the alphabet.
    fn words(&self) -> Vec<&str> {
        let mut words: Vec<_> = self.items().iter().map(|item| item.text()).collect();
        words.sort_unstable();
        words
    }

    fn number<T: std::str::FromStr>(&self) -> T {
        self.text().parse().unwrap_or_else(|_| panic!("`{}` is not a number", self.text()))
    }

    /// A list; an empty value is an empty one.
    fn items(&self) -> &[Rc<Self>] {
        match self {
            Self::List(items) => items,
            Self::Scalar(text) if text.is_empty() => &[],
            _ => panic!("not a list"),
        }
    }

    fn pairs(&self) -> &[(String, Rc<Self>)] {
        match self {
            Self::Map(pairs) => pairs,
            Self::Scalar(text) if text.is_empty() => &[],
            Self::List(items) if items.is_empty() => &[],
            _ => panic!("not a mapping"),
        }
    }

    /// A field of what is described, when it is there.
    fn of(&self, path: &str) -> Option<String> {
        match self {
            Self::Scalar(_) => None,
            _ => Some(self.at(path).text().to_owned()),
        }
    }
}

fn check(database: &Path, dump: &Path) {
    let dump = Node::load(dump);
    let read = Bytes::load(database).read(lending).unwrap();
    check_metrics(&read, &dump);
    check_tree(&read, &dump);
    check_profiles(&read, &dump);
    check_cct(&read, &dump);
    check_traces(&read, &dump);
}

fn check_metrics(read: &Everything, dump: &Node) {
    let meta = &read.meta;
    assert_eq!(*meta.title, *dump.at("meta.general.title").text());
    let kinds: Vec<_> = dump.at("meta.id_names.names").items().iter().map(|n| n.text()).collect();
    let found: Vec<_> = meta.identifier_kinds.iter().map(|kind| &**kind).collect();
    assert_eq!(found, kinds);
    let metrics = dump.at("meta.metrics.metrics").items();
    assert_eq!(meta.metrics.len(), metrics.len());
    for (metric, dump) in meta.metrics.iter().zip(metrics) {
        assert_eq!(*metric.name, *dump.at("name").text());
        let instances: Vec<_> = (dump.at("scope_insts").items().iter())
            .map(|i| (i.at("scope.scope_name").text(), i.at("prop_metric_id").number()))
            .collect();
        let found: Vec<_> = (metric.instances.iter())
            .map(|i| (&*meta.scopes[i.scope].name, i.prop_metric_id))
            .collect();
        assert_eq!(found, instances);
        let summaries: Vec<_> = (dump.at("summaries").items().iter())
            .map(|s| {
                let (scope, formula) = (s.at("scope.scope_name").text(), s.at("formula").text());
                (scope, formula, s.at("combine").text(), s.at("stat_metric_id").number())
            })
            .collect();
        let combine = |combine| match combine {
            Combine::Sum => "sum",
            Combine::Min => "min",
            Combine::Max => "max",
            Combine::Unknown(_) => "unknown",
        };
        let found: Vec<_> = (metric.summaries.iter())
            .map(|s| {
                let scope = &*meta.scopes[s.scope].name;
                (scope, &*s.formula, combine(s.combine), s.stat_metric_id)
            })
            .collect();
        assert_eq!(found, summaries);
    }
}

/// A context as both sides describe it: id, what it is, and what it points to.
type Described =
    (u32, String, String, u16, Option<String>, Option<String>, u32, Option<String>, u64);

fn check_tree(read: &Everything, dump: &Node) {
    let (meta, contexts) = (&read.meta, &read.meta.contexts);
    let mut children: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, &parent) in contexts.parent.iter().enumerate() {
        children.entry(parent).or_default().push(at);
    }
    let mut todo: Vec<(usize, &Node)> = Vec::new();
    let entries = dump.at("meta.context.entry_points").items();
    assert_eq!(contexts.entries.len(), entries.len());
    for (entry, dump) in contexts.entries.iter().zip(entries) {
        let at = entry.position as usize;
        assert_eq!(contexts.id[at], dump.at("ctx_id").number::<u32>());
        assert_eq!(*entry.name, *dump.at("pretty_name").text());
        assert_eq!(contexts.lexical_type[at], Contexts::ENTRY);
        todo.push((at, dump));
    }
    let mut compared = 0;
    while let Some((at, dump)) = todo.pop() {
        compared += 1;
        let mut below: Vec<&Node> = dump.at("children").items().iter().map(|n| &**n).collect();
        let mut found = children.remove(&u32::try_from(at).unwrap()).unwrap_or_default();
        below.sort_by_key(|node| node.at("ctx_id").number::<u32>());
        found.sort_by_key(|&at| contexts.id[at]);
        assert_eq!(found.len(), below.len(), "children of context {}", contexts.id[at]);
        for (at, dump) in found.into_iter().zip(below) {
            let number = |path: &str| match dump.at(path).text() {
                "" => 0,
                text => text.parse().unwrap(),
            };
            let expected: Described = (
                dump.at("ctx_id").number(),
                dump.at("relation").text().to_owned(),
                dump.at("lexical_type").text().to_owned(),
                dump.at("propagation").number(),
                dump.at("function").of("name"),
                dump.at("file").of("path"),
                u32::try_from(number("line")).unwrap(),
                dump.at("module").of("path"),
                number("offset"),
            );
            let relation = ["lexical", "call", "inlined_call"][usize::from(contexts.relation[at])];
            let lexical = ["function", "loop", "line", "instruction"];
            let lexical = lexical[usize::from(contexts.lexical_type[at])];
            let function = meta.functions.get(contexts.function[at] as usize);
            let file = meta.files.get(contexts.file[at] as usize);
            let module = meta.modules.get(contexts.module[at] as usize);
            let described: Described = (
                contexts.id[at],
                relation.to_owned(),
                lexical.to_owned(),
                contexts.propagation[at],
                function.map(|f| f.name.as_deref().unwrap_or_default().to_owned()),
                file.map(|file| (*file.path).to_owned()),
                contexts.line[at],
                module.map(|module| (*module.path).to_owned()),
                contexts.offset[at],
            );
            assert_eq!(described, expected);
            todo.push((at, dump));
        }
    }
    assert_eq!(compared, contexts.len());
}

fn check_profiles(read: &Everything, dump: &Node) {
    let profiles = dump.at("profile.profile_infos.profiles").items();
    assert_eq!(read.profiles.len(), profiles.len());
    for (profile, dump) in read.profiles.iter().zip(profiles) {
        assert_eq!(profile.is_summary, dump.at("flags").words() == ["is_summary"]);
        let ids = match dump.at("id_tuple") {
            Node::Scalar(_) => &[],
            tuple => tuple.at("ids").items(),
        };
        assert_eq!(profile.identity.len(), ids.len());
        for (id, dump) in profile.identity.iter().zip(ids) {
            let physical = dump.at("flags").words() == ["is_physical"];
            assert_eq!((id.kind, id.is_physical), (dump.at("kind").number(), physical));
            assert_eq!(id.logical, dump.at("logical_id").number::<u32>());
            assert_eq!(id.physical, dump.at("physical_id").number::<u64>());
        }
        let mut values = Vec::new();
        for (context, metrics) in dump.at("values").pairs() {
            for (metric, value) in metrics.pairs() {
                let value = value.number::<f64>().to_bits();
                values.push((context.parse().unwrap(), metric.parse().unwrap(), value));
            }
        }
        values.sort_unstable();
        assert_eq!(profile.values, values);
    }
}

fn check_cct(read: &Everything, dump: &Node) {
    let contexts = dump.at("context.ctx_infos.contexts").items();
    assert_eq!(read.cct.num_contexts, contexts.len() as u64);
    let mut values = Vec::new();
    for (context, dump) in (0..).zip(contexts) {
        for (metric, profiles) in dump.at("values").pairs() {
            for (profile, value) in profiles.pairs() {
                let value = value.number::<f64>().to_bits();
                values.push((context, metric.parse().unwrap(), profile.parse().unwrap(), value));
            }
        }
    }
    values.sort_unstable();
    assert_eq!(read.cct.values, values);
}

fn check_traces(read: &Everything, dump: &Node) {
    let found = read.trace.as_ref().unwrap();
    let range = dump.at("trace.ctx_traces.timestamp_range");
    assert_eq!(found.min_nanos, range.at("min").number::<u64>());
    assert_eq!(found.max_nanos, range.at("max").number::<u64>());
    let traces = dump.at("trace.ctx_traces.traces").items();
    assert_eq!(found.traces.len(), traces.len());
    for ((profile, samples), dump) in found.traces.iter().zip(traces) {
        assert_eq!(*profile, dump.at("prof_index").number::<u32>());
        let expected: Vec<(u64, u32)> = (dump.at("line").items().iter())
            .map(|sample| (sample.at("timestamp").number(), sample.at("ctx_id").number()))
            .collect();
        assert_eq!(*samples, expected);
    }
}

#[test]
fn small_databases_agree_with_the_dumps_of_the_toolkits_reader() {
    let Some(corpus) = corpus() else { return };
    let upstream = corpus.join("data/hpctoolkit/upstream");
    check(&upstream.join("small.d"), &upstream.join("small.yaml"));
    check(&upstream.join("small.nostruct.d"), &upstream.join("small.nostruct.yaml"));
}

#[test]
fn a_parallel_run_agrees_with_the_dump_of_the_toolkits_reader() {
    let Some(corpus) = corpus() else { return };
    let database = corpus.join("data/hpctoolkit/measured/small-minife-2x2");
    check(&database, &corpus.join("goldens/measured/small-minife-2x2.dump.yaml"));
}
