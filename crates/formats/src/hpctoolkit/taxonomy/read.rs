//! From YAML nodes to a [`Taxonomy`].

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage, read_range};

use super::super::metrics::Combine;
use super::expression::{Expression, Formulas};
use super::yaml::{Content, Document, NodeId};
use super::{
    ChildVariants, Formula, FormulaPair, Render, Taxonomy, TaxonomyInput, TaxonomyNode, Variant,
};

/// Deepest nesting of metrics.
const MAX_DEPTH: u32 = 64;

/// Memory for each byte of the text in the worst case, which is nothing but short aliases.
const MEMORY_PER_BYTE: u64 = 512;

impl Taxonomy {
    /// The path of the file inside a database.
    pub const PATH: &'static str = "metrics/default.yaml";

    /// Reads the whole file.
    ///
    /// Nothing is an error of the database: what cannot be read or understood is reported to
    /// `issues` and left out.
    #[must_use]
    pub fn read(source: &dyn ByteSource, limits: &Limits, issues: &mut Issues) -> Self {
        let needed = source.len().saturating_mul(MEMORY_PER_BYTE);
        let bytes = limits
            .metadata("the metric taxonomy", needed)
            .map_err(|error| error.to_string())
            .and_then(|()| read_range(source, 0, source.len()).map_err(|error| error.to_string()));
        match bytes {
            Ok(bytes) => Self::parse(&String::from_utf8_lossy(&bytes), issues),
            Err(error) => {
                report(issues, "taxonomy-unreadable", || format!("{error}; it is omitted"));
                Self::default()
            }
        }
    }

    /// Reads a taxonomy from its text, as [`Taxonomy::read`] does.
    #[must_use]
    pub fn parse(text: &str, issues: &mut Issues) -> Self {
        let document = Document::read(text.strip_prefix('\u{feff}').unwrap_or(text));
        if let Some((line, what)) = &document.fault {
            report(issues, "taxonomy-syntax", || {
                format!("line {line}: {what}; what stands before it is kept")
            });
        }
        // A file without tricks visits each of its nodes a few times.
        let fuel = (text.len() as u64).saturating_mul(4).saturating_add(1000);
        let mut reader = Reader {
            document: &document,
            input_of: HashMap::new(),
            texts: HashMap::new(),
            first_words: HashMap::new(),
            fuel,
            issues,
        };
        reader.taxonomy()
    }
}

fn report(issues: &mut Issues, kind: &'static str, message: impl FnOnce() -> String) {
    let place = Place::File { file: Taxonomy::PATH.into() };
    issues.report(Severity::Warning, Stage::Read, kind, place, message);
}

struct Reader<'d, 'i> {
    document: &'d Document<'d>,
    /// Positions of inputs by their node.
    input_of: HashMap<NodeId, usize>,
    /// Texts by their node, and their first words: aliases share them.
    texts: HashMap<NodeId, Arc<str>>,
    first_words: HashMap<NodeId, Arc<str>>,
    /// Nodes that may still be visited.
    fuel: u64,
    issues: &'i mut Issues,
}

/// The pairs of a mapping by key, with those that merge keys bring in.
type Fields<'d> = HashMap<&'d str, NodeId>;

