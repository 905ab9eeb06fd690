//! The nearest triangles of a vertex among patches near it: branch and bound over the boxes of the patches.
//!
//! Of each shell only the nearest triangle may be in contact with a vertex, so that patches farther away than one of its triangles are not compared. What is compared depends on where everything is now, not on which patches
//! beyond the range of contact were found near.

use super::super::pair_contact::{PairContact, SHELLS};
use sinew_contact::{Bounds, Patch, SurfacePairs, nearest_on_triangle};
use sinew_math::Vec3;

/// A patch with a box around it, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct PatchBox {
    /// (m)
    pub(super) bounds: Bounds,
    /// The largest depth behind its triangles down to which contact is detected (m).
    pub(super) range: f64,
    pub(super) patch: u32,
}

/// A search from one vertex, with all positions as a function (m).
pub(super) struct NearestTriangles<'a, X> {
    finder: &'a SurfacePairs,
    x: X,
    vertex: u32,
    p: Vec3,
    gap: f64,
    /// The distance of the nearest triangle of each shell (m).
    shells: [(u32, f64); SHELLS],
    shell_count: usize,
    /// Triangles that may be the nearest ones of their shells.
    found: [Found; ROOM],
    count: usize,
    /// Whether there are more of them, or more shells, than room.
    has_overflown: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    triangle: u32,
    shell: u32,
    /// (m)
    distance: f64,
}

/// Room for the patches within the range of contact of a vertex.
const PATCHES: usize = 64;
/// Room for the triangles around a vertex that are equally near.
const ROOM: usize = 48;
/// Triangles within this factor of the nearest distance count as equally near: many times what decides between them.
const EQUALLY: f64 = 1.0 + 1e-6;

impl<'a, X: Fn(u32) -> Vec3> NearestTriangles<'a, X> {
    pub(super) fn new(finder: &'a SurfacePairs, vertex: u32, x: X) -> Self {
        let (p, gap) = (x(vertex), finder.gap(vertex));
        NearestTriangles {
            finder,
            x,
            vertex,
            p,
            gap,
            shells: [(0, 0.0); SHELLS],
            shell_count: 0,
            found: [Found::default(); ROOM],
            count: 0,
            has_overflown: false,
        }
    }

