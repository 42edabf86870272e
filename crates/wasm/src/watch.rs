//! Progress and cancellation: the page is told, and asked, while a question runs.

use std::cell::RefCell;

use js_sys::Function;
use parallax_base::{Control, ReadError};
use wasm_bindgen::JsValue;

/// The question that runs now. A worker answers one after the other.
struct Watch {
    control: Control,
    tell: Function,
    /// Bytes read from files for this question.
    bytes: u64,
    /// Bytes at which the page is told next.
    next: u64,
}

/// Bytes between two messages to the page.
const STEP: u64 = 4 << 20;

thread_local! {
    // Callbacks must be `Send` above and JavaScript functions are not: the worker's one thread
    // keeps the function here.
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Runs `work` while `tell(done, total, bytes)` is called now and then; it returns true to cancel.
pub(crate) fn watched<T>(tell: &Function, work: impl FnOnce(&Control) -> T) -> (T, bool) {
    let control = Control::with_progress(|done, total| {
        tell_page(done, total);
    });
    WATCH.with_borrow_mut(|watch| {
        *watch = Some(Watch { control: control.clone(), tell: tell.clone(), bytes: 0, next: STEP });
    });
    let result = work(&control);
    WATCH.with_borrow_mut(|watch| *watch = None);
    let is_cancelled = control.check().is_err();
    (result, is_cancelled)
}

fn tell_page(done: u64, total: u64) {
    let told = WATCH.with_borrow(|watch| {
        let watch = watch.as_ref()?;
        Some((watch.tell.clone(), watch.control.clone(), watch.bytes))
    });
    let Some((tell, control, bytes)) = told else { return };
    let answer = tell.call3(
        &JsValue::NULL,
        &JsValue::from_f64(done as f64),
        &JsValue::from_f64(total as f64),
        &JsValue::from_f64(bytes as f64),
    );
    if answer.is_ok_and(|answer| answer.is_truthy()) {
        control.cancel();
    }
}

/// Counts bytes read. Reading is where a question can be stopped that does not count its parts.
pub(crate) fn count_bytes(bytes: u64, offset: u64) -> Result<(), ReadError> {
    let (is_due, control) = WATCH.with_borrow_mut(|watch| {
        let Some(watch) = watch.as_mut() else { return (false, None) };
        watch.bytes += bytes;
        let is_due = watch.bytes >= watch.next;
        if is_due {
            watch.next = watch.bytes + STEP;
        }
        (is_due, Some(watch.control.clone()))
    });
    if is_due {
        tell_page(0, 0);
    }
    match control.map(|control| control.check()) {
        Some(Err(_)) => Err(ReadError::Storage { offset, cause: "cancelled".to_owned() }),
        _ => Ok(()),
    }
}
