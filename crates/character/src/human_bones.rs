//! The map from human bones to nodes that VRM files carry.

use std::collections::BTreeMap;

/// Which edition of VRM a map comes from; some names differ (thumbs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VrmEdition {
    /// `VRM`, edition 0.
    Zero,
    /// `VRMC_vrm`, edition 1.
    One,
}

/// Human bones by the names of VRM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HumanBones {
    /// The edition whose names are used.
    pub edition: VrmEdition,
    /// The node of each bone that has one.
    pub nodes: BTreeMap<String, usize>,
}
