//! YAML as a flat list of nodes: an alias is the number of the node it stands for, so that a file
//! full of aliases takes no more memory than its text asks for.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 128;

/// The number of a node.
pub(super) type NodeId = usize;

/// What a node is.
#[derive(Debug)]
pub(super) enum Content<'t> {
    Scalar(Cow<'t, str>),
    Sequence(Vec<NodeId>),
    /// Keys and values, in the order of the file.
    Mapping(Vec<(NodeId, NodeId)>),
}

/// The first document of a YAML text.
#[derive(Debug, Default)]
pub(super) struct Document<'t> {
    nodes: Vec<(Content<'t>, usize)>,
    root: Option<NodeId>,
    /// Why reading stopped before the end, with the line.
    pub(super) fault: Option<(usize, String)>,
}

impl<'t> Document<'t> {
    /// Reads `text` up to its end or its first fault; what stands before a fault is kept.
    pub(super) fn read(text: &'t str) -> Self {
        let mut document = Self::default();
        let mut anchors: HashMap<usize, NodeId> = HashMap::new();
        // Open sequences and mappings; a mapping may hold a key that waits for its value.
        let mut open: Vec<(NodeId, Option<NodeId>)> = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, span) = match event {
                Ok(event) => event,
                Err(error) => {
                    document.fault = Some((error.marker().line(), error.info().to_owned()));
                    break;
                }
            };
            let line = span.start.line();
            let (content, anchor) = match event {
                Event::Scalar(text, _, anchor, _) => (Content::Scalar(text), anchor),
                Event::SequenceStart(anchor, _) => (Content::Sequence(Vec::new()), anchor),
                Event::MappingStart(anchor, _) => (Content::Mapping(Vec::new()), anchor),
                Event::SequenceEnd | Event::MappingEnd => {
                    open.pop();
                    continue;
                }
                Event::Alias(anchor) => {
                    let Some(&node) = anchors.get(&anchor) else { continue };
                    document.attach(node, &mut open);
                    continue;
                }
                Event::DocumentEnd => break,
                Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_) => continue,
            };
            if open.len() >= MAX_DEPTH {
                document.fault = Some((line, format!("more than {MAX_DEPTH} levels")));
                break;
            }
            let is_open = !matches!(content, Content::Scalar(_));
            let node = document.nodes.len();
            document.nodes.push((content, line));
            if anchor != 0 {
                anchors.insert(anchor, node);
            }
            document.attach(node, &mut open);
            if is_open {
                open.push((node, None));
            }
        }
        document
    }

    /// Makes `node` the next part of the innermost open node, or the root.
    fn attach(&mut self, node: NodeId, open: &mut [(NodeId, Option<NodeId>)]) {
        let Some((parent, key)) = open.last_mut() else {
            self.root.get_or_insert(node);
            return;
        };
        match self.nodes.get_mut(*parent) {
            Some((Content::Sequence(items), _)) => items.push(node),
            Some((Content::Mapping(pairs), _)) => match key.take() {
                Some(key) => pairs.push((key, node)),
                None => *key = Some(node),
            },
            _ => {}
        }
    }

    pub(super) const fn root(&self) -> Option<NodeId> {
        self.root
    }

    pub(super) fn content(&self, node: NodeId) -> Option<&Content<'t>> {
        self.nodes.get(node).map(|(content, _)| content)
    }

    /// The line of `node`, counted from 1.
    pub(super) fn line(&self, node: NodeId) -> usize {
        self.nodes.get(node).map_or(0, |&(_, line)| line)
    }

    /// The text of a scalar.
    pub(super) fn text(&self, node: NodeId) -> Option<&str> {
        match self.content(node)? {
            Content::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a sequence; none for anything else.
    pub(super) fn items(&self, node: NodeId) -> &[NodeId] {
        match self.content(node) {
            Some(Content::Sequence(items)) => items,
            _ => &[],
        }
    }
}
