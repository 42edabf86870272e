//! The search over several parameters: a model along each, then their combinations.
//!
//! Sparse measurements suffice (Ritter et al., "Learning cost-effective sampling strategies for
//! empirical performance modeling", IPDPS 2020): one line of points along each parameter, plus any
//! others, from which the coefficients are found.

use std::collections::{BTreeMap, BTreeSet};

use super::fit::{Errors, Line, adjusted_r2, better, constant, constant_of, largest_contribution};
use super::function::{Factor, Function, Sum, Term};
use super::model::{Measured, Model, ModelOptions, ModelWarning, Modeler, PointSelection, Quality};
use super::{basic, refining};
use crate::math::numeric::{Cutoff, least_squares, mean, sum};

pub(super) fn search(points: &[Measured], parameters: usize, options: &ModelOptions) -> Model {
    let mut warnings: Vec<ModelWarning> = Vec::new();
    let mut factors: Vec<(Factor, Sum)> = Vec::new();
    for parameter in 0..parameters {
        let line = match options.selection {
            PointSelection::Longest => longest_lines(points, parameter),
            PointSelection::Smallest => smallest_line(points, parameter),
        };
        let found = match options.modeler {
            Modeler::Refining => refining::search(&line, options),
            Modeler::Basic | Modeler::Segmented => basic::search(&line, options),
        };
        warnings.extend(found.warnings);
        let Function::Sum(sum) = found.function else { continue };
        if let Some(factor) = sum.terms.first().and_then(|term| term.factors.first().copied()) {
            factors.push((factor, sum));
        }
    }
    let ys: Vec<f64> = points.iter().map(|point| point.value).collect();
    let centre = constant_of(&ys);
    let squares: Vec<f64> = ys.iter().map(|y| (y - centre) * (y - centre)).collect();
    let data = Data { points, ys, total: sum(&squares), options };
    let best = match factors.as_slice() {
        [] => None,
        [(factor, along)] => data.best_of_one(*factor, along),
        _ => {
            let factors: Vec<Factor> = factors.iter().map(|(factor, _)| *factor).collect();
            data.best_combination(&factors)
        }
    };
    let best = best.unwrap_or_else(|| {
        let line = Line { parameter: 0, xs: Vec::new(), ys: data.ys.clone() };
        let constant = constant(&line);
        Fitted { sum: constant.sum(0), quality: constant.quality, contributes: true }
    });
    Model { function: Function::Sum(best.sum), quality: best.quality, warnings }
}

struct Data<'a> {
    points: &'a [Measured],
    ys: Vec<f64>,
    /// Squared distances from the mean.
    total: f64,
    options: &'a ModelOptions,
}

struct Fitted {
    sum: Sum,
    quality: Quality,
    contributes: bool,
}

impl Data<'_> {
    /// One parameter matters: its own model, or its shape with coefficients from all points.
    fn best_of_one(&self, factor: Factor, along: &Sum) -> Option<Fitted> {
        let kept = self.judged(along.clone());
        let refitted = self.fitted(&[vec![factor]]);
        match (kept, refitted) {
            (Some(kept), Some(refitted)) if self.better(&refitted, &kept) => Some(refitted),
            (Some(kept), _) => Some(kept),
            (None, refitted) => refitted,
        }
    }

    /// The best of all combinations of the factors.
    fn best_combination(&self, factors: &[Factor]) -> Option<Fitted> {
        let mut best: Option<Fitted> = None;
        for terms in combinations(factors.len(), self.options.mixtures) {
            let terms: Vec<Vec<Factor>> = terms
                .iter()
                .map(|term| term.iter().filter_map(|&at| factors.get(at).copied()).collect())
                .collect();
            let Some(next) = self.fitted(&terms) else { continue };
            // The first, the product of all, stands whatever its terms contribute.
            let better =
                best.as_ref().is_none_or(|best| next.contributes && self.better(&next, best));
            if better {
                best = Some(next);
            }
        }
        best
    }

    fn better(&self, a: &Fitted, b: &Fitted) -> bool {
        better(&a.quality, &b.quality, self.options.criterion)
    }

    /// Coefficients for products of factors, by least squares over all points.
    fn fitted(&self, terms: &[Vec<Factor>]) -> Option<Fitted> {
        let mut terms: Vec<Term> = terms
            .iter()
            .map(|factors| Term { coefficient: 1.0, factors: factors.clone() })
            .collect();
        let mut columns = vec![vec![1.0; self.points.len()]];
        for term in &terms {
            let column: Option<Vec<f64>> =
                self.points.iter().map(|point| term.basis(&point.coordinate)).collect();
            columns.push(column?);
        }
        let wanted = columns.len();
        let mut solution = least_squares(columns.clone(), &self.ys, Cutoff::Dimension)?;
        if solution.rank < wanted {
            // Columns of very different size are not yet dependent columns. What is lost even so is
            // a constant far below the rounding of the largest values.
            solution = least_squares(columns, &self.ys, Cutoff::Precision)?;
        }
        let (&constant, coefficients) = solution.coefficients.split_first()?;
        for (term, &coefficient) in terms.iter_mut().zip(coefficients) {
            term.coefficient = coefficient;
        }
        self.judged(Sum { constant, terms })
    }

    /// Errors of a sum over all points.
    fn judged(&self, sum: Sum) -> Option<Fitted> {
        let mut errors = Errors::default();
        for (point, &actual) in self.points.iter().zip(&self.ys) {
            errors.add(sum.evaluate(&point.coordinate)?, actual);
        }
        let coefficients = sum.terms.iter().map(|term| term.factors.len()).sum();
        let count = self.points.len();
        let quality = errors.quality(count, None);
        let quality = Quality {
            adjusted_r2: adjusted_r2(quality.rss, self.total, count, coefficients),
            ..quality
        };
        let contributes = sum.terms.iter().all(|term| {
            let largest =
                largest_contribution(self.points.iter().zip(&self.ys).map(|(point, &actual)| {
                    (term.evaluate(&point.coordinate).unwrap_or(f64::NAN), actual)
                }));
            let too_little = largest < self.options.min_contribution;
            term.coefficient != 0.0 && !too_little
        });
        quality.rss.is_finite().then_some(Fitted { sum, quality, contributes })
    }
}

