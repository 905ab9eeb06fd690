//! Softness over the flesh: painted on its vertices, chosen by bone and by surface, as one factor per vertex.
//!
//! ```text
//! s = clamp(m · a · c · t · p · f · Σ_j w_j f_j, 0, 10)
//! ```
//!
//! with m the softness of the whole flesh (below 1 for machines), a the attribute `_SOFTNESS`, c a channel of a vertex colour, t a texture, p a field over the bind pose, f the factors of the surface's names, and f_j those of its
//! joints by their weights w_j; what is not given is 1. 1 is as soft as is chosen for the whole character, more is softer, 0 is rigid. Rounds of
//! averaging over the surface then take out steps, save where parts are rigid.

use crate::flesh::Flesh;
use crate::names::nearest;
use crate::shell::welded;
use crate::{CharacterError, CharacterPrimitive, FaultyPart, RiggedCharacter, SoftnessOptions};
use std::collections::BTreeSet;

/// The largest softness.
pub const MAX_SOFTNESS: f32 = 10.0;
/// Rounds of averaging: what is painted reaches about two edges farther.
const ROUNDS: usize = 3;

/// The softness of every vertex of the flesh.
///
/// # Errors
/// If a factor's name is no joint's and no surface's, a factor is negative or not finite, or a colour or texture coordinates are missing.
pub(crate) fn find_softness(
    rigged: &RiggedCharacter,
    flesh: &Flesh,
    options: &SoftnessOptions,
) -> Result<Vec<f32>, CharacterError> {
    check_sources(rigged, flesh, options)?;
    let factors = Factors::find(rigged, options)?;
    let in_space =
        if options.points.is_empty() { Vec::new() } else { options.points.at(&flesh.surface.vertices) };
    let mut softness = Vec::with_capacity(flesh.source.len());
    for (i, ((part, vertex), is_rigid)) in flesh.source.iter().zip(&flesh.is_rigid).enumerate() {
        // painted on the vertex
        let id = flesh.parts[*part as usize].id;
        let Some(primitive) = rigged.primitive(id) else { continue };
        let painted =
            painted_softness(primitive, *vertex as usize, options) * in_space.get(i).copied().unwrap_or(1.0);
        if !(painted.is_finite() && painted >= 0.0) {
            let name = rigged.nodes[id.node].label.clone();
            let message =
                format!("vertex {vertex} of '{name}' has the softness {painted}: paint it from 0 to 10");
            return Err(CharacterError::of(FaultyPart::Surface(name), message));
        }

        // factors of its surface and of its joints
        let names = rigged.names_of(id);
        let surface: f64 =
            factors.surfaces.iter().filter(|(name, _)| names.contains(name)).map(|(_, f)| f).product();
        let joints = rigged.nodes[id.node].skin.map_or(&[][..], |skin| &rigged.skins[skin].joints);
        let weights = primitive.weights.as_ref().map_or(&[][..], |weights| weights.of(*vertex as usize));
        let bones: f64 = weights
            .iter()
            .map(|entry| {
                entry.weight * joints.get(entry.joint as usize).map_or(1.0, |joint| factors.joints[*joint])
            })
            .sum();

        // all together
        let product = (f64::from(painted) * surface * bones) as f32 * flesh.softness;
        softness.push(if *is_rigid { 0.0 } else { product.clamp(0.0, MAX_SOFTNESS) });
    }
    smooth(flesh, &mut softness);
    Ok(softness)
}

/// What is painted on a vertex.
fn painted_softness(primitive: &CharacterPrimitive, vertex: usize, options: &SoftnessOptions) -> f32 {
    let own = primitive.softness.as_ref().map_or(1.0, |values| values[vertex]);
    let color = options.color.map_or(1.0, |color| {
        primitive
            .colors
            .get(color.set)
            .and_then(Option::as_ref)
            .map_or(1.0, |colors| colors[vertex][color.channel])
    });
    let uv = primitive.uv.as_ref().map(|uv| uv[vertex]);
    let texture = options.texture.as_ref().zip(uv).map_or(1.0, |(texture, uv)| texture.sample(uv));
    own * color * texture
}

