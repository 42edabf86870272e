//! Strong scaling: what falls with the number of cores is modelled as resources, not as time.

use super::model::Point;
use crate::scaling::Measure;

/// Whether the measure falls strictly with a parameter along every line of points, of which at
/// least one must have two points: then the parameter divides the work, the experiment is one of
/// strong scaling, and [`resource_consumption`] should be modelled.
#[must_use]
pub fn falls_strictly(points: &[Point], parameter: usize, measure: Measure) -> bool {
    let mut rows: Vec<(Vec<f64>, f64, f64)> = Vec::new();
    for point in points {
        let mut others = point.coordinate.clone();
        if parameter >= others.len() {
            return false;
        }
        let x = others.remove(parameter);
        let Some(value) = measure.of(&point.values) else { return false };
        rows.push((others, x, value));
    }
    rows.sort_by(|a, b| {
        let others = a.0.iter().zip(&b.0).map(|(a, b)| a.total_cmp(b));
        let first = others.into_iter().find(|order| order.is_ne());
        first.unwrap_or(std::cmp::Ordering::Equal).then(a.1.total_cmp(&b.1))
    });
    let mut pairs = 0;
    for pair in rows.windows(2) {
        let [(left, left_x, before), (right, right_x, after)] = pair else { continue };
        if left == right && left_x < right_x {
            pairs += 1;
            if after >= before {
                return false;
            }
        }
    }
    pairs > 0
}

/// The points with every value multiplied by a parameter: core-seconds from seconds, constant for
/// a program that scales ideally.
#[must_use]
pub fn resource_consumption(points: &[Point], parameter: usize) -> Vec<Point> {
    points
        .iter()
        .map(|point| {
            let factor = point.coordinate.get(parameter).copied().unwrap_or(1.0);
            Point {
                coordinate: point.coordinate.clone(),
                values: point.values.iter().map(|value| value * factor).collect(),
            }
        })
        .collect()
}