/// Sums of products of the factors `0..count`, in the order in which they are tried.
fn combinations(count: usize, mixtures: bool) -> Vec<Vec<Vec<usize>>> {
    let product: Vec<usize> = (0..count).collect();
    let mut found = vec![vec![product.clone()], product.iter().map(|&at| vec![at]).collect()];
    if mixtures && count == 2 {
        found.extend([vec![vec![0], vec![0, 1]], vec![vec![1], vec![0, 1]]]);
    }
    if mixtures && count == 3 {
        let xyz = || vec![0, 1, 2];
        let (xy, yz, xz) = (|| vec![0, 1], || vec![1, 2], || vec![0, 2]);
        let one = |at: usize| vec![at];
        found.extend((0..3).map(|at| vec![xyz(), one(at)]));
        found.extend([vec![xyz(), xy()], vec![xyz(), yz()], vec![xyz(), xz()]]);
        found.extend([
            vec![xyz(), xy(), one(2)],
            vec![xyz(), yz(), one(0)],
            vec![xyz(), xz(), one(1)],
        ]);
        found.extend([(0, 1), (0, 2), (1, 2)].map(|(a, b)| vec![xyz(), one(a), one(b)]));
        for (pair, rest, first, second) in [(xy(), 2, 1, 0), (xz(), 1, 0, 2), (yz(), 0, 1, 2)] {
            found.extend([
                vec![pair.clone(), one(rest)],
                vec![pair.clone(), one(rest), one(first)],
                vec![pair, one(rest), one(second)],
            ]);
        }
    }
    found
}

/// The values of all parameters but one.
fn others(point: &Measured, parameter: usize) -> Vec<u64> {
    point
        .coordinate
        .iter()
        .enumerate()
        .filter(|&(at, _)| at != parameter)
        // Bits, so that equal numbers and only those are equal; adding 0 unites both zeros.
        .map(|(_, value)| (value + 0.0).to_bits())
        .collect()
}

/// Groups things by a key, in the order in which keys first appear.
fn grouped<T, K: Ord>(things: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut place_of: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<T>> = Vec::new();
    for thing in things {
        let place = *place_of.entry(key(&thing)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(thing),
            None => groups.push(vec![thing]),
        }
    }
    groups
}

/// The longest lines along a parameter as one line: points of several lines with the same value of
/// the parameter are averaged, if the line of that point reaches the first value too.
fn longest_lines(points: &[Measured], parameter: usize) -> Line {
    let lines = grouped(points.iter(), |point| others(point, parameter));
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);
    let chosen = lines.into_iter().filter(|line| line.len() == longest);
    let x = |point: &Measured| point.coordinate.get(parameter).copied().unwrap_or(0.0);
    let columns = grouped(chosen.flatten(), |point| (x(point) + 0.0).to_bits());
    let common: BTreeSet<Vec<u64>> = columns
        .first()
        .map(|column| column.iter().map(|point| others(point, parameter)).collect())
        .unwrap_or_default();
    let mut line = Line { parameter, xs: Vec::new(), ys: Vec::new() };
    for column in columns {
        let values: Vec<f64> = column
            .iter()
            .filter(|point| common.contains(&others(point, parameter)))
            .map(|point| point.value)
            .collect();
        if let (Some(value), Some(first)) = (mean(&values), column.first()) {
            line.xs.push(x(first));
            line.ys.push(value);
        }
    }
    line
}

/// The line along a parameter whose other parameters are smallest.
fn smallest_line(points: &[Measured], parameter: usize) -> Line {
    let mut best: Option<&Measured> = None;
    let mut line = Line { parameter, xs: Vec::new(), ys: Vec::new() };
    for point in points {
        let compare = |test: fn(&f64, &f64) -> bool| {
            best.is_none_or(|best| {
                let pairs = point.coordinate.iter().zip(&best.coordinate).enumerate();
                pairs.filter(|&(at, _)| at != parameter).all(|(_, (a, b))| test(a, b))
            })
        };
        if !compare(|a, b| a <= b) {
            continue;
        }
        if best.is_none() || !compare(|a, b| a == b) {
            line.xs.clear();
            line.ys.clear();
            best = Some(point);
        }
        line.xs.push(point.coordinate.get(parameter).copied().unwrap_or(0.0));
        line.ys.push(point.value);
    }
    line
}
