//! One picture of one moment: bodies in their light over a pale ground, those of earlier moments behind them, and marks over all.

use crate::camera::Camera;
use crate::canvas::{Canvas, Image};
use crate::geometry::{Bodies, Placement, Posed};
use crate::lighting::{Light, smooth};
use crate::raster::{self, Triangles};
use crate::render_frame::RenderFrame;
use crate::strain_colors;
use crate::strain_colors::Heat;
use crate::stroke_font;
use sinew_math::Vec3;

/// The background (linear RGB), in the middle and in the corners.
const MIDDLE: [f64; 3] = [0.80, 0.815, 0.835];
const CORNERS: [f64; 3] = [0.60, 0.625, 0.66];
/// Colours of marks (linear RGB).
const BONE: [f32; 3] = [0.95, 0.92, 0.80];
const BONE_EDGE: [f32; 3] = [0.03, 0.035, 0.05];
const CAGE: [f32; 3] = [0.02, 0.10, 0.24];

/// What all pictures have in common.
pub(crate) struct Renderer<'a> {
    pub(crate) bodies: Bodies<'a>,
    /// Triangles of the cage's boundary.
    pub(crate) cage: &'a [[u32; 3]],
    pub(crate) camera: Camera,
    pub(crate) ground: f64,
    /// So many surfaces, the first ones, throw shades.
    pub(crate) casting: usize,
    /// The end of the scale of strains, if they are to be seen.
    pub(crate) heat: Option<f64>,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// What is seen in one picture.
pub(crate) struct Shown<'a> {
    pub(crate) now: &'a RenderFrame,
    /// Earlier moments, the earliest first.
    pub(crate) ghosts: Vec<&'a RenderFrame>,
    pub(crate) placement: Placement,
}

/// Which of the two ways to move a surface is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    /// As it was simulated, or as the file has it.
    Flesh,
    /// By plain skinning.
    Skinned,
}

