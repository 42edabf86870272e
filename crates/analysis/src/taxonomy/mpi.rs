//! The routines of MPI by class.
//!
//! Classes are those that hpcreport of hpcanalysis reports. Their members follow the chapters of
//! the MPI 4.1 standard: derived datatypes and packing count to point-to-point communication, as
//! in hpcreport; `MPI_Init_thread` counts to the environment, and what later standards add goes by
//! the rules below instead of by a list.

use std::borrow::Cow;

/// What a routine of MPI is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MpiClass {
    /// Messages between two processes, their completion, datatypes and packing.
    PointToPoint,
    /// Barriers, broadcasts, reductions and their kin, also those over neighbours.
    Collective,
    /// Files.
    Io,
    /// One-sided communication (remote memory access).
    Rma,
    /// Groups, communicators and their attributes.
    Groups,
    /// Start and end, versions, timers, memory, info objects, error handling.
    Environment,
    /// Virtual topologies.
    Topologies,
    /// Sessions, spawning, connecting, and publishing names.
    ProcessManagement,
    /// Everything else: naming of objects, generalised requests, conversions of handles, the tool
    /// interface, and routines this program does not know.
    Misc,
}

impl MpiClass {
    /// All classes.
    pub const ALL: [Self; 9] = [
        Self::PointToPoint,
        Self::Collective,
        Self::Io,
        Self::Rma,
        Self::Groups,
        Self::Environment,
        Self::Topologies,
        Self::ProcessManagement,
        Self::Misc,
    ];

    /// The display name of the class.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PointToPoint => "Point-to-point",
            Self::Collective => "Collective",
            Self::Io => "I/O",
            Self::Rma => "One-sided",
            Self::Groups => "Groups and communicators",
            Self::Environment => "Environment",
            Self::Topologies => "Topologies",
            Self::ProcessManagement => "Process management",
            Self::Misc => "Miscellaneous",
        }
    }
}

/// Whether a function is what TAU times apart inside collective operations: waiting until all
/// ranks are there. It is part of a routine of MPI and none itself.
#[must_use]
pub fn is_collective_sync(function: &str) -> bool {
    function.trim() == "MPI Collective Sync"
}

/// The routine of MPI that a function is, as `MPI_Send`, with its class; `None` for other
/// functions.
///
/// Known are the names of C (`MPI_Send`, `PMPI_Send [libmpi.so]`, `MPI_Send_c`), of Fortran
/// (`mpi_send_`, `pmpi_send__`, `MPI_SEND`, `mpi_send_f08_`), and wrappers of HPCToolkit
/// (`hpcrun_MPI_Send`). A lower-case name counts only when the standard has the routine: programs
/// call their own functions `mpi_something`.
#[must_use]
pub fn mpi_routine(function: &str) -> Option<(Cow<'_, str>, MpiClass)> {
    let name = function.strip_prefix("hpcrun_").unwrap_or(function);
    let name = name.strip_prefix(['P', 'p']).unwrap_or(name);
    let prefix = name.get(..4).filter(|prefix| prefix.eq_ignore_ascii_case("mpi_"))?;
    let rest = name.get(4..)?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let rest = rest.get(..end).filter(|rest| !rest.is_empty())?;
    let lower = rest.to_ascii_lowercase();
    let mut base = lower.trim_end_matches('_');
    for suffix in ["_f08ts", "_f08", "_fts", "_f", "_c"] {
        base = base.strip_suffix(suffix).unwrap_or(base);
    }
    let class = class_of(base);
    let is_c = prefix == "MPI_" && rest.bytes().any(|b| b.is_ascii_lowercase());
    if is_c {
        let spelled = rest.get(..base.len()).unwrap_or(rest);
        return Some((format!("MPI_{spelled}").into(), class.unwrap_or(MpiClass::Misc)));
    }
    let class = class?;
    let mut spelled = String::from("MPI_");
    let mut letters = base.chars();
    spelled.extend(letters.next().map(|c| c.to_ascii_uppercase()));
    spelled.extend(letters);
    Some((spelled.into(), class))
}

