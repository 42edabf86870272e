//! [`Answers`]: the one way to ask a question.

use parallax_base::Control;
use parallax_protocol::{Answer, Question};

use crate::ServiceError;

/// Answers one question; each is implemented in a file of its own.
pub trait Answers<Q: Question> {
    /// Answers `request`.
    ///
    /// # Errors
    /// When the question cannot be asked of this experiment or ensemble, an expression is wrong,
    /// data cannot be read, or the question was cancelled.
    fn answer(&self, request: &Q, control: &Control) -> Result<Answer<Q>, ServiceError>;
}