impl<'d> Reader<'d, '_> {
    fn fault(&mut self, node: NodeId, what: impl FnOnce() -> String) {
        let line = self.document.line(node);
        report(self.issues, "taxonomy-content", || format!("line {line}: {}", what()));
    }

    /// Pays for `count` visits; false when nothing is left to pay with.
    fn pay(&mut self, node: NodeId, count: usize) -> bool {
        match self.fuel.checked_sub(count as u64 + 1) {
            Some(rest) => self.fuel = rest,
            None if self.fuel > 0 => {
                self.fuel = 0;
                self.fault(node, || {
                    "the aliases of the file stand for too much; the rest is omitted".into()
                });
            }
            None => {}
        }
        self.fuel > 0
    }

    fn pairs(&self, node: NodeId) -> &'d [(NodeId, NodeId)] {
        match self.document.content(node) {
            Some(Content::Mapping(pairs)) => pairs,
            _ => &[],
        }
    }

    /// The pairs of the mapping `node`. Of equal keys the last counts; a key that the mapping
    /// itself has counts more than one that is merged.
    fn fields(&mut self, node: NodeId) -> Fields<'d> {
        let mut fields = Fields::new();
        let mut merged = vec![node];
        // Each mapping adds what the ones before it did not have.
        let mut at = 0;
        while let Some(&mapping) = merged.get(at) {
            at += 1;
            let pairs = self.pairs(mapping);
            if !self.pay(mapping, pairs.len()) {
                break;
            }
            let mut own = Fields::new();
            for &(key, value) in pairs {
                match self.document.text(key) {
                    Some("<<") => match self.document.content(value) {
                        Some(Content::Sequence(items)) if self.pay(value, items.len()) => {
                            merged.extend(items);
                        }
                        _ => merged.push(value),
                    },
                    Some(key) => _ = own.insert(key, value),
                    None => {}
                }
            }
            for (key, value) in own {
                fields.entry(key).or_insert(value);
            }
        }
        fields
    }

    fn text(&mut self, fields: &Fields<'_>, key: &str) -> Option<Arc<str>> {
        let &node = fields.get(key)?;
        let text = self.document.text(node)?;
        Some(Arc::clone(self.texts.entry(node).or_insert_with(|| text.into())))
    }

    /// The text of a field up to its first period or line end.
    fn first_words(&mut self, fields: &Fields<'_>, key: &str) -> Option<Arc<str>> {
        let &node = fields.get(key)?;
        let text = self.document.text(node)?;
        let words = || text.split(['.', '\n']).next().unwrap_or_default().trim().into();
        Some(Arc::clone(self.first_words.entry(node).or_insert_with(words)))
    }

    fn taxonomy(&mut self) -> Taxonomy {
        let mut out = Taxonomy::default();
        let Some(root) = self.document.root() else { return out };
        let fields = self.fields(root);
        if let Some(&version) = fields.get("version")
            && self.document.text(version) != Some("0")
        {
            self.fault(version, || {
                "the version is not 0; what this program knows of it is read".into()
            });
        }
        if let Some(&inputs) = fields.get("inputs") {
            for &node in self.document.items(inputs) {
                let input = self.input(node);
                self.input_of.insert(node, out.inputs.len());
                out.inputs.push(input);
            }
        }
        match fields.get("roots") {
            Some(&roots) => out.roots = self.nodes(roots, 0),
            None => self.fault(root, || "there are no `roots`; no metric is known".into()),
        }
        out
    }

    fn input(&mut self, node: NodeId) -> TaxonomyInput {
        let fields = self.fields(node);
        let mut required = |key| {
            self.text(&fields, key).unwrap_or_else(|| {
                self.fault(node, || format!("an input has no `{key}`"));
                "".into()
            })
        };
        let (metric, scope) = (required("metric"), required("scope"));
        let formula = self.text(&fields, "formula").unwrap_or_else(|| "$$".into());
        let combine = match self.text(&fields, "combine").as_deref() {
            None | Some("sum") => Combine::Sum,
            Some("min") => Combine::Min,
            Some("max") => Combine::Max,
            Some(other) => {
                self.fault(node, || format!("values cannot be combined by `{other}`"));
                Combine::Unknown(u8::MAX)
            }
        };
        TaxonomyInput { metric, scope, formula, combine }
    }

    fn nodes(&mut self, list: NodeId, depth: u32) -> Vec<TaxonomyNode> {
        let items = self.document.items(list);
        if depth > MAX_DEPTH && !items.is_empty() {
            self.fault(list, || "metrics are nested too deeply; the rest is omitted".into());
            return Vec::new();
        }
        let mut out = Vec::new();
        for &item in items {
            if !self.pay(item, 0) {
                break;
            }
            if self.pairs(item).is_empty() {
                self.fault(item, || "a metric is a mapping; this one is omitted".into());
                continue;
            }
            out.push(self.node(item, depth));
        }
        out
    }

    fn node(&mut self, node: NodeId, depth: u32) -> TaxonomyNode {
        let fields = self.fields(node);
        let name = self.text(&fields, "name").unwrap_or_else(|| {
            self.fault(node, || "a metric has no name".into());
            "".into()
        });
        let description = self.text(&fields, "description");
        let short = self.text(&fields, "short description");
        let words = self.first_words(&fields, "description");
        let short_description = short.clone().or(words).unwrap_or_else(|| "".into());
        let is_visible = match self.text(&fields, "visible by default").as_deref() {
            None | Some("true" | "True" | "TRUE") => true,
            Some("false" | "False" | "FALSE") => false,
            Some(other) => {
                self.fault(node, || format!("`{other}` is neither true nor false"));
                true
            }
        };
        let format = self.text(&fields, "format").unwrap_or_else(|| "%.2e".into());
        let variants = match fields.get("variants") {
            Some(&variants) => self.variants(variants, &format),
            None => Vec::new(),
        };
        let children = match fields.get("children") {
            Some(&children) => self.nodes(children, depth + 1),
            None => Vec::new(),
        };
        TaxonomyNode {
            name,
            description: description.or(short).unwrap_or_else(|| "".into()),
            short_description,
            is_visible,
            presentation: self.text(&fields, "presentation").unwrap_or_else(|| "column".into()),
            variants,
            children,
        }
    }

    fn variants(&mut self, node: NodeId, format: &Arc<str>) -> Vec<Variant> {
        let pairs = self.pairs(node);
        if !self.pay(node, pairs.len()) {
            return Vec::new();
        }
        let mut out = Vec::new();
        for &(key, value) in pairs {
            let name: Arc<str> = self.document.text(key).unwrap_or_default().into();
            let fields = self.fields(value);
            let render = fields.get("render").map(|&node| self.render(node)).unwrap_or_default();
            let children = match fields.get("child variant") {
                Some(&node) => self.child_variants(node, &name),
                None => ChildVariants::Same(Arc::clone(&name)),
            };
            let formula = match fields.get("formula") {
                Some(&node) => self.formula(node),
                None => Formula::Absent,
            };
            let format = self.text(&fields, "format").unwrap_or_else(|| Arc::clone(format));
            out.push(Variant { name, render, format, children, formula });
        }
        out
    }

    fn render(&mut self, node: NodeId) -> Vec<Render> {
        let single = [node];
        let items = match self.document.content(node) {
            Some(Content::Sequence(items)) => items.as_slice(),
            _ => &single,
        };
        if !self.pay(node, items.len()) {
            return Vec::new();
        }
        let mut out = Vec::new();
        for &item in items {
            let render = match self.document.text(item) {
                Some("number") => Render::Number,
                Some("percent" | "percentage") => Render::Percent,
                Some("hidden") => Render::Hidden,
                Some("colorbar") => Render::ColorBar,
                other => {
                    let other = other.unwrap_or("a list or mapping");
                    self.fault(item, || format!("values cannot be shown as `{other}`"));
                    continue;
                }
            };
            if !out.contains(&render) {
                out.push(render);
            }
        }
        out
    }

    fn child_variants(&mut self, node: NodeId, own: &Arc<str>) -> ChildVariants {
        match self.document.content(node) {
            Some(Content::Scalar(name)) => ChildVariants::Same((&**name).into()),
            Some(Content::Sequence(items)) if self.pay(node, items.len()) => {
                let name = |&item| self.document.text(item).unwrap_or_default().into();
                ChildVariants::Each(items.iter().map(name).collect())
            }
            _ => ChildVariants::Same(Arc::clone(own)),
        }
    }

    fn formula(&mut self, node: NodeId) -> Formula {
        match self.document.text(node) {
            Some("first") => return Formula::FirstChild,
            Some("sum") => return Formula::SumOfChildren,
            Some(other) => {
                self.fault(node, || format!("`{other}` is neither `first` nor `sum`"));
                return Formula::Absent;
            }
            None => {}
        }
        let fields = self.fields(node);
        let mut pair = |key| fields.get(key).map(|&node| self.pair(node)).unwrap_or_default();
        Formula::Own { inclusive: pair("inclusive"), exclusive: pair("exclusive") }
    }

    /// A mapping of the two versions, or (until 2022) the standard version alone.
    fn pair(&mut self, node: NodeId) -> FormulaPair {
        let is_input = self.input_of.contains_key(&node);
        let fields = if is_input { Fields::new() } else { self.fields(node) };
        let (custom, standard) = (fields.get("custom"), fields.get("standard"));
        if custom.is_none() && standard.is_none() {
            let both = self.expression(node);
            return FormulaPair { custom: both.clone(), standard: both };
        }
        let standard = standard.and_then(|&node| self.expression(node));
        let custom = match custom {
            Some(&node) => self.expression(node),
            None => standard.clone(),
        };
        FormulaPair { custom, standard }
    }

    fn expression(&mut self, node: NodeId) -> Option<Expression> {
        let input_of = |node| self.input_of.get(&node).copied();
        let mut formulas =
            Formulas { document: self.document, input_of: &input_of, fuel: &mut self.fuel };
        formulas
            .read(node, 0)
            .map(|read| read.expression)
            .map_err(|misread| {
                report(self.issues, "taxonomy-formula", || {
                    format!("line {}: {}; the formula is omitted", misread.line, misread.what)
                });
            })
            .ok()
    }
}