const POINT_TO_POINT: [&str; 59] = [
    "send",
    "bsend",
    "ssend",
    "rsend",
    "isend",
    "ibsend",
    "issend",
    "irsend",
    "recv",
    "irecv",
    "mrecv",
    "imrecv",
    "probe",
    "iprobe",
    "mprobe",
    "improbe",
    "sendrecv",
    "sendrecv_replace",
    "isendrecv",
    "isendrecv_replace",
    "send_init",
    "bsend_init",
    "ssend_init",
    "rsend_init",
    "recv_init",
    "psend_init",
    "precv_init",
    "pready",
    "pready_range",
    "pready_list",
    "parrived",
    "start",
    "startall",
    "wait",
    "waitany",
    "waitall",
    "waitsome",
    "test",
    "testany",
    "testall",
    "testsome",
    "cancel",
    "test_cancelled",
    "request_free",
    "request_get_status",
    "request_get_status_all",
    "request_get_status_any",
    "request_get_status_some",
    "get_count",
    "get_elements",
    "get_elements_x",
    "buffer_attach",
    "buffer_detach",
    "buffer_flush",
    "buffer_iflush",
    "get_address",
    "address",
    "sizeof",
    "pack",
];

const ONE_SIDED: [&str; 11] = [
    "put",
    "get",
    "accumulate",
    "get_accumulate",
    "fetch_and_op",
    "compare_and_swap",
    "rput",
    "rget",
    "raccumulate",
    "rget_accumulate",
    "win_allocate",
];

const COLLECTIVE: [&str; 19] = [
    "barrier",
    "bcast",
    "gather",
    "gatherv",
    "allgather",
    "allgatherv",
    "scatter",
    "scatterv",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "reduce",
    "allreduce",
    "reduce_local",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "exscan",
    "op",
];

const ENVIRONMENT: [&str; 20] = [
    "init",
    "init_thread",
    "initialized",
    "finalize",
    "finalized",
    "abort",
    "query_thread",
    "is_thread_main",
    "get_processor_name",
    "get_version",
    "get_library_version",
    "get_hw_resource_info",
    "alloc_mem",
    "free_mem",
    "aint_add",
    "aint_diff",
    "wtime",
    "wtick",
    "pcontrol",
    "info_create_env",
];

const PROCESSES: [&str; 13] = [
    "open_port",
    "close_port",
    "comm_connect",
    "comm_accept",
    "comm_disconnect",
    "comm_join",
    "comm_spawn",
    "comm_spawn_multiple",
    "comm_get_parent",
    "publish_name",
    "unpublish_name",
    "lookup_name",
    "session_init",
];

