//! What is selected.

/// Something of the scene that is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The scene as a whole.
    #[default]
    Scene,
    /// A body, by its index in the model.
    Body(usize),
    /// A bone: the rig in the model, and the bone in its skeleton.
    Bone(usize, usize),
    /// An obstacle, by its index in the model.
    Obstacle(usize),
    /// A muscle, by its index in the model.
    Muscle(usize),
    /// An edit, by its index in the list.
    Edit(usize),
}
