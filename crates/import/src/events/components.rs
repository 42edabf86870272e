//! Which component a track belongs to, where several applications come into one archive.
//!
//! What comes in is an *input*: a trace, with a clock of its own. An input may have several
//! applications: its source says so, or the user splits its ranks. What numbers ranks on its own is
//! a *space*: an input, or one application of an input whose source distinguishes them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parallax_formats::archive::ComponentRow;
use parallax_model::IdentityKind;

use super::conversion::TrackIdentity;

/// A component that an input has, as it was requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComponentPlan {
    /// Its name.
    pub name: String,
    /// Names of the components that it takes data from.
    pub depends_on: Vec<String>,
    /// Its ranks in the trace, from the first to the last one; `None` for all.
    pub ranks: Option<(u64, u64)>,
}

/// What was requested for one input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputPlan {
    /// The components; nothing where the source says which there are.
    pub components: Vec<ComponentPlan>,
    /// Nanoseconds that are added to all its times.
    pub shift_nanos: i64,
}

/// What was found about one input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputSurvey {
    /// First and last time of its tracks, after the shift; `None` without any.
    pub span: Option<(u64, u64)>,
    /// Nanoseconds from the start of 1970 to the zero of its clock, where its source says so.
    pub epoch_offset_nanos: Option<i128>,
}

/// Messages from one input to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// How many are matched.
    pub messages: u64,
    /// The shortest time from sending to receiving.
    pub least_nanos: i64,
}

/// What a conversion found about its inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// By input.
    pub inputs: Vec<InputSurvey>,
    /// By sending and receiving input, where they differ.
    pub latencies: BTreeMap<(usize, usize), Latency>,
}

/// Name of what lies outside all requested ranks.
const OTHER: &str = "other ranks";

/// A numbering of ranks.
#[derive(Debug, Clone)]
struct Space {
    input: usize,
    /// What the source calls the application.
    own: Option<u64>,
    /// Ranks that tracks have, with their tracks.
    ranks: BTreeMap<u64, Vec<(u64, u32)>>,
}

/// A component with tracks.
#[derive(Debug, Clone)]
struct Application {
    space: usize,
    /// Position among the components of its input; `None` for ranks outside of all.
    plan: Option<usize>,
    /// Rank of the space that is its rank 0.
    from: u64,
}

/// All components of a conversion.
#[derive(Debug, Clone, Default)]
pub(super) struct Components {
    inputs: Vec<InputPlan>,
    /// First of the application numbers that are kept for the components of each input.
    reserved: Vec<u64>,
    /// The first number that is neither taken nor kept.
    next: u64,
    pub(super) surveys: Vec<InputSurvey>,
    spaces: Vec<Space>,
    /// Position of each space by input and application.
    spaces_at: HashMap<(usize, Option<u64>), usize>,
    applications: BTreeMap<u64, Application>,
    /// Numbers of the applications that are parts of inputs, by space and plan.
    numbers: HashMap<(usize, Option<usize>), u64>,
    /// Input of each track.
    places: Vec<usize>,
    /// Application of each track.
    of_track: Vec<Option<u64>>,
    pub(super) latencies: BTreeMap<(usize, usize), Latency>,
}

impl Components {
    /// What is added from now on is of another input.
    pub(super) fn begin(&mut self, plan: InputPlan) {
        self.reserved.push(self.next);
        self.next += plan.components.len() as u64;
        self.inputs.push(plan);
        self.surveys.push(InputSurvey::default());
    }

    /// The input that tracks are added from, if one was begun.
    pub(super) fn input(&self) -> Option<usize> {
        self.inputs.len().checked_sub(1)
    }

    /// What is added to times of the input.
    pub(super) fn shift_nanos(&self) -> i64 {
        self.inputs.last().map_or(0, |plan| plan.shift_nanos)
    }

    /// What facts about the input are called by, where there are several.
    pub(super) fn name(&self) -> Option<&str> {
        self.name_of_input(self.input()?)
    }

    /// The same of any input.
    pub(super) fn name_of_input(&self, input: usize) -> Option<&str> {
        self.inputs.get(input)?.components.first().map(|plan| plan.name.as_str())
    }

    /// The input that a track is from.
    pub(super) fn place_of(&self, track: u32) -> usize {
        self.places.get(track as usize).copied().unwrap_or(0)
    }

