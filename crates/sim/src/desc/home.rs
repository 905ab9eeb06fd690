//! Flesh whose home is the skinned shape.

/// Flesh that rests where linear blend skinning puts it, in every pose: a spring pulls each node towards its skinned place, and elasticity
/// acts on the displacement from there. One value per vertex of the body's surface; nodes take the mean over the surface they carry.
#[derive(Clone, Debug, PartialEq)]
pub struct HomeDesc {
    /// Angular frequency at which a vertex swings about its home, by its spring alone (rad/s).
    pub frequency: Vec<f64>,
    /// The distance from home that no vertex exceeds (m).
    pub limit: Vec<f64>,
    /// Damping ratio of that swing.
    pub damping_ratio: f64,
    /// The fraction of a change of gravity that flesh feels when the whole body turns; its weight in the bind pose is part of the drawn shape.
    pub gravity_fraction: f64,
}

impl HomeDesc {
    /// The same spring everywhere on a surface of so many vertices.
    pub fn even(vertices: usize, frequency: f64, limit: f64) -> HomeDesc {
        HomeDesc {
            frequency: vec![frequency; vertices],
            limit: vec![limit; vertices],
            damping_ratio: 0.2,
            gravity_fraction: 1.0,
        }
    }

    /// What is wrong with it, one sentence each, on a surface of so many vertices.
    pub(crate) fn faults(&self, vertices: usize) -> Vec<String> {
        let mut faults = Vec::new();
        for (what, values) in [("frequencies", &self.frequency), ("limits", &self.limit)] {
            if values.len() != vertices {
                faults.push(format!(
                    "home: {} {what} are given, the surface has {vertices} vertices",
                    values.len()
                ));
            }
            if let Some(vertex) = values.iter().position(|value| !(value.is_finite() && *value > 0.0)) {
                faults.push(format!(
                    "home: {what} must be above 0, and vertex {vertex} has {}",
                    values[vertex]
                ));
            }
        }
        for (what, value) in
            [("damping ratio", self.damping_ratio), ("gravity fraction", self.gravity_fraction)]
        {
            if !(value.is_finite() && value >= 0.0) {
                faults.push(format!("home: its {what} {value} is not 0 or more"));
            }
        }
        faults
    }
}
