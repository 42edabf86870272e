//! ESLint over the sources of the page, where Node.js and the packages can be had.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::Outcome;
use crate::{node, shell, web};

pub(super) fn check() -> Result<Outcome> {
    if let Err(why) = node::find_or_install().and_then(|_| web::packages()) {
        return Ok(Outcome::Skipped(format!("{why:#}")));
    }
    let output = web::npm(&["run", "--silent", "lint", "--", "--format", "json"])?.output()?;
    let mut findings = findings(&String::from_utf8_lossy(&output.stdout))
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    if findings.is_empty() && !output.status.success() {
        findings.push(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(Outcome::of(findings))
}

/// One line for each message of ESLint's report, a list of files with their messages.
fn findings(report: &str) -> Result<Vec<String>> {
    let files: Vec<Value> = serde_json::from_str(report.trim()).context("ESLint made no report")?;
    let root = format!("{}/", shell::root().display());
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let mut findings = Vec::new();
    for file in &files {
        let path = text(file, "filePath");
        let path = path.strip_prefix(&root).unwrap_or(&path);
        for message in file["messages"].as_array().into_iter().flatten() {
            let (rule, says) = (text(message, "ruleId"), text(message, "message"));
            findings.push(format!("{path}:{}: {says} ({rule})", message["line"]));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_of_a_report_is_a_finding_with_its_place_and_rule() {
        let path = shell::root().join("web/src/a.ts");
        let report = serde_json::json!([
            { "filePath": path, "messages": [{ "ruleId": "eqeqeq", "line": 7, "message": "Expected '==='." }] },
            { "filePath": path, "messages": [] },
        ]);
        let found = findings(&report.to_string()).unwrap();
        assert_eq!(found, ["web/src/a.ts:7: Expected '==='. (eqeqeq)"]);
        assert!(findings("npm error").is_err());
    }
}
