//! What was repaired, dropped or guessed: the answer of `issues`.

use parallax_base::{Issue, Issues, Place, Severity, Stage};
use parallax_protocol::{IssueReply, IssueSeverity, IssueStage};

/// Issues in the words of the protocol.
#[must_use]
pub fn issue_replies(issues: &Issues) -> Vec<IssueReply> {
    issues.list().iter().map(reply).collect()
}

fn reply(issue: &Issue) -> IssueReply {
    let (file, offset) = match &issue.place {
        Place::Byte { file, offset } => (Some(file.clone()), Some(*offset)),
        Place::File { file } => (Some(file.clone()), None),
        Place::Time { .. } | Place::Whole => (None, None),
    };
    IssueReply {
        kind: issue.kind.to_owned(),
        severity: match issue.severity {
            Severity::Note => IssueSeverity::Note,
            Severity::Warning => IssueSeverity::Warning,
            Severity::Error => IssueSeverity::Error,
        },
        stage: match issue.stage {
            Stage::Read => IssueStage::Read,
            Stage::Import => IssueStage::Import,
            Stage::Analysis => IssueStage::Analysis,
        },
        place: issue.place.to_string(),
        file,
        offset,
        message: issue.message.clone(),
        count: issue.count,
    }
}
