//! Looking names up when a processor is free.
//!
//! To read debug information takes longer than everything else that a recording does, and where every
//! processor is busy, it would take one from the program. So a process does it that gives way to all
//! others; ADR 0105 says why. It may be kept from its processor at any moment and for long, so the
//! recording waits for it only a moment at the end, and looks up itself what it has no answer to.
//!
//! The process is the tool itself, started as a starter of a program without a name. It is asked by
//! its standard input and answers by its standard output, in order:
//!
//! ```text
//! question  0, number of a file (4 bytes), length of its path (4), path      no answer
//!           1 (functions), 2 (and loops) or 3 (and lines), number of a file (4), address (8)
//! answer    length of what follows (4), number of the file (4), address (8),
//!           for each function, loop and line, the outermost first: line (4), whether it is of the
//!           file (2), what it is (2), length and bytes of the name, length and bytes of its source file
//! ```

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, BufReader, Read, Write};
use std::os::fd::AsRawFd as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use parallax_native::{Readiness, give_way, wait_for_any};

use crate::images::{Image, Images};
use crate::processes::Place;
use crate::symbols::{Function, Named, Names, look_up};
use crate::{Detail, STARTER};

/// How long the recording waits for the next answer when the program has ended.
const PATIENCE: Duration = Duration::from_millis(40);

/// Most bytes of questions that have no answer. A pipe holds more, so that asking never waits.
const MOST_ASKED: usize = 4096;

/// Most bytes of an answer, and of a text in one.
const MOST_ANSWER: usize = 1 << 24;

/// Names of places, from the side of the recording.
pub(crate) struct Background {
    /// `None` where there is no such process, or where it ended.
    helper: Option<Helper>,
    /// Of files in which the recording looks itself.
    own: HashMap<u32, Names>,
    asked: HashSet<Place>,
    detail: Detail,
    /// Not asked for yet.
    new: VecDeque<(Place, Arc<Image>)>,
}

/// The process that looks names up.
struct Helper {
    process: Child,
    questions: ChildStdin,
    answers: ChildStdout,
    /// Files that it knows.
    files: HashSet<u32>,
    /// Bytes of each question that has no answer.
    asked: VecDeque<usize>,
    /// What is left of answers that are not complete.
    rest: Vec<u8>,
}

impl Background {
    pub(crate) fn new(detail: Detail) -> Self {
        Self {
            detail,
            helper: Helper::start().ok(),
            own: HashMap::new(),
            asked: HashSet::new(),
            new: VecDeque::new(),
        }
    }

    /// Has a place looked up, once.
    pub(crate) fn ask(&mut self, place: Place, image: &Arc<Image>) {
        if self.asked.insert(place) {
            self.new.push_back((place, Arc::clone(image)));
        }
    }

    /// Takes what was found, waiting so long for it, and asks for what is new.
    pub(crate) fn exchange(&mut self, longest: Duration) -> Vec<(Place, Named)> {
        let mut found = Vec::new();
        if let Some(helper) = &mut self.helper {
            let mut exchange = || {
                helper.ask(&mut self.new, self.detail)?;
                helper.answers(longest, &mut found)?;
                helper.ask(&mut self.new, self.detail)
            };
            if exchange().is_err() {
                self.helper = None;
            }
        }
        found
    }

    /// What is found by waiting a moment for each answer.
    pub(crate) fn last(&mut self) -> Vec<(Place, Named)> {
        let mut all = Vec::new();
        while self.helper.as_ref().is_some_and(|helper| !helper.asked.is_empty())
            || self.helper.is_some() && !self.new.is_empty()
        {
            let found = self.exchange(PATIENCE);
            if found.is_empty() {
                break;
            }
            all.extend(found);
        }
        // It is of no use any more.
        self.helper = None;
        all
    }

    /// Looks a place up in this process.
    pub(crate) fn at_once(&mut self, place: Place, image: &Image) -> Named {
        let number = place.image.unwrap_or_default();
        let names = self.own.entry(number).or_insert_with(|| Names::of(image));
        look_up(names, image, place, self.detail)
    }
}

