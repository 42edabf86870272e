//! Objects as fields: where in an object the values of known names lie.
//!
//! Events repeat their names: `{"ph": "X", "cat": "cpu_op", "name": "aten::add", ...` differs from
//! the event before in the values only. A [`Shape`] is what lies between the values of an object;
//! of an object that fits, these bytes are compared, eight at a time, and only the values are
//! looked for. An object that fits no shape is read name by name and becomes a shape. Both ways
//! find the same fields, because what lies between the values is the same bytes.

use parallax_base::casts::position_u32;

use super::names::unescape;
use super::scan::{self, Kind, Stop, space};
use crate::digits::load;

/// Where the content of a value lies in its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Field {
    pub(super) start: u32,
    pub(super) stop: u32,
    pub(super) kind: Kind,
}

/// The fields of one object, by the number of their name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields<const N: usize> {
    fields: [Field; N],
    /// Bit i: there is a value for name i.
    present: u32,
    /// Whether there is anything in the object at all.
    pub(super) is_empty: bool,
}

impl<const N: usize> Fields<N> {
    fn new() -> Self {
        Self { fields: [Field::default(); N], present: 0, is_empty: true }
    }

    /// The field of name `name`; the last one where the object has several.
    #[inline]
    pub(super) fn get(&self, name: usize) -> Option<Field> {
        if self.present >> name & 1 == 0 {
            return None;
        }
        self.fields.get(name).copied()
    }

    #[inline]
    fn clear(&mut self) {
        (self.present, self.is_empty) = (0, true);
    }

    #[inline]
    fn set(&mut self, name: usize, value: scan::Value) {
        self.is_empty = false;
        if let Some(field) = self.fields.get_mut(name) {
            let (start, stop) = (position_u32(value.start), position_u32(value.stop));
            *field = Field { start, stop, kind: value.kind };
            self.present |= 1 << name;
        }
    }
}

/// How a value of a shape is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Text,
    Scalar,
    Nested,
    /// No value follows: the object ends.
    End,
}

/// Bytes as in the object before, then a value.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The bytes' words in `words`.
    last: usize,
    len: usize,
    class: Class,
    name: usize,
}

/// Eight bytes, fewer where `mask` leaves some out.
#[derive(Debug, Clone, Copy)]
struct Word {
    bytes: u64,
    mask: u64,
}

/// What lies between the values of an object.
#[derive(Debug, Clone, Default)]
struct Shape {
    steps: Vec<Step>,
    words: Vec<Word>,
}

/// A value of an object that was read name by name.
#[derive(Debug, Clone, Copy)]
struct NamedValue {
    name: usize,
    value: scan::Value,
}

/// Most values of an object that becomes a shape, and most bytes between them.
const MOST_STEPS: usize = 32;
const MOST_BETWEEN: usize = 1024;

impl Shape {
    /// The end of the object at the front of `bytes`, if it fits.
    #[inline]
    fn read<const N: usize>(&self, bytes: &[u8], fields: &mut Fields<N>) -> Option<usize> {
        fields.clear();
        let (mut at, mut first) = (0, 0);
        for step in &self.steps {
            let mut place = at;
            for word in self.words.get(first..step.last)? {
                if (load(bytes, place)? ^ word.bytes) & word.mask != 0 {
                    return None;
                }
                place += 8;
            }
            first = step.last;
            at += step.len;
            let value = match step.class {
                Class::Text => {
                    let (stop, escaped) = scan::string_end(bytes, at)?;
                    let kind = if escaped { Kind::Escaped } else { Kind::Text };
                    scan::Value { kind, start: at, stop, end: stop }
                }
                Class::Scalar => scan::scalar(bytes, at).ok()?,
                Class::Nested => match bytes.get(at) {
                    Some(b'{' | b'[') => {
                        let end = scan::nested_end(bytes, at).ok()?;
                        scan::Value { kind: Kind::Nested, start: at, stop: end, end }
                    }
                    _ => return None,
                },
                Class::End => return Some(at),
            };
            fields.set(step.name, value);
            at = value.end;
        }
        None
    }

    /// Becomes the shape of an object with these values; false where it is too large for one.
    fn learn(&mut self, object: &[u8], parts: &[NamedValue]) -> bool {
        self.steps.clear();
        self.words.clear();
        let values: usize = parts.iter().map(|part| part.value.stop - part.value.start).sum();
        if parts.len() > MOST_STEPS || object.len().saturating_sub(values) > MOST_BETWEEN {
            return false;
        }
        let mut from = 0;
        for part in parts {
            let class = match part.value.kind {
                Kind::Text | Kind::Escaped => Class::Text,
                Kind::Number | Kind::Word => Class::Scalar,
                Kind::Nested => Class::Nested,
            };
            let between = object.get(from..part.value.start).unwrap_or_default();
            self.step(between, class, part.name);
            from = part.value.stop;
        }
        self.step(object.get(from..).unwrap_or_default(), Class::End, 0);
        true
    }

