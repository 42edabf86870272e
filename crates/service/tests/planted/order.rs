//! Lists of locations, however a database was written.

use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder};
use parallax_protocol::{DistributionRequest, LocationsRequest};
use parallax_service::{Answers as _, Control, OpenLimits, open};
use parallax_testkit::hpctoolkit::WriteOptions;
use parallax_testkit::planted::{Recording, late_rank};

#[test]
fn locations_are_listed_by_rank_whatever_the_order_of_profiles() {
    let mut database = late_rank(true).program.database(&Recording::default());
    database.profiles.reverse();
    let files = database.to_files(&WriteOptions::default());
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("planted", files.by_path));
    let opened = open(&folder, &OpenLimits::default()).unwrap();
    let expected: Vec<String> = (0..8).map(|rank| format!("rank {rank} thread 0")).collect();
    let control = Control::default();
    let listed = opened.answer(&LocationsRequest::default(), &control).unwrap().tables.rows;
    assert_eq!(listed.location, expected);
    assert_eq!(listed.profile_id, [8, 7, 6, 5, 4, 3, 2, 1]);
    let answer = opened.answer(&DistributionRequest::default(), &control).unwrap();
    assert_eq!(answer.tables.rows.label, expected);
}