impl Helper {
    fn start() -> io::Result<Self> {
        let mut command = Command::new("/proc/self/exe");
        command.args([STARTER, ""]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // What waits for the end of the tool's own streams is not to wait for this process.
        let mut process = command.stderr(Stdio::null()).spawn()?;
        let (questions, answers) = (process.stdin.take(), process.stdout.take());
        let missing = || io::Error::other("no pipe");
        Ok(Self {
            questions: questions.ok_or_else(missing)?,
            answers: answers.ok_or_else(missing)?,
            process,
            files: HashSet::new(),
            asked: VecDeque::new(),
            rest: Vec::new(),
        })
    }

    /// Asks as much as can be asked without waiting.
    fn ask(&mut self, new: &mut VecDeque<(Place, Arc<Image>)>, detail: Detail) -> io::Result<()> {
        let mut waiting: usize = self.asked.iter().sum();
        let mut bytes = Vec::new();
        while let Some((place, image)) = new.front() {
            let number = place.image.unwrap_or_default();
            let mut question = Vec::new();
            if !self.files.contains(&number) {
                question.push(0);
                question.extend(number.to_ne_bytes());
                put_text(&mut question, &image.path);
            }
            question.push(asks(detail));
            question.extend(number.to_ne_bytes());
            question.extend(place.address.to_ne_bytes());
            if waiting + question.len() > MOST_ASKED {
                if question.len() > MOST_ASKED {
                    // Its path is too long for this; the recording looks there itself.
                    new.pop_front();
                    continue;
                }
                break;
            }
            waiting += question.len();
            self.files.insert(number);
            self.asked.push_back(question.len());
            bytes.append(&mut question);
            new.pop_front();
        }
        self.questions.write_all(&bytes)
    }

    /// Takes the answers that are there, when one comes within that time.
    fn answers(&mut self, longest: Duration, found: &mut Vec<(Place, Named)>) -> io::Result<()> {
        if self.asked.is_empty() {
            return Ok(());
        }
        let mut longest = longest;
        let mut bytes = vec![0; 1 << 16];
        loop {
            match wait_for_any(&[self.answers.as_raw_fd()], longest)?.first() {
                Some(Readiness::Readable) => {}
                Some(Readiness::Over) => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => break,
            }
            let count = self.answers.read(&mut bytes)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.rest.extend_from_slice(bytes.get(..count).unwrap_or_default());
            longest = Duration::ZERO;
        }
        let mut rest = self.rest.as_slice();
        while let Some(answer) = taken_text(&mut rest)? {
            let damaged = || io::Error::other("an answer that is none");
            found.push(read_answer(answer).ok_or_else(damaged)?);
            self.asked.pop_front();
        }
        self.rest = rest.to_vec();
        Ok(())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It is not waited for, because it may not get a processor for long, not even to end.
        let _ = self.process.kill();
        let _ = self.process.try_wait();
    }
}

/// How a question begins.
const fn asks(detail: Detail) -> u8 {
    match detail {
        Detail::Functions => 1,
        Detail::Loops => 2,
        Detail::Lines => 3,
    }
}

/// What the other process does: answers until nobody asks any more.
pub(crate) fn serve() -> ExitCode {
    // Where the system does not have it give way, it does the same at the time of the others.
    let _ = give_way();
    // That there is nobody who asks is how it usually ends.
    let _ = answer_all(BufReader::new(io::stdin().lock()), io::stdout().lock());
    ExitCode::SUCCESS
}

fn answer_all(mut questions: impl Read, mut answers: impl Write) -> io::Result<()> {
    let mut images = Images::default();
    let mut files: HashMap<u32, (Arc<Image>, Names)> = HashMap::new();
    loop {
        let [kind] = bytes_of(&mut questions)?;
        let number = u32::from_ne_bytes(bytes_of(&mut questions)?);
        if kind == 0 {
            let len = u32::from_ne_bytes(bytes_of(&mut questions)?);
            let mut path = String::new();
            (&mut questions).take(u64::from(len)).read_to_string(&mut path)?;
            let own = images.at(&path);
            let image = images.get(own).ok_or(io::ErrorKind::NotFound)?;
            files.insert(number, (Arc::clone(image), Names::of(image)));
            continue;
        }
        let address = u64::from_ne_bytes(bytes_of(&mut questions)?);
        let (image, names) = files.get_mut(&number).ok_or(io::ErrorKind::NotFound)?;
        let details = [Detail::Functions, Detail::Loops, Detail::Lines];
        let detail = details.into_iter().find(|detail| asks(*detail) == kind);
        let detail = detail.ok_or(io::ErrorKind::InvalidData)?;
        let named = look_up(names, image, Place { image: Some(number), address }, detail);
        let mut answer = Vec::new();
        answer.extend(number.to_ne_bytes());
        answer.extend(address.to_ne_bytes());
        for function in &named {
            answer.extend(function.line.to_ne_bytes());
            answer.extend(u16::from(function.image.is_some()).to_ne_bytes());
            answer.extend(u16::from(function.kind).to_ne_bytes());
            put_text(&mut answer, &function.name);
            put_text(&mut answer, &function.file);
        }
        let len = u32::try_from(answer.len()).map_err(io::Error::other)?;
        answers.write_all(&len.to_ne_bytes())?;
        answers.write_all(&answer)?;
        answers.flush()?;
    }
}

fn read_answer(answer: &[u8]) -> Option<(Place, Named)> {
    let mut rest = answer;
    let number = taken(&mut rest).map(u32::from_ne_bytes)?;
    let address = taken(&mut rest).map(u64::from_ne_bytes)?;
    let mut named = Named::new();
    while !rest.is_empty() {
        let line = taken(&mut rest).map(u32::from_ne_bytes)?;
        let has_image = taken(&mut rest).map(u16::from_ne_bytes)? != 0;
        let kind = u8::try_from(taken(&mut rest).map(u16::from_ne_bytes)?).ok()?;
        let mut text = || {
            let text = taken_text(&mut rest).ok()??;
            Some(String::from_utf8_lossy(text).into_owned())
        };
        let (name, file) = (text()?, text()?);
        named.push(Function { kind, name, file, line, image: has_image.then_some(number) });
    }
    Some((Place { image: Some(number), address }, named))
}

/// Text with its length before it, cut where no name is as long.
fn put_text(into: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes().get(..MOST_ANSWER / 256).unwrap_or(text.as_bytes());
    into.extend(u32::try_from(bytes.len()).unwrap_or(0).to_ne_bytes());
    into.extend_from_slice(bytes);
}

/// Bytes with their length before them; `None` while they are not complete.
fn taken_text<'b>(rest: &mut &'b [u8]) -> io::Result<Option<&'b [u8]>> {
    let mut after = *rest;
    let Some(len) = taken(&mut after).map(u32::from_ne_bytes) else { return Ok(None) };
    let len = usize::try_from(len).ok().filter(|len| *len <= MOST_ANSWER);
    let len = len.ok_or_else(|| io::Error::other("an answer that is too long"))?;
    let Some((text, after)) = after.split_at_checked(len) else { return Ok(None) };
    *rest = after;
    Ok(Some(text))
}

