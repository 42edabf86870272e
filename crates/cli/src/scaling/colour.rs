//! The palettes of the maps: Inferno reversed for efficiency, BrBG for differences.

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Inferno (Smith and van der Walt, CC0) in ten steps, from dark to light.
const INFERNO: [Rgb; 11] = [
    Rgb(0x00, 0x00, 0x04),
    Rgb(0x16, 0x0b, 0x39),
    Rgb(0x42, 0x0a, 0x68),
    Rgb(0x6a, 0x17, 0x6e),
    Rgb(0x93, 0x26, 0x67),
    Rgb(0xbc, 0x37, 0x54),
    Rgb(0xdd, 0x51, 0x3a),
    Rgb(0xf3, 0x78, 0x19),
    Rgb(0xfc, 0xa5, 0x0a),
    Rgb(0xf6, 0xd7, 0x46),
    Rgb(0xfc, 0xff, 0xa4),
];

/// BrBG (ColorBrewer), from brown (worse) to green (better).
const BRBG: [Rgb; 11] = [
    Rgb(0x54, 0x30, 0x05),
    Rgb(0x8c, 0x51, 0x0a),
    Rgb(0xbf, 0x81, 0x2d),
    Rgb(0xdf, 0xc2, 0x7d),
    Rgb(0xf6, 0xe8, 0xc3),
    Rgb(0xf5, 0xf5, 0xf5),
    Rgb(0xc7, 0xea, 0xe5),
    Rgb(0x80, 0xcd, 0xc1),
    Rgb(0x35, 0x97, 0x8f),
    Rgb(0x01, 0x66, 0x5e),
    Rgb(0x00, 0x3c, 0x30),
];

/// The colour at `part` (0 to 1, cut off outside) of a palette.
fn at(palette: &[Rgb; 11], part: f64) -> Rgb {
    let place = part.clamp(0.0, 1.0) * 10.0;
    let low = place.floor();
    // 0 to 10 by the clamp above.
    let index = low as usize;
    let (a, b) = (palette[index.min(10)], palette[(index + 1).min(10)]);
    let mix = |a: u8, b: u8| {
        let value = f64::from(a) + (f64::from(b) - f64::from(a)) * (place - low);
        value.round() as u8
    };
    Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// The colour of an efficiency: pale at 0, black at 1 and above, as the PaScal viewers have it.
pub(crate) fn of_efficiency(value: f64) -> Rgb {
    at(&INFERNO, 1.0 - value)
}

/// The colour of a difference on the symmetric scale from `-range` to `range`.
pub(crate) fn of_difference(value: f64, range: f64) -> Rgb {
    if range > 0.0 { at(&BRBG, 0.5 + 0.5 * value / range) } else { at(&BRBG, 0.5) }
}

/// The colour of a time on a logarithmic scale from the shortest to the longest.
pub(crate) fn of_time(value: f64, range: (f64, f64)) -> Rgb {
    let (low, high) = range;
    if low > 0.0 && high > low && value > 0.0 {
        at(&INFERNO, 1.0 - (value / low).ln() / (high / low).ln() * 0.9)
    } else {
        at(&INFERNO, 1.0)
    }
}

impl Rgb {
    /// Whether black text is easier to read on it than white (relative luminance, WCAG 2.1).
    pub(crate) fn is_light(self) -> bool {
        let linear = |channel: u8| {
            let part = f64::from(channel) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2) > 0.179
    }

    /// `#rrggbb`.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// `text` on this colour, for terminals with 24 bits.
    pub(crate) fn behind(self, text: &str) -> String {
        let front = if self.is_light() { "30" } else { "97" };
        format!("\x1b[{front};48;2;{};{};{}m{text}\x1b[0m", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middles_are_those_of_the_palettes() {
        assert_eq!(of_efficiency(1.0).hex(), "#000004");
        assert_eq!(of_efficiency(1.7).hex(), "#000004");
        assert_eq!(of_efficiency(0.0).hex(), "#fcffa4");
        assert_eq!(of_efficiency(0.5).hex(), "#bc3754");
        assert_eq!(of_difference(-0.4, 0.4).hex(), "#543005");
        assert_eq!(of_difference(0.4, 0.4).hex(), "#003c30");
        assert_eq!(of_difference(0.0, 0.4).hex(), "#f5f5f5");
        assert_eq!(of_difference(0.3, 0.0).hex(), "#f5f5f5");
        assert!(of_efficiency(0.0).is_light() && !of_efficiency(1.0).is_light());
    }
}