    /// The contact of the vertex with the nearest triangle of the given patches.
    pub(super) fn contact<'b>(
        mut self,
        patches: impl Iterator<Item = &'b PatchBox> + Clone,
    ) -> Option<PairContact> {
        // patches within the range of contact, as far as there is room for them
        let mut near: [(f64, u32); PATCHES] = [(0.0, 0); PATCHES];
        let (mut count, mut first) = (0, 0);
        for patch in patches.clone() {
            let (distance, reach) = (patch.bounds.distance_squared(&self.p), self.gap.max(patch.range));
            if distance > EQUALLY * reach * reach {
                continue;
            }
            if count == PATCHES {
                self.has_overflown = true;
                break;
            }
            near[count] = (distance, patch.patch);
            if distance < near[first].0 {
                first = count;
            }
            count += 1;
        }
        if self.has_overflown {
            return self.contact_with_any(patches);
        }
        if count == 0 {
            return None;
        }

        // the nearest box first, so that few others are compared
        near.swap(0, first);
        for &(distance, number) in &near[..count] {
            let patch = self.finder.patch(number);
            if distance <= self.limit(patch.shell) {
                self.compare(patch);
            }
        }
        if self.has_overflown {
            return self.contact_with_any(patches);
        }

        // ties are decided in the order of the triangles
        let mut nearest = [0; ROOM];
        let mut count = 0;
        for found in self.found[..self.count].iter().filter(|found| self.is_nearest(found)) {
            nearest[count] = found.triangle;
            count += 1;
        }
        nearest[..count].sort_unstable();
        PairContact::of_vertex(self.finder, self.vertex, nearest[..count].iter().copied(), &self.x)
    }

    /// The same by comparing all triangles, where too many are equally near.
    fn contact_with_any<'b>(&self, patches: impl Iterator<Item = &'b PatchBox>) -> Option<PairContact> {
        let all = patches.flat_map(|patch| self.triangles_of(self.finder.patch(patch.patch)));
        PairContact::of_vertex(self.finder, self.vertex, all, &self.x)
    }

    /// The squared distance beyond which no triangle of a shell is its nearest (m²).
    #[inline]
    fn limit(&self, shell: Option<u32>) -> f64 {
        let own = self.shells[..self.shell_count].iter().find(|(own, _)| shell == Some(*own));
        own.map_or(f64::INFINITY, |(_, nearest)| (EQUALLY * nearest) * (EQUALLY * nearest))
    }

    fn is_nearest(&self, found: &Found) -> bool {
        let limit = self.limit(Some(found.shell));
        found.distance * found.distance <= limit
    }

    /// The triangles of a patch that do not move together with the vertex.
    fn triangles_of(&self, patch: &Patch) -> impl Iterator<Item = u32> + use<'a, X> {
        let (finder, vertex) = (self.finder, self.vertex);
        let is_own = patch.surface == finder.surface_of(vertex);
        let triangles = finder.patch_triangles(patch).iter().copied();
        triangles.filter(move |t| !(is_own && finder.moves_with(vertex, *t)))
    }

    /// Compares the triangles of a patch.
    fn compare(&mut self, patch: &Patch) {
        for triangle in self.triangles_of(patch) {
            // as the contact itself is measured
            let corners = self.finder.triangle(triangle).map(&self.x);
            let distance = (self.p - nearest_on_triangle(&self.p, &corners).point).norm();
            let [a, b, c] = corners;
            let is_sound = (b - a).cross(&(c - a)).norm_squared() > 0.0;
            if distance <= self.finder.range(triangle).max(self.gap) && is_sound {
                self.add(Found { triangle, shell: self.finder.shell(triangle), distance });
            }
        }
    }

    fn add(&mut self, found: Found) {
        let own = self.shells[..self.shell_count].iter().position(|(shell, _)| *shell == found.shell);
        match own {
            Some(own) => self.shells[own].1 = self.shells[own].1.min(found.distance),
            None if self.shell_count < SHELLS => {
                self.shells[self.shell_count] = (found.shell, found.distance);
                self.shell_count += 1;
            }
            None => self.has_overflown = true,
        }
        if !self.is_nearest(&found) {
            return;
        }
        if self.count == ROOM {
            self.drop_far();
        }
        if self.count == ROOM {
            self.has_overflown = true;
            return;
        }
        self.found[self.count] = found;
        self.count += 1;
    }

    /// Drops what is no longer among the nearest.
    fn drop_far(&mut self) {
        let mut count = 0;
        for i in 0..self.count {
            let found = self.found[i];
            if self.is_nearest(&found) {
                self.found[count] = found;
                count += 1;
            }
        }
        self.count = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use crate::desc::{BodyDesc, CageSize, Sag, ShapeDesc, WorldDesc};
    use sinew_flesh::Material;
    use sinew_mesh::{TriMesh, shapes};

    fn body(name: &str, surface: TriMesh, by: Vec3) -> BodyDesc {
        let vertices = surface.vertices.iter().map(|x| x + by).collect();
        let surface = TriMesh { vertices, ..surface };
        BodyDesc {
            name: name.into(),
            shape: ShapeDesc::Surface { surface, cage: CageSize::Tets(100) },
            material: Material::soft_solid(1e5, 0.3, 1000.0, 0.0),
            velocity: Vec3::zeros(),
            pins: Vec::new(),
            loads: Vec::new(),
            attachment: None,
            sag: Sag::Free,
            ..BodyDesc::default()
        }
    }

    /// A ball pushed into a torus by various depths: with each vertex of either the contact is that of all triangles of the other, compared in their order, to the bit. Too many patches are compared one by one.
    #[test]
    fn the_nearest_of_patches_is_the_nearest_of_all_triangles() {
        let (torus, ball) = (shapes::torus(0.06, 0.03, 40, 20), shapes::sphere(0.04, 3));
        let bodies =
            vec![body("torus", torus, Vec3::zeros()), body("ball", ball, Vec3::new(0.06, 0.1, 0.01))];
        let mut world = WorldDesc { bodies, ..WorldDesc::default() };
        world.contact.between_bodies = true;
        let model = Model::build(&world).expect("sound");
        let surface = model.contact_surface();
        let finder: &SurfacePairs = surface.pairs().expect("bodies collide");
        let rest: Vec<Vec3> = (0..surface.count()).map(|i| surface.at(i, model.node_rest())).collect();
        for depth in [0.035, 0.04, 0.05] {
            let down = |v: u32| if finder.surface_of(v) == 1 { -depth * Vec3::y() } else { Vec3::zeros() };
            let x: Vec<Vec3> = rest.iter().zip(0..).map(|(x, v)| x + down(v)).collect();
            let at = |v: u32| x[v as usize];
            let around = |number: u32| {
                let patch = finder.patch(number);
                let corners = finder.patch_triangles(patch).iter().flat_map(|t| finder.triangle(*t)).map(at);
                let bounds = corners.fold(Bounds::EMPTY, |bounds, x| bounds.with(&x));
                PatchBox { bounds, range: patch.range, patch: number }
            };
            let mut in_contact = 0;
            for vertex in 0..x.len() as u32 {
                let others = (0..finder.patch_count() as u32)
                    .filter(|i| finder.patch(*i).surface != finder.surface_of(vertex));
                let is_leaf = |i: &u32| finder.patch_triangles(finder.patch(*i)).len() <= 4;
                let leaves: Vec<PatchBox> = others.clone().filter(is_leaf).map(around).collect();
                let all: Vec<PatchBox> = others.map(around).collect();
                let other = |t: &u32| finder.surface_of(finder.triangle(*t)[0]) != finder.surface_of(vertex);
                let triangles = (0..finder.triangle_count() as u32).filter(other);
                let wanted = PairContact::of_vertex(finder, vertex, triangles, at).map(measures);
                for patches in [leaves, all] {
                    let found = NearestTriangles::new(finder, vertex, at).contact(patches.iter());
                    assert_eq!(found.map(measures), wanted, "vertex {vertex}");
                }
                in_contact += usize::from(wanted.is_some());
            }
            assert!(in_contact > 20, "{in_contact}");
        }
    }

    fn measures(contact: PairContact) -> ([u32; 4], [f64; 4], f64, Vec3) {
        (contact.points, contact.weights, contact.depth, contact.normal)
    }
}
