//! Events that tracks count by call path.

use parallax_formats::archive::keys;

use super::Conversion;

impl Conversion {
    /// The counter of an event that tracks count by call path and that is a metric; all inputs share
    /// it.
    pub(crate) fn counted(&mut self, name: &str) -> u32 {
        let named = (0..).zip(&self.counters).filter(|(_, row)| row.name == name);
        let is_counted = |number: &u32| {
            let value = number.to_string();
            self.facts.iter().any(|(key, own)| key == keys::COUNTED && *own == value)
        };
        if let Some(known) = named.map(|(number, _)| number).find(is_counted) {
            return known;
        }
        let number = self.counter(name, "");
        self.fact(keys::COUNTED, number.to_string());
        number
    }
}
