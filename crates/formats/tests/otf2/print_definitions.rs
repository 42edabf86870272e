//! Writes global definitions as `otf2-print` does, sorted as text.

use parallax_formats::otf2::{
    Definitions, GroupFlags, GroupId, GroupType, InterruptGeneratorId, IoFileKind, LocationGroupId,
    LocationId, MetricScope, SystemTreeNodeId,
};

use super::print::{Names, named};

/// One line for each definition but the clock, whose date `otf2-print` writes for users.
pub(crate) fn definitions(d: &Definitions) -> Vec<String> {
    let n = Names::new(d);
    let mut lines = Vec::new();
    let mut line = |kind: &str, id: String, fields: String| {
        lines
            .push(format!("{kind} {id} {fields}").split_whitespace().collect::<Vec<_>>().join(" "));
    };
    let none = String::new;
    for (id, text) in d.strings.iter() {
        line("STRING", id.0.to_string(), format!("\"{text}\""));
    }
    for p in &d.paradigms {
        let name = n.string(p.name);
        line(
            "PARADIGM",
            p.paradigm.0.to_string(),
            format!("{}, Name: {name}, Class: {}", p.paradigm, p.class),
        );
    }
    for p in &d.paradigm_properties {
        let ((kind, value), model) = (n.value(p.value), n.paradigm(p.paradigm));
        let fields =
            format!("Paradigm: {model}, Property: {}, Type: {kind}, Value: {value}", p.property);
        line("PARADIGM_PROPERTY", none(), fields);
    }
    for (id, p) in d.io_paradigms.iter() {
        let property = |(property, value)| {
            let (kind, value) = n.value(value);
            format!("({property}; {kind}; {value})")
        };
        let list: Vec<String> = p.properties.iter().copied().map(property).collect();
        let (identification, name) = (n.string(p.identification), n.string(p.name));
        let head = format!("Identification: {identification}, Name: {name}, Class: {}", p.class);
        let properties = counted(&list, "Property", "Properties");
        line("IO_PARADIGM", id.0.to_string(), format!("{head}, Flags: {}, {properties}", p.flags));
    }
    for (id, a) in d.attributes.iter() {
        let (name, description) = (n.string(a.name), n.string(a.description));
        let fields = format!("Name: {name}, Description: {description}, Type: {}", a.value_type);
        line("ATTRIBUTE", id.0.to_string(), fields);
    }
    for (id, node) in d.system_tree_nodes.iter() {
        let (name, class, parent) =
            (n.string(node.name), n.string(node.class), n.node(node.parent));
        let fields = format!("Name: {name}, Class: {class}, Parent: {parent}");
        line("SYSTEM_TREE_NODE", id.0.to_string(), fields);
    }
    for p in &d.system_tree_node_properties {
        let ((kind, value), name) = (n.value(p.value), n.string(p.name));
        let head = format!("System Tree Node: {}, Name: {name}", n.node(p.node));
        line("SYSTEM_TREE_NODE_PROPERTY", none(), format!("{head}, Type: {kind}, Value: {value}"));
    }
    for p in &d.system_tree_node_domains {
        let fields = format!("System Tree Node: {}, Domain: {}", n.node(p.node), p.domain);
        line("SYSTEM_TREE_NODE_DOMAIN", none(), fields);
    }
    for (id, g) in d.location_groups.iter() {
        let (name, parent) = (n.string(g.name), n.node(g.system_tree_parent));
        let creator = n.location_group(g.creating_group);
        let fields =
            format!("Name: {name}, Type: {}, Parent: {parent}, Creator: {creator}", g.group_type);
        line("LOCATION_GROUP", id.0.to_string(), fields);
    }
    for p in &d.location_group_properties {
        let ((kind, value), name) = (n.value(p.value), n.string(p.name));
        let head = format!("Location Group: {}, Name: {name}", n.location_group(p.group));
        line("LOCATION_GROUP_PROPERTY", none(), format!("{head}, Type: {kind}, Value: {value}"));
    }
    for (id, l) in d.locations.iter() {
        let (name, group) = (n.string(l.name), n.location_group(l.group));
        let head = format!("Name: {name}, Type: {}, # Events: {}", l.location_type, l.event_count);
        line("LOCATION", id.0.to_string(), format!("{head}, Group: {group}"));
    }
    for p in &d.location_properties {
        let ((kind, value), name) = (n.value(p.value), n.string(p.name));
        let head = format!("Location: {}, Name: {name}", n.location(p.location));
        line("LOCATION_PROPERTY", none(), format!("{head}, Type: {kind}, Value: {value}"));
    }
    for (id, r) in d.regions.iter() {
        let (name, canonical) = (n.string(r.name), n.string(r.canonical_name));
        let head = format!("Name: {name} (Aka. {canonical}), Descr.: {}", n.string(r.description));
        let kind =
            format!("Role: {}, Paradigm: {}, Flags: {}", r.role, n.paradigm(r.paradigm), r.flags);
        let lines =
            format!("File: {}, Begin: {}, End: {}", n.string(r.file), r.begin_line, r.end_line);
        line("REGION", id.0.to_string(), format!("{head}, {kind}, {lines}"));
    }
    for (id, c) in d.callsites.iter() {
        let (entered, left) = (n.region(c.entered), n.region(c.left));
        let head = format!("File: {}, Line Number: {}", n.string(c.file), c.line);
        line(
            "CALLSITE",
            id.0.to_string(),
            format!("{head}, Entered Region: {entered}, Left Region: {left}"),
        );
    }
    for (id, c) in d.callpaths.iter() {
        let parent =
            if c.parent.is_defined() { c.parent.0.to_string() } else { "UNDEFINED".into() };
        line(
            "CALLPATH",
            id.0.to_string(),
            format!("Parent: {parent}, Region: {}", n.region(c.region)),
        );
    }
    for (id, g) in d.groups.iter() {
        let list: Vec<String> = g.members.iter().map(|&m| n.member(id, m)).collect();
        let (name, paradigm) = (n.string(g.name), n.paradigm(g.paradigm));
        let head = format!("Name: {name}, Type: {}, Paradigm: {paradigm}", g.group_type);
        let members = counted(&list, "Member", "Members");
        line("GROUP", id.0.to_string(), format!("{head}, Flags: {}, {members}", g.flags));
    }
    for (id, m) in d.metric_members.iter() {
        let (name, description, unit) =
            (n.string(m.name), n.string(m.description), n.string(m.unit));
        let head = format!(
            "Name: {name}, Descr.: {description}, Type: {}, Mode: {}",
            m.metric_type, m.mode
        );
        let scale = format!("Base: {}, Exponent: {}, Unit: {unit}", m.base, m.exponent);
        line(
            "METRIC_MEMBER",
            id.0.to_string(),
            format!("{head}, Value Type: {}, {scale}", m.value_type),
        );
    }
    for (id, c) in d.metric_classes.iter() {
        let list = c.members.iter().map(|m| {
            named(d.metric_members.get(*m).map(|member| d.string(member.name)), m.0.into())
        });
        let list = counted(&list.collect::<Vec<_>>(), "Member", "Members");
        let head = format!("Occurrence: {}, Kind: {}", c.occurrence, c.recorder_kind);
        line("METRIC_CLASS", id.0.to_string(), format!("{head}, {list}"));
    }
    for (id, i) in d.metric_instances.iter() {
        let scope = match i.scope_type {
            MetricScope::LOCATION => n.location(LocationId(i.scope)),
            MetricScope::LOCATION_GROUP => n.location_group(LocationGroupId(i.scope as u32)),
            MetricScope::SYSTEM_TREE_NODE => n.node(SystemTreeNodeId(i.scope as u32)),
            _ => n.group(GroupId(i.scope as u32)),
        };
        let head = format!("Class: {}, Recorder: {}", i.class.0, n.location(i.recorder));
        line(
            "METRIC_INSTANCE",
            id.0.to_string(),
            format!("{head}, Scope: {} {scope}", i.scope_type),
        );
    }
    for (id, c) in d.comms.iter() {
        let (name, group, parent) = (n.string(c.name), n.group(c.group), n.comm(c.parent));
        let fields = format!("Name: {name}, Group: {group}, Parent: {parent}, Flags: {}", c.flags);
        line("COMM", id.0.to_string(), fields);
    }
    for (id, c) in d.inter_comms.iter() {
        let (a, b, common) = (n.group(c.group_a), n.group(c.group_b), n.comm(c.common));
        let head = format!("name: {}, Group A: {a}, Group B: {b}", n.string(c.name));
        line(
            "INTER_COMM",
            id.0.to_string(),
            format!("{head}, Common Communicator: {common}, Flags: {}", c.flags),
        );
    }
    for (id, p) in d.parameters.iter() {
        line(
            "PARAMETER",
            id.0.to_string(),
            format!("Name: {}, Type: {}", n.string(p.name), p.parameter_type),
        );
    }
    for (id, w) in d.rma_wins.iter() {
        let (name, comm) = (n.string(w.name), n.comm(w.comm));
        line(
            "RMA_WIN",
            id.0.to_string(),
            format!("Name: {name}, Communicator: {comm}, Flags: {}", w.flags),
        );
    }
    for r in &d.metric_class_recorders {
        let fields = format!("Class: {}, Recorder: {}", r.class.0, n.location(r.recorder));
        line("METRIC_CLASS_RECORDER", none(), fields);
    }
    let dimension = |id| {
        let found: Option<&parallax_formats::otf2::CartDimension> = d.cart_dimensions.get(id);
        named(found.map(|dimension| d.string(dimension.name)), id.0.into())
    };
    for (id, c) in d.cart_dimensions.iter() {
        let fields =
            format!("Name: {}, Size: {}, Periodicity: {}", n.string(c.name), c.size, c.periodicity);
        line("CART_DIMENSION", id.0.to_string(), fields);
    }
    for (id, t) in d.cart_topologies.iter() {
        let list: Vec<String> = t.dimensions.iter().map(|id| dimension(*id)).collect();
        let head = format!("Name: {}, Communicator: {}", n.string(t.name), n.comm(t.comm));
        let fields = format!("{head}, {} Dimensions: ({})", list.len(), list.join(", "));
        line("CART_TOPOLOGY", id.0.to_string(), fields);
    }
    for c in &d.cart_coordinates {
        let topology = d.cart_topologies.get(c.topology).unwrap();
        let rank = n.rank(topology.comm, c.rank, LocationId::UNDEFINED);
        let list: Vec<String> = c.coordinates.iter().map(u32::to_string).collect();
        let name = named(Some(d.string(topology.name)), c.topology.0.into());
        let fields =
            format!("Cartesian Topology: {name}, Rank: {rank}, Coordinates: ({})", list.join(", "));
        line("CART_COORDINATE", none(), fields);
    }
    for (id, s) in d.source_code_locations.iter() {
        let fields = format!("File: {}, Line Number: {}", n.string(s.file), s.line);
        line("SOURCE_CODE_LOCATION", id.0.to_string(), fields);
    }
    for (id, c) in d.calling_contexts.iter() {
        let (region, parent) = (n.region(c.region), n.context(c.parent));
        let place = n.source_code_location(c.source_code_location);
        let fields = format!("Region: {region}, Source code location: {place}, Parent: {parent}");
        line("CALLING_CONTEXT", id.0.to_string(), fields);
    }
    for p in &d.calling_context_properties {
        let ((kind, value), name) = (n.value(p.value), n.string(p.name));
        let head = format!("Calling Context: {}, Name: {name}", n.context(p.context));
        line("CALLING_CONTEXT_PROPERTY", none(), format!("{head}, Type: {kind}, Value: {value}"));
    }
    for (id, g) in d.interrupt_generators.iter() {
        let head = format!("Name: {}, Mode: {}, Base: {}", n.string(g.name), g.mode, g.base);
        let fields = format!("{head}, Exponent: {}, Period: {}", g.exponent, g.period);
        line("INTERRUPT_GENERATOR", id.0.to_string(), fields);
    }
    for (id, f) in d.io_files.iter() {
        let kind = match f.kind {
            IoFileKind::Regular => "IO_REGULAR_FILE",
            IoFileKind::Directory => "IO_DIRECTORY",
        };
        let (name, scope) = (n.string(f.fields.name), n.node(f.fields.scope));
        line(kind, id.0.to_string(), format!("Name: {name}, Scope: {scope}"));
    }
    for p in &d.io_file_properties {
        let ((kind, value), name) = (n.value(p.value), n.string(p.name));
        let head = format!("File: {}, Name: {name}", n.file(p.file));
        line("IO_FILE_PROPERTY", none(), format!("{head}, Type: {kind}, Value: {value}"));
    }
    for (id, h) in d.io_handles.iter() {
        let (name, file, paradigm) = (n.string(h.name), n.file(h.file), n.io_paradigm(h.paradigm));
        let head =
            format!("Name: {name}, File: {file}, I/O Paradigm: {paradigm}, Flags: {}", h.flags);
        let tail = format!("Communicator: {}, Parent: {}", n.comm(h.comm), n.handle(h.parent));
        line("IO_HANDLE", id.0.to_string(), format!("{head}, {tail}"));
    }
    for s in &d.io_pre_created_handle_states {
        let head = format!("Handle: {}, Access Mode: {}", n.handle(s.handle), s.mode);
        line("IO_PRE_CREATED_HANDLE_STATE", none(), format!("{head}, Status Flags: {}", s.status));
    }
    for p in &d.callpath_parameters {
        let ((kind, value), parameter) = (n.value(p.value), n.parameter(p.parameter));
        let head = format!("Callpath: {}, Parameter: {parameter}", p.callpath.0);
        line("CALLPATH_PARAMETER", none(), format!("{head}, Type: {kind}, Value: {value}"));
    }
    lines.sort();
    lines
}

