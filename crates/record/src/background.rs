//! Looking names up when a processor is free.
//!
//! To read debug information takes longer than everything else that a recording does, and where every
//! processor is busy, it would take one from the program. So a thread does it that gives way to all
//! others; ADR 0105 says why. It may be kept from its processor at any moment and for long, so the
//! recording never waits for it: they exchange lists by locks that the recording only tries, and what
//! it needs at once it looks up itself.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use parallax_native::give_way;

use crate::images::Image;
use crate::processes::Place;
use crate::symbols::{Named, Names, look_up};

/// Names of a file, as soon as one of them was asked for.
type Shared = Arc<Mutex<Option<Names>>>;

/// How often and how long the recording looks whether the other thread is done with a file, before it
/// reads the same again.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(1);

struct Wanted {
    place: Place,
    image: Arc<Image>,
    names: Shared,
}

/// What the two threads exchange.
#[derive(Default)]
struct Exchange {
    wanted: Mutex<Vec<Wanted>>,
    found: Mutex<Vec<(Place, Named)>>,
    is_over: AtomicBool,
}

/// The thread that looks names up, from the side of the recording.
pub(crate) struct Background {
    exchange: Arc<Exchange>,
    /// `None` where there can be no such thread.
    thread: Option<Thread>,
    names: HashMap<u32, Shared>,
    /// Of files that the other thread did not give back.
    own: HashMap<u32, Names>,
    asked: HashSet<Place>,
    /// Not handed over yet.
    new: Vec<Wanted>,
}

impl Background {
    pub(crate) fn new() -> Self {
        let exchange = Arc::new(Exchange::default());
        let its = Arc::clone(&exchange);
        // It is not waited for at the end, because it may not get a processor.
        let thread = thread::Builder::new().name("names".to_owned()).spawn(move || its.serve());
        Self {
            exchange,
            thread: thread.ok().map(|handle| handle.thread().clone()),
            names: HashMap::new(),
            own: HashMap::new(),
            asked: HashSet::new(),
            new: Vec::new(),
        }
    }

    /// Has a place looked up, once.
    pub(crate) fn ask(&mut self, place: Place, image: &Arc<Image>) {
        if self.asked.insert(place) {
            let names = self.shared(place);
            self.new.push(Wanted { place, image: Arc::clone(image), names });
        }
    }

    /// Takes what was found, and hands over what was asked for.
    pub(crate) fn exchange(&mut self) -> Vec<(Place, Named)> {
        if !self.new.is_empty()
            && let Some(thread) = &self.thread
            && let Ok(mut wanted) = self.exchange.wanted.try_lock()
        {
            wanted.append(&mut self.new);
            drop(wanted);
            thread.unpark();
        }
        let found = self.exchange.found.try_lock();
        found.map(|mut found| std::mem::take(&mut *found)).unwrap_or_default()
    }

    /// Looks a place up in this thread.
    pub(crate) fn at_once(&mut self, place: Place, image: &Arc<Image>) -> Named {
        let shared = self.shared(place);
        for _ in 0..TRIES {
            if let Ok(mut names) = shared.try_lock() {
                let names = names.get_or_insert_with(|| Names::of(image));
                return look_up(names, image, place);
            }
            thread::sleep(PAUSE);
        }
        let number = place.image.unwrap_or_default();
        let names = self.own.entry(number).or_insert_with(|| Names::of(image));
        look_up(names, image, place)
    }

    /// Has the other thread end as soon as it is done with what it does.
    pub(crate) fn end(&mut self) {
        self.exchange.is_over.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }

    fn shared(&mut self, place: Place) -> Shared {
        Arc::clone(self.names.entry(place.image.unwrap_or_default()).or_default())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.end();
    }
}

impl Exchange {
    /// What the thread does.
    fn serve(&self) {
        // Where the system does not have it give way, it does the same at the time of the others.
        let _ = give_way();
        while !self.is_over.load(Ordering::Acquire) {
            let wanted = {
                let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *wanted)
            };
            if wanted.is_empty() {
                thread::park();
            }
            for Wanted { place, image, names } in wanted {
                if self.is_over.load(Ordering::Acquire) {
                    return;
                }
                let found = {
                    let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
                    look_up(names.get_or_insert_with(|| Names::of(&image)), &image, place)
                };
                self.found.lock().unwrap_or_else(PoisonError::into_inner).push((place, found));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use object::{Object as _, ObjectSymbol as _};

    use super::*;
    use crate::images::Images;

    #[test]
    fn a_file_that_the_other_thread_keeps_is_read_again() {
        let own = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&own).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let main = file.symbols().find(|symbol| symbol.name() == Ok("main")).unwrap();
        let mut images = Images::default();
        let image = images.at(own.to_str().unwrap());
        let place = Place { image: Some(image), address: main.address() };
        let mut background = Background::new();
        let shared = background.shared(place);
        let kept = shared.lock().unwrap();
        let found = format!("{:?}", background.at_once(place, images.get(image).unwrap()));
        assert!(found.contains("\"main\"") && kept.is_none(), "{found}");
        drop(kept);
        // And by the shared names, where nothing keeps them.
        assert_eq!(format!("{:?}", background.at_once(place, images.get(image).unwrap())), found);
        assert!(shared.lock().unwrap().is_some());
    }
}
