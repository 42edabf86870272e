// Colours of the cells of a timeline, as `cellPixels` in tile-image.ts: both look up the same words.

// A word for each cell: 0 where nothing ran, else 256 times one more than the position of its key, plus a byte.
@group(0) @binding(0) var cells: texture_2d<u32>;
// A table in rows of 256 words: colours by byte, opacities by byte of cells that stand out, and of those that do not; then a word for each key.
@group(0) @binding(1) var look: texture_2d<u32>;

const KEY_DIMMED = 1u << 24u;
const KEY_COLOURED = 1u << 25u;

fn word(at: u32) -> u32 {
  return textureLoad(look, vec2u(at & 255u, at >> 8u), 0).r;
}

// One triangle that covers the picture.
@vertex
fn corner(@builtin(vertex_index) at: u32) -> @builtin(position) vec4f {
  return vec4f(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn colour(@builtin(position) place: vec4f) -> @location(0) vec4f {
  let cell = textureLoad(cells, vec2u(place.xy), 0).r;
  if cell == 0u {
    return vec4f(0.0);
  }
  let byte = cell & 255u;
  let key = word(767u + (cell >> 8u));
  let rgb = select(word(byte), key, (key & KEY_COLOURED) != 0u);
  let opacity = word(select(256u, 512u, (key & KEY_DIMMED) != 0u) + byte);
  // A canvas stores colours multiplied by their opacity, rounded to the nearest byte. No product is half way
  // between two bytes, because 255 is odd.
  let red = ((rgb & 255u) * opacity + 127u) / 255u;
  let green = (((rgb >> 8u) & 255u) * opacity + 127u) / 255u;
  let blue = (((rgb >> 16u) & 255u) * opacity + 127u) / 255u;
  return vec4f(vec4u(red, green, blue, opacity)) / 255.0;
}
