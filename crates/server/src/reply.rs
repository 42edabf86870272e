//! Bodies and headers that answers have in common.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Frame;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The body of an answer: all of it, or piece by piece.
pub(crate) type Body = Either<Full<Bytes>, Pieces>;

/// What pages of this server may do: run its own scripts and wasm, and contact no other host.
/// Styles are set by scripts on elements, which counts as inline.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; \
    connect-src 'self' blob:; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// A body whose pieces are still being made. When it is dropped (the connection is gone), the
/// sender notices.
pub(crate) struct Pieces(Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|next| next.map(|piece| Ok(Frame::data(piece))))
    }
}

/// A body, and where its pieces come from; `num_waiting` of them wait for the network at most.
pub(crate) fn pieces(num_waiting: usize) -> (Sender<Bytes>, Response<Body>) {
    let (sender, receiver) = channel(num_waiting);
    let mut response = Response::new(Either::Right(Pieces(receiver)));
    let kind = HeaderValue::from_static("application/octet-stream");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    (sender, response)
}

/// An answer that is there already.
pub(crate) fn whole(bytes: Bytes) -> Response<Body> {
    Response::new(Either::Left(Full::new(bytes)))
}

/// A refusal in words.
pub(crate) fn text(status: StatusCode, message: &str) -> Response<Body> {
    let mut response = whole(Bytes::copy_from_slice(message.as_bytes()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A refusal because of the method.
pub(crate) fn only(methods: &'static str) -> Response<Body> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "another method, please\n");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// Gives an answer the headers that all have.
pub(crate) fn secured(mut response: Response<Body>) -> Response<Body> {
    let same = HeaderValue::from_static("same-origin");
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    for name in ["cross-origin-opener-policy", "cross-origin-resource-policy"] {
        headers.insert(HeaderName::from_static(name), same.clone());
    }
    response
}
