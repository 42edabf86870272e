//! [`unless`]: waiting for one thing as long as another has not happened.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// What `wanted` gives; `None` when `end` is there first.
pub(crate) async fn unless<T>(
    wanted: impl Future<Output = T>,
    end: impl Future<Output = ()>,
) -> Option<T> {
    let (mut wanted, mut end) = (pin!(wanted), pin!(end));
    poll_fn(|context| match wanted.as_mut().poll(context) {
        Poll::Ready(found) => Poll::Ready(Some(found)),
        Poll::Pending => end.as_mut().poll(context).map(|()| None),
    })
    .await
}
