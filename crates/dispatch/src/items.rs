//! What is open.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parallax_base::Issues;
use parallax_protocol::{ErrorReply, ItemKind};
use parallax_service::OpenExperiment;
use parallax_service::scaling::{Ensemble, ScalingSource};

use crate::Dispatcher;

/// Something that is open.
pub(crate) struct Item {
    /// Where it is from, for display.
    pub(crate) name: String,
    /// Length of its files together, in bytes.
    pub(crate) size_bytes: u64,
    /// What it was made of, so that it can become part of something else.
    pub(crate) sources: Vec<ScalingSource>,
    /// Items that it was made of.
    pub(crate) members: Vec<String>,
    pub(crate) content: Content,
}

/// What an item is.
#[derive(Clone)]
pub enum Content {
    /// One execution.
    Experiment(Arc<OpenExperiment>),
    /// Several executions with the parameters in which they differ.
    Ensemble(Arc<Ensemble>),
}

impl Item {
    pub(crate) fn kind(&self) -> ItemKind {
        match self.content {
            Content::Experiment(_) => ItemKind::Experiment,
            Content::Ensemble(_) => ItemKind::Ensemble,
        }
    }

    pub(crate) fn issues(&self) -> Issues {
        match &self.content {
            Content::Experiment(opened) => opened.issues(),
            Content::Ensemble(ensemble) => ensemble.issues.clone(),
        }
    }
}

/// Items kept open at most. A page that is loaded again opens its data again and cannot always
/// close what it had; without a bound a server would keep all of it.
const MAX_ITEMS: usize = 512;

/// All that is open, by key.
pub(crate) struct Items {
    by_key: BTreeMap<String, Arc<Item>>,
    /// Keys from the oldest; some may be closed.
    order: VecDeque<String>,
    /// Keys are never used twice, so that an old key cannot mean a new item.
    num_made: u64,
    max: usize,
}

impl Default for Items {
    fn default() -> Self {
        Self::with_max(MAX_ITEMS)
    }
}

impl Items {
    pub(crate) fn with_max(max: usize) -> Self {
        Self { by_key: BTreeMap::new(), order: VecDeque::new(), num_made: 0, max }
    }

    pub(crate) fn add(&mut self, item: Item) -> (String, Arc<Item>) {
        self.num_made += 1;
        let letter = match item.content {
            Content::Experiment(_) => 'x',
            Content::Ensemble(_) => 'e',
        };
        let key = format!("{letter}{}", self.num_made);
        let item = Arc::new(item);
        self.by_key.insert(key.clone(), Arc::clone(&item));
        self.order.push_back(key.clone());
        while self.by_key.len() > self.max
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_key.remove(&oldest);
        }
        (key, item)
    }

    pub(crate) fn get(&self, key: &str) -> Option<Arc<Item>> {
        self.by_key.get(key).cloned()
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.by_key.remove(key);
        self.order.retain(|known| known != key);
    }
}

impl Dispatcher {
    /// What is open under a key, for programs that ask it themselves.
    ///
    /// # Errors
    /// When nothing is open under this key.
    pub fn content(&self, key: &str) -> Result<Content, ErrorReply> {
        Ok(self.item(key)?.content.clone())
    }

    pub(crate) fn experiment(&self, key: &str) -> Result<Arc<OpenExperiment>, ErrorReply> {
        match &self.item(key)?.content {
            Content::Experiment(opened) => Ok(Arc::clone(opened)),
            Content::Ensemble(_) => Err(ErrorReply::new(
                "misuse",
                format!("`{key}` is an ensemble; this question is about one experiment"),
            )
            .with_hint("choose one of its runs")),
        }
    }

    pub(crate) fn ensemble(&self, key: &str) -> Result<Arc<Ensemble>, ErrorReply> {
        match &self.item(key)?.content {
            Content::Ensemble(ensemble) => Ok(Arc::clone(ensemble)),
            Content::Experiment(_) => Err(ErrorReply::new(
                "misuse",
                format!("`{key}` is one experiment; scaling is about several"),
            )
            .with_hint("open several runs of the program together")),
        }
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::Folder;
    use parallax_service::scaling::{EnsembleOptions, ScalingContent, open_ensemble};

    use super::*;

    #[test]
    fn the_oldest_items_make_room_and_keys_never_come_back() {
        let text = br#"{"config":{"data_descriptor":{"keys":["cores","input","repetitions"]}},
            "data":{"1;0;1":{"start_time":0.0,"stop_time":1.0}}}"#;
        let folder = parallax_base::MemoryFolder::new("m", [("a.json".to_owned(), text.to_vec())]);
        let content = ScalingContent::File(folder.open("a.json").unwrap().unwrap());
        let sources = [ScalingSource { name: "a.json".to_owned(), content }];
        let control = parallax_base::Control::new();
        let made = open_ensemble(&sources, &EnsembleOptions::default(), &control).unwrap();
        let ensemble = Arc::new(made.value);
        let mut items = Items::default();
        let mut keys = Vec::new();
        for _ in 0..MAX_ITEMS + 3 {
            let content = Content::Ensemble(Arc::clone(&ensemble));
            let item = Item {
                name: String::new(),
                size_bytes: 0,
                sources: Vec::new(),
                members: Vec::new(),
                content,
            };
            keys.push(items.add(item).0);
        }
        assert!(keys[..3].iter().all(|key| items.get(key).is_none()));
        assert!(keys[3..].iter().all(|key| items.get(key).is_some()));
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
    }
}
