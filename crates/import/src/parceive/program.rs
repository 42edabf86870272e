//! Functions, files, binaries and loops of a database, and where their ids are.

use std::sync::Arc;

use parallax_base::{FileIdx, Issues, ModuleIdx};
use parallax_formats::FormatError;
use parallax_formats::parceive::{FileRow, FunctionRow, ImageRow, LoopRow, ParceiveDb};
use parallax_model::{ContextTree, Function, Module, SourceFile};

use super::key_map::KeyMap;
use crate::activations::{LoopSite, Program};

/// The program, and the positions of its functions and loops by id.
#[derive(Default)]
pub(super) struct Names {
    pub(super) program: Program,
    pub(super) function_at: KeyMap,
    pub(super) loop_at: KeyMap,
}

impl Names {
    pub(super) fn read(db: &mut ParceiveDb, issues: &mut Issues) -> Result<Self, FormatError> {
        let mut names = Self::default();
        let mut functions: Vec<FunctionRow> = Vec::new();
        db.scan(issues, |row: FunctionRow| {
            names.function_at.add(row.id);
            functions.push(row);
        })?;
        let (mut files, mut file_at): (Vec<FileRow>, _) = (Vec::new(), KeyMap::default());
        db.scan(issues, |row: FileRow| {
            file_at.add(row.id);
            files.push(row);
        })?;
        let mut image_at = KeyMap::default();
        let Self { program, function_at, loop_at } = &mut names;
        db.scan(issues, |row: ImageRow| {
            image_at.add(row.id);
            let path = text(row.name.as_deref()).unwrap_or_else(|| "<unknown binary>".into());
            program.modules.push(Module { path });
        })?;
        program.functions.extend(functions.into_iter().map(|row| {
            let file = file_at.find(row.file);
            let image = file.and_then(|file| files.get(file as usize)).and_then(|file| file.image);
            Function {
                name: text(row.name.as_deref())
                    .or_else(|| text(row.prototype.as_deref()))
                    .unwrap_or_else(|| ContextTree::UNKNOWN_FUNCTION.into()),
                group: None,
                module: image_at.find(image).map(ModuleIdx::new),
                file: file.map(FileIdx::new),
                line: row.line,
            }
        }));
        db.scan(issues, |row: LoopRow| {
            loop_at.add(row.id);
            let function = function_at.find(row.function);
            let function = function.and_then(|at| program.functions.get(at as usize));
            let file = function.and_then(|function| function.file);
            program.loops.push(LoopSite { file, line: row.line });
        })?;
        program.files.extend(files.into_iter().map(|row| SourceFile {
            path: text(row.path.as_deref()).unwrap_or_else(|| "<unknown file>".into()),
            is_copied: false,
        }));
        Ok(names)
    }
}

fn text(text: Option<&str>) -> Option<Arc<str>> {
    text.filter(|text| !text.is_empty()).map(Into::into)
}
