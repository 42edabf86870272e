//! Which device is asked for.

use std::str::FromStr;

/// Where operations run, as users ask for it: `auto`, `cpu`, `gpu` or `gpu:N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceChoice {
    /// Where it takes less time.
    Auto,
    /// The processor.
    Cpu,
    /// The GPU with this number.
    Gpu(usize),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is not a device; expected auto, cpu, gpu or gpu:N");
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "gpu" => Ok(Self::Gpu(0)),
            _ => {
                let number = text.strip_prefix("gpu:").ok_or_else(wrong)?;
                number.parse().map(Self::Gpu).map_err(|_| wrong())
            }
        }
    }
}
