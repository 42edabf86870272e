//! `devices`.

use clap::Args;
use parallax_protocol::{Column, Table};

use super::Context;
use crate::text::{Show, TextTable};

/// `devices` takes nothing.
#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {}

/// A row: how it is asked for, name, kind, interface, driver.
type Row = [String; 5];

/// The GPUs, and why there are none.
#[cfg(feature = "gpu")]
fn gpus() -> (Vec<Row>, Option<String>) {
    let found = parallax_gpu::devices();
    let rows = found.into_iter().map(|device| {
        let parallax_gpu::DeviceInfo { number, name, kind, interface, driver } = device;
        [format!("gpu:{number}"), name, kind.name().to_owned(), interface, driver]
    });
    let rows: Vec<Row> = rows.collect();
    let why = rows.is_empty().then(|| {
        "No GPU found: no driver for Vulkan, Metal or Direct3D 12 provides one. All computations use \
         the CPU."
            .to_owned()
    });
    (rows, why)
}

/// The GPUs, and why there are none.
#[cfg(not(feature = "gpu"))]
fn gpus() -> (Vec<Row>, Option<String>) {
    let why = format!(
        "No GPUs: {}. All computations use the CPU. Rebuild with --features gpu to use GPUs.",
        crate::device::WITHOUT
    );
    (Vec::new(), Some(why))
}

pub(super) fn devices(context: &Context, _: DevicesArgs) -> anyhow::Result<()> {
    let (gpus, why) = gpus();
    let threads = parallax_base::threads::count();
    let threads = format!("{threads} {}", if threads == 1 { "thread" } else { "threads" });
    let processor =
        ["cpu".to_owned(), threads, "processor".to_owned(), String::new(), String::new()];
    let rows: Vec<Row> = std::iter::once(processor).chain(gpus).collect();
    let column = |name: &str, doc: &'static str, at: usize| {
        Column::strings(name, doc, rows.iter().map(|row| row[at].clone()))
    };
    let table = Table::new(vec![
        column("device", "Name for --device.", 0),
        column("name", "Name reported by the driver.", 1),
        column("kind", "processor; or discrete, integrated, virtual or software GPU.", 2),
        column("interface", "Programming interface used to access the device.", 3),
        column("driver", "Driver and its version.", 4),
    ]);
    context.output.emit_with(&table, |style, out| {
        TextTable::new(&table).show("device", Show::Text).show("name", Show::Text).write(style, out)
    })?;
    if let Some(why) = why {
        context.note(why);
    }
    Ok(())
}
