//! The up axis of a scene, for outputs whose format prescribes one.

use sinew_math::Vec3;

/// The axis that points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// +y, as in glTF and most meshes.
    #[default]
    Y,
    /// +z, as in Blender and engineering.
    Z,
}

impl Up {
    /// The axis opposite to gravity (m/s²): z if gravity acts mostly along z, y otherwise.
    pub fn against(gravity: Vec3) -> Up {
        if gravity.z.abs() > gravity.y.abs().max(gravity.x.abs()) { Up::Z } else { Up::Y }
    }

    /// The point in axes where y is up and z points towards the viewer.
    pub fn to_y_up(self, v: &Vec3) -> Vec3 {
        match self {
            Up::Y => *v,
            Up::Z => Vec3::new(v.x, v.z, -v.y),
        }
    }

    /// The point of the world of a point in axes where y is up.
    pub fn from_y_up(self, v: &Vec3) -> Vec3 {
        match self {
            Up::Y => *v,
            Up::Z => Vec3::new(v.x, -v.z, v.y),
        }
    }
}
