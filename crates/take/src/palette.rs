//! Default colours of bodies, for outputs of surfaces without materials.

/// Base colours (linear RGB), assigned to bodies in turn: coral, teal, sand, periwinkle, moss, rose.
const COLORS: [[f32; 3]; 6] = [
    [0.78, 0.17, 0.09],
    [0.08, 0.42, 0.44],
    [0.78, 0.50, 0.18],
    [0.24, 0.30, 0.72],
    [0.30, 0.46, 0.14],
    [0.72, 0.22, 0.40],
];

/// The base colour (linear RGB) of the body with this index in the scene.
pub fn body_color(body: usize) -> [f32; 3] {
    COLORS[body % COLORS.len()]
}