/// The class of a routine by its name in lower case without `mpi_`; `None` when the standard has
/// no such routine.
fn class_of(name: &str) -> Option<MpiClass> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
    if name.contains("errhandler") || starts(&["error_", "add_error_", "remove_error_"]) {
        return Some(MpiClass::Environment);
    }
    if ends(&["_c2f", "_f2c", "_c2f08", "_f082c", "_f2f08", "_f082f", "_toint", "_fromint"])
        || ends(&["_get_name", "_set_name"])
        || starts(&["grequest_", "status_", "t_"])
    {
        return Some(MpiClass::Misc);
    }
    if starts(&["file_"]) || name == "register_datarep" {
        return Some(MpiClass::Io);
    }
    if starts(&["win_"]) || ONE_SIDED.contains(&name) {
        return Some(MpiClass::Rma);
    }
    if POINT_TO_POINT.contains(&name)
        || starts(&["type_", "pack_", "unpack", "comm_buffer_", "session_buffer_"])
        || starts(&["comm_attach_buffer", "comm_detach_buffer", "comm_flush_buffer"])
    {
        return Some(MpiClass::PointToPoint);
    }
    let plain = name.strip_suffix("_init").unwrap_or(name);
    let blocking = plain.strip_prefix('i').unwrap_or(plain);
    let near = |name: &str| name.strip_prefix("neighbor_").is_some_and(|n| COLLECTIVE.contains(&n));
    if COLLECTIVE.contains(&plain)
        || COLLECTIVE.contains(&blocking)
        || near(plain)
        || near(blocking)
        || starts(&["op_"])
    {
        return Some(MpiClass::Collective);
    }
    if starts(&["cart_", "graph_", "dist_graph_"])
        || ["cartdim_get", "graphdims_get", "dims_create", "topo_test"].contains(&name)
    {
        return Some(MpiClass::Topologies);
    }
    if PROCESSES.contains(&name) || starts(&["session_"]) {
        return Some(MpiClass::ProcessManagement);
    }
    if starts(&["comm_", "group_", "intercomm_", "keyval_", "attr_"]) {
        return Some(MpiClass::Groups);
    }
    (ENVIRONMENT.contains(&name) || starts(&["info_"])).then_some(MpiClass::Environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<(String, MpiClass)> {
        mpi_routine(name).map(|(name, class)| (name.into_owned(), class))
    }

    #[test]
    fn every_spelling_of_a_routine_is_the_same_routine() {
        for name in [
            "MPI_Allreduce",
            "PMPI_Allreduce",
            "PMPI_Allreduce [libmpi.so.40.30.2]",
            "MPI_Allreduce.localalias",
            "MPI_Allreduce_c",
            "hpcrun_MPI_Allreduce [libhpcrun.so]",
            "mpi_allreduce_",
            "mpi_allreduce__",
            "pmpi_allreduce_",
            "MPI_ALLREDUCE",
            "mpi_allreduce_f08_",
        ] {
            let expected = ("MPI_Allreduce".to_owned(), MpiClass::Collective);
            assert_eq!(known(name), Some(expected), "{name}");
        }
        for name in ["MPIDI_Progress", "mpi_solver_step", "MPI_", "ompi_mpi_finalize", "main"] {
            assert_eq!(known(name), None, "{name}");
        }
        assert!(is_collective_sync("MPI Collective Sync  "));
        let unknown = known("MPI_Teleport").unwrap();
        assert_eq!(unknown, ("MPI_Teleport".into(), MpiClass::Misc));
    }

    #[test]
    fn each_class_has_its_routines() {
        use MpiClass::*;
        for (class, names) in [
            (PointToPoint, "Send Isend Ssend_init Waitall Testsome Mprobe Isendrecv Pready"),
            (PointToPoint, "Type_commit Type_create_f90_integer Pack Unpack_external Get_address"),
            (Collective, "Bcast Ialltoallw Neighbor_allgatherv Ineighbor_alltoall Barrier_init"),
            (Collective, "Iscan Exscan Iexscan Reduce_scatter_block Op_create Ireduce_scatter"),
            (Io, "File_open File_write_at_all File_iread_shared Register_datarep"),
            (Rma, "Put Rget_accumulate Win_fence Win_flush_local_all Compare_and_swap"),
            (Groups, "Comm_rank Comm_dup_with_info Comm_split Group_incl Intercomm_merge"),
            (Groups, "Attr_get Keyval_create Comm_create_keyval Comm_test_inter"),
            (Environment, "Init Init_thread Finalize Wtime Info_set Comm_set_errhandler Abort"),
            (Environment, "Win_call_errhandler Error_string Add_error_code Pcontrol Alloc_mem"),
            (Topologies, "Cart_create Cartdim_get Dist_graph_neighbors Dims_create Topo_test"),
            (ProcessManagement, "Comm_spawn Comm_accept Open_port Session_init Lookup_name"),
            (Misc, "Comm_set_name Grequest_start Status_c2f Comm_f2c T_pvar_read"),
        ] {
            for name in names.split(' ') {
                let (spelled, found) = known(&format!("MPI_{name}")).unwrap();
                assert_eq!((spelled, found), (format!("MPI_{name}"), class));
                // What C has, Fortran has under the same class.
                let fortran = known(&format!("mpi_{}_", name.to_lowercase())).unwrap();
                assert_eq!(fortran.1, class, "{name}");
            }
        }
    }
}