fn taken<const LEN: usize>(rest: &mut &[u8]) -> Option<[u8; LEN]> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*bytes)
}

fn bytes_of<const LEN: usize>(from: &mut impl Read) -> io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use object::{Object as _, ObjectSymbol as _};

    use super::*;

    /// This program, and where its `main` is.
    fn own() -> (Arc<Image>, Place) {
        let path = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let main = file.symbols().find(|symbol| symbol.name() == Ok("main")).unwrap();
        let mut images = Images::default();
        let number = images.at(path.to_str().unwrap());
        let place = Place { image: Some(number), address: main.address() };
        (Arc::clone(images.get(number).unwrap()), place)
    }

    /// A recording without another process.
    fn alone() -> Background {
        Background {
            helper: None,
            own: HashMap::new(),
            asked: HashSet::new(),
            detail: Detail::Lines,
            new: VecDeque::new(),
        }
    }

    #[test]
    fn the_other_process_answers_what_the_recording_finds_itself() {
        let (image, place) = own();
        let nowhere = Place { address: 1, ..place };
        let mut questions = vec![0];
        questions.extend(0_u32.to_ne_bytes());
        put_text(&mut questions, &image.path);
        for place in [place, nowhere, place] {
            questions.push(asks(Detail::Lines));
            questions.extend(0_u32.to_ne_bytes());
            questions.extend(place.address.to_ne_bytes());
        }
        let mut answers = Vec::new();
        let end = answer_all(questions.as_slice(), &mut answers).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        let mut rest = answers.as_slice();
        let mut background = alone();
        for place in [place, nowhere, place] {
            let answer = taken_text(&mut rest).unwrap().unwrap();
            let found = format!("{:?}", read_answer(answer).unwrap());
            assert_eq!(found, format!("{:?}", (place, background.at_once(place, &image))));
            assert!(place == nowhere || found.contains("\"main\""), "{found}");
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn what_another_process_says_instead_is_no_answer() {
        // The tests of this crate are no tool: they say how many they are.
        let (image, place) = own();
        let mut background = Background::new(Detail::Lines);
        background.ask(place, &image);
        assert!(background.exchange(Duration::from_secs(60)).is_empty());
        assert!(background.last().is_empty() && background.helper.is_none());
        assert!(!background.at_once(place, &image).is_empty());
        for len in 0..40 {
            let mut bytes = vec![1; len];
            assert!(read_answer(&bytes).is_none() || len == 12);
            bytes.truncate(3);
            assert!(taken_text(&mut bytes.as_slice()).unwrap().is_none());
        }
        assert!(taken_text(&mut &[255; 8][..]).is_err());
    }
}
