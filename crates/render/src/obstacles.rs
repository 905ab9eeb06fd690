//! Obstacles as surfaces of a picture: grey or glass, with sharp edges; an upward-facing plane becomes the ground.
//!
//! The ground is not drawn, but shadows fall on it and what lies below is hidden. Pictures are fitted to bodies and to moving obstacles; static ones
//! are visible as far as they reach into the picture.

use crate::look::Look;
use sinew_math::{Isometry, Vec3, nalgebra::Point3};
use sinew_mesh::TriMesh;
use sinew_take::{SurfaceInfo, Up};

/// The colours of obstacles (linear RGB).
const GREY: [f32; 3] = [0.40, 0.41, 0.43];
const GLASS: [f32; 3] = [0.42, 0.64, 0.66];
/// The opacity of glass seen head-on.
const GLASS_OPACITY: f32 = 0.2;
/// Faces whose normals differ by more than 40° meet at a sharp edge: the cosine of that angle.
const SHARP: f64 = 0.77;
/// A plane is a floor if the vertical component of its unit normal is above this.
const UPRIGHT: f64 = 0.999;
/// Copies of a vertex on different faces are this fraction of the obstacle's size apart at rest, so that they do not share a normal.
const SEPARATION: f64 = 1e-5;

/// An obstacle to be drawn.
pub struct ObstacleInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its surface, in its own frame (m).
    pub surface: &'a TriMesh,
    /// Its pose in the first frame.
    pub start: Isometry,
    /// Whether it ever moves.
    pub moves: bool,
    /// Whether it is transparent.
    pub is_glass: bool,
}

/// The surfaces of obstacles.
#[derive(Clone, Debug, Default)]
pub struct ObstacleSurfaces {
    drawn: Vec<Drawn>,
    up: Up,
    /// The height of the floor above the origin (m).
    pub ground: Option<f64>,
}

#[derive(Clone, Debug)]
struct Drawn {
    /// Its index among all obstacles.
    index: usize,
    moves: bool,
    is_glass: bool,
    points: Vec<Vec3>,
    info: SurfaceInfo,
}

impl ObstacleSurfaces {
    /// Prepares obstacles of a scene. Moving ones come first, then static ones by size.
    pub fn of<'a>(all: impl Iterator<Item = ObstacleInfo<'a>>, up: Up) -> ObstacleSurfaces {
        let mut obstacles = ObstacleSurfaces { up, ..ObstacleSurfaces::default() };
        for (index, obstacle) in all.enumerate() {
            match floor_height(&obstacle, up) {
                Some(height) => {
                    let highest = obstacles.ground.map_or(height, |other| other.max(height));
                    obstacles.ground = Some(highest);
                }
                None => obstacles.drawn.push(Drawn::of(index, &obstacle)),
            }
        }
        obstacles.drawn.sort_by(|a, b| b.moves.cmp(&a.moves).then(a.size().total_cmp(&b.size())));
        obstacles
    }

    /// The surfaces that are drawn.
    pub fn infos(&self) -> impl Iterator<Item = SurfaceInfo> + '_ {
        self.drawn.iter().map(|drawn| drawn.info.clone())
    }

    /// Their looks.
    pub fn looks(&self) -> impl Iterator<Item = Look> + '_ {
        let glass = Look { opacity: GLASS_OPACITY, ..Look::plain(GLASS) };
        self.drawn.iter().map(move |drawn| if drawn.is_glass { glass.clone() } else { Look::plain(GREY) })
    }

    /// How many of them move.
    pub fn moving_count(&self) -> usize {
        self.drawn.iter().filter(|drawn| drawn.moves).count()
    }

    /// Their vertices (m), given the pose of each obstacle by its index in the scene.
    pub fn vertices(&self, pose: impl Fn(usize) -> Option<Isometry>) -> Vec<Vec<[f32; 3]>> {
        let place = |drawn: &Drawn| {
            let pose = pose(drawn.index).unwrap_or_else(Isometry::identity);
            let point = |p: &Vec3| {
                let mut p = (pose * Point3::from(*p)).coords;
                // what is below the floor is hidden
                if let Some(ground) = self.ground {
                    let height = &mut p[if self.up == Up::Z { 2 } else { 1 }];
                    *height = height.max(ground);
                }
                single(&p)
            };
            drawn.points.iter().map(point).collect()
        };
        self.drawn.iter().map(place).collect()
    }
}