/// Rejects sources that no surface of the flesh has.
fn check_sources(
    rigged: &RiggedCharacter,
    flesh: &Flesh,
    options: &SoftnessOptions,
) -> Result<(), CharacterError> {
    let any = |has: &dyn Fn(&CharacterPrimitive) -> bool| {
        flesh.parts.iter().filter_map(|part| rigged.primitive(part.id)).any(has)
    };
    if let Some(color) =
        options.color.filter(|color| !any(&|own| own.colors.get(color.set).is_some_and(Option::is_some)))
    {
        let set = color.set;
        return Err(CharacterError::whole(format!(
            "softness comes from COLOR_{set}, and no surface has it: export vertex colours, or choose another"
        )));
    }
    if options.texture.is_some() && !any(&|own| own.uv.is_some()) {
        let message =
            "softness comes from a texture, and no surface has texture coordinates: export TEXCOORD_0";
        return Err(CharacterError::whole(message));
    }
    Ok(())
}

/// Factors by what they are for.
struct Factors<'a> {
    /// For each node.
    joints: Vec<f64>,
    /// By a name of the surface.
    surfaces: Vec<(&'a str, f64)>,
}

impl<'a> Factors<'a> {
    fn find(rigged: &RiggedCharacter, options: &'a SoftnessOptions) -> Result<Factors<'a>, CharacterError> {
        let is_joint: BTreeSet<usize> =
            rigged.skins.iter().flat_map(|skin| skin.joints.iter().copied()).collect();
        let surface_names: BTreeSet<&str> = rigged.surfaces().flat_map(|id| rigged.names_of(id)).collect();
        let mut factors = Factors { joints: vec![1.0; rigged.nodes.len()], surfaces: Vec::new() };
        for (name, factor) in &options.factors {
            if !(factor.is_finite() && *factor >= 0.0) {
                let message =
                    format!("`{name}` has the softness {factor}: give a factor from 0, rigid, to 10");
                return Err(CharacterError::of(FaultyPart::Surface(name.clone()), message));
            }
            let is_called = |node: &&usize| {
                let node = &rigged.nodes[**node];
                node.name.as_deref() == Some(name) || node.label == *name
            };
            let called: Vec<usize> = is_joint.iter().filter(is_called).copied().collect();
            if !called.is_empty() {
                called.iter().for_each(|&joint| factors.joints[joint] *= factor);
            } else if surface_names.contains(name.as_str()) {
                factors.surfaces.push((name, *factor));
            } else {
                let joints = is_joint.iter().map(|&joint| rigged.nodes[joint].label.as_str());
                return Err(unknown_name(name, &joints.chain(surface_names).collect::<Vec<_>>()));
            }
        }
        Ok(factors)
    }
}

fn unknown_name(name: &str, known: &[&str]) -> CharacterError {
    let hint = nearest(name, known).map_or_else(
        || format!("the file has {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    let message = format!("softness: no joint, surface, mesh or material is named `{name}`; {hint}");
    let message: String = message.chars().take(400).collect();
    CharacterError::of(FaultyPart::Surface(name.to_owned()), message)
}

/// Takes out steps: each vertex takes half of the mean of its neighbours, over seams as well. Rigid parts stay.
fn smooth(flesh: &Flesh, softness: &mut [f32]) {
    let is_even = softness.windows(2).all(|pair| pair[0] == pair[1]);
    if is_even {
        return;
    }

    // vertices at one place are one, rigid if any of them is
    let welded = welded(&flesh.surface);
    let mut is_rigid = vec![false; softness.len()];
    for (vertex, &first) in welded.iter().enumerate() {
        is_rigid[first as usize] |= flesh.is_rigid[vertex];
        softness[first as usize] = softness[first as usize].min(softness[vertex]);
    }
    let corners = flesh.surface.triangles.iter().map(|t| t.map(|v| welded[v as usize]));
    let mut edges: Vec<[u32; 2]> =
        corners.flat_map(|[a, b, c]| [[a, b], [b, c], [c, a], [b, a], [c, b], [a, c]]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges.retain(|[a, b]| a != b);

    // rounds of averaging
    for _ in 0..ROUNDS {
        let before = softness.to_vec();
        for around in edges.chunk_by(|a, b| a[0] == b[0]) {
            let vertex = around[0][0] as usize;
            let mean =
                around.iter().map(|[_, other]| before[*other as usize]).sum::<f32>() / around.len() as f32;
            softness[vertex] = if is_rigid[vertex] { 0.0 } else { 0.5 * (before[vertex] + mean) };
        }
    }
    for (vertex, &first) in welded.iter().enumerate() {
        softness[vertex] = softness[first as usize];
    }
}
