//! Building of a skeleton from a checked description.

use crate::check;
use crate::desc::SkeletonDesc;
use crate::fault::{Fault, SkeletonError};
use crate::mass::MassProperties;
use crate::order::Order;
use crate::skeleton::Skeleton;

impl Skeleton {
    /// Checks a description and builds it. All faults are reported together.
    pub fn build(desc: &SkeletonDesc) -> Result<Skeleton, SkeletonError> {
        let mut faults = Vec::new();
        if desc.bones.is_empty() {
            faults.push(Fault::new("", "the skeleton has no bones: add one"));
        }
        let order = Order::find(desc, &mut faults);
        let masses: Vec<MassProperties> =
            desc.bones.iter().map(|bone| check::bone(bone, &mut faults)).collect();
        if !faults.is_empty() {
            return Err(SkeletonError { faults });
        }
        let skeleton = Skeleton::assemble(desc, &order, &masses);
        let faults = check::inertia(&skeleton);
        if faults.is_empty() { Ok(skeleton) } else { Err(SkeletonError { faults }) }
    }
}