    /// The space of an application of the input.
    pub(super) fn space(&mut self, own: Option<u64>) -> usize {
        let input = self.input().unwrap_or(0);
        let next = self.spaces.len();
        let space = *self.spaces_at.entry((input, own)).or_insert(next);
        if space == next {
            self.spaces.push(Space { input, own, ranks: BTreeMap::new() });
        }
        space
    }

    /// Finds the place of a new track, and writes its application and its own rank into its
    /// identity.
    pub(super) fn place(&mut self, track: u32, identity: &mut TrackIdentity) {
        let own = identity.part(IdentityKind::Application);
        let rank = identity.part(IdentityKind::Rank);
        let space = self.space(own);
        if let (Some(rank), Some(space)) = (rank, self.spaces.get_mut(space)) {
            let thread = identity.part(IdentityKind::Thread).unwrap_or(0);
            space.ranks.entry(rank).or_default().push((thread, track));
        }
        let plan = self.inputs.last().map(|plan| plan.components.as_slice()).unwrap_or_default();
        let application = if plan.is_empty() {
            // The source's own numbers, where it has some.
            if let Some(own) = own {
                let entry = Application { space, plan: None, from: 0 };
                self.applications.entry(own).or_insert(entry);
            }
            own
        } else {
            let is_in = |plan: &ComponentPlan| match (plan.ranks, rank) {
                (Some((from, to)), Some(rank)) => (from..=to).contains(&rank),
                (Some(_), None) => false,
                (None, _) => true,
            };
            let at = plan.iter().position(is_in);
            let from = at.and_then(|at| plan.get(at)?.ranks).map_or(0, |ranks| ranks.0);
            let number = self.number(Application { space, plan: at, from });
            identity.identity.retain(|(kind, _)| *kind != IdentityKind::Application);
            identity.identity.insert(0, (IdentityKind::Application, number));
            if let Some(part) =
                identity.identity.iter_mut().find(|(kind, _)| *kind == IdentityKind::Rank)
            {
                part.1 = part.1.saturating_sub(from);
            }
            Some(number)
        };
        self.of_track.push(application);
        self.places.push(self.input().unwrap_or(0));
    }

    /// The number of an application; a new one gets that of its component, where it is free.
    fn number(&mut self, application: Application) -> u64 {
        let key = (application.space, application.plan);
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let reserved = self.reserved.last().copied().unwrap_or(0);
        let own = application.plan.map(|at| reserved + at as u64);
        let own = own.filter(|number| !self.applications.contains_key(number));
        let number = own.unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.applications.insert(number, application);
        self.numbers.insert(key, number);
        number
    }

    /// The application of a track: of any two tracks that are of one component it is the same.
    pub(super) fn application(&self, track: u32) -> Option<u64> {
        self.of_track.get(track as usize).copied().flatten()
    }

    /// Counts a matched message of two tracks.
    pub(super) fn count(&mut self, sender: u32, receiver: u32, nanos: i64) {
        let input = |track: u32| self.places.get(track as usize).copied();
        let (Some(from), Some(to)) = (input(sender), input(receiver)) else { return };
        if from != to {
            let least = Latency { messages: 0, least_nanos: nanos };
            let latency = self.latencies.entry((from, to)).or_insert(least);
            latency.messages += 1;
            latency.least_nanos = latency.least_nanos.min(nanos);
        }
    }

    /// The source says when the zero of the clock of the input is.
    pub(super) fn set_epoch(&mut self, nanos: i128) {
        if let Some(survey) = self.surveys.last_mut() {
            survey.epoch_offset_nanos = Some(nanos);
        }
    }

    /// A track has its first and last time here.
    pub(super) fn widen(&mut self, track: u32, span: (u64, u64)) {
        let input = self.places.get(track as usize).copied().unwrap_or(0);
        if let Some(survey) = self.surveys.get_mut(input) {
            let (first, last) = survey.span.unwrap_or(span);
            survey.span = Some((first.min(span.0), last.max(span.1)));
        }
    }

    /// Whether no two spaces have a rank in common: then they are one space, in which a partner of
    /// a message may be of another component.
    fn is_one_space(&self) -> bool {
        let mut all = BTreeSet::new();
        self.spaces.len() > 1
            && self.spaces.iter().flat_map(|space| space.ranks.keys()).all(|rank| all.insert(*rank))
    }