impl Renderer<'_> {
    /// Draws one picture.
    pub(crate) fn draw(&self, shown: &Shown, panel: Panel) -> Canvas {
        let surfaces = |render_frame: &RenderFrame| match panel {
            Panel::Flesh => self.bodies.pose(&render_frame.surfaces, &shown.placement),
            Panel::Skinned => self.bodies.pose(&render_frame.skinned, &shown.placement),
        };
        let mut now = surfaces(shown.now);
        let (vertices, triangles) = self.bodies.count_of_first(self.casting);
        let casts = |t: &usize| self.bodies.opacity_of(self.bodies.surface[*t]) >= 1.0;
        let shading: Vec<_> = (0..triangles).filter(casts).map(|t| self.bodies.triangles[t]).collect();
        let light = Light::over(&now.points[..vertices], &shading, self.ground);
        now.light(&light, &self.bodies.triangles);
        let mut canvas = self.backdrop(&light);
        let count = shown.ghosts.len();
        for (i, ghost) in shown.ghosts.iter().enumerate() {
            let opacity = 0.10 + 0.30 * (i + 1) as f64 / (count + 1) as f64;
            self.draw_ghost(&mut canvas, &light, &surfaces(ghost), opacity);
        }
        let strain = shown.now.strain.concat();
        let scale = self.heat.filter(|_| panel == Panel::Flesh && strain.len() == now.points.len());
        let heat = scale.map(|scale| Heat { strain: &strain, scale });
        let eye = self.camera.eye();
        let is_solid = |surface: u16| self.bodies.opacity_of(surface) >= 1.0;
        raster::draw(&mut canvas, &self.camera, &self.triangles(&now, &is_solid), |hit| {
            (light.on_body(&self.bodies.spot(&now, hit, eye, heat)), 1.0)
        });
        self.draw_glass(&mut canvas, &light, &now);
        if panel == Panel::Flesh {
            self.draw_cage(&mut canvas, shown);
        }
        self.draw_marks(&mut canvas, shown);
        if let Some(scale) = scale {
            strain_colors::draw_legend(&mut canvas, scale);
        }
        canvas
    }

    /// Draws both ways to move the surfaces side by side.
    pub(crate) fn draw_both(&self, shown: &Shown, gap: usize) -> Image {
        let tile = |(panel, word): (Panel, &str)| {
            let mut canvas = self.draw(shown, panel);
            let unit = stroke_font::height_in(&canvas);
            stroke_font::write(&mut canvas, [1.2 * unit, 2.2 * unit], unit, word);
            canvas.finish()
        };
        let (skinned, flesh) =
            rayon::join(|| tile((Panel::Skinned, "plain skinning")), || tile((Panel::Flesh, "flesh")));
        Image::sheet(&[skinned, flesh], 2, gap)
    }

    fn backdrop(&self, light: &Light) -> Canvas {
        let (eye, camera) = (self.camera.eye(), &self.camera);
        Canvas::filled(self.width, self.height, |x, y| {
            let far = smooth((x * x + (y + 0.1) * (y + 0.1)).sqrt() / 1.6);
            // shades fade towards the border
            let inside = smooth((1.0 - x.abs().max(y.abs())) / 0.2);
            let kept = 1.0 - inside * light.shade_on_ground(eye, camera.ray(x, y));
            [0, 1, 2].map(|i| kept * (MIDDLE[i] + far * (CORNERS[i] - MIDDLE[i])))
        })
    }

    /// Draws what is seen through, the farthest first, each where nothing solid is before it. Glass covers more the more it is seen from the side.
    fn draw_glass(&self, canvas: &mut Canvas, light: &Light, posed: &Posed) {
        let eye = self.camera.eye();
        let mut glass: Vec<(u16, f64)> = (0..self.bodies.count() as u16)
            .filter(|surface| self.bodies.opacity_of(*surface) < 1.0)
            .map(|surface| (surface, (self.bodies.middle(posed, surface) - eye).norm()))
            .collect();
        glass.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (own, _) in glass {
            let opacity = self.bodies.opacity_of(own);
            let is_there = |surface: u16| surface == own || self.bodies.opacity_of(surface) >= 1.0;
            raster::draw(canvas, &self.camera, &self.triangles(posed, &is_there), |hit| {
                if self.bodies.surface[hit.triangle] != own {
                    return ([0.0; 3], 0.0);
                }
                let spot = self.bodies.spot(posed, hit, eye, None);
                let towards = (eye - spot.point).try_normalize(0.0).unwrap_or(Vec3::z());
                let aside = 1.0 - spot.normal.dot(&towards).abs().min(1.0);
                (light.on_ghost(&spot), opacity + (1.0 - opacity) * aside.powi(4))
            });
        }
    }

    fn draw_ghost(&self, canvas: &mut Canvas, light: &Light, posed: &Posed, opacity: f64) {
        let eye = self.camera.eye();
        let is_solid = |surface: u16| self.bodies.opacity_of(surface) >= 1.0;
        raster::draw(canvas, &self.camera, &self.triangles(posed, &is_solid), |hit| {
            (light.on_ghost(&self.bodies.spot(posed, hit, eye, None)), opacity)
        });
    }

    fn triangles<'t>(
        &'t self,
        posed: &'t Posed,
        is_there: &'t (dyn Fn(u16) -> bool + Sync),
    ) -> Triangles<'t> {
        let Bodies { triangles, surface, .. } = &self.bodies;
        Triangles { points: &posed.points, triangles, surface, is_there }
    }

    /// Edges of the cage's faces that look towards the eye.
    fn draw_cage(&self, canvas: &mut Canvas, shown: &Shown) {
        let nodes: Vec<Vec3> = shown.now.cage.iter().map(|p| shown.placement.single(p)).collect();
        let mut edges = Vec::new();
        for triangle in self.cage {
            if triangle.iter().any(|v| *v as usize >= nodes.len()) {
                continue;
            }
            let [a, b, c] = triangle.map(|v| nodes[v as usize]);
            if (b - a).cross(&(c - a)).dot(&(self.camera.eye() - a)) > 0.0 {
                let [a, b, c] = *triangle;
                edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let radius = (self.height as f64 / 1400.0).max(0.35);
        for [a, b] in edges {
            let ends = [nodes[a as usize], nodes[b as usize]].map(|p| self.on_canvas(p));
            if let [Some(a), Some(b)] = ends {
                canvas.stroke([a, b], [radius; 2], CAGE, 0.5);
            }
        }
    }

    fn draw_marks(&self, canvas: &mut Canvas, shown: &Shown) {
        let unit = self.height as f64 / 100.0;
        let onto = |p: &Vec3| self.on_canvas(shown.placement.point(p));
        let bones: Vec<[[f64; 2]; 2]> =
            shown.now.marks.bones.iter().filter_map(|[from, to]| Some([onto(from)?, onto(to)?])).collect();
        // all edges first, so that bones that meet are one
        for (grown, color) in [(0.35 * unit, BONE_EDGE), (0.0, BONE)] {
            for [from, to] in &bones {
                let joint = 0.75 * unit + grown;
                canvas.stroke([*from, *to], [0.6 * unit + grown, 0.25 * unit + grown], color, 0.95);
                canvas.stroke([*from, *from], [joint; 2], color, 0.95);
            }
        }
        for arrow in &shown.now.marks.arrows {
            if let [Some(from), Some(to)] = [onto(&arrow.from), onto(&arrow.to)] {
                draw_arrow(canvas, from, to, 0.35 * unit, arrow.color);
            }
        }
    }

    /// Where a point of the stage is in the picture (pixels).
    fn on_canvas(&self, point: Vec3) -> Option<[f64; 2]> {
        let (x, y, _) = self.camera.project(point)?;
        Some([(x + 1.0) / 2.0 * self.width as f64, (1.0 - y) / 2.0 * self.height as f64])
    }
}

/// A shaft and a head that narrows to the tip, never longer than half of it.
fn draw_arrow(canvas: &mut Canvas, from: [f64; 2], to: [f64; 2], radius: f64, color: [f32; 3]) {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = (dx * dx + dy * dy).sqrt();
    if length.is_nan() || length <= 0.0 {
        return;
    }
    let head = (8.0 * radius).min(0.5 * length) / length;
    let neck = [to[0] - head * dx, to[1] - head * dy];
    canvas.stroke([from, neck], [radius; 2], color, 0.95);
    canvas.stroke([neck, to], [3.0 * radius, 0.0], color, 0.95);
}
