//! Validation of the parameters and references of constraints, before the model is built.

use crate::WorldDesc;
use crate::desc::Mobility;
use crate::desc::{ConstraintDesc, ConstraintKind, PointDesc};
use crate::fault::Fault;
use sinew_math::Vec3;

/// All faults of the constraint descriptions of a world.
pub(crate) fn find_faults(world: &WorldDesc) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (i, desc) in world.constraints.iter().enumerate() {
        let mut fault =
            |what: String| faults.push(Fault::new("", format!("constraint '{}': {what}", desc.name)));
        if world.constraints[..i].iter().any(|other| other.name == desc.name) {
            fault("two constraints have this name: rename one".into());
        }
        number_faults(desc).into_iter().for_each(&mut fault);
        kind_faults(world, &desc.kind).into_iter().for_each(&mut fault);
    }
    faults
}

fn number_faults(desc: &ConstraintDesc) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(stiffness) = desc.stiffness.filter(|k| !(*k > 0.0 && k.is_finite())) {
        faults.push(format!("its stiffness is {stiffness} N/m: it must be above 0 and finite"));
    }
    if let Some(damping) = desc.damping.filter(|ratio| !(*ratio >= 0.0 && ratio.is_finite())) {
        faults.push(format!("its damping is {damping}: it must be 0 or more, and finite"));
    }
    if desc.is_exact {
        let point = match &desc.kind {
            ConstraintKind::Drag { point, .. } | ConstraintKind::Pin { point, .. } => Some(point),
            ConstraintKind::Join { .. } | ConstraintKind::Belt(_) => None,
        };
        match point {
            None => faults.push("only drags and pins hold exactly: remove `exact`".into()),
            Some(PointDesc::Bone { .. } | PointDesc::Obstacle { .. }) => faults.push(
                "only points of flesh are held exactly: use a spring, or a motion or a goal of the character"
                    .into(),
            ),
            Some(_) if desc.stiffness.is_some() || desc.damping.is_some() => {
                faults.push(
                    "it holds exactly, and has no stiffness or damping: remove them, or `exact`".into(),
                );
            }
            Some(_) => {}
        }
    }
    faults
}

fn kind_faults(world: &WorldDesc, kind: &ConstraintKind) -> Vec<String> {
    let mut faults = Vec::new();
    match kind {
        // a point with a target
        ConstraintKind::Drag { point, place } | ConstraintKind::Pin { point, place } => {
            faults.extend(place.as_ref().and_then(|place| not_finite("its place", place)));
            faults.extend(point_fault(world, point));
            if let PointDesc::Obstacle { obstacle, .. } = point
                && !is_free(world, obstacle)
                && faults.is_empty()
            {
                faults.push(format!("obstacle '{obstacle}' is not free, so a constraint cannot move it: give it a density, or move it along a path"));
            }
        }

        // two points
        ConstraintKind::Join { points, length, .. } => {
            faults.extend(points.iter().filter_map(|point| point_fault(world, point)));
            faults.extend(length_fault(*length, 0.0));
            if points[0] == points[1] {
                faults.push("it joins a point with itself: choose two different points".into());
            }
        }

        // a belt
        ConstraintKind::Belt(belt) => {
            if world.bodies.iter().all(|body| body.name != belt.body) {
                faults.push(format!("there is no body '{}'", belt.body));
            }
            faults.extend(not_finite("its center", &belt.center));
            if !(belt.axis.norm() > 1e-9 && belt.axis.norm().is_finite()) {
                faults.push(format!("its axis {:?} is zero or not finite", belt.axis.as_slice()));
            }
            faults.extend(length_fault(belt.length, f64::MIN_POSITIVE));
        }
    }
    faults
}

fn length_fault(length: Option<f64>, least: f64) -> Option<String> {
    let length = length.filter(|length| !(*length >= least && length.is_finite()))?;
    let words = if least > 0.0 { "above 0" } else { "0 or more" };
    Some(format!("its length is {length} m: it must be {words}, and finite"))
}

fn point_fault(world: &WorldDesc, point: &PointDesc) -> Option<String> {
    let of_body = |name: &String| {
        world.bodies.iter().all(|body| body.name != *name).then(|| format!("there is no body '{name}'"))
    };
    match point {
        PointDesc::Surface { body, place } | PointDesc::Inside { body, place } => {
            of_body(body).or_else(|| not_finite("the place of its point", place))
        }
        PointDesc::Region { body, region } => of_body(body).or_else(|| region.fault()),
        PointDesc::Bone { rig, bone, place } => {
            let Some(found) = world.rigs.iter().find(|other| other.name == *rig) else {
                return Some(format!("there is no skeleton '{rig}'"));
            };
            if found.skeleton.bones.iter().all(|other| other.name != *bone) {
                return Some(format!("skeleton '{rig}' has no bone '{bone}'"));
            }
            place.as_ref().and_then(|place| not_finite("the place of its point", place))
        }
        PointDesc::Obstacle { obstacle, place } => {
            if world.obstacles.iter().all(|other| other.name != *obstacle) {
                return Some(format!("there is no obstacle '{obstacle}'"));
            }
            place.as_ref().and_then(|place| not_finite("the place of its point", place))
        }
    }
}

fn is_free(world: &WorldDesc, name: &str) -> bool {
    let found = world.obstacles.iter().find(|obstacle| obstacle.name == name);
    let whole = found.and_then(|obstacle| match obstacle.mobility {
        Mobility::PartOf(carrier) => world.obstacles.get(carrier),
        _ => Some(obstacle),
    });
    whole.is_some_and(|obstacle| matches!(obstacle.mobility, Mobility::Free { .. }))
}

fn not_finite(what: &str, place: &Vec3) -> Option<String> {
    let is_finite = place.iter().all(|x| x.is_finite());
    (!is_finite).then(|| format!("{what} {:?} is not finite", place.as_slice()))
}
