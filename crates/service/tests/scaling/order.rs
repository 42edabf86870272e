//! Core counts in the order of the measurements.

use parallax_protocol::{
    CoreOrder, ScalingRequest, ScalingTable, ScalingTableKind, ScalingTableRequest,
};
use parallax_service::scaling::{Ensemble, EnsembleOptions};
use parallax_service::{Answers as _, Control};

use crate::support::{corpus, file, open, text};

/// The core counts of maps from the top, and those of the first rows of the table.
fn shown(ensemble: &Ensemble, order: CoreOrder) -> (Vec<u32>, Vec<u32>) {
    let request = ScalingRequest { order, ..ScalingRequest::default() };
    let reply = ensemble.answer(&request, &Control::new()).unwrap().reply;
    assert!(reply.cores.is_sorted(), "what maps are computed from is ascending");
    let request =
        ScalingTableRequest { table: ScalingTableKind::Maps, order, ..Default::default() };
    let table = match ensemble.answer(&request, &Control::new()).unwrap().tables.rows {
        ScalingTable::Maps(table) => Some(table),
        _ => None,
    };
    let table = table.unwrap();
    let of_maps = reply.rows.iter().map(|&at| reply.cores[at as usize]).collect();
    (of_maps, table.cores[..reply.cores.len()].to_vec())
}

#[test]
fn core_counts_of_a_real_file_are_shown_as_it_has_them() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("data/pascal/frequency/completo_freq.json");
    let (ensemble, _) = open(&[file(&path)], &EnsembleOptions::default()).unwrap();
    // From the file: 2, 4, ... 32, and then 1.
    let in_file: Vec<u32> = (1..=16).map(|n| 2 * n).chain([1]).collect();
    assert_eq!(shown(&ensemble, CoreOrder::File), (in_file.clone(), in_file.clone()));
    let mut ascending = in_file;
    ascending.sort_unstable();
    assert_eq!(shown(&ensemble, CoreOrder::Ascending), (ascending.clone(), ascending));
}

#[test]
fn files_that_are_merged_continue_the_order_of_the_first_one() {
    let first = text("first.csv", "cores,input,time\n4,a,3\n1,a,8\n2,a,5\n");
    let second = text("second.csv", "cores,input,time\n16,b,3\n2,b,5\n8,b,3\n");
    let (ensemble, _) = open(&[first, second], &EnsembleOptions::default()).unwrap();
    let expected = vec![4, 1, 2, 16, 8];
    assert_eq!(shown(&ensemble, CoreOrder::File), (expected.clone(), expected));
    assert_eq!(shown(&ensemble, CoreOrder::Ascending).0, [1, 2, 4, 8, 16]);
}

#[test]
fn values_are_those_of_their_core_counts_in_any_order() {
    let written = "cores,time\n8,2\n1,8\n2,5\n";
    let (ensemble, _) = open(&[text("runs.csv", written)], &EnsembleOptions::default()).unwrap();
    let rows = |order| {
        let request =
            ScalingTableRequest { table: ScalingTableKind::Maps, order, ..Default::default() };
        match ensemble.answer(&request, &Control::new()).unwrap().tables.rows {
            ScalingTable::Maps(table) => {
                let columns = table.cores.into_iter().zip(table.time).zip(table.strong_rel);
                columns.map(|((cores, time), strong)| (cores, time, strong)).collect::<Vec<_>>()
            }
            _ => panic!("another table"),
        }
    };
    let in_file = rows(CoreOrder::File);
    assert_eq!(in_file.iter().map(|row| row.0).collect::<Vec<_>>(), [8, 1, 2]);
    // The relative difference of 8 cores is that to 2 cores, which are the next smaller count.
    let efficiency = |cores: f64, time: f64| 8.0 / (cores * time);
    let expected = efficiency(8.0, 2.0) - efficiency(2.0, 5.0);
    assert!((in_file[0].2.unwrap() - expected).abs() < 1e-12, "{in_file:?}");
    let mut sorted = in_file;
    sorted.sort_by_key(|row| row.0);
    assert_eq!(sorted, rows(CoreOrder::Ascending));
}
