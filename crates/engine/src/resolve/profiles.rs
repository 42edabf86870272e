//! Profile expressions.

use parallax_base::LocationIdx;
use parallax_model::{IdentityKind, LocationCatalog};

use super::Notes;
use crate::LocationChoice;
use crate::query::ProfileExpr;

/// The profiles that an expression names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSet {
    /// Rows of the catalog, ascending; the summary is one of them where it is named.
    pub rows: Vec<LocationIdx>,
    /// Whether these are all rows.
    pub is_all: bool,
    /// Remarks.
    pub notes: Notes,
}

impl ProfileSet {
    /// The locations, for numbers over locations: without the summary; all of them where the
    /// expression named the summary only.
    #[must_use]
    pub fn locations(&self, catalog: &LocationCatalog) -> LocationChoice {
        let summary = catalog.summary();
        let rows: Vec<_> = self.rows.iter().copied().filter(|row| Some(*row) != summary).collect();
        let names_summary_only = rows.is_empty() && !self.rows.is_empty();
        if rows.len() == catalog.len() || names_summary_only {
            LocationChoice::All
        } else {
            LocationChoice::Some(rows)
        }
    }
}

/// The profiles that `expression` names.
#[must_use]
pub fn resolve_profiles(catalog: &LocationCatalog, expression: &ProfileExpr) -> ProfileSet {
    let mut notes = Notes::new();
    note_missing_fields(catalog, expression, &mut notes);
    let all = (0..catalog.num_rows()).map(LocationIdx::from_len);
    let rows: Vec<_> = all.filter(|&row| matches(catalog, expression, row)).collect();
    let is_all = rows.len() == catalog.num_rows();
    if rows.is_empty() && notes.is_empty() {
        notes.push(format!("no profile matches {expression}"));
    }
    ProfileSet { rows, is_all, notes }
}

fn matches(catalog: &LocationCatalog, expression: &ProfileExpr, row: LocationIdx) -> bool {
    let is_summary = catalog.summary() == Some(row);
    match expression {
        ProfileExpr::All => true,
        ProfileExpr::Summary => is_summary,
        ProfileExpr::Field { field, values } => {
            let id = catalog.identity(row, *field);
            id.is_some_and(|id| values.as_ref().is_none_or(|values| values.contains(id)))
        }
        ProfileExpr::Index(values) => values.contains(u64::from(row.get())),
        ProfileExpr::And(parts) => parts.iter().all(|part| matches(catalog, part, row)),
        ProfileExpr::Or(parts) => parts.iter().any(|part| matches(catalog, part, row)),
        ProfileExpr::Not(part) => !is_summary && !matches(catalog, part, row),
    }
}

fn note_missing_fields(catalog: &LocationCatalog, expression: &ProfileExpr, notes: &mut Notes) {
    match expression {
        ProfileExpr::Field { field, .. } if !catalog.has(*field) => {
            let kinds: Vec<_> = catalog.kinds().map(IdentityKind::name).collect();
            let known = if kinds.is_empty() { "nothing".into() } else { kinds.join(", ") };
            notes.push(format!(
                "no profile of this experiment has a {}; profiles are identified by {known}",
                field.name()
            ));
        }
        ProfileExpr::And(parts) | ProfileExpr::Or(parts) => {
            for part in parts {
                note_missing_fields(catalog, part, notes);
            }
        }
        ProfileExpr::Not(part) => note_missing_fields(catalog, part, notes),
        _ => {}
    }
}