impl Names<'_> {
    fn node(&self, id: SystemTreeNodeId) -> String {
        let node = self.d.system_tree_nodes.get(id);
        let name =
            node.map(|node| format!("{}::{}", self.d.string(node.class), self.d.string(node.name)));
        named(name.as_deref(), id.0.into())
    }

    pub(crate) fn location_group(&self, id: LocationGroupId) -> String {
        named(self.d.location_groups.get(id).map(|g| self.d.string(g.name)), id.0.into())
    }

    pub(crate) fn group(&self, id: GroupId) -> String {
        named(self.d.groups.get(id).map(|group| self.d.string(group.name)), id.0.into())
    }

    pub(crate) fn generator(&self, id: InterruptGeneratorId) -> String {
        named(self.d.interrupt_generators.get(id).map(|g| self.d.string(g.name)), id.0.into())
    }

    fn member(&self, group: GroupId, member: u64) -> String {
        let group = self.d.groups.get(group).unwrap();
        match group.group_type {
            GroupType::REGIONS => self.region(parallax_formats::otf2::RegionId(member as u32)),
            GroupType::COMM_GROUP if !group.flags.has(GroupFlags::GLOBAL_MEMBERS) => {
                let lists = self.d.groups.iter().map(|(_, list)| list);
                let mut lists = lists.filter(|list| {
                    list.group_type == GroupType::COMM_LOCATIONS && list.paradigm == group.paradigm
                });
                let location = lists.next().unwrap().members[member as usize];
                format!("{member} ({})", self.location(LocationId(location)))
            }
            _ => self.location(LocationId(member)),
        }
    }
}

/// `2 Members: a, b`, as `otf2-print` writes lists.
fn counted(list: &[String], one: &str, many: &str) -> String {
    let noun = if list.len() == 1 { one } else { many };
    if list.is_empty() {
        return format!("0 {noun}");
    }
    format!("{} {noun}: {}", list.len(), list.join(", "))
}
