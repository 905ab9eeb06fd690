//! Validation of control metaphors, choice of their nodes, and the force of magnitude 1.

mod compliance;
mod slices;
mod unit_force;
mod widget;

use super::Model;
use crate::body::Body;
use crate::desc::{MetaphorDesc, MetaphorKind, WorldDesc};
use crate::fault::Fault;
use crate::metaphor::{LocalFrame, Metaphor, NodeSet};
use compliance::Compliance;
use sinew_math::Vec3;
use widget::{Selection, Widget};

/// The compliances of bodies that metaphors act on, each found once.
#[derive(Default)]
struct BodyCompliances {
    found: Vec<(usize, Option<Compliance>)>,
}

impl BodyCompliances {
    /// That of a body; none if nothing is known about its stiffness.
    fn of(&mut self, model: &Model, body: usize) -> Option<&mut Compliance> {
        let place = self.found.iter().position(|(own, _)| *own == body).unwrap_or_else(|| {
            self.found.push((body, Compliance::build(model, &model.bodies[body])));
            self.found.len() - 1
        });
        self.found[place].1.as_mut()
    }
}

/// Adds the metaphors to an otherwise complete model.
pub(super) fn add(world: &WorldDesc, model: Model) -> Result<Model, Vec<Fault>> {
    let (mut metaphors, mut faults) = (Vec::new(), Vec::new());
    let mut compliances = BodyCompliances::default();
    for (i, desc) in world.metaphors.iter().enumerate() {
        let fault = |what: &str| Fault::new("", format!("metaphor '{}': {what}", desc.name));
        if world.metaphors[..i].iter().any(|other| other.name == desc.name) {
            faults.push(fault("two metaphors have this name: rename one"));
        }
        match resolve(&model, &mut compliances, desc) {
            Ok(metaphor) => metaphors.push(metaphor),
            Err(what) => faults.push(fault(&what)),
        }
    }
    if faults.is_empty() { Ok(Model { metaphors, ..model }) } else { Err(faults) }
}

/// Builds a metaphor.
fn resolve(
    model: &Model,
    compliances: &mut BodyCompliances,
    desc: &MetaphorDesc,
) -> Result<Metaphor, String> {
    // the body and the widget on it
    let names = || model.bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>().join(", ");
    let index = model.bodies.iter().position(|body| body.name == desc.body);
    let index = index.ok_or_else(|| {
        format!("it acts on body '{}', which does not exist: there is {}", desc.body, names())
    })?;
    let body = &model.bodies[index];
    let widget = Widget::place(desc, body)?;

    // the sets, and all nodes that forces act on
    let selections = widget.select(desc.kind, body, &model.node_rest);
    let mut sets = Vec::new();
    for selection in &selections {
        sets.push(movable_set(model, body, &widget, selection)?);
    }
    let nodes = acting_nodes(model, body, desc, &sets);
    for set in &mut sets {
        let place = |node: &u32| nodes.partition_point(|(other, _)| other < node) as u32;
        set.places = set.nodes.iter().map(place).collect();
    }

    // what is within the widget and around it
    let inside = widget.region(desc.kind, body, &model.node_rest);
    let is_inside =
        |node: &u32| inside.binary_search(node).is_ok() || sets.iter().any(|set| set.nodes.contains(node));
    let touches = |tet: &usize| model.tets[*tet].iter().any(is_inside);
    let region: Vec<u32> = body.tets.clone().filter(touches).map(|tet| tet as u32).collect();
    let slices = match desc.kind {
        MetaphorKind::Twist => slices::slices(model, &widget, &sets, &inside),
        _ => Vec::new(),
    };

    // the frame, and the force of magnitude 1
    let frame_nodes = frame_nodes(model, body, &sets);
    let frame = LocalFrame::build(desc.frame, frame_nodes.into_iter(), (&model.node_mass, &model.node_rest));
    let metaphor = Metaphor {
        name: desc.name.clone(),
        body: index,
        kind: desc.kind,
        sets,
        origin: widget.origin,
        axes: widget.axes,
        unit: 0.0,
        expected_response: 0.0,
        leaves_net: desc.leaves_net,
        size: body.surface.bounds().map_or(0.0, |(low, high)| (high - low).amax()).max(f64::MIN_POSITIVE),
        frame,
        nodes,
        slices,
        region,
    };
    let (unit, expected_response) =
        unit_force::find(model, compliances.of(model, index), &metaphor, &widget)?;
    Ok(Metaphor { unit, expected_response, ..metaphor })
}

/// The nodes of a selection that forces move, with weights by mass.
fn movable_set(
    model: &Model,
    body: &Body,
    widget: &Widget,
    selection: &Selection,
) -> Result<NodeSet, String> {
    if selection.nodes.is_empty() {
        return Err(widget.nothing_there(selection.name, body, &model.node_rest));
    }
    let moves = |node: usize| model.node_inverse_mass[node] > 0.0 || model.is_reduced(node);
    let nodes: Vec<u32> = selection.nodes.iter().copied().filter(|node| moves(*node as usize)).collect();
    if nodes.is_empty() {
        return Err(format!(
            "all {} nodes of its {} are pinned or fixed to bones, so that no force moves them: move its origin to flesh, or make it wider",
            selection.nodes.len(),
            selection.name
        ));
    }
    let mass: f64 = nodes.iter().map(|node| model.node_mass[*node as usize]).sum();
    let weights: Vec<f64> = nodes.iter().map(|node| model.node_mass[*node as usize] / mass).collect();
    let weighted = nodes.iter().zip(&weights).map(|(node, weight)| *weight * model.node_rest[*node as usize]);
    Ok(NodeSet { rest_center: weighted.sum(), places: Vec::new(), nodes, weights })
}

/// The nodes that forces act on, in order, with their masses: those of the sets; where the body bears the reaction of a push, all that are not pinned.
fn acting_nodes(model: &Model, body: &Body, desc: &MetaphorDesc, sets: &[NodeSet]) -> Vec<(u32, f64)> {
    let mut nodes: Vec<u32> = if desc.kind == MetaphorKind::Push && !desc.leaves_net {
        let is_pinned = |node: usize| model.node_inverse_mass[node] == 0.0 && !model.is_carried(node);
        body.nodes.clone().filter(|node| !is_pinned(*node)).map(|node| node as u32).collect()
    } else {
        sets.iter().flat_map(|set| set.nodes.iter().copied()).collect()
    };
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter().map(|node| (node, model.node_mass[node as usize])).collect()
}

/// The nodes that the local frame is found from: all of the body; on bones those that follow the same bones as the sets do, so that no other limb turns it.
fn frame_nodes(model: &Model, body: &Body, sets: &[NodeSet]) -> Vec<u32> {
    let reference = &model.fixed_nodes.node_reference;
    let mut bones: Vec<u32> =
        sets.iter().flat_map(|set| &set.nodes).map(|node| reference[*node as usize]).collect();
    bones.sort_unstable();
    bones.dedup();
    let follows = |node: &usize| bones.binary_search(&reference[*node]).is_ok();
    body.nodes.clone().filter(follows).map(|node| node as u32).collect()
}

/// Faults of vectors that are not finite or zero.
fn direction(what: &str, v: &Vec3) -> Result<Vec3, String> {
    let unit = v.iter().all(|x| x.is_finite()).then(|| v.try_normalize(0.0)).flatten();
    unit.ok_or_else(|| format!("its {what} {:?} is zero or not finite: give a direction", v.as_slice()))
}
