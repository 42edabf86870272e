//! Who may ask: the token, and the names under which a browser may know this server.

use std::hint::black_box;
use std::io;
use std::net::IpAddr;

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HOST, ORIGIN};

use crate::ServerError;

/// Random bytes of a token that Parallax makes.
const TOKEN_BYTES: usize = 16;

/// Fewest characters of a token.
const LEAST: usize = 16;

/// Most characters of a token.
const MOST: usize = 256;

/// What a request must know: without it anybody on the machine could ask.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one: 128 random bits of the operating system, as 32 hexadecimal digits.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> Result<Self, ServerError> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| ServerError::Start { cause: io::Error::other(error.to_string()) })?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// A known one.
    ///
    /// # Errors
    /// When it is short enough to be guessed, or has characters that an address cannot carry.
    pub fn known(text: &str) -> Result<Self, ServerError> {
        let is_sendable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !(LEAST..=MOST).contains(&text.len()) || !text.chars().all(is_sendable) {
            return Err(ServerError::Token { least: LEAST, most: MOST });
        }
        Ok(Self(text.to_owned()))
    }

    /// The token as it travels.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `headers` have it, as `Authorization: Bearer TOKEN`.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        given
            .and_then(|value| value.strip_prefix("Bearer "))
            .is_some_and(|given| self.is(given.trim()))
    }

    /// Compares in a time that tells nothing about where the first difference is.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        if own.len() != given.len() {
            return false;
        }
        let difference =
            own.iter().zip(given).fold(0, |sum, (own, given)| black_box(sum | (own ^ given)));
        difference == 0
    }
}

/// Whether the browser means this server and not a name that somebody else made lead here.
///
/// A page of a foreign name may make its name lead to a loopback address ("DNS rebinding"). Such a
/// request has the foreign name in `Host`. Numbers cannot be made to lead elsewhere, so they are
/// good; `localhost` is, and so is the name that the server was told to listen on. Ports are not
/// compared: tunnels change them.
pub(crate) fn is_host_allowed(headers: &HeaderMap, bind: &str) -> bool {
    let mut values = headers.get_all(HOST).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    value.to_str().is_ok_and(|value| is_own_name(value, bind))
}

fn is_own_name(value: &str, bind: &str) -> bool {
    let name = host_of(value);
    name.parse::<IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || name.to_ascii_lowercase().ends_with(".localhost")
        || (!bind.is_empty() && name.eq_ignore_ascii_case(bind))
}

/// The name in `name:port`, or the address in `[address]:port`.
fn host_of(value: &str) -> &str {
    if let Some(inner) = value.strip_prefix('[') {
        return inner.split_once(']').map_or(value, |(address, _)| address);
    }
    value.rsplit_once(':').map_or(value, |(name, _)| name)
}

/// Whether a page of this server asks, or a program that is no page: browsers name the page's origin
/// with every question.
pub(crate) fn is_own_page(headers: &HeaderMap) -> bool {
    let text =
        |name| headers.get(name).and_then(|value: &hyper::header::HeaderValue| value.to_str().ok());
    match (headers.contains_key(ORIGIN), text(ORIGIN), text(HOST)) {
        (false, ..) => true,
        (true, Some(origin), Some(host)) => {
            origin.strip_prefix("http://").is_some_and(|own| own.eq_ignore_ascii_case(host))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_localhost_and_the_own_name_are_meant() {
        for own in
            ["127.0.0.1:8080", "[::1]:80", "localhost:1", "LOCALHOST", "10.0.0.7:9", "node17:80"]
        {
            assert!(is_own_name(own, "node17"), "{own}");
        }
        for foreign in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example:80", "", ":80"]
        {
            assert!(!is_own_name(foreign, "node17"), "{foreign}");
        }
        assert!(!is_own_name("", ""));
    }

    #[test]
    fn tokens_are_long_random_and_compared_whole() {
        let (one, two) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.as_str().len(), 32);
        assert_ne!(one.as_str(), two.as_str());
        assert!(one.is(one.as_str()));
        assert!(!one.is(two.as_str()));
        assert!(!one.is(&one.as_str()[..31]));
        assert!(!one.is(""));
        assert!(Token::known("0123456789abcdef").is_ok());
        assert!(Token::known("short").is_err());
        assert!(Token::known("0123456789abcdef&x=1").is_err());
    }
}
