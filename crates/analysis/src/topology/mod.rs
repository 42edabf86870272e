//! Where nodes stand, and whether those that are marked stand together.
//!
//! A node of an experiment has a host id. A table gives it a name, by the id itself or by the address
//! that the id holds; the name, or the table, says in which rack, chassis and slot it is.

mod concentrate;
mod hosts;
mod map;
mod place;
mod xname;

pub use concentrate::{Concentration, PERMUTATIONS, Spread, Unit, concentrations};
pub use hosts::{Host, HostMatch, HostTable, Located, address_of, host_id_of};
pub use map::{RackMap, Row, Shelf, rack_map};
pub use place::{Description, Level, NodePosition, PatternPart, System, by_number};
pub use xname::Xname;