impl Drawn {
    /// Duplicates vertices where faces meet at a sharp edge.
    fn of(index: usize, obstacle: &ObstacleInfo) -> Drawn {
        let mesh = obstacle.surface;
        let size = mesh.bounds().map_or(0.0, |(low, high)| (high - low).norm());
        let mut copies: Vec<Vec<(Vec3, u32)>> = vec![Vec::new(); mesh.vertices.len()];
        let (mut points, mut rest, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t);
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or(Vec3::zeros());
            triangles.push(mesh.triangles[t].map(|v| {
                let own = &mut copies[v as usize];
                if let Some((_, copy)) = own.iter().find(|(other, _)| other.dot(&normal) > SHARP) {
                    return *copy;
                }
                let (copy, point) = (points.len() as u32, mesh.vertices[v as usize]);
                own.push((normal, copy));
                points.push(point);
                let separated = point - SEPARATION * size * normal;
                rest.push(single(&(obstacle.start * Point3::from(separated)).coords));
                copy
            }));
        }
        let info = SurfaceInfo { name: obstacle.name.to_owned(), triangles, rest };
        Drawn { index, moves: obstacle.moves, is_glass: obstacle.is_glass, points, info }
    }

    fn size(&self) -> f64 {
        let low = self.points.iter().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(p));
        let high = self.points.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |high, p| high.sup(p));
        (high - low).norm()
    }
}

/// The height of an obstacle that is a floor (m): a static plane of two triangles that face up.
fn floor_height(obstacle: &ObstacleInfo, up: Up) -> Option<f64> {
    let mesh = obstacle.surface;
    if mesh.triangles.len() != 2 || obstacle.moves {
        return None;
    }
    let [a, b, c] = mesh.corners(0).map(|p| up.to_y_up(&(obstacle.start * Point3::from(p)).coords));
    let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
    (normal.y > UPRIGHT).then_some(a.y)
}

fn single(v: &Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_mesh::shapes;

    fn shown(surface: &TriMesh, y: f64, moves: bool) -> ObstacleInfo<'_> {
        let start = Isometry::translation(0.0, y, 0.0);
        ObstacleInfo { name: "a", surface, start, moves, is_glass: false }
    }

    /// A box has three copies of each corner, one per face; a ball has none.
    #[test]
    fn sharp_edges_have_their_own_vertices_and_round_surfaces_do_not() {
        let (cube, ball) = (shapes::cuboid([0.2; 3]), shapes::sphere(0.1, 3));
        let obstacles =
            ObstacleSurfaces::of([shown(&ball, 0.0, false), shown(&cube, 0.0, true)].into_iter(), Up::Y);
        let infos: Vec<SurfaceInfo> = obstacles.infos().collect();
        assert_eq!((infos[0].rest.len(), infos[1].rest.len()), (24, ball.vertices.len()));
        assert_eq!(obstacles.moving_count(), 1);
    }

    #[test]
    fn an_upward_plane_is_the_ground_and_hides_what_is_below() {
        let corner = |x: f64, z: f64| Vec3::new(x, 0.0, z);
        let floor = TriMesh {
            vertices: vec![corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
        };
        let cube = shapes::cuboid([0.2; 3]);
        let all = [shown(&floor, 0.5, false), shown(&cube, 0.5, false)];
        let obstacles = ObstacleSurfaces::of(all.into_iter(), Up::Y);
        assert_eq!(obstacles.ground, Some(0.5));
        let placed = obstacles.vertices(|_| Some(Isometry::translation(0.0, 0.45, 0.0)));
        assert_eq!(placed.len(), 1);
        assert!(placed[0].iter().all(|p| p[1] >= 0.5) && placed[0].iter().any(|p| p[1] > 0.6 - 0.1));
    }
}