    fn step(&mut self, between: &[u8], class: Class, name: usize) {
        for part in between.chunks(8) {
            let (mut bytes, mut mask) = ([0; 8], [0; 8]);
            for ((byte, used), &from) in bytes.iter_mut().zip(&mut mask).zip(part) {
                (*byte, *used) = (from, 0xff);
            }
            let (bytes, mask) = (u64::from_le_bytes(bytes), u64::from_le_bytes(mask));
            self.words.push(Word { bytes, mask });
        }
        self.steps.push(Step { last: self.words.len(), len: between.len(), class, name });
    }
}

/// Reads objects one after the other.
#[derive(Debug, Clone)]
pub(super) struct ObjectReader<const N: usize> {
    /// The number of a name; `None` for names that are of no interest.
    name: fn(&[u8]) -> Option<usize>,
    /// The shapes of late, the latest first.
    shapes: Vec<Shape>,
    parts: Vec<NamedValue>,
    pub(super) fields: Fields<N>,
    /// How many objects fitted a shape, and how many were learned.
    hits: u64,
    learned: u64,
    misses: u64,
    most_shapes: usize,
}

/// Shapes that are kept; Kineto writes five kinds of events.
const SHAPES: usize = 8;

impl<const N: usize> ObjectReader<N> {
    /// `name` gives the numbers of names, below `N`.
    pub(super) fn new(name: fn(&[u8]) -> Option<usize>) -> Self {
        Self {
            name,
            shapes: Vec::new(),
            parts: Vec::new(),
            fields: Fields::new(),
            hits: 0,
            learned: 0,
            misses: 0,
            most_shapes: SHAPES,
        }
    }

    /// Reads every object name by name, for comparison.
    pub(super) fn without_shapes(mut self) -> Self {
        self.most_shapes = 0;
        self
    }

    /// Reads the object at the front of `bytes` into `fields` and returns its length.
    #[inline]
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<usize, Stop> {
        for i in 0..self.shapes.len() {
            let Some(shape) = self.shapes.get(i) else { break };
            if let Some(len) = shape.read(bytes, &mut self.fields) {
                self.hits += 1;
                if i > 0 {
                    self.shapes.swap(i, i - 1);
                }
                return Ok(len);
            }
        }
        self.read_with_care(bytes)
    }

    #[inline(never)]
    fn read_with_care(&mut self, bytes: &[u8]) -> Result<usize, Stop> {
        self.parts.clear();
        let len = read_names(bytes, self.name, &mut self.fields, &mut self.parts)?;
        self.misses += 1;
        // Where nothing repeats, learning from every object would cost more than it saves.
        let worth =
            self.learned < 64 || self.hits > 2 * self.learned || self.misses.is_multiple_of(32);
        if self.most_shapes > 0 && worth {
            let mut shape = Shape::default();
            if self.shapes.len() >= self.most_shapes {
                shape = self.shapes.pop().unwrap_or_default();
            }
            if shape.learn(bytes.get(..len).unwrap_or_default(), &self.parts) {
                self.shapes.insert(0, shape);
                self.learned += 1;
            }
        }
        Ok(len)
    }
}

/// Reads the object at the front of `bytes` name by name.
fn read_names<const N: usize>(
    bytes: &[u8],
    number: fn(&[u8]) -> Option<usize>,
    fields: &mut Fields<N>,
    parts: &mut Vec<NamedValue>,
) -> Result<usize, Stop> {
    fields.clear();
    let expect = |at: usize, byte: u8, what: &'static str| match bytes.get(at) {
        Some(&found) if found == byte => Ok(at + 1),
        Some(_) => Err(Stop::Bad { at, what }),
        None => Err(Stop::Cut),
    };
    let mut at = space(bytes, expect(0, b'{', "an object")?);
    loop {
        // Also behind a comma: some writers put one after the last value.
        if bytes.get(at) == Some(&b'}') {
            return Ok(at + 1);
        }
        let start = expect(at, b'"', "a name or '}'")?;
        let (stop, escaped) = scan::string_end(bytes, start).ok_or(Stop::Cut)?;
        let name = bytes.get(start..stop).unwrap_or_default();
        let name = if escaped { number(unescape(name).0.as_bytes()) } else { number(name) };
        at = space(bytes, expect(space(bytes, stop + 1), b':', "':'")?);
        let value = scan::value(bytes, at)?;
        let name = name.unwrap_or(N);
        fields.set(name, value);
        parts.push(NamedValue { name, value });
        at = space(bytes, value.end);
        match bytes.get(at) {
            Some(b',') => at = space(bytes, at + 1),
            Some(b'}') => return Ok(at + 1),
            Some(_) => return Err(Stop::Bad { at, what: "',' or '}'" }),
            None => return Err(Stop::Cut),
        }
    }
}