    /// The tracks of other components that `wanted` (space, rank and thread of partners that have
    /// no track) speak of.
    pub(super) fn across(&self, wanted: &HashMap<u32, (usize, u64, u64)>) -> HashMap<u32, u32> {
        if !self.is_one_space() {
            return HashMap::new();
        }
        let mut found = HashMap::new();
        for (&peer, &(own, rank, thread)) in wanted {
            let mut spaces = self.spaces.iter().enumerate().filter(|(at, _)| *at != own);
            let tracks = spaces.find_map(|(_, space)| space.ranks.get(&rank));
            let tracks = tracks.map(Vec::as_slice).unwrap_or_default();
            // Messages of TAU are between processes: the first thread stands for them.
            let exact = tracks.iter().find(|(known, _)| *known == thread);
            if let Some((_, track)) = exact.or_else(|| tracks.iter().min()) {
                found.insert(peer, *track);
            }
        }
        found
    }

    /// The rows of the table of components; nothing where there is one application.
    pub(super) fn rows(&self) -> Vec<ComponentRow> {
        if self.applications.len() < 2 {
            return Vec::new();
        }
        let is_one_space = self.is_one_space();
        // Where ranks overlap, the spaces follow each other in the order of the components.
        let mut before = 0_u64;
        let mut offsets: HashMap<usize, u64> = HashMap::new();
        for application in self.applications.values() {
            if is_one_space || offsets.contains_key(&application.space) {
                continue;
            }
            offsets.insert(application.space, before);
            let ranks = self.spaces.get(application.space).map(|space| &space.ranks);
            let last = ranks.and_then(|ranks| ranks.keys().next_back());
            before = before.saturating_add(last.map_or(0, |last| last.saturating_add(1)));
        }
        let names: Vec<(u64, String)> =
            self.applications.iter().map(|(n, a)| (*n, self.name_of(*n, a))).collect();
        let rows =
            self.applications.iter().zip(&names).map(|((number, application), (_, name))| {
                let space = self.spaces.get(application.space);
                let input = space.and_then(|space| self.inputs.get(space.input));
                let plan = input.zip(application.plan).and_then(|(i, at)| i.components.get(at));
                let needed = plan.map(|plan| plan.depends_on.as_slice()).unwrap_or_default();
                let offset = offsets.get(&application.space).copied().unwrap_or(0);
                ComponentRow {
                    application: *number,
                    name: name.clone(),
                    depends_on: self.expand(needed, &names).join("\n"),
                    first_rank: offset.saturating_add(application.from),
                    shift_nanos: input.map_or(0, |input| input.shift_nanos),
                }
            });
        rows.collect()
    }

    /// The parts of an input that was named as one.
    fn expand(&self, needed: &[String], names: &[(u64, String)]) -> Vec<String> {
        let mut out = Vec::new();
        for wanted in needed {
            for (number, name) in names {
                let planned = self.applications.get(number).and_then(|a| self.plan_of(a));
                if planned.is_some_and(|plan| plan.name == *wanted) {
                    out.push(name.clone());
                }
            }
        }
        out
    }

    fn plan_of(&self, application: &Application) -> Option<&ComponentPlan> {
        let space = self.spaces.get(application.space)?;
        self.inputs.get(space.input)?.components.get(application.plan?)
    }

    fn name_of(&self, number: u64, application: &Application) -> String {
        let space = self.spaces.get(application.space);
        let own = space.and_then(|space| space.own);
        let input = space.and_then(|space| self.inputs.get(space.input));
        let Some(input) = input.filter(|input| !input.components.is_empty()) else {
            return format!("program {number}");
        };
        let Some(plan) = self.plan_of(application) else { return OTHER.to_owned() };
        // One name was requested, and the source has several applications.
        let is_part = |other: &Application| {
            other.plan == application.plan
                && self.spaces.get(other.space).map(|s| s.input) == space.map(|s| s.input)
        };
        let num_parts = self.applications.values().filter(|other| is_part(other)).count();
        debug_assert!(!input.components.is_empty());
        match own {
            Some(own) if num_parts > 1 => format!("{} {own}", plan.name),
            _ => plan.name.clone(),
        }
    }
}
